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
// stepped.cpp
extern const Family<Row> encode, decode, total, local,
    strategy,    // each algorithm against the linear one
    features,    // how the number of features and the form of the mark distance tell
    tune,        // one knob of the optimized variant
    grid,        // how the number of places tells
    precision,   // each arithmetic
    production,  // the shapes of long recordings
    budget,      // a decode that must fit into so much memory
    sparse;      // electrodes without spikes
// protocols.cpp
extern const Family<Row> first_call,  // what the first call costs, and the next
    shape_change,                     // what must not be compiled again
    in_turn,                          // two inputs that must not be taken for one another
    matrix,                           // compiling for the shapes of long recordings
    memory,
    micro;  // memory of one electrode
}  // namespace families

// Of families::tune.
enum class Knob { block, position_tile, encoding_tile };

struct Row {
  const Family<Row>* family = &families::decode;
  Recipe recipe = {};
  Tier tier = Tier::gate;
  Options options = {};
  Knob knob = Knob::block;
  Kinds only = {};       // of devices that it is confined to; empty: all that can
  bool counted = false;  // small enough for its instructions to be counted
};

// "clusterless_kde/<word>/<axes>/f32"; without axes those of size and data.
std::string named(const std::string& word, const Row& row, const std::vector<Axis>& axes);
std::string named(const std::string& word, const Row& row);
Axis size_axis(const Row& row);
Axis marks_axis(const Row& row);

// Some arithmetics are of tensor cores, and a device alone forms Psi anew.
Kinds by_options(const Row& row);

// All that an input depends on, for a question about it.
std::string words_of(const Recipe& recipe);

// Several cases of a process ask for the same input; it is made once.
const Input& input_of(const Recipe& recipe);

// Whether the row's results are likelihoods of single spikes, added up.
bool is_decoding(const Row& row);

// Whether its sums go through nodes.
bool is_two_hop(const Row& row);

// Whether each step forms a model.
bool encodes(const Row& row);

// Who holds what each of its steps writes anew.
std::vector<std::string> rewritten(const Row& row, const Backend& backend, Variant variant);

}  // namespace holdfast::clusterless_kde
