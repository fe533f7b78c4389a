// SPDX-License-Identifier: Apache-2.0
// What the protocols read, compared with what their metrics' names promise.
#include <gmock/gmock.h>

#include "base/testing/variable.hpp"
#include "galaxy_shear/row.hpp"
#include "harness/measure/measure.hpp"

namespace holdfast::galaxy_shear {
namespace {

#ifdef HOLDFAST_CUDA
constexpr const char* devices[] = {"host", "cuda-dry:sm_90"};
#else
constexpr const char* devices[] = {"host"};
#endif

Measurement measured(const Family<Row>& family) {
  const Row row = {.family = &family, .options = {.fft = 32, .image = 21, .steps = 3}};
  return measure(case_of(row), "host", {});
}

// 4.6 GB are published for one image.
TEST(GalaxyMemory, IsPutBesideThePublishedPeakAndItsFormula) {
  const Measurement found = measured(families::memory);
  ASSERT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_EQ(found.check, CheckStatus::passed);
  const auto &optimized = found.optimized.readings, &reference = found.reference.value().readings;
  for (const auto* told : {&optimized, &reference}) {
    EXPECT_EQ(told->at("rule_of_thumb_ratio"), told->at("peak_bytes") / 4.6e9);
    EXPECT_EQ(told->at("estimate_ratio"), 1);
    EXPECT_LE(told->at("bytes_in_use"), told->at("peak_bytes"));
    EXPECT_GT(told->at("bytes_in_use"), 0);
  }
  EXPECT_EQ(optimized.at("vs_seed_peak"), 4.6e9 / optimized.at("peak_bytes"));
  EXPECT_EQ(optimized.at("peak_over_optimized"),
            reference.at("peak_bytes") / optimized.at("peak_bytes"));
  EXPECT_GT(optimized.at("peak_over_optimized"), 1);
}

TEST(GalaxyMemory, InUseIsTheSameAfterEachStageOfAFit) {
  const Row row = {.family = &families::map, .options = {.fft = 32, .image = 21, .steps = 3}};
  for (const char* device : devices)
    for (const Variant variant : {Variant::optimized, Variant::reference}) {
      const auto backend = open_backend(device);
      const auto fit = make(row, *backend, variant);
      const std::int64_t held = backend->ledger.live_bytes;
      for (int stage = 0; stage < 2; ++stage) {
        fit->step();
        EXPECT_EQ(backend->ledger.live_bytes, held) << device;
        (void)fit->result();
        EXPECT_EQ(backend->ledger.live_bytes, held) << device;
      }
    }
}

TEST(GalaxyFirstRun, TellsWhichShareOfItASecondOneSaves) {
  const Measurement found = measured(families::first_run);
  ASSERT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_EQ(found.check, CheckStatus::passed);
  const auto& told = found.optimized.readings;
  const double first = told.at("first_run_s"), second = told.at("second_run_s");
  EXPECT_GT(first, 0);
  EXPECT_GT(second, 0);
  EXPECT_DOUBLE_EQ(told.at("jit_fraction"), (first - second) / first);
  EXPECT_EQ(told.at("second_run_programs"), 0);
}

#ifdef HOLDFAST_CUDA
// What a fit of graphs captures each time it is built.
double captures_of_a_second_run(Launch launch) {
  const Row row = {.family = &families::first_run,
                   .options = {.fft = 32, .image = 21, .steps = 23, .launch = launch}};
  const Measurement found = measure(case_of(row), "cuda-dry:sm_90", {});
  EXPECT_EQ(found.status, Measurement::Status::ok) << found.reason;
  return found.optimized.readings.at("second_run_captures");
}

TEST(GalaxyFirstRun, CountsTheGraphsThatASecondOneCaptures) {
  EXPECT_EQ(captures_of_a_second_run(Launch::host), 0);
  EXPECT_EQ(captures_of_a_second_run(Launch::graph), 2);
}

TEST(GalaxyFirstRun, CompilesItsProgramsWhateverTheCachesHold) {
  const Variable log_compiles("HOLDFAST_LOG_COMPILES", "1");
  testing::internal::CaptureStderr();
  for (int process = 0; process < 2; ++process) captures_of_a_second_run(Launch::host);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(testing::HasSubstr("holdfast: compiled "),
                             testing::Not(testing::HasSubstr(" from the cache"))));
}
#endif

}  // namespace
}  // namespace holdfast::galaxy_shear
