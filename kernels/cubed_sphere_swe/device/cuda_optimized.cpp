// SPDX-License-Identifier: Apache-2.0
// The optimized variant on a device: one launch per Runge-Kutta stage, or one for a whole loop
// (optimized.cu).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "cubed_sphere_swe/device/optimized_kernels.hpp"
#include "cubed_sphere_swe/problem/cuda_parts.hpp"
#include "cubed_sphere_swe/problem/mass_log.hpp"
#include "cubed_sphere_swe/problem/stages.hpp"
#include "cubed_sphere_swe/variants.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

// The table in the layout of Metric<T, source> in optimized_stage.cuh.
template <class T>
std::vector<T> metric_row(int n, const Options& options) {
  std::vector<T> row;
  const auto add = [&](const std::vector<double>& table) {
    row.insert(row.end(), table.begin(), table.end());
  };
  if (options.metric == MetricSource::table) {
    const MetricTables tables = metric_tables(n, options.q12);
    for (const auto* table : {&tables.jq11, &tables.jq22, &tables.jq12, &tables.inverse_j})
      add(*table);
    return row;
  }
  const Axis grid = axis(n);
  std::vector<double> cosines_squared;
  for (const double t : grid.tan_vertices) cosines_squared.push_back(1 / (1 + t * t));
  add(grid.tan_vertices);
  add(cosines_squared);
  add(grid.tan_centers);
  row.push_back(T(q12_sign(options.q12)));
  return row;
}

template <class T>
class Optimized final : public Computation {
 public:
  Optimized(Backend& backend, const Problem& problem)
      : device_(*backend.device),
        n_(problem.n),
        unit_(problem.unit),
        dt_(problem.dt),
        begin_(problem.begin),
        steps_(problem.unit == Unit::loop ? problem.options.steps : 1),
        options_(problem.options),
        classical_(options_.runge_kutta == RungeKutta::classical),
        kernels_(*backend.compiler, options_),
        metric_(backend, metric_row<T>(n_, options_), "metric"),
        neighbours_(backend, neighbours(n_), "neighbours") {
    const std::vector<T> start = joined<T>(problem.start);
    states_.emplace_back(backend, start, "state");
    const int others = unit_ == Unit::rhs ? 1 : classical_ ? 3 : 2;
    // After an odd number of Horner steps the third array holds the state.
    const auto site = [&](int number) {
      return unit_ == Unit::rhs ? "result" : number == 2 && !classical_ ? "state" : "stages";
    };
    for (int i = 1; i <= others; ++i) states_.emplace_back(backend, state_count(n_), site(i));
    if (unit_ == Unit::rhs) return;
    keep_jump(problem.start.h);
    if (unit_ != Unit::loop) return;
    start_mass_ = mass_of(n_, start);
    if (options_.launch == Launch::persistent) {
      grid_barrier_.emplace(backend, 1, "grid barrier");
      device_.fill_zero(grid_barrier_->data(), grid_barrier_->bytes());
    }
    if (options_.diagnostics != Diagnostics::none) {
      mass_.emplace(backend, n_, steps_,
                    std::max(mass_shape(device_, n_).grid.x, persistent_shape().grid.x));
      enqueue_mass();
      after_mass(1);
    }
    if (options_.launch == Launch::graph_step) record(1);
    if (options_.launch == Launch::graph) record(steps_);
  }

  void step() override {
    if (unit_ == Unit::rhs) {
      launch_stage(arrays({0, -1, 1, -1, 1}, false));
      launch_project(states_[1]);
    } else if (unit_ == Unit::rk4_step) {
      enqueue_steps(1);
    } else if (options_.launch == Launch::persistent) {
      launch_loop();
    } else if (options_.launch == Launch::graph) {
      replay(steps_);
      after_mass(steps_);
    } else {
      for (int i = 0; i < steps_; ++i) {
        if (options_.launch == Launch::graph_step)
          replay(1);
        else
          enqueue_steps(1);
        after_mass(1);
      }
    }
  }

  void start_again(int input) override {
    swapped_ = false;
    states_[0].upload(joined<T>(begin_(input)));
  }

  std::vector<double> result() override {
    const Buffer<T>& answer = unit_ == Unit::rhs ? states_[1] : state();
    if (unit_ != Unit::rhs) launch_project(answer);
    const std::vector<T> values = answer.to_host();
    std::vector<double> result(values.begin(), values.end());
    for (const auto& [index, difference] : jump_) result[index] += difference;
    return result;
  }

  std::vector<NamedReading> readings() override {
    if (unit_ != Unit::loop || !device_.executes()) return {};
    return {{"mass_drift",
             mass_ ? mass_->drift() : mass_drift({start_mass_, mass_of(n_, state().to_host())})}};
  }

 private:
  Buffer<T>& state() { return states_[swapped_ ? 2 : 0]; }

  StageArrays<T> arrays(const Stage& stage, bool swapped) const {
    const auto array = [&](int number) {
      if (number < 0) return static_cast<T*>(nullptr);
      return states_[array_of(number, swapped)].data();
    };
    const double dx = std::numbers::pi / (2 * n_), dt = unit_ == Unit::rhs ? 1 : dt_;
    const auto slopes = [&](double part) {
      return Slopes<T>{T(-part * dt * mean_depth / dx), T(-part * dt * gravity / dx)};
    };
    return {array(stage.z),   array(stage.base),   array(stage.out),
            array(stage.sum), slopes(stage.slope), slopes(stage.share)};
  }

  void advance(int steps) {
    if (!classical_ && steps % 2 == 1) swapped_ = !swapped_;
  }

  void enqueue_steps(int steps) {
    for (int i = 0; i < steps; ++i) {
      for (const Stage& stage : (classical_ ? classical_stages : horner_stages))
        launch_stage(arrays(stage, swapped_));
      advance(1);
      if (mass_) enqueue_mass();
    }
  }

  // If steps swap arrays, an odd number of them needs a graph for either order.
  void record(int steps) {
    const int recordings = classical_ || steps % 2 == 0 ? 1 : 2;
    for (int i = 0; i < recordings; ++i)
      graphs_.push_back(device_.capture([&] { enqueue_steps(steps); }));
  }
  void replay(int steps) {
    device_.replay(graphs_[swapped_ && graphs_.size() == 2 ? 1 : 0]);
    advance(steps);
  }

  LaunchShape persistent_shape() const {
    const LaunchShape shape = tiles(n_);
    const Function& loop = kernels_.loop.function();
    const Architecture& arch = device_.architecture();
    const auto room = static_cast<unsigned>(
        arch.multiprocessors * occupancy(arch, loop.registers, loop.shared_bytes, stage_threads));
    return {.grid = {std::min(shape.grid.x * shape.grid.y * shape.grid.z, std::max(room, 1u))},
            .block = shape.block,
            .cooperative = true};
  }

  void launch_loop() {
    LoopStages<T> stages;
    for (int step = 0; step < 2; ++step)
      for (int k = 0; k < stages_per_step; ++k)
        stages.of_step[step][k] = arrays((classical_ ? classical_stages : horner_stages)[k],
                                         !classical_ && swapped_ == (step == 0));
    kernels_.loop(persistent_shape(), stages, metric_.data(), neighbours_.data(), n_, steps_,
                  mass_ ? mass_->history() : MassHistory{}, grid_barrier_->data());
    advance(steps_);
    after_mass(steps_);
  }

  void launch_stage(const StageArrays<T>& a) {
    const Scope scope("stage");
    kernels_.stage(tiles(n_), a.z, a.base, a.out, a.sum, metric_.data(), neighbours_.data(), n_,
                   a.slopes, a.shares);
  }

  void launch_project(const Buffer<T>& fields) {
    const Scope scope("project");
    kernels_.project(one_thread_per_border_point(n_), fields.data(), neighbours_.data(), n_);
  }

  void enqueue_mass() {
    const Scope scope("mass");
    kernels_.mass(mass_shape(device_, n_), state().data(), metric_.data(), mass_->history(), n_);
  }
  void after_mass(int masses) {
    if (!mass_) return;
    mass_->recorded(masses);
    if (options_.diagnostics == Diagnostics::host) mass_->read_newest();
  }

  // The tendency is continuous, so h - A h of the start never changes; states here hold A h alone.
  void keep_jump(const std::vector<double>& h) {
    const std::vector<double> continuous = project(n_, h);
    for (std::size_t i = 0; i < h.size(); ++i)
      if (h[i] != continuous[i]) jump_.emplace_back(i, h[i] - continuous[i]);
  }

  Device& device_;
  int n_;
  Unit unit_;
  double dt_;
  std::function<State(int)> begin_;
  int steps_;
  Options options_;
  bool classical_;
  OptimizedKernels<T> kernels_;
  Buffer<T> metric_;
  Buffer<std::int32_t> neighbours_;
  std::vector<Buffer<T>> states_ = {};
  bool swapped_ = false;            // the state is in the third array, not in the first
  std::vector<Graph> graphs_ = {};  // for either order of the arrays, or one for both
  std::optional<Buffer<unsigned>> grid_barrier_ = {};
  std::optional<MassLog> mass_ = {};
  double start_mass_ = 0;
  std::vector<std::pair<std::size_t, double>> jump_ = {};
};

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): a VariantFactory
std::unique_ptr<Computation> make_cuda_optimized(Backend& backend, Problem problem) {
  const bool single = problem.options.precision == Precision::f32;
  if (problem.unit == Unit::component)
    return single ? make_optimized_part<float>(backend, problem)
                  : make_optimized_part<double>(backend, problem);
  if (single) return std::make_unique<Optimized<float>>(backend, problem);
  return std::make_unique<Optimized<double>>(backend, problem);
}

}  // namespace holdfast::cubed_sphere_swe
