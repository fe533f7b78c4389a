// SPDX-License-Identifier: Apache-2.0
// Cases of gpt_train whose optimized variant is made worse as HOLDFAST_PLANT says: by one more
// launch or copy in each step, a graph that is none, steps that are left out once they are timed;
// and a build of its own host kernel in which one query of one tile sees the key behind it.
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gpt_train/device/model_kernels.hpp"
#include "gpt_train/gpt_train.hpp"
#include "gpt_train/row.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast {

namespace gpt_train::isa_planted {
std::unique_ptr<Computation> make_host_optimized(Backend& backend, Problem problem);
}

namespace {

using namespace gpt_train;

std::string_view plant() {
  const char* words = std::getenv("HOLDFAST_PLANT");
  return words ? words : "";
}

// A kernel of the model's own program, so that nothing else is compiled.
class OneMoreLaunch {
 public:
  explicit OneMoreLaunch(Backend& backend)
      : kernels_(*backend.compiler),
        from_(backend, columns, "planted"),
        to_(backend, columns, "planted") {}
  void operator()() {
    kernels_.sum_rows({.block = {columns}}, from_.data(), 1, columns, to_.data());
  }

 private:
  static constexpr int columns = 32;
  ModelKernels kernels_;
  Buffer<float> from_, to_;
};

class Worse final : public Computation {
 public:
  Worse(Backend& backend, std::unique_ptr<Computation> as_built)
      : backend_(backend), as_built_(std::move(as_built)) {
    if (plant() == "launch") more_.emplace(backend);
    if (plant() == "copy") read_back_.emplace(backend, 1, "read back");
  }
  void step() override {
    constexpr int looked_at = 40;  // more than are verified before the timed section
    ++steps_;
    if (plant() == "skips" && steps_ > looked_at && steps_ % 10 == 0) return;
    if (plant() == "idles" && steps_ > looked_at && steps_ % 2 == 0) return;
    as_built_->step();
    if (more_) (*more_)();
    if (read_back_) backend_.device->download(&number_, read_back_->data(), sizeof number_);
  }
  std::vector<double> result() override { return as_built_->result(); }
  std::vector<NamedReading> readings() override { return as_built_->readings(); }
  void start_again(int input) override { as_built_->start_again(input); }

 private:
  Backend& backend_;
  std::unique_ptr<Computation> as_built_;
  std::optional<OneMoreLaunch> more_ = {};
  std::optional<Buffer<double>> read_back_ = {};
  double number_ = 0;
  int steps_ = 0;
};

std::unique_ptr<Computation> planted(const Row& row, Backend& backend, Variant variant) {
  if (variant == Variant::reference || plant().empty()) return make(row, backend, variant);
  if (plant() == "mask")
    return backend.device ? make(row, backend, variant)
                          : isa_planted::make_host_optimized(backend, {unit_of(row), row.options});
  Row other = row;
  if (plant() == "no_graph") other.options.launch = Launch::host;
  return std::make_unique<Worse>(backend, make(other, backend, variant));
}

Case case_of(const Family<Row>& family, Model model, Precision precision, Launch launch) {
  const Row row = {.family = &family,
                   .model = model,
                   .options = {.shape = shape_of(model), .precision = precision, .launch = launch}};
  Case one = holdfast::case_of(row);
  one.id.replace(0, std::string_view("gpt_train").size(), "planted_training");
  one.derived = {};
  auto& steps = std::get<Steps>(one.recipe);
  steps.make = [row](Backend& backend, Variant variant) { return planted(row, backend, variant); };
  return one;
}

std::vector<Case> cases(const SuiteOptions&) {
  return {case_of(families::train_step, Model::tiny, Precision::bf16, Launch::graph),
          case_of(families::attention_forward, Model::tiny, Precision::f32, Launch::host),
          case_of(families::train_step, Model::micro, Precision::f64, Launch::host)};
}

}  // namespace

Suite suite() {
  return {.name = "planted_training", .cases = cases};
}

}  // namespace holdfast
