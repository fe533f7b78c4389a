// SPDX-License-Identifier: Apache-2.0
// The reference's fits on a device that go over their data part by part.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "runtime/base/error.hpp"
#include "xpcs_fit/data/held.hpp"
#include "xpcs_fit/reference/cuda_parts.hpp"
#include "xpcs_fit/strategies.hpp"

namespace holdfast::xpcs_fit {
namespace {

// The programs for whole parts and for the last one if it is shorter: each length is a shape of its
// own.
class PartPrograms {
 public:
  PartPrograms(Backend& backend, const Problem& problem, std::int64_t each)
      : each_(each),
        points_(problem.input->size.points()),
        whole_(*backend.compiler, Unit::fit, problem, each) {
    if (points_ % each != 0) tail_.emplace(*backend.compiler, Unit::fit, problem, points_ % each);
  }

  int count() const { return static_cast<int>((points_ + each_ - 1) / each_); }
  PointRange range(int part) const {
    const std::int64_t first = part * each_;
    return {first, std::min(each_, points_ - first)};
  }
  const ReferenceKernels<double>& of(PointRange range) const {
    return range.count == each_ ? whole_ : *tail_;
  }
  const ReferenceKernels<double>& any() const { return whole_; }

 private:
  std::int64_t each_, points_;
  ReferenceKernels<double> whole_;
  std::optional<ReferenceKernels<double>> tail_ = {};
};

// Large: all data lie on the device. Chunked: each chunk is copied in its turn, and reported when
// it is done. The Jacobian covers one chunk.
class PlainChunkedFit final : public Computation {
 public:
  PlainChunkedFit(Backend& backend, const Problem& problem, const StrategyOptions& options)
      : device_(*backend.device),
        problem_(problem),
        told_(options.told),
        resident_(options.source == DataSource::resident),
        fit_(problem, options.passes),
        programs_(backend, problem, options.chunk),
        planes_(backend, problem),
        part_(Unit::fit, backend, problem, options.chunk),
        blas_(backend),
        data_(backend,
              static_cast<std::size_t>(resident_ ? problem.input->size.points() : options.chunk),
              resident_ ? "inputs" : "chunk"),
        sums_(backend, normal_count(fit_.state().p), "result") {
    if (resident_) bring({.count = problem.input->size.points()});
  }

  void step() override {
    fit_.restart();
    int pass = 0;
    do evaluate(pass++);
    while (!fit_.take(read_sums().data()));
  }
  std::vector<double> result() override { return fit_result(fit_.state(), freedom(problem_)); }

 private:
  void evaluate(int pass) {
    planes_.set(fit_.trial());
    planes_.evaluate(programs_.any());
    for (int chunk = 0; chunk < programs_.count(); ++chunk) {
      const PointRange range = programs_.range(chunk);
      if (!resident_) bring(range);
      part_.evaluate_model(programs_.of(range), planes_, range);
      part_.evaluate_sums(programs_.of(range), blas_, planes_, range,
                          data_.data() + (resident_ ? range.first : 0), nullptr, chunk > 0,
                          sums_.data());
      if (!told_) continue;
      device_.synchronize();
      told_(pass, chunk);
    }
  }
  void bring(PointRange range) {
    xpcs_fit::bring(device_, *problem_.input, range.first, range.count, data_.data());
  }
  std::vector<double> read_sums() const {
    std::vector<double> all = sums_.to_host();
    all[0] /= 2;
    return all;
  }

  Device& device_;
  Problem problem_;
  std::function<void(int, int)> told_;
  bool resident_;
  HostFit fit_;
  PartPrograms programs_;
  PlainPlanes<double> planes_;
  PlainPart<double> part_;
  Blas blas_;
  Buffer<double> data_, sums_;
};

// Every batch has arrays of its own, and its sums are looked at and added up on the host.
class PlainStreamedFit final : public Computation {
 public:
  PlainStreamedFit(Backend& backend, const Problem& problem, const StrategyOptions& options)
      : backend_(backend),
        problem_(problem),
        fit_(problem, options.passes),
        programs_(backend, problem, options.chunk),
        planes_(backend, problem),
        blas_(backend),
        normal_(normal_count(fit_.state().p)) {}

  void step() override {
    fit_.restart();
    do evaluate();
    while (!fit_.take(normal_.data()));
  }
  std::vector<double> result() override { return fit_result(fit_.state(), freedom(problem_)); }
  Permissions permissions() const override { return {.may_allocate = true}; }

 private:
  void evaluate() {
    planes_.set(fit_.trial());
    planes_.evaluate(programs_.any());
    std::fill(normal_.begin(), normal_.end(), 0.);
    for (int batch = 0; batch < programs_.count(); ++batch) {
      const PointRange range = programs_.range(batch);
      const auto count = static_cast<std::size_t>(range.count);
      const PlainPart<double> part(Unit::fit, backend_, problem_, range.count);
      const Buffer<double> data(backend_, count, "batch");
      bring(*backend_.device, *problem_.input, range.first, range.count, data.data());
      const Buffer<double> sums(backend_, normal_.size(), "batch");
      part.evaluate_model(programs_.of(range), planes_, range);
      part.evaluate_sums(programs_.of(range), blas_, planes_, range, data.data(), nullptr, false,
                         sums.data());
      add(batch, sums.to_host());
    }
    normal_[0] /= 2;
  }
  void add(int batch, const std::vector<double>& sums) {
    for (std::size_t k = 0; k < sums.size(); ++k) {
      if (!std::isfinite(sums[k]))
        throw Error(Fault::broken_rule, text("batch ", batch, " of a stream is no number"));
      normal_[k] += sums[k];
    }
  }

  Backend& backend_;
  Problem problem_;
  HostFit fit_;
  PartPrograms programs_;
  PlainPlanes<double> planes_;
  Blas blas_;
  std::vector<double> normal_;
};

}  // namespace

std::unique_ptr<Computation> make_cuda_plain_fit(Backend& backend, const Problem& problem,
                                                 const StrategyOptions& options) {
  if (options.strategy == Strategy::streaming)
    return std::make_unique<PlainStreamedFit>(backend, problem, options);
  return std::make_unique<PlainChunkedFit>(backend, problem, options);
}

}  // namespace holdfast::xpcs_fit
