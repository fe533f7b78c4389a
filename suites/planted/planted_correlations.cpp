// SPDX-License-Identifier: Apache-2.0
// Three cases of xpcs_fit whose optimized variant is made worse as HOLDFAST_PLANT says: by one more
// launch or copy in each step, a graph that is none, steps that are left out once they are timed;
// and a build of its own host code in which one angle's phase is wrong.
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/backend/buffer.hpp"
#include "xpcs_fit/row.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast {

namespace xpcs_fit::isa_planted {
std::unique_ptr<Computation> make_host_optimized(Unit unit, Backend& backend,
                                                 const Problem& problem);
}

namespace {

using namespace xpcs_fit;

std::string_view plant() {
  const char* words = std::getenv("HOLDFAST_PLANT");
  return words ? words : "";
}

class Worse final : public Computation {
 public:
  Worse(const Row& row, Backend& backend, std::unique_ptr<Computation> as_built)
      : backend_(backend), as_built_(std::move(as_built)) {
    if (plant() == "launch")
      more_ = make(Pattern::chunks, 1, backend, Variant::optimized,
                   problem_of(row, backend.executes()));
    if (plant() == "copy") read_back_.emplace(backend, 1, "read back");
  }
  void step() override {
    constexpr int looked_at = 40;  // more than are verified before the timed section
    ++steps_;
    if (plant() == "skips" && steps_ > looked_at && steps_ % 2 == 0) return;
    as_built_->step();
    if (more_) more_->step();
    if (read_back_) backend_.device->download(&number_, read_back_->data(), sizeof number_);
  }
  std::vector<double> result() override { return as_built_->result(); }
  std::vector<NamedReading> readings() override { return as_built_->readings(); }
  Permissions permissions() const override { return as_built_->permissions(); }

 private:
  Backend& backend_;
  std::unique_ptr<Computation> as_built_, more_ = {};
  std::optional<Buffer<double>> read_back_ = {};
  double number_ = 0;
  int steps_ = 0;
};

std::unique_ptr<Computation> planted(const Row& row, Unit unit, Backend& backend, Variant variant) {
  if (variant == Variant::reference || plant().empty()) return make(row, backend, variant);
  if (plant() == "phase" && !backend.device)
    return isa_planted::make_host_optimized(unit, backend, problem_of(row, true));
  Row other = row;
  if (plant() == "no_graph" && unit == Unit::fit) other.strategy = Strategy::chunked;
  return std::make_unique<Worse>(row, backend, make(other, backend, variant));
}

Case case_of(const Family<Row>& family, Unit unit) {
  const Row row = {.family = &family, .tier = Tier::gate};
  Case one = holdfast::case_of(row);
  one.id.replace(0, std::string_view("xpcs_fit").size(), "planted_correlations");
  one.derived = {};
  auto& steps = std::get<Steps>(one.recipe);
  steps.make = [=](Backend& backend, Variant variant) {
    return planted(row, unit, backend, variant);
  };
  steps.oracle.golden = {};  // of another problem, which is not planted
  return one;
}

std::vector<Case> cases(const SuiteOptions&) {
  return {case_of(families::g2, Unit::g2),
          case_of(families::normal_equations, Unit::normal_equations),
          case_of(families::fit, Unit::fit)};
}

}  // namespace

Suite suite() {
  return {.name = "planted_correlations", .cases = cases};
}

}  // namespace holdfast
