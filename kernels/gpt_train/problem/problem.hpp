// SPDX-License-Identifier: Apache-2.0
// A problem as the implementations get it, checked and complete.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

#include "gpt_train/problem/options.hpp"
#include "runtime/backend/host_limits.hpp"

namespace holdfast::gpt_train {

struct Problem {
  Unit unit = Unit::forward_backward;
  Options options = {};

  bool trains() const { return unit == Unit::train_step || unit == Unit::update; }
  bool passes_back() const { return unit == Unit::forward_backward || unit == Unit::train_step; }
  bool has_layers() const { return unit == Unit::forward || passes_back(); }
  bool has_layer() const { return unit == Unit::layer_forward || unit == Unit::layer_backward; }
  bool has_attention() const {
    return unit == Unit::attention_forward || unit == Unit::attention_backward;
  }
  bool has_head() const { return has_layers() || unit == Unit::lm_head; }
  // Whether the head has a backward pass, not only the loss.
  bool head_passes_back() const { return passes_back() || unit == Unit::lm_head; }
};

// Which parts of a unit run, and which go back.
inline bool runs_layers(const Problem& p) {
  return p.has_layers() || p.has_layer();
}
inline bool layers_go_back(const Problem& p) {
  return p.passes_back() || p.unit == Unit::layer_backward;
}
inline bool goes_back(const Problem& p) {
  return layers_go_back(p) || p.unit == Unit::lm_head;
}
inline bool attention_goes_back(const Problem& p) {
  return layers_go_back(p) || p.unit == Unit::attention_backward;
}

// The number of the process's threads that share a host's attention.
inline int attention_threads(const Shape& s) {
  const double flops = 2. * s.query_width() * double(s.tokens()) * s.columns;
  return flops < flops_worth_sharing ? 1 : std::min(omp_get_max_threads(), s.batch * s.groups);
}

// The number of matrices [m, q], out of `members`, that a host orthogonalises at a time: those that
// fit in a megabyte of cache per thread, with a result and two squares each.
inline std::int64_t matrices_at_a_time(std::int64_t m, std::int64_t q, std::int64_t members,
                                       std::int64_t value_bytes) {
  const std::int64_t each = 2 * (m * q + m * m) * value_bytes;
  return std::min(members, host_limits().threads * std::max<std::int64_t>(1, (1 << 20) / each));
}

}  // namespace holdfast::gpt_train
