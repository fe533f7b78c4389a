// SPDX-License-Identifier: Apache-2.0
// The reference's model on a device as one program: a kernel per written operation, every result in
// its own memory.
#include "gpt_train/reference/plain_numbers.cuh"

#include "gpt_train/reference/plain_attention.cu"
#include "gpt_train/reference/plain_rows.cu"
