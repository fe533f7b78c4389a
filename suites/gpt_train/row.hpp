// SPDX-License-Identifier: Apache-2.0
// A row of the suite's table: one claim about one computation of one model.
#pragma once

#include <string>
#include <vector>

#include "families/family.hpp"
#include "gpt_train/gpt_train.hpp"
#include "gpt_train/newton_schulz.hpp"

namespace holdfast::gpt_train {

struct Row {
  const Family<Row>* family = nullptr;
  Tier tier = Tier::gate;
  Model model = Model::tiny;
  Options options = {};
  Matrices matrices = {};                // of newton_schulz, which has no model
  Kinds only = {};                       // devices it is restricted to; empty: all that can run it
  bool counted = false;                  // small enough for its instructions to be counted
  const Family<Row>* trained = nullptr;  // by data_pipeline, instead of families::train_step
};

namespace families {
extern const Family<Row> forward, forward_backward, layer_forward, layer_backward,
    attention_forward, attention_backward, lm_head, optimizer, train_step;  // stepped.cpp
extern const Family<Row> in_turn, memory, first_call, shape_change;         // protocols.cpp
extern const Family<Row> data_pipeline;                                     // pipeline.cpp
extern const Family<Row> newton_schulz;                                     // newton_schulz.cpp
}  // namespace families

Unit unit_of(const Row& row);

// Only devices use bf16.
inline bool is_for_device(const Row& row) {
  return row.options.precision == Precision::bf16;
}
// Bytes that a training step sends to a device: tokens, documents, positions sorted by token,
// rates.
inline double batch_bytes(const Shape& shape) {
  return 12. * double(shape.tokens()) + 64;
}
inline Kinds kinds_of(const Row& row) {
  return is_for_device(row) ? gpu : Kinds{"host"};
}

// A training loop reads the loss of each step.
inline std::vector<ExpectedFinding> tells_its_loss(const Row&) {
  return {{.finding = "transfers_in_the_loop",
           .why = "a training step tells its loss, in 16 B that nobody waits for"}};
}

// Throws Error{broken_rule} if a variant on a device reads no layout_bytes but has launched copies.
void forbid_silent_moves(const Verified& found);

// "gpt_train/<family>/model:tiny/../f32"; axes before and after the model's.
std::string named(const std::string& family, const Row& row,
                  const std::vector<holdfast::Axis>& before = {},
                  const std::vector<holdfast::Axis>& after = {});
inline holdfast::Axis documents_axis(const Row& row) {
  return {"docs", int(row.options.documents)};
}
inline holdfast::Axis optimizer_axis(const Row& row) {
  return {"opt", optimizer_words.of(row.options.optimizer)};
}

}  // namespace holdfast::gpt_train
