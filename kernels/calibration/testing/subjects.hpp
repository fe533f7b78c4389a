// SPDX-License-Identifier: Apache-2.0
// What is calibrated in tests: on the host, on the emulated device and on a real GPU.
#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <string>

#include "calibration/calibration.hpp"

namespace holdfast::calibration {

struct Subject {
  std::string name = {};
  Size size = {};
};
inline void PrintTo(const Subject& subject, std::ostream* stream) {
  *stream << subject.name;
}

// Of a device.
inline const Subject subjects[] = {
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

// A ceiling is this work over the time that a step takes. `chains` of multiply-adds end in each
// value of a result.
inline void expect_its_work(Calibration& calibration, const Size& size, int chains) {
  const double repeats = size.repeats, values = static_cast<double>(calibration.expected().size());
  const double edge = size.edge, moved = static_cast<double>(size.footprint_bytes) * repeats;
  const Work work = calibration.work();
  switch (size.kind) {
    case Kind::multiply_add:
      EXPECT_EQ(work.flops, 2 * chains * values * repeats);
      break;
    case Kind::exponentials:
      EXPECT_EQ(work.specials, values * repeats);
      break;
    case Kind::matrix_product:
      EXPECT_EQ(work.flops, 2 * edge * edge * edge * repeats);
      break;
    case Kind::split_products:  // of four tiles, four elements of depth 16; three make one
      EXPECT_DOUBLE_EQ(work.flops, 2. * 4 * 4 * 16 / 3 * values * repeats);
      break;
    case Kind::launches:
    case Kind::graph_nodes:
    case Kind::barriers:
      EXPECT_EQ(work.phases, repeats);
      break;
    default:
      EXPECT_NEAR(work.bytes, moved, 0.05 * moved);
  }
}

// Every step computes the expected result.
inline void expect_right(Backend& backend, const Subject& subject) {
  const auto calibration = make(backend, subject.size);
  for (int steps = 1; steps <= 2; ++steps) {
    calibration->step();
    EXPECT_NO_THROW(verify(*calibration, subject.name)) << "after " << steps << " steps";
  }
}

}  // namespace holdfast::calibration
