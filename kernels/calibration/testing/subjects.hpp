// SPDX-License-Identifier: Apache-2.0
// What is calibrated in tests, on the emulated device and on a real GPU.
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

// Every step computes the expected result, and reports its amount of work.
inline void expect_right(Backend& backend, const Subject& subject) {
  const auto calibration = make(backend, subject.size);
  for (int steps = 1; steps <= 2; ++steps) {
    calibration->step();
    EXPECT_NO_THROW(verify(*calibration, subject.name)) << "after " << steps << " steps";
  }
}

}  // namespace holdfast::calibration
