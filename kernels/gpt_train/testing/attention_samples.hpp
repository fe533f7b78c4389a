// SPDX-License-Identifier: Apache-2.0
// For tests: shapes for attention, and limits of its distance from the oracle.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "gpt_train/testing/attention_run.hpp"

namespace holdfast::gpt_train {

// For worst_row, twice the observed values: shares, slopes and results are rounded to bf16, 2^-9
// each.
struct Limits {
  double o = 0.004, d_q = 0.015, d_k = 0.008, d_v = 0.006;
  double scale = 0.001;  // of a whole result, where roundings cancel
};
inline constexpr Limits limits;
// Limits for a thousand columns: twice the value of the emulated device and an H200, 0.0164.
inline constexpr Limits limits_of_long{.d_q = 0.033};

struct Sample {
  std::string name = {};
  int groups = 0, repeats = 0, head = 0, batch = 0, columns = 0, document = 0, pad_tail = 0;

  AttentionInput input() const {
    return attention_input({.groups = groups,
                            .repeats = repeats,
                            .head = head,
                            .batch = batch,
                            .columns = columns,
                            .document = document},
                           pad_tail);
  }
};
inline void PrintTo(const Sample& sample, std::ostream* stream) {
  *stream << sample.name;
}

inline const Sample samples[] = {
    {"tiny", 2, 2, 32, 2, 128, 64, 0},
    {"grouped_odd_with_dark_tiles", 1, 3, 64, 2, 205, 30, 70},
    {"one_document", 2, 1, 32, 1, 150, 0, 0},
    {"less_than_a_tile", 1, 2, 64, 2, 9, 4, 2},
    {"one_beyond_a_tile", 1, 1, 32, 2, 65, 20, 1},
    {"widest", 1, 2, 128, 1, 90, 40, 3},
};

inline void expect_attention(const AttentionOutput& found, const AttentionInput& in,
                             const Limits& limits = gpt_train::limits) {
  const AttentionOutput expected = expected_attention(in);
  const int head = in.shape.head;
  EXPECT_LT(worst_row(found.o, expected.o, head), limits.o);
  EXPECT_LT(worst_row(found.log_sums, expected.log_sums, 1), 1e-3);
  EXPECT_LT(worst_row(found.d_q, expected.d_q, head), limits.d_q);
  EXPECT_LT(worst_row(found.d_k, expected.d_k, head), limits.d_k);
  EXPECT_LT(worst_row(found.d_v, expected.d_v, head), limits.d_v);
  for (const auto values :
       {&AttentionOutput::o, &AttentionOutput::d_q, &AttentionOutput::d_k, &AttentionOutput::d_v})
    EXPECT_LT(scale_error(found.*values, expected.*values), limits.scale);
}

inline void expect_same_bits(const AttentionOutput& one, const AttentionOutput& two) {
  EXPECT_EQ(one.o, two.o);
  EXPECT_EQ(one.log_sums, two.log_sums);
  EXPECT_EQ(one.d_q, two.d_q);
  EXPECT_EQ(one.d_k, two.d_k);
  EXPECT_EQ(one.d_v, two.d_v);
}

}  // namespace holdfast::gpt_train
