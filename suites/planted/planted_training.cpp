// SPDX-License-Identifier: Apache-2.0
// Cases of gpt_train whose optimized variant is made worse as HOLDFAST_PLANT says: one more launch
// or copy in each step, a missing graph, steps skipped once they are timed; and a separate build of
// its host kernel in which one query of one tile sees the key after it.
#include <string>
#include <string_view>
#include <utility>

#include "gpt_train/device/model_kernels.hpp"
#include "gpt_train/gpt_train.hpp"
#include "gpt_train/row.hpp"
#include "planted/worse.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast {

namespace gpt_train::isa_planted {
std::unique_ptr<Computation> make_host_optimized(Backend& backend, Problem problem);
}

namespace {

using namespace gpt_train;
using planted::plant;

// A kernel of the model's own program, so that no other program is compiled.
class SumOfRows {
 public:
  explicit SumOfRows(Backend& backend)
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

std::unique_ptr<Computation> made(const Row& row, Backend& backend, Variant variant) {
  if (variant == Variant::reference || plant().empty()) return make(row, backend, variant);
  if (plant() == "mask")
    return backend.device ? make(row, backend, variant)
                          : isa_planted::make_host_optimized(backend, {unit_of(row), row.options});
  Row other = row;
  if (plant() == "no_graph") other.options.launch = Launch::host;
  const auto sum_of_rows = [&] {
    return [more = std::make_shared<SumOfRows>(backend)] { (*more)(); };
  };
  return std::make_unique<planted::Worse>(backend, make(other, backend, variant), sum_of_rows);
}

Case case_of(const Family<Row>& family, Model model, Precision precision, Launch launch) {
  const Row row = {.family = &family,
                   .model = model,
                   .options = {.shape = shape_of(model), .precision = precision, .launch = launch}};
  Case one = holdfast::case_of(row);
  one.id.replace(0, std::string_view("gpt_train").size(), "planted_training");
  one.derived = {};
  auto& steps = std::get<Steps>(one.recipe);
  steps.make = [row](Backend& backend, Variant variant) { return made(row, backend, variant); };
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
