// SPDX-License-Identifier: Apache-2.0
// Calibrations on a real GPU: they are right, in small and as large as a run asks for them.
#include "calibration/testing/subjects.hpp"
#include "testing/gpu_main.hpp"

namespace holdfast::calibration {
namespace {

const Subject large[] = {
    {"large_copy", {.kind = Kind::copy, .footprint_bytes = 1 << 30, .repeats = 2}},
    {"large_read", {.kind = Kind::read, .footprint_bytes = 1 << 30, .repeats = 2}},
    {"large_upload", {.kind = Kind::upload, .footprint_bytes = 1 << 26}},
    {"large_matrix_product_f64", {.kind = Kind::matrix_product, .edge = 2048}},
    {"large_matrix_product_bf16",
     {.kind = Kind::matrix_product, .precision = Precision::bf16, .edge = 2048}},
    {"many_barriers", {.kind = Kind::barriers, .repeats = 1000}},
};

class CalibrationOnGpu : public testing::TestWithParam<Subject> {};
INSTANTIATE_TEST_SUITE_P(Small, CalibrationOnGpu, testing::ValuesIn(subjects),
                         [](const auto& tested) { return tested.param.name; });
INSTANTIATE_TEST_SUITE_P(Large, CalibrationOnGpu, testing::ValuesIn(large),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(CalibrationOnGpu, ComputesWhatItMust) {
  expect_right(*open_backend("cuda"), GetParam());
}

}  // namespace
}  // namespace holdfast::calibration

int main(int argc, char** argv) {
  return holdfast::gpu_main(argc, argv);
}
