// SPDX-License-Identifier: Apache-2.0
// A row of the suite's table: one claim about one computation at one size.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "families/family.hpp"
#include "galaxy_shear/galaxy_shear.hpp"

namespace holdfast::galaxy_shear {

struct Row {
  const Family<Row>* family = nullptr;
  Tier tier = Tier::gate;
  Options options = {};
  Kinds only = {};       // devices it is restricted to; empty: all that can run it
  bool counted = false;  // small enough for its instructions to be counted
};

namespace families {
extern const Family<Row> render, render_grad, forward, svi_step, map;  // stepped.cpp
extern const Family<Row> scene_step, psf_table;                        // stepped.cpp
extern const Family<Row> vi_step, hmc_sample;                          // walks.cpp
extern const Family<Row> first_call, first_run, shape_change;          // protocols.cpp
extern const Family<Row> in_turn, memory;                              // protocols.cpp
}  // namespace families

Unit unit_of(const Row& row);
std::unique_ptr<Computation> make_unit(const Row& row, Backend& backend, Variant variant);
// Estimates the bytes held, by formula.
void estimate(const Row& row, Steps& steps);

// "galaxy_shear/<family>/fft:128/image:48/batch:1/psf:gaussian/../f64".
std::string named(const std::string& family, const Row& row,
                  const std::vector<holdfast::Axis>& axes = {});

}  // namespace holdfast::galaxy_shear
