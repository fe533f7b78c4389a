// SPDX-License-Identifier: Apache-2.0
// The reference on the host, and the patterns around it.
#include <algorithm>

#include "xpcs_fit/data/data.hpp"
#include "xpcs_fit/patterns.hpp"
#include "xpcs_fit/reference/host_columns.hpp"
#include "xpcs_fit/reference/host_plain.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {
namespace {

class PlainAngleLoop final : public Computation {
 public:
  PlainAngleLoop(Backend& backend, const Problem& problem)
      : angles_(problem.input->angles),
        plane_(problem.input->size.plane()),
        start_(problem.input->box.start),
        one_(Unit::g2, backend, of_one_angle(problem)),
        stack_(backend, static_cast<std::size_t>(problem.input->size.points()), "result") {}

  void step() override {
    double* to = stack_.data();
    for (const double angle : angles_) {
      one_.aim(angle);
      one_.evaluate(start_);
      to = std::copy_n(one_.model(), plane_, to);
    }
  }
  std::vector<double> result() override { return stack_.to_host(); }

 private:
  std::vector<double> angles_;
  std::int64_t plane_;
  std::vector<double> start_;
  Plain<double> one_;
  Buffer<double> stack_;
};

class PlainCosts final : public Computation {
 public:
  PlainCosts(int count, Backend& backend, const Problem& problem)
      : sets_(parameter_sets(count, problem.options, problem.input->size.angles)),
        p_(sets_.size() / count),
        plain_(Unit::residual, backend, problem),
        out_(backend, static_cast<std::size_t>(count), "result") {}

  void step() override {
    for (std::size_t set = 0; set < out_.size(); ++set) {
      const double* const first = sets_.data() + set * p_;
      plain_.evaluate({first, first + p_});
      out_.data()[set] = plain_.cost();
    }
  }
  std::vector<double> result() override { return out_.to_host(); }

 private:
  std::vector<double> sets_;
  std::size_t p_;
  Plain<double> plain_;
  Buffer<double> out_;
};

// Computes a whole model for each chunk and keeps only the chunk.
class PlainChunks final : public Computation {
 public:
  PlainChunks(int count, Backend& backend, const Problem& problem)
      : count_(count),
        start_(problem.input->box.start),
        plain_(Unit::g2, backend, problem),
        out_(backend, static_cast<std::size_t>(problem.input->size.points()), "result") {}

  void step() override {
    const auto n = static_cast<std::int64_t>(out_.size());
    for (int chunk = 0; chunk < count_; ++chunk) {
      plain_.evaluate(start_);
      const std::int64_t first = n * chunk / count_, last = n * (chunk + 1) / count_;
      std::copy(plain_.model() + first, plain_.model() + last, out_.data() + first);
    }
  }
  std::vector<double> result() override { return out_.to_host(); }

 private:
  int count_;
  std::vector<double> start_;
  Plain<double> plain_;
  Buffer<double> out_;
};

// Copies there and back in each turn; each operation makes a new array.
class PlainRoundTrip final : public Computation {
 public:
  PlainRoundTrip(int count, Backend& backend, const Problem& problem)
      : count_(count),
        data_(backend, problem.input->data, "inputs"),
        model_(backend, start_model(problem), "inputs: model"),
        home_(backend, data_.size(), "result"),
        there_(backend, data_.size(), "there"),
        difference_(backend, data_.size(), "difference") {}

  void step() override {
    const std::size_t n = home_.size();
    std::copy_n(data_.data(), n, home_.data());
    for (int turn = 0; turn < count_; ++turn) {
      std::copy_n(home_.data(), n, there_.data());
      each([this](std::int64_t k) { difference_.data()[k] = there_.data()[k] - model_.data()[k]; });
      each([this](std::int64_t k) { difference_.data()[k] *= relaxation; });
      each([this](std::int64_t k) { there_.data()[k] -= difference_.data()[k]; });
      std::copy_n(there_.data(), n, home_.data());
    }
  }
  std::vector<double> result() override { return home_.to_host(); }

 private:
  template <class Do>
  void each(const Do& act) {
    const auto n = static_cast<std::int64_t>(home_.size());
#pragma omp parallel for num_threads(host_limits().threads)
    for (std::int64_t k = 0; k < n; ++k) act(k);
  }

  int count_;
  Buffer<double> data_, model_, home_, there_, difference_;
};

}  // namespace

std::unique_ptr<Computation> make_host_reference(Unit unit, Backend& backend,
                                                 const Problem& problem) {
  if (problem.options.precision == Precision::f32)
    return std::make_unique<Plain<float>>(unit, backend, problem);
  return std::make_unique<Plain<double>>(unit, backend, problem);
}

std::unique_ptr<Computation> make_host_reference_pattern(Pattern pattern, int count,
                                                         Backend& backend, const Problem& problem) {
  switch (pattern) {
    case Pattern::angle_loop:
      return std::make_unique<PlainAngleLoop>(backend, problem);
    case Pattern::costs:
      return std::make_unique<PlainCosts>(count, backend, problem);
    case Pattern::chunks:
      return std::make_unique<PlainChunks>(count, backend, problem);
    case Pattern::turns:
    case Pattern::round_trip:
      break;
  }
  return std::make_unique<PlainRoundTrip>(count, backend, problem);
}

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
