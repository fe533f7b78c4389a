// SPDX-License-Identifier: Apache-2.0
// The reference's fits on the host that go over their data part by part.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/error.hpp"
#include "xpcs_fit/reference/host_parts.hpp"
#include "xpcs_fit/strategies.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {
namespace {

// Large: all data are held. Chunked: each chunk is copied in its turn, and reported when it is
// done. The Jacobian covers one chunk. Streaming: every batch also has arrays of its own, and its
// sums are checked.
class PlainPartsFit final : public Computation {
 public:
  PlainPartsFit(Backend& backend, const Problem& problem, const StrategyOptions& options)
      : backend_(backend),
        problem_(problem),
        options_(options),
        points_(problem.input->size.points()),
        fit_(problem, options.passes),
        blas_(backend),
        planes_(backend, problem),
        data_(backend,
              options.source == DataSource::resident ? problem.input->data : std::vector<double>(),
              "inputs"),
        sums_(backend, normal_count(fit_.state().p), "sums"),
        out_(backend, static_cast<std::size_t>(fit_count(fit_.state().p)), "result") {
    if (options.strategy != Strategy::streaming)
      part_.emplace(Unit::fit, backend, problem, options.chunk);
  }

  void step() override {
    fit_.restart();
    int pass = 0;
    do evaluate(pass++);
    while (!fit_.take(sums_.data()));
    std::copy_n(fit_.state().at, out_.size(), out_.data());
  }
  std::vector<double> result() override {
    return fit_result({out_.data(), fit_.state().p}, freedom(problem_));
  }
  Permissions permissions() const override { return {.may_allocate = data_.size() == 0}; }

 private:
  void evaluate(int pass) {
    planes_.evaluate(fit_.trial());
    int chunk = 0;
    for (PointRange range; range.first < points_; range.first += options_.chunk, ++chunk) {
      range.count = std::min(options_.chunk, points_ - range.first);
      if (options_.strategy == Strategy::streaming) {
        add_batch(range);
        continue;
      }
      if (data_.size() > 0) {
        add(*part_, range, data_.data() + range.first);
      } else {
        const Buffer<double> brought = copied(range, "chunk");
        add(*part_, range, brought.data());
      }
      if (options_.told) options_.told(pass, chunk);
    }
  }
  void add_batch(PointRange range) {
    PlainPart<double> part(Unit::fit, backend_, problem_, range.count);
    const Buffer<double> data = copied(range, "batch");
    add(part, range, data.data());
    for (std::size_t k = 0; k < sums_.size(); ++k)
      if (!std::isfinite(sums_.data()[k]))
        throw Error(Fault::broken_rule,
                    text("the batch from point ", range.first, " is no number"));
  }
  void add(PlainPart<double>& part, PointRange range, const double* data) {
    part.evaluate_model(planes_, range);
    part.evaluate_sums(blas_, planes_, range, data, nullptr, range.first > 0, sums_.data());
  }
  Buffer<double> copied(PointRange range, const char* site) {
    return {
        backend_,
        std::span(problem_.input->data.data() + range.first, static_cast<std::size_t>(range.count)),
        site};
  }

  Backend& backend_;
  Problem problem_;
  StrategyOptions options_;
  std::int64_t points_;
  HostFit fit_;
  Blas blas_;
  PlainPlanes<double> planes_;
  Buffer<double> data_, sums_, out_;
  std::optional<PlainPart<double>> part_ = {};  // empty if each batch has its own
};

}  // namespace

std::unique_ptr<Computation> make_host_plain_fit(Backend& backend, const Problem& problem,
                                                 const StrategyOptions& options) {
  return std::make_unique<PlainPartsFit>(backend, problem, options);
}

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
