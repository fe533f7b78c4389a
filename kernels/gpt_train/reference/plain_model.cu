// SPDX-License-Identifier: Apache-2.0
// The reference's model on a device as one program: a kernel for each operation that is written
// down, every result in memory of its own.
#include "gpt_train/reference/plain_numbers.cuh"

#include "gpt_train/reference/plain_attention.cu"
#include "gpt_train/reference/plain_rows.cu"
