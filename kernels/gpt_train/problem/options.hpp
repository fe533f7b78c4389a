// SPDX-License-Identifier: Apache-2.0
// What a caller chooses, and the words for it.
#pragma once

#include <compare>

#include "gpt_train/problem/shape.hpp"
#include "runtime/base/precision.hpp"

namespace holdfast::gpt_train {

// What one step does: kernels/gpt_train/gpt_train.hpp has the results.
enum class Unit {
  forward,
  forward_backward,
  layer_forward,
  layer_backward,
  attention_forward,
  attention_backward,
  lm_head,
  update,
  train_step
};

enum class Optimizer { adamw, muon, multiscale };
inline constexpr Words<Optimizer, 3> optimizer_words = {"optimizer",
                                                        {"adamw", "muon", "multiscale"}};

// Whether a device is given a step kernel by kernel, or as a graph that was captured once.
enum class Launch { host, graph };
inline constexpr Words<Launch, 2> launch_words = {"launch", {"host", "graph"}};

// bench: of all timings and published values. upstream: as training starts, with projections of
// zero; its first loss is ln V.
enum class Start { bench, upstream };

// Who makes the batches of training steps, and how much longer that takes: so many more rounds of a
// hash for each token stand for tokenising and packing, and end in a checksum.
struct Fetching {
  bool ahead = false;  // a thread of its own, while the step before is computed
  int rounds = 0;

  auto operator<=>(const Fetching&) const = default;
};

struct Options {
  Shape shape = shape_of(Model::tiny);
  bool documents = false;  // else a row is one document
  int pad_tail = 0;        // of the last row of step 0: so many tokens at its end are padding
  Optimizer optimizer = Optimizer::adamw;
  Start start = Start::bench;
  double learning_rate = 0.005;
  double warm = 0.5;       // w0, how far warm-up has come: 0 .. 1
  double warm_tokens = 0;  // above 0: w0 follows the tokens trained before, and scales the rate
  Precision precision = Precision::f32;  // of a host f32 or f64, of a device bf16
  Launch launch = Launch::host;          // of a training step
  Fetching fetching = {};                // of training steps

  auto operator<=>(const Options&) const = default;
};

}  // namespace holdfast::gpt_train
