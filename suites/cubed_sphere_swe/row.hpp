// SPDX-License-Identifier: Apache-2.0
// A row of the suite's table: one claim about one computation at one size.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cubed_sphere_swe/cubed_sphere_swe.hpp"
#include "families/family.hpp"

namespace holdfast::cubed_sphere_swe {

struct Row {
  const Family<Row>* family = nullptr;
  int n = 48;
  Tier tier = Tier::gate;
  Options options = {};
  Component component = {};               // for families::component
  const Family<Row>* compiled = nullptr;  // for families::compile: rhs, rk4_step or loop
  Kinds only = {};                        // of devices; empty: all that can run it
  bool large = false;                     // the host measures large grids too, with the reference
  bool ranks_components = false;          // for families::rhs: reports each component's share
  bool counted = false;                   // instructions are counted, being few enough
};

namespace families {
extern const Family<Row> rhs, rk4_step, loop, component;  // stepped.cpp
extern const Family<Row> compile, memory, setup;          // protocols.cpp
}  // namespace families

// Grids from here on are large: a step of the dense reference takes the host a second.
inline constexpr int large_n = 384;

bool is_loop(const Row& row);
bool is_component(const Row& row, Component::Kind kind);
bool starts_at_rest(const Row& row);

// "cubed_sphere_swe/<family>/n:48/<axes>/f64".
std::string named(const std::string& family, const Row& row,
                  const std::vector<holdfast::Axis>& axes = {});

// Sites that each step of the row rewrites.
std::vector<std::string> rewritten(const Row& row, const Backend& backend, Variant variant);

// The kinds allowed by family, options and grid: the host has neither graphs nor a compiler.
Kinds tendencies_and_steps(const Row& row);  // including large grids: they measure speed
Kinds small_grids(const Row& row);

}  // namespace holdfast::cubed_sphere_swe
