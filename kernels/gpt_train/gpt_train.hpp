// SPDX-License-Identifier: Apache-2.0
// A transformer's training step: forward, loss, backward and the update of three optimisers, as a
// whole and in parts (README.md).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "computation.hpp"
#include "gpt_train/problem/problem.hpp"
#include "gpt_train/problem/tensors.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::gpt_train {

// A step and its result; tensors in the order of tensors_of(unit, shape), each row-major:
//   forward             mean, deviation, objective, losses [n]
//   forward_backward    mean, deviation, objective, gradients
//   layer_forward       layer 0 of x = E[tok]: [n, d]
//   layer_backward      dx [n, d], gradients of layer 0
//   attention_forward   rotation and attention of layer 0: o [n, Da]
//   attention_backward  dq [n, Da], dk, dv [n, Dk]
//   lm_head             mean, deviation, objective, dx [n, d], gradients of W_head and g_final
//   update              steps, parameters; chained
//   train_step          steps, mean, deviation, objective, norm of all gradients, parameters;
//                       chained, step s on the batch of step s
// On a device, layout_bytes is read: the bytes that layout kernels and copies move in a step.
// If nothing executes there is no result.
// Throws Error{bad_input} for invalid options, naming field, value and limit.
std::unique_ptr<Computation> make(Unit unit, Backend& backend, Variant variant,
                                  const Options& options);

// Refuses what `make` refuses, except what only a backend lacks.
void validate(const Options& options);

// The minimum work of one step, from sizes and data alone: recomputation, masked pairs, norms and
// the embedding do not count.
Work work_of(Unit unit, const Options& options);

// Flops of a training step that count towards its utilisation: three times the forward pass.
double model_flops(const Options& options);

// The bytes that one computation holds, by formula: on a device if its numbers are bf16.
std::int64_t formula_peak_bytes(Variant variant, Unit unit, const Options& options);

// Lengths of the fields of a result.
std::vector<std::size_t> fields_of(Unit unit, const Options& options);

}  // namespace holdfast::gpt_train
