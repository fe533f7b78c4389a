// SPDX-License-Identifier: Apache-2.0
// A row of the suite's table: one claim about one computation on one input.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clusterless_kde/clusterless_kde.hpp"
#include "clusterless_kde/data/data.hpp"
#include "harness/case/case.hpp"

namespace holdfast::clusterless_kde {

enum class Family {
  encode,
  decode,
  total,
  local,
  strategy,      // each algorithm against the linear one
  features,      // how the number of features and the form of the mark distance tell
  tune,          // one knob of the optimized variant
  grid,          // how the number of places tells
  precision,     // each arithmetic
  production,    // the shapes of long recordings
  budget,        // a decode that must fit into so much memory
  sparse,        // electrodes without spikes
  first_call,    // what the first call costs, and the next
  shape_change,  // what must not be compiled again
  in_turn,       // two inputs that must not be taken for one another
  matrix,        // compiling for the shapes of long recordings
  memory,
  micro,  // memory of one electrode
};

// Of Family::tune.
enum class Knob { block, position_tile, encoding_tile };

struct Row {
  Family family = Family::decode;
  Recipe recipe = {};
  Tier tier = Tier::gate;
  Options options = {};
  Knob knob = Knob::block;
  std::vector<std::string> only = {};  // kinds of devices it is confined to; empty: all that can
  bool counted = false;                // small enough for its instructions to be counted
};

std::string id_of(const Row& row);
std::vector<std::string> devices_of(const Row& row);
bool has_reference(const Row& row);

// Several cases of a process ask for the same input; it is made once.
const Input& input_of(const Recipe& recipe);

// What the row steps, on a backend and with a variant. Not for the protocols.
std::unique_ptr<Computation> make(const Row& row, Backend& backend, Variant variant);

// Who holds what each of its steps writes anew.
std::vector<std::string> rewritten(const Row& row, const Backend& backend, Variant variant);

// The case of a row that is stepped; of one that is a protocol.
Case stepped(const Row& row);
Case protocol(const Row& row);
bool is_protocol(const Row& row);

}  // namespace holdfast::clusterless_kde
