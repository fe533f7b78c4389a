// SPDX-License-Identifier: Apache-2.0
// A row of the suite's table: one claim about one computation at one size.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cubed_sphere_swe/cubed_sphere_swe.hpp"
#include "harness/case/case.hpp"

namespace holdfast::cubed_sphere_swe {

enum class Family { rhs, rk4_step, loop, component, compile, memory, setup };

struct Row {
  Family family = Family::rhs;
  int n = 48;
  Tier tier = Tier::gate;
  Options options = {};
  Component component = {};            // of Family::component
  Family compiled = Family::rhs;       // of Family::compile: rhs, rk4_step or loop
  std::vector<std::string> only = {};  // kinds of devices it is confined to; empty: all that can
  bool large = false;                  // the host measures large grids too, with the reference
  bool ranks_components = false;       // of Family::rhs: with the share of each component
  bool counted = false;                // small enough for its instructions to be counted
};

// Grids from here on are large: a step of the dense reference takes the host a second.
inline constexpr int large_n = 384;

std::string id_of(const Row& row);
std::vector<std::string> devices_of(const Row& row);
bool has_reference(const Row& row);
std::vector<std::string> unreferenced(const Row& row);  // kinds of devices too slow for it

// What the row steps, on a backend and with a variant. Not for compile, memory and setup.
std::unique_ptr<Computation> make(const Row& row, Backend& backend, Variant variant);

// The case of a row that is stepped; of one that is a protocol.
Case stepped(const Row& row);
Case protocol(const Row& row);

}  // namespace holdfast::cubed_sphere_swe
