// SPDX-License-Identifier: Apache-2.0
// The reference on a device, and the patterns around it.
#include "xpcs_fit/data/data.hpp"
#include "xpcs_fit/patterns.hpp"
#include "xpcs_fit/reference/cuda_plain.hpp"
#include "xpcs_fit/variants.hpp"

namespace holdfast::xpcs_fit {
namespace {

// A call, a wait and a copy for each angle.
class PlainAngleLoop final : public Computation {
 public:
  PlainAngleLoop(Backend& backend, const Problem& problem)
      : device_(*backend.device),
        angles_(problem.input->angles),
        plane_(problem.input->size.plane()),
        one_(Unit::g2, backend, of_one_angle(problem)),
        stack_(backend, static_cast<std::size_t>(problem.input->size.points()), "result") {}

  void step() override {
    double* to = stack_.data();
    for (const double angle : angles_) {
      one_.aim(angle);
      one_.evaluate();
      device_.synchronize();
      device_.copy(to, one_.model(), static_cast<std::size_t>(plane_) * sizeof *to);
      to += plane_;
    }
  }
  std::vector<double> result() override { return stack_.to_host(); }

 private:
  Device& device_;
  std::vector<double> angles_;
  std::int64_t plane_;
  Plain<double> one_;
  Buffer<double> stack_;
};

class PlainCosts final : public Computation {
 public:
  PlainCosts(int count, Backend& backend, const Problem& problem)
      : count_(count),
        sets_(parameter_sets(count, problem.options, problem.input->size.angles)),
        plain_(Unit::residual, backend, problem) {}

  void step() override {
    costs_.clear();
    const std::size_t p = sets_.size() / count_;
    for (std::size_t set = 0; set < sets_.size(); set += p) {
      plain_.set({sets_.data() + set, sets_.data() + set + p});
      plain_.evaluate();
      costs_.push_back(plain_.sums().front());
    }
  }
  std::vector<double> result() override { return costs_; }

 private:
  int count_;
  std::vector<double> sets_;
  Plain<double> plain_;
  std::vector<double> costs_ = {};
};

// Computes a whole model for each chunk and keeps only the chunk.
class PlainChunks final : public Computation {
 public:
  PlainChunks(int count, Backend& backend, const Problem& problem)
      : device_(*backend.device),
        count_(count),
        plain_(Unit::g2, backend, problem),
        out_(backend, static_cast<std::size_t>(problem.input->size.points()), "result") {}

  void step() override {
    const auto n = static_cast<std::int64_t>(out_.size());
    for (int chunk = 0; chunk < count_; ++chunk) {
      plain_.evaluate();
      const std::int64_t first = n * chunk / count_, last = n * (chunk + 1) / count_;
      device_.copy(out_.data() + first, plain_.model() + first,
                   static_cast<std::size_t>(last - first) * sizeof(double));
    }
  }
  std::vector<double> result() override { return out_.to_host(); }

 private:
  Device& device_;
  int count_;
  Plain<double> plain_;
  Buffer<double> out_;
};

// Copies there and back in each turn.
class PlainRoundTrip final : public Computation {
 public:
  PlainRoundTrip(int count, Backend& backend, const Problem& problem)
      : count_(count),
        home_(data_or_zeros(problem)),
        first_(home_),
        kernels_(*backend.compiler),
        model_(backend, backend.executes() ? start_model(problem) : home_, "inputs: model"),
        there_(backend, home_.size(), "result") {}

  void step() override {
    home_ = first_;
    const auto n = static_cast<std::int64_t>(home_.size());
    for (int turn = 0; turn < count_; ++turn) {
      there_.upload(home_);
      kernels_.relax(one_thread_each(n), model_.data(), relaxation, n, there_.data());
      home_ = there_.to_host();
    }
  }
  std::vector<double> result() override { return home_; }

 private:
  int count_;
  std::vector<double> home_, first_;
  ReferencePatternKernels kernels_;
  Buffer<double> model_, there_;
};

// Copies there and back once; the turns between are compiled in.
class PlainTurns final : public Computation {
 public:
  PlainTurns(int count, Backend& backend, const Problem& problem)
      : home_(data_or_zeros(problem)),
        first_(home_),
        kernels_(*backend.compiler, count),
        model_(backend, backend.executes() ? start_model(problem) : home_, "inputs: model"),
        there_(backend, home_.size(), "result") {}

  void step() override {
    const auto n = static_cast<std::int64_t>(home_.size());
    there_.upload(first_);
    kernels_.turns(one_thread_each(n), model_.data(), relaxation, n, there_.data());
    home_ = there_.to_host();
  }
  std::vector<double> result() override { return home_; }

 private:
  std::vector<double> home_, first_;
  TurnKernels kernels_;
  Buffer<double> model_, there_;
};

}  // namespace

std::unique_ptr<Computation> make_cuda_reference(Unit unit, Backend& backend,
                                                 const Problem& problem) {
  if (problem.options.precision == Precision::f32)
    return std::make_unique<Plain<float>>(unit, backend, problem);
  return std::make_unique<Plain<double>>(unit, backend, problem);
}

std::unique_ptr<Computation> make_cuda_reference_pattern(Pattern pattern, int count,
                                                         Backend& backend, const Problem& problem) {
  switch (pattern) {
    case Pattern::angle_loop:
      return std::make_unique<PlainAngleLoop>(backend, problem);
    case Pattern::costs:
      return std::make_unique<PlainCosts>(count, backend, problem);
    case Pattern::chunks:
      return std::make_unique<PlainChunks>(count, backend, problem);
    case Pattern::turns:
      return std::make_unique<PlainTurns>(count, backend, problem);
    case Pattern::round_trip:
      break;
  }
  return std::make_unique<PlainRoundTrip>(count, backend, problem);
}

}  // namespace holdfast::xpcs_fit
