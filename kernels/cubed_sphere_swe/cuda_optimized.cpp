// SPDX-License-Identifier: Apache-2.0
// The optimized variant on a device: one launch per Runge-Kutta stage (optimized.cu).
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "cubed_sphere_swe/device_code.hpp"
#include "cubed_sphere_swe/sources.hpp"
#include "cubed_sphere_swe/sphere.hpp"
#include "cubed_sphere_swe/variants.hpp"
#include "runtime/buffer.hpp"
#include "runtime/compiler.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

constexpr unsigned project_threads = 128;

constexpr unsigned blocks(int count, int each) {
  return static_cast<unsigned>((count + each - 1) / each);
}

template <class T>
Program program() {
  return {.code = sources::optimized_cu,
          .headers = {sources::formulas_hpp},
          .definitions = {text("TILE_ROWS=", tile_rows), text("TILE_COLUMNS=", tile_columns),
                          text("THREADS=", stage_threads)},
          .entries = {entry<T>("stage"), entry<T>("project")}};
}

// J Q11, J Q22, J Q12 and 1/J in a row: what `stage` reads.
template <class T>
std::vector<T> metric(int n, MetricSign q12) {
  const MetricTables tables = metric_tables(n, q12);
  std::vector<T> row;
  for (const auto* table : {&tables.jq11, &tables.jq22, &tables.jq12, &tables.inverse_j})
    row.insert(row.end(), table->begin(), table->end());
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
        steps_(problem.unit == Unit::loop ? problem.steps : 1),
        module_(backend.compiler->compile(program<T>())),
        stage_(module_.kernel<const T*, const T*, T*, const T*, const int*, int, T, T>(
            entry<T>("stage"))),
        project_(module_.kernel<T*, const int*, int>(entry<T>("project"))),
        metric_(backend, metric<T>(n_, problem.q12), "metric"),
        neighbours_(backend, neighbours(n_), "neighbours") {
    states_.emplace_back(backend, joined<T>(problem.start), "state");
    const int others = unit_ == Unit::rhs ? 1 : 2;
    for (int i = 0; i < others; ++i) states_.emplace_back(backend, state_count(n_), "stages");
    if (unit_ == Unit::rhs) return;
    keep_jump(problem.start.h);
    if (unit_ == Unit::loop && problem.launch == Launch::graph) record();
  }

  void step() override {
    if (unit_ == Unit::rhs) {
      launch_stage(states_[0], nullptr, states_[1], 1);
      launch_project(states_[1]);
    } else if (graphs_.empty()) {
      enqueue_steps();
    } else {
      device_.replay(graphs_[static_cast<std::size_t>(current_) % graphs_.size()]);
      if (steps_ % 2 == 1) current_ = 1 - current_;
    }
  }

  std::vector<double> result() override {
    const Buffer<T>& answer = unit_ == Unit::rhs ? states_[1] : state();
    if (unit_ != Unit::rhs) launch_project(answer);
    const std::vector<T> values = answer.to_host();
    std::vector<double> result(values.begin(), values.end());
    for (const auto& [index, difference] : jump_) result[index] += difference;
    return result;
  }

 private:
  Buffer<T>& state() { return states_[current_ == 0 ? 0 : 2]; }
  Buffer<T>& next_state() { return states_[current_ == 0 ? 2 : 0]; }

  // A step leaves its result in another buffer than it read, so an odd number of them needs a graph
  // for each.
  void record() {
    const int recordings = steps_ % 2 == 0 ? 1 : 2;
    for (int i = 0; i < recordings; ++i)
      graphs_.push_back(device_.capture([this] { enqueue_steps(); }));
  }

  // Horner form of the classical method for a linear, autonomous tendency.
  void enqueue_steps() {
    for (int i = 0; i < steps_; ++i) {
      const T* base = state().data();
      launch_stage(state(), base, states_[1], dt_ / 4);
      launch_stage(states_[1], base, next_state(), dt_ / 3);
      launch_stage(next_state(), base, states_[1], dt_ / 2);
      launch_stage(states_[1], base, next_state(), dt_);
      current_ = 1 - current_;
    }
  }

  // out = base + coefficient L z.
  void launch_stage(const Buffer<T>& z, const T* base, Buffer<T>& out, double coefficient) {
    const int m = n_ + 1;
    const double dx = std::numbers::pi / (2 * n_);
    stage_(
        {.grid = {blocks(m, tile_columns), blocks(m, tile_rows), panels}, .block = {stage_threads}},
        z.data(), base, out.data(), metric_.data(), neighbours_.data(), n_,
        T(-coefficient * mean_depth / dx), T(-coefficient * gravity / dx));
  }

  void launch_project(const Buffer<T>& fields) {
    const int border_points = 24 * (n_ + 1);
    project_({.grid = {blocks(border_points, project_threads)}, .block = {project_threads}},
             fields.data(), neighbours_.data(), n_);
  }

  // The tendency is continuous, so h - A h of the start stays as it is; states here carry A h
  // alone.
  void keep_jump(const std::vector<double>& h) {
    const std::vector<double> continuous = project(n_, h);
    for (std::size_t i = 0; i < h.size(); ++i)
      if (h[i] != continuous[i]) jump_.emplace_back(i, h[i] - continuous[i]);
  }

  Device& device_;
  int n_;
  Unit unit_;
  double dt_;
  int steps_;
  Module module_;
  Kernel<const T*, const T*, T*, const T*, const int*, int, T, T> stage_;
  Kernel<T*, const int*, int> project_;
  Buffer<T> metric_;
  Buffer<std::int32_t> neighbours_;
  std::vector<Buffer<T>> states_ = {};  // the state is in the first or the last
  int current_ = 0;                     // 0: the state is in the first
  std::vector<Graph> graphs_ = {};      // by `current_`; one alone where the step count is even
  std::vector<std::pair<std::size_t, double>> jump_ = {};
};

}  // namespace

std::unique_ptr<Computation> make_cuda_optimized(Backend& backend, Problem problem) {
  if (problem.precision == Precision::f32)
    return std::make_unique<Optimized<float>>(backend, problem);
  return std::make_unique<Optimized<double>>(backend, problem);
}

}  // namespace holdfast::cubed_sphere_swe
