// SPDX-License-Identifier: Apache-2.0
// The calibrations compute what they must, on each instruction set that this CPU has.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "calibration/testing/subjects.hpp"
#include "calibration/variants.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::calibration {
namespace {

// Footprints and repeats that are no powers of two.
const Subject host_subjects[] = {
    {"copy", {.kind = Kind::copy, .footprint_bytes = 100'000, .repeats = 3}},
    {"copy_past_the_caches",
     {.kind = Kind::copy, .footprint_bytes = 100'000, .repeats = 3, .streams = true}},
    {"triad", {.kind = Kind::triad, .footprint_bytes = 100'000, .repeats = 3}},
    {"read", {.kind = Kind::read, .footprint_bytes = 100'000, .repeats = 3}},
    {"multiply_add_f64", {.kind = Kind::multiply_add, .repeats = 1001}},
    {"multiply_add_f32",
     {.kind = Kind::multiply_add, .precision = Precision::f32, .repeats = 1001}},
    {"exponentials_f64", {.kind = Kind::exponentials, .repeats = 3}},
    {"exponentials_f32", {.kind = Kind::exponentials, .precision = Precision::f32, .repeats = 3}},
    {"matrix_product_f64", {.kind = Kind::matrix_product, .edge = 70}},
    {"matrix_product_f32", {.kind = Kind::matrix_product, .precision = Precision::f32, .edge = 70}},
    {"barriers", {.kind = Kind::barriers, .repeats = 7}},
};

std::unique_ptr<Calibration> make_v3(Backend& backend, const Size& size) {
  auto made = isa_v3::make_host_memory(backend, size);
  return made ? std::move(made) : isa_v3::make_host_arithmetic(backend, size);
}

class HostCalibration : public testing::TestWithParam<Subject> {
 protected:
  std::unique_ptr<Backend> backend_ = open_backend("host");
};

INSTANTIATE_TEST_SUITE_P(All, HostCalibration, testing::ValuesIn(host_subjects),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(HostCalibration, ComputesWhatItMust) {
  const auto calibration = make(*backend_, GetParam().size);
  for (int i = 0; i < 2; ++i) calibration->step();
  EXPECT_NO_THROW(verify(*calibration, GetParam().name));
}

TEST_P(HostCalibration, ComputesItWithTheLeastInstructionSetToo) {
  if (GetParam().size.kind == Kind::matrix_product) return;  // the library chooses its own variant
  const auto calibration = make_v3(*backend_, GetParam().size);
  for (int i = 0; i < 2; ++i) calibration->step();
  EXPECT_NO_THROW(verify(*calibration, GetParam().name));
}

TEST_P(HostCalibration, IsWrongBeforeItsFirstStep) {
  const auto calibration = make(*backend_, GetParam().size);
  if (calibration->work().phases > 0) return;  // it counts, and 0 is right
  EXPECT_THROW(verify(*calibration, GetParam().name), Error);
}

TEST_P(HostCalibration, StatesItsWork) {
  const Size& size = GetParam().size;
  expect_its_work(*make(*backend_, size), size, 1);
}

TEST(HostCalibrations, UseTheFootprintThatTheyAreGiven) {
  const auto backend = open_backend("host");
  for (const Kind kind : {Kind::copy, Kind::triad, Kind::read}) {
    const auto calibration = make(*backend, {.kind = kind, .footprint_bytes = 1'000'000});
    EXPECT_NEAR(calibration->work().bytes, 1e6, 4e3) << name(kind);
    EXPECT_NEAR(static_cast<double>(backend->ledger.live_bytes), 1e6, 4e3) << name(kind);
  }
}

TEST(HostCalibrations, AreBrokenWhereAResultEndsEarlyOrIsNoNumber) {
  struct Told : Calibration {
    explicit Told(std::vector<double> values) : told(std::move(values)) {}
    void step() override {}
    std::vector<double> result() override { return told; }
    std::vector<double> expected() const override { return {1, 2}; }
    Work work() const override { return {}; }
    std::vector<double> told;
  };
  Told right({1, 2}), short_of_one({1}), no_number({1, NAN});
  EXPECT_NO_THROW(verify(right, "toy"));
  EXPECT_THROW(verify(short_of_one, "toy"), Error);
  EXPECT_THROW(verify(no_number, "toy"), Error);
}

TEST(HostCalibrations, RefuseWhatOnlyADeviceHas) {
  const auto backend = open_backend("host");
  for (const Kind kind : {Kind::upload, Kind::launches, Kind::graph_nodes, Kind::memory_copy})
    EXPECT_THROW(make(*backend, {.kind = kind, .footprint_bytes = 4096}), Error) << name(kind);
}

}  // namespace
}  // namespace holdfast::calibration
