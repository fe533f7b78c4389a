// SPDX-License-Identifier: Apache-2.0
// The device's calibrations: what they compute, on the emulated device, and how they compile.
#include <gtest/gtest.h>

#include <string>

#include "calibration/calibration.hpp"
#include "calibration/formulas.hpp"
#include "calibration/testing/subjects.hpp"
#include "runtime/base/error.hpp"
#include "testing/failures_of.hpp"

#include "calibration/testing/emulated_kernels.hpp"

namespace holdfast::calibration {
namespace {

class DeviceCalibration : public testing::TestWithParam<Subject> {
 protected:
  std::unique_ptr<Backend> backend_ = make_emulated_backend(emulated_kernels());
};

INSTANTIATE_TEST_SUITE_P(All, DeviceCalibration, testing::ValuesIn(subjects),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(DeviceCalibration, ComputesWhatItMust) {
  expect_right(*backend_, GetParam());
}

TEST_P(DeviceCalibration, IsWrongBeforeItsFirstStep) {
  const auto calibration = make(*backend_, GetParam().size);
  if (calibration->work().phases > 0) return;  // it counts, and 0 is right
  EXPECT_THROW(verify(*calibration, GetParam().name), Error);
}

TEST_P(DeviceCalibration, StatesItsWork) {
  const Size& size = GetParam().size;
  expect_its_work(*make(*backend_, size), size, device_chains);
}

TEST(DeviceCalibrations, ThatLoseTheirLastValuesAreTold) {
  EmulatedKernels kernels;
  const Kernels listed;
  kernels.add(listed.fill, &on_cpu::fill);
  kernels.add(listed.count_right, &on_cpu::count_right);
  kernels.add(listed.copy, [](const unsigned* from, unsigned* to, int quads, int passes) {
    on_cpu::copy(from, to, quads - 1, passes);
  });
  const auto backend = make_emulated_backend(std::move(kernels));
  const std::string told = failures_of([&] { expect_right(*backend, subjects[0]); });
  EXPECT_THAT(told, testing::HasSubstr("after 1 steps"));
  EXPECT_THAT(told, testing::HasSubstr("after 2 steps")) << "it goes on";
  EXPECT_THROW(make_verified(*backend, subjects[0].size), Error);
}

TEST(DeviceCalibrations, RefuseWhatOnlyAHostHas) {
  const auto backend = open_backend("cuda-dry:sm_90");
  EXPECT_THROW(make(*backend, {.kind = Kind::triad, .footprint_bytes = 4096}), Error);
}

// A kernel that fills a multiprocessor must not wait for a second wave of blocks.
TEST(DeviceCalibrations, CompileWithoutSpillsAndFillEveryArchitecture) {
  for (const char* name : {"cuda-dry:sm_80", "cuda-dry:sm_90", "cuda-dry:sm_100"}) {
    const auto backend = open_backend(name);
    make(*backend, {.kind = Kind::barriers, .repeats = 2})->step();
    ASSERT_EQ(backend->compiler->programs().size(), 1u);
    for (const Function& function : backend->compiler->programs().front()->functions) {
      EXPECT_EQ(function.spill_bytes, 0) << name << " " << function.expression;
      EXPECT_GE(occupancy(backend->device->architecture(), function.registers,
                          function.shared_bytes, threads_per_block),
                blocks_per_multiprocessor)
          << name << " " << function.expression;
    }
  }
}

TEST(DeviceCalibrations, AreOneProgramForAll) {
  const auto backend = open_backend("cuda-dry:sm_90");
  for (const Subject& subject : subjects) make(*backend, subject.size)->step();
  EXPECT_EQ(backend->ledger.counts.programs, 1);
}

TEST(DeviceCalibrations, CountWhatTheyLaunch) {
  const auto backend = open_backend("cuda-dry:sm_90");
  const auto launches = make(*backend, {.kind = Kind::launches, .repeats = 100});
  const auto nodes = make(*backend, {.kind = Kind::graph_nodes, .repeats = 100});
  const Counts before = backend->ledger.counts;
  launches->step();
  nodes->step();
  const Counts step = backend->ledger.counts - before;
  EXPECT_EQ(step.launches, 200);
  EXPECT_EQ(step.graph_nodes, 100);
}

TEST(DeviceCalibrations, CountWhatTheyMoveAndMultiply) {
  const auto counts = [](const Size& size) {
    const auto backend = open_backend("cuda-dry:sm_90");
    const auto calibration = make(*backend, size);
    const Counts before = backend->ledger.counts;
    calibration->step();
    return backend->ledger.counts - before;
  };
  const auto repeated = [](Kind kind) {
    return Size{.kind = kind, .footprint_bytes = 4096, .edge = 8, .repeats = 3};
  };
  EXPECT_EQ(counts(repeated(Kind::upload)).h2d_bytes, 3 * 4096);
  EXPECT_EQ(counts(repeated(Kind::memory_copy)).copies, 3);
  EXPECT_EQ(counts(repeated(Kind::matrix_product)).library_calls, 3);
}

TEST(SumOfWords, IsTheSumOfTheWords) {
  unsigned sum = 0;
  for (unsigned k = 0; k < 100'001; ++k) {
    EXPECT_EQ(sum_of_words(k), sum);
    sum += word(k);
  }
}

}  // namespace
}  // namespace holdfast::calibration
