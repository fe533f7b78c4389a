// SPDX-License-Identifier: Apache-2.0
// A row of the suite's table: one claim about one computation on one input.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clusterless_kde/clusterless_kde.hpp"
#include "clusterless_kde/data/data.hpp"
#include "families/family.hpp"

namespace holdfast::clusterless_kde {

struct Row;

namespace families {
// Defined in stepped.cpp.
extern const Family<Row> encode, decode, total, local,
    strategy,    // each algorithm against the linear one
    features,    // effect of the number of features and of the form of the mark distance
    tune,        // one knob of the optimized variant
    grid,        // effect of the number of places
    precision,   // each arithmetic
    production,  // the shapes of long recordings
    budget,      // a decode within limited memory
    sparse;      // electrodes without spikes
// Defined in protocols.cpp.
extern const Family<Row> first_call,  // cost of the first call, and of the next
    shape_change,                     // sizes that must not trigger compilation
    in_turn,                          // two inputs that must not be confused
    matrix,                           // compiling for the shapes of long recordings
    memory,
    micro;  // memory of one electrode
}  // namespace families

// The knob of a families::tune row.
enum class Knob { block, position_tile, encoding_tile };

struct Row {
  const Family<Row>* family = &families::decode;
  Recipe recipe = {};
  Tier tier = Tier::gate;
  Options options = {};
  Knob knob = Knob::block;
  Kinds only = {};       // of devices; empty: all that can run it
  bool counted = false;  // whether its instructions are counted, being small enough
};

// "clusterless_kde/<word>/<axes>/f32"; without axes those of size and data.
std::string named(const std::string& word, const Row& row, const std::vector<Axis>& axes);
std::string named(const std::string& word, const Row& row);
Axis size_axis(const Row& row);
Axis marks_axis(const Row& row);

// Restricted by options: some arithmetics need tensor cores, and only a device recomputes Psi.
Kinds by_options(const Row& row);

// Everything that an input depends on, as a cache key.
std::string words_of(const Recipe& recipe);

// Made once per process, because several cases use the same input.
const Input& input_of(const Recipe& recipe);

// Whether the row's results are likelihoods of single spikes, added up.
bool is_decoding(const Row& row);

// Whether its sums go through nodes.
bool is_two_hop(const Row& row);

// Whether each step forms a model.
bool encodes(const Row& row);

// Sites that each step of the row rewrites.
std::vector<std::string> rewritten(const Row& row, const Backend& backend, Variant variant);

}  // namespace holdfast::clusterless_kde
