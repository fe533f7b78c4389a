// SPDX-License-Identifier: Apache-2.0
// The optimized variant on the host. Against the reference: no plane, no Jacobian and no residual
// is stored (the reference of a laminar fit writes and reads 19 such arrays); an exponential and a
// division per pair of frames, not per point; whole vectors, with their own sine and cosine; over
// the angles of a pair, sums of 15 products, not of 55.
#include <omp.h>

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "xpcs_fit/host/pass.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/problem/starts.hpp"
#include "xpcs_fit/variants.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {
namespace {

// g2 and residual: a value per point.
template <class T, bool residual>
class Values final : public Computation {
 public:
  Values(Backend& backend, const Problem& problem)
      : problem_(problem),
        start_(start_of(problem, 0)),
        size_(problem.input->size),
        threads_(threads_for(problem)),
        blocks_(block_count(size_.frames)),
        frames_(backend, problem.input->physics, size_.frames, problem.options.mode),
        data_(backend, residual ? converted(problem.input->data) : std::vector<T>(), "inputs"),
        out_(backend, static_cast<std::size_t>(size_.points()), "result"),
        pairs_(backend, threads_ * pairs_of_block() * sizeof(Pairs<T, Mode::laminar>), "pairs"),
        costs_(backend, residual ? blocks_ : 0, "partial sums") {}

  void step() override {
    frames_.set(local(problem_.options, size_.angles, 0, start_).data());
    angles_ = angles_at<T>(problem_, start_);
    if (problem_.options.mode == Mode::at_rest)
      evaluate<Mode::at_rest>();
    else
      evaluate<Mode::laminar>();
    cost_ = 0;
    for (std::size_t block = 0; block < costs_.size(); ++block) cost_ += costs_.data()[block] / 2;
  }
  void start_again(int input) override { start_ = start_of(problem_, input); }
  std::vector<double> result() override {
    const std::vector<T> values = out_.to_host();
    std::vector<double> all(values.begin(), values.end());
    if (residual) all.insert(all.begin(), cost_);
    return all;
  }

 private:
  static std::vector<T> converted(const std::vector<double>& from) {
    return {from.begin(), from.end()};
  }

  // A block of rows: first the values its pairs share at all angles, then angle by angle, so that
  // memory is read in long pieces of one plane at a time.
  template <Mode mode>
  void evaluate() {
    const bool tame = is_tame(angles_, frames_.widest_shear());
    const int each = rows_per_block(size_.frames), n = size_.frames;
#pragma omp parallel num_threads(threads_)
    {
      static_assert(sizeof(Pairs<T, mode>) == sizeof(Pairs<T, Mode::laminar>));
      auto* const pairs = reinterpret_cast<Pairs<T, mode>*>(pairs_.data()) +
                          omp_get_thread_num() * pairs_of_block();
#pragma omp for schedule(dynamic)
      for (int block = 0; block < blocks_; ++block) {
        const int first = block * each, last = std::min(first + each, n);
        Pairs<T, mode>* end = pairs;
        for (int i = first; i < last; ++i)
          each_vector(i, [&](int j, auto, auto) { std::construct_at(end++, frames_, i, j); });
        double cost = 0;
        for (int a = 0; a < size_.angles; ++a) {
          const Pairs<T, mode>* next = pairs;
          for (int i = first; i < last; ++i)
            cost += tame ? row<mode, false>(i, a, next) : row<mode, true>(i, a, next);
        }
        if (residual) costs_.data()[block] = cost;
      }
    }
  }

  // An upper limit: per row, the vectors on cache lines, and one before and one behind them.
  std::size_t pairs_of_block() const {
    return static_cast<std::size_t>(rows_per_block(size_.frames)) *
           (size_.frames / Lanes<T>::count + 2);
  }

  // Which lanes of a vector count as points: all, some, or those of a row shorter than a vector.
  enum class Part { all, some, few };

  // Calls body(j, lanes that count, part) for row i: whole vectors on cache lines, and before and
  // behind them one that overlaps them.
  template <class Body>
  void each_vector(int i, const Body& body) const {
    constexpr int lanes = Lanes<T>::count;
    const int n = size_.frames;
    if (n < lanes) return body(0, first_lanes<T>(n), std::integral_constant<Part, Part::few>());
    const int first = static_cast<int>((lanes - std::int64_t{i} * n % lanes) % lanes);
    const int behind = (n - first) % lanes;
    constexpr std::integral_constant<Part, Part::some> some;
    if (first > 0) body(0, first_lanes<T>(first), some);
    for (int j = first; j + lanes <= n; j += lanes)
      body(j, Vector<T>{}, std::integral_constant<Part, Part::all>());
    if (behind > 0) body(n - lanes, T(1) - first_lanes<T>(lanes - behind), some);
  }

  // Row i of angle a; advances `pairs` by those of the row.
  template <Mode mode, bool careful>
  double row(int i, int a, const Pairs<T, mode>*& pairs) {
    constexpr int ahead = 2048 / sizeof(T);  // half a page, so its address is translated in time
    const Angle<T> angle = angles_[a];
    const int n = size_.frames;
    const std::int64_t begin = a * size_.plane() + std::int64_t{i} * n;
    const T* const data = residual ? data_.data() + begin : nullptr;
    T* const out = out_.data() + begin;
    Vector<T> cost = {};
    each_vector(i, [&](int j, [[maybe_unused]] Vector<T> counted, auto part) {
      __builtin_prefetch(out + j + ahead, 1);
      if constexpr (residual) __builtin_prefetch(data + j + ahead);
      Vector<T> m =
          angle.offset + angle.contrast * factors<T, mode, false, careful>(*pairs++, angle).g;
      if constexpr (careful) m = clipped<T>(m);
      if constexpr (residual) {
        m -= part() == Part::few ? load_some(data, n) : load(data + j);
        cost += part() == Part::all ? m * m : m * m * counted;
      }
      if constexpr (part() == Part::few)
        store_some(out, m, n);
      else
        store(out + j, m);
    });
    return double{sum_of<T>(cost)};
  }

  Problem problem_;
  std::vector<double> start_;
  Size size_;
  int threads_, blocks_;
  ScaledFrames<T> frames_;
  Buffer<T> data_, out_;
  Buffer<std::byte> pairs_;  // per block of rows, [threads]
  Buffer<double> costs_;
  std::vector<Angle<T>> angles_ = {};
  double cost_ = 0;
};

// Data, weights and a pass over them.
template <class T>
class Resident {
 public:
  Resident(Backend& backend, const Problem& problem)
      : plane_(problem.input->size.plane()),
        data_(backend, std::vector<T>(problem.input->data.begin(), problem.input->data.end()),
              "inputs"),
        weights_(backend,
                 problem.options.weights == Weights::array
                     ? std::vector<T>(problem.input->weights.begin(), problem.input->weights.end())
                     : std::vector<T>(),
                 "inputs: weights"),
        pass_(backend, problem) {}

  void operator()(const std::vector<double>& parameters, double* out) {
    pass_({.data = data_.data(),
           .weights = weights_.size() > 0 ? weights_.data() : nullptr,
           .angle_pitch = plane_},
          parameters, out);
  }

 private:
  std::int64_t plane_;
  Buffer<T> data_, weights_;
  Pass<T> pass_;
};

template <class T>
class Normal final : public Computation {
 public:
  Normal(Backend& backend, const Problem& problem)
      : problem_(problem),
        start_(start_of(problem, 0)),
        resident_(backend, problem),
        out_(backend, normal_count(parameter_count(problem.options, problem.input->size.angles)),
             "result") {}

  void step() override { resident_(start_, out_.data()); }
  void start_again(int input) override { start_ = start_of(problem_, input); }
  std::vector<double> result() override { return out_.to_host(); }

 private:
  Problem problem_;
  std::vector<double> start_;
  Resident<T> resident_;
  Buffer<double> out_;
};

template <class T>
class Fit final : public Computation {
 public:
  Fit(Backend& backend, const Problem& problem, int passes)
      : freedom_(freedom(problem)),
        resident_(backend, problem),
        fit_(problem, passes),
        normal_(backend, normal_count(fit_.state().p), "normal equations"),
        out_(backend, static_cast<std::size_t>(fit_count(fit_.state().p)), "result") {}

  void step() override {
    fit_.restart();
    do resident_(fit_.trial(), normal_.data());
    while (!fit_.take(normal_.data()));
    std::copy_n(fit_.state().at, out_.size(), out_.data());
  }
  std::vector<double> result() override {
    return fit_result({out_.data(), fit_.state().p}, freedom_);
  }

 private:
  double freedom_;
  Resident<T> resident_;
  HostFit fit_;
  Buffer<double> normal_, out_;
};

template <class T>
std::unique_ptr<Computation> made(Unit unit, Backend& backend, const Problem& problem) {
  switch (unit) {
    case Unit::g2:
      return std::make_unique<Values<T, false>>(backend, problem);
    case Unit::residual:
      return std::make_unique<Values<T, true>>(backend, problem);
    case Unit::normal_equations:
      return std::make_unique<Normal<T>>(backend, problem);
    case Unit::fit:
      return std::make_unique<Fit<T>>(backend, problem, accounted_passes);
    case Unit::converged_fit:
      break;
  }
  return std::make_unique<Fit<T>>(backend, problem, 0);
}

}  // namespace

std::unique_ptr<Computation> make_host_optimized(Unit unit, Backend& backend,
                                                 const Problem& problem) {
  return problem.options.precision == Precision::f32 ? made<float>(unit, backend, problem)
                                                     : made<double>(unit, backend, problem);
}

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
