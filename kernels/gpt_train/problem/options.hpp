// SPDX-License-Identifier: Apache-2.0
// A caller's choices, and the words for them.
#pragma once

#include <compare>

#include "gpt_train/problem/shape.hpp"
#include "runtime/base/precision.hpp"

namespace holdfast::gpt_train {

// What one step computes: kernels/gpt_train/gpt_train.hpp has the results.
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

// Whether a step is launched kernel by kernel, or as a graph that was captured once.
enum class Launch { host, graph };
inline constexpr Words<Launch, 2> launch_words = {"launch", {"host", "graph"}};

// bench: for all timings and published values. upstream: the initial state of training, with zero
// projections; its first loss is ln V.
enum class Start { bench, upstream };

// How batches of training steps are made, and how much longer that takes: `rounds` more rounds of a
// hash per token stand for tokenising and packing, and end in a checksum.
struct Fetching {
  bool ahead = false;  // by a separate thread, during the step before
  int rounds = 0;

  auto operator<=>(const Fetching&) const = default;
};

struct Options {
  Shape shape = shape_of(Model::tiny);
  bool documents = false;  // false: a row is one document
  int pad_tail = 0;        // padding tokens at the end of the last row of step 0
  Optimizer optimizer = Optimizer::adamw;
  Start start = Start::bench;
  double learning_rate = 0.005;
  double warm = 0.5;       // w0, the progress of warm-up: 0 .. 1
  double warm_tokens = 0;  // above 0: w0 follows the tokens trained so far and scales the rate
  Precision precision = Precision::f32;  // on a host f32 or f64, on a device bf16
  Launch launch = Launch::host;          // of a training step
  Fetching fetching = {};                // of training steps

  auto operator<=>(const Options&) const = default;
};

}  // namespace holdfast::gpt_train
