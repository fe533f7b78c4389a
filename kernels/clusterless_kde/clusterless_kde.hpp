// SPDX-License-Identifier: Apache-2.0
// Decoding an animal's position from unsorted spikes: plans and computations. README.md has the
// mathematics and the notation.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "clusterless_kde/problem/input.hpp"
#include "clusterless_kde/problem/options.hpp"
#include "clusterless_kde/problem/preparation.hpp"
#include "computation.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::clusterless_kde {

// Checks a size of Options that the caller gave explicitly, where 0 cannot mean "chosen". `what`:
// "block size".
int given_size(std::string_view what, int size);

// Throw Error{bad_input} for unsupported options, before anything is allocated.
void validate(const Options& options);
void validate(const Backend& backend, Variant variant, const Options& options);

// How the optimized variant decodes. Throws Error{bad_input} "needs at least N bytes" if no plan
// fits the budget.
Plan plan(const Backend& backend, const Input& input, const Options& options);

// The estimate of the published rule of thumb, to compare with ours.
std::int64_t rule_of_thumb_bytes(const Shape& shape);
// Bytes of the largest electrode's arrays, which the published program holds at a time.
std::int64_t electrode_bytes(const Shape& shape);

// Work per step() of each computation, on the path that `path` chooses.
Work encode_work(const Shape& shape, const Options& options = {});
Work decode_work(const Shape& shape, const Options& options = {});
Work total_work(const Shape& shape, const Options& options = {});
Work local_work(const Shape& shape, const Options& options = {});

// encode: from host arrays to the model on the backend. result(): o[P], then G[P].
// decode: from host arrays to out on the backend, with a model made beforehand. result(): out[T,
// P]; if consumed, ln sum_p exp(out)[T], then argmax_p[T].
// total: encode, then decode. result(): that of decode.
// local: the likelihood at the animal's own position. result(): out[T].
std::unique_ptr<Computation> make_encode(Backend&, Variant, const Input&, const Options& = {});
std::unique_ptr<Computation> make_decode(Backend&, Variant, const Input&, const Options& = {});
std::unique_ptr<Computation> make_total(Backend&, Variant, const Input&, const Options& = {});
std::unique_ptr<Computation> make_local(Backend&, Variant, const Input&, const Options& = {});

}  // namespace holdfast::clusterless_kde
