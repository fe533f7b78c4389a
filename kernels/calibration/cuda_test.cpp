// SPDX-License-Identifier: Apache-2.0
// The device's calibrations: what they compute, on the emulated device, and how they compile.
#include <gtest/gtest.h>

#include <string>

#include "calibration/calibration.hpp"
#include "calibration/formulas.hpp"
#include "runtime/base/error.hpp"

#include "calibration/emulated_kernels.hpp"

namespace holdfast::calibration {
namespace {

struct Subject {
  std::string name = {};
  Size size = {};
};
void PrintTo(const Subject& subject, std::ostream* stream) {
  *stream << subject.name;
}

const Subject subjects[] = {
    {"copy", {.kind = Kind::copy, .footprint_bytes = 1'000'000, .repeats = 3}},
    {"copy_of_less_than_a_quad_per_block", {.kind = Kind::copy, .footprint_bytes = 200}},
    {"memory_copy", {.kind = Kind::memory_copy, .footprint_bytes = 1'000'000, .repeats = 3}},
    {"read", {.kind = Kind::read, .footprint_bytes = 1'000'000, .repeats = 3}},
    {"upload", {.kind = Kind::upload, .footprint_bytes = 100'000, .repeats = 3}},
    {"multiply_add_f64", {.kind = Kind::multiply_add, .repeats = 7}},
    {"multiply_add_f32", {.kind = Kind::multiply_add, .precision = Precision::f32, .repeats = 7}},
    {"exponentials_f64", {.kind = Kind::exponentials, .repeats = 50}},
    {"exponentials_f32", {.kind = Kind::exponentials, .precision = Precision::f32, .repeats = 50}},
    {"matrix_product_f64", {.kind = Kind::matrix_product, .edge = 70}},
    {"matrix_product_f32", {.kind = Kind::matrix_product, .precision = Precision::f32, .edge = 70}},
    {"matrix_product_bf16",
     {.kind = Kind::matrix_product, .precision = Precision::bf16, .edge = 72}},
    {"split_products", {.kind = Kind::split_products, .repeats = 2}},
    {"launches", {.kind = Kind::launches, .repeats = 9}},
    {"graph_nodes", {.kind = Kind::graph_nodes, .repeats = 9}},
    {"barriers", {.kind = Kind::barriers, .repeats = 9}},
};

class DeviceCalibration : public testing::TestWithParam<Subject> {
 protected:
  std::unique_ptr<Backend> backend_ = make_emulated_backend(emulated_kernels());
};

INSTANTIATE_TEST_SUITE_P(All, DeviceCalibration, testing::ValuesIn(subjects),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(DeviceCalibration, ComputesWhatItMust) {
  const auto calibration = make(*backend_, GetParam().size);
  for (int i = 0; i < 2; ++i) calibration->step();
  EXPECT_NO_THROW(verify(*calibration, GetParam().name));
}

TEST_P(DeviceCalibration, IsWrongBeforeItsFirstStep) {
  const auto calibration = make(*backend_, GetParam().size);
  if (calibration->work().phases > 0) return;  // it counts, and none is right
  EXPECT_THROW(verify(*calibration, GetParam().name), Error);
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

TEST(SumOfWords, IsTheSumOfTheWords) {
  unsigned sum = 0;
  for (unsigned k = 0; k < 100'001; ++k) {
    EXPECT_EQ(sum_of_words(k), sum);
    sum += word(k);
  }
}

}  // namespace
}  // namespace holdfast::calibration
