// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/testing/attention_on_cpu.hpp"

#include "gpt_train/device/attention_kernels.hpp"

#include "runtime/emulation/emulation_shim.hpp"

HOLDFAST_EMULATED_SHARED(uint4, attention_memory);
#include "gpt_train/device/attention_mask.cuh"

namespace on_cpu_attention {
#include "gpt_train/device/attention.cu"
}

namespace holdfast::gpt_train {

// Hides one more pair, held in rows of queries (`turned` 0) or of keys.
template <int count>
void hide_planted(float (&scores)[count][4], Held held, int first_row, int first_column,
                  bool turned) {
  for (int j = 0; j < count; ++j)
    for (int i = 0; i < 4; ++i) {
      const int row = first_row + held.row + i / 2 * 8;
      const int column = first_column + 8 * j + held.column + i % 2;
      if ((turned ? column : row) == planted_query && (turned ? row : column) == planted_key)
        scores[j][i] = hidden_score();
    }
}
template <int count, class... Rest>
void planted_keys(float (&scores)[count][4], Held held, int first_query, int first_key, int key,
                  const Rest&... rest) {
  hide_keys(scores, held, first_query, first_key, key, rest...);
  hide_planted(scores, held, first_query, first_key + key, false);
}
template <int count, class... Rest>
void planted_queries(float (&scores)[count][4], Held held, int first_key, int first_query,
                     int query, const Rest&... rest) {
  hide_queries(scores, held, first_key, first_query, query, rest...);
  hide_planted(scores, held, first_key, first_query + query, true);
}

}  // namespace holdfast::gpt_train
#define hide_keys planted_keys
#define hide_queries planted_queries
namespace on_cpu_planted_attention {
#include "gpt_train/device/attention.cu"
}
#undef hide_keys
#undef hide_queries

namespace holdfast::gpt_train {
namespace {

template <int head>
void add_right(EmulatedKernels& kernels, const AttentionKernels& listed) {
  kernels.add(listed.tile_segments, &on_cpu_attention::tile_segments);
  kernels.add(listed.attend, &on_cpu_attention::attend<head>);
  kernels.add(listed.back_queries, &on_cpu_attention::attend_back_queries<head>);
  kernels.add(listed.back_keys, &on_cpu_attention::attend_back_keys<head>);
}
template <int head>
void add_planted(EmulatedKernels& kernels, const AttentionKernels& listed) {
  kernels.add(listed.tile_segments, &on_cpu_planted_attention::tile_segments);
  kernels.add(listed.attend, &on_cpu_planted_attention::attend<head>);
  kernels.add(listed.back_queries, &on_cpu_planted_attention::attend_back_queries<head>);
  kernels.add(listed.back_keys, &on_cpu_planted_attention::attend_back_keys<head>);
}

}  // namespace

void add_attention(EmulatedKernels& kernels, int head) {
  const AttentionKernels listed(head);
  if (head == 32) add_right<32>(kernels, listed);
  if (head == 64) add_right<64>(kernels, listed);
  if (head == 128) add_right<128>(kernels, listed);
}

void add_planted_attention(EmulatedKernels& kernels, int head) {
  const AttentionKernels listed(head);
  if (head == 32) add_planted<32>(kernels, listed);
  if (head == 64) add_planted<64>(kernels, listed);
}

}  // namespace holdfast::gpt_train
