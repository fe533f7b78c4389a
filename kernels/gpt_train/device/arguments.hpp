// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels of model and optimiser; for g++ and NVRTC.
#pragma once

#include "runtime/device_code/bf16.hpp"

namespace holdfast::gpt_train {

inline constexpr int row_block = 128;           // of blocks with one row per warp
inline constexpr int classifier_threads = 512;  // of a block with one row of logits
inline constexpr int norm_rows = 32;            // of a partial sum over rows, of the reference
inline constexpr int norm_threads = 256;
inline constexpr int back_rows = norm_threads / 32;  // of a block of norm_backward: one per warp
inline constexpr int sum_threads = 256;
inline constexpr int flat_block = 256;  // of blocks that visit contiguous numbers
inline constexpr int tile_edge = 32;    // of the squares in which a matrix is transposed
inline constexpr int tile_rows = 8;     // of their blocks' threads

// The values that change from step to step: they arrive with a batch, in 64 bytes.
struct Schedule {
  float inverse_root = 1;  // 1 / sqrt c, the weight of a position
  int count = 1;           // c
  // Adam's rate / (1 - beta1^n), rate x decay, 1 / sqrt(1 - beta2^n)
  float embedding = 0, head = 0, matrix = 0;
  float head_decay = 0, matrix_decay = 0, second = 1;
  float norm = 0;      // Lion's rate
  float muon = 0;      // rate
  float gain[3] = {};  // of the gradient in each timescale's moment
  float spare[3] = {};
};
static_assert(sizeof(Schedule) == 64);

// A batch in one piece: Schedule, tokens, documents, and the positions sorted by their tokens, [n]
// each.
struct Inputs {
  const Schedule* schedule = nullptr;
  const int* tokens = nullptr;
  const int* documents = nullptr;
  const int* order = nullptr;
  int count = 0;    // n
  int columns = 0;  // T
  int padding = 0;  // the token of padding, V - 1
};

// A tensor [rows, columns] of nearly normal numbers, in rows of `pitch`.
struct Drawing {
  unsigned long long stream = 0, first = 0;
  double mean = 0, sigma = 1;
  long long rows = 0;
  int columns = 0, pitch = 0;
};

// Rotated heads in rows of q | k | v: q and k, halves by cosine and sine of [T, head / 2].
struct Rotation {
  int columns = 0;             // T
  int head = 0;                // K
  int rotated = 0, pitch = 0;  // numbers per row: of q and k, and of all
  float direction = 1;         // -1: back
};

struct AdamRule {
  float beta1 = 0, beta2 = 0, epsilon = 0;
  int of_matrix = 0;  // 1: rates of matrices; 0: of the head
};
struct LionRule {
  float beta = 0, decay = 0;
};

// One of the matrices that are orthogonalised together.
struct Member {
  long long offset = 0;  // in the memory of all matrices
  int rows = 0, columns = 0, pitch = 0;
  int turned = 0;     // whether it has more rows than columns
  float stretch = 1;  // of the rate
};

struct Timescales {
  int count = 0;
  float beta[3] = {}, weight[3] = {};
};

}  // namespace holdfast::gpt_train
