// SPDX-License-Identifier: Apache-2.0
// The optimized variant on the host. Against the reference: no plane, no Jacobian and no residual
// is stored, of which the reference of a laminar fit writes and reads 19 arrays; an exponential and
// a division per pair of frames, not per point; whole vectors, with a sine and a cosine of their
// own; sums over the angles of a pair of 15 products, not of 55.
#include <span>

#include "xpcs_fit/host/pass.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/variants.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {
namespace {

// g2 and residual: a value per point.
template <class T, bool residual>
class Values final : public Computation {
 public:
  Values(Backend& backend, const Problem& problem)
      : problem_(problem),
        size_(problem.input->size),
        threads_(threads_for(problem)),
        blocks_(block_count(size_.frames)),
        frames_(backend, problem.input->physics, size_.frames, problem.options.mode),
        data_(backend, residual ? converted(problem.input->data) : std::vector<T>(), "inputs"),
        out_(backend, static_cast<std::size_t>(size_.points()), "result"),
        costs_(backend, residual ? blocks_ : 0, "partial sums") {}

  void step() override {
    frames_.set(local(problem_.options, size_.angles, 0, problem_.input->box.start).data());
    angles_ = angles_at<T>(problem_, problem_.input->box.start);
    if (problem_.options.mode == Mode::at_rest)
      evaluate<Mode::at_rest>();
    else
      evaluate<Mode::laminar>();
    cost_ = 0;
    for (std::size_t block = 0; block < costs_.size(); ++block) cost_ += costs_.data()[block] / 2;
  }
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

  template <Mode mode>
  void evaluate() {
    const bool tame = is_tame(angles_, frames_.widest_shear());
    const int each = rows_per_block(size_.frames);
#pragma omp parallel for num_threads(threads_) schedule(dynamic)
    for (int block = 0; block < blocks_; ++block) {
      double cost = 0;
      for (int i = block * each; i < std::min((block + 1) * each, size_.frames); ++i) {
        Vector<T> row = {};
        int j = 0;
        if (tame)
          for (; j + Lanes<T>::count <= size_.frames; j += Lanes<T>::count)
            at<mode, false>(i, j, row);
        for (; j < size_.frames; j += Lanes<T>::count) at<mode, true>(i, j, row);
        cost += double{sum_of<T>(row)};
      }
      if (residual) costs_.data()[block] = cost;
    }
  }

  template <Mode mode, bool careful>
  void at(int i, int j, Vector<T>& cost) {
    const Pairs<T, mode> pairs(frames_, i, j);
    const int left = size_.frames - j;
    std::int64_t k = std::int64_t{i} * size_.frames + j;
    for (int a = 0; a < size_.angles; ++a, k += size_.plane()) {
      const Angle<T>& angle = angles_[a];
      Vector<T> m =
          angle.offset + angle.contrast * factors<T, mode, false, careful>(pairs, angle).g;
      if constexpr (careful) m = clipped<T>(m);
      if constexpr (residual) {
        m -= careful ? load_some(data_.data() + k, left) : load(data_.data() + k);
        if constexpr (careful) m *= first_lanes<T>(left);
        cost += m * m;
      }
      if constexpr (careful)
        store_some(out_.data() + k, m, left);
      else
        store(out_.data() + k, m);
    }
  }

  Problem problem_;
  Size size_;
  int threads_, blocks_;
  ScaledFrames<T> frames_;
  Buffer<T> data_, out_;
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
      : start_(problem.input->box.start),
        resident_(backend, problem),
        out_(backend, normal_count(parameter_count(problem.options, problem.input->size.angles)),
             "result") {}

  void step() override { resident_(start_, out_.data()); }
  std::vector<double> result() override { return out_.to_host(); }

 private:
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
