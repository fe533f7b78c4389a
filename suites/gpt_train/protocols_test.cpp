// SPDX-License-Identifier: Apache-2.0
// What the protocols read, compared with the formulas that their metrics are named after.
#include <gtest/gtest.h>

#include <vector>

#include "gpt_train/problem/tensors.hpp"
#include "gpt_train/row.hpp"
#include "harness/measure/measure.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::gpt_train {
namespace {

#ifdef HOLDFAST_CUDA
TEST(GptLayoutBytes, AreNotReadAsNoneWhereCopiesWereMade) {
  for (const Family<Row>* family : {&families::attention_forward, &families::newton_schulz}) {
    Row row = {.family = family, .matrices = {128, 384, 2, Precision::bf16}};
    row.options.precision = Precision::bf16;
    const Steps steps = steps_of(row);
    const auto backend = open_backend("cuda-dry:sm_90");
    const std::vector<double> nothing;
    const std::vector<NamedReading> own = {{"layout_bytes", 0}};
    const Verified found = {.backend = *backend, .result = nothing, .own = own};
    EXPECT_NO_THROW((void)steps.read(found));
    backend->ledger.counts.copies = 1;
    EXPECT_THROW((void)steps.read(found), Error) << family->id(row);
  }
}
#endif

// Parameters, gradients and two moments of each, in single precision.
TEST(GptMemory, IsPutBesideFourNumbersOfEachParameterAndItsFormula) {
  Row row = {.family = &families::memory, .model = Model::micro};
  row.options.shape = shape_of(Model::micro);
  const Measurement found = measure(case_of(row), "host", {});
  ASSERT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_EQ(found.check, CheckStatus::passed);
  const double rule = 4. * 4 * static_cast<double>(parameter_count(row.options.shape));
  for (const Variant variant : {Variant::optimized, Variant::reference}) {
    const auto& told =
        (variant == Variant::optimized ? found.optimized : found.reference.value()).readings;
    EXPECT_EQ(told.at("rule_of_thumb_ratio"), told.at("peak_bytes") / rule);
    EXPECT_EQ(told.at("estimate_ratio"), 1);
  }
}

}  // namespace
}  // namespace holdfast::gpt_train
