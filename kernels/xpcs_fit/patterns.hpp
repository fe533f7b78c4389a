// SPDX-License-Identifier: Apache-2.0
// Patterns around fits, at which the plain formulation is slow, and what the optimized one does
// instead.
#pragma once

#include <memory>

#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {

enum class Pattern {
  angle_loop,  // one call per angle for its model; optimized: all at once
  costs,       // F at `count` sets of parameters, one by one; optimized: 8 per reading
  chunks,      // the model in `count` chunks, each cut from a whole one; optimized: only the chunk
  round_trip,  // x -= (x - m) / 100, `count` times, copied there and back each; optimized: once
  turns,       // the same, copied once; on a device compiled for `count`, optimized: for any
};
inline constexpr double relaxation = 0.01;

// result(): the model, [angles, frames, frames]; F of each set, [count]; x, shaped as the model.
std::unique_ptr<Computation> make(Pattern pattern, int count, Backend& backend, Variant variant,
                                  const Problem& problem);
Work work(Pattern pattern, int count, const Size& size, const Options& options);

// The sets of parameters of `costs`: the truth, then the truth times 1 + z / 100, [count, p].
std::vector<double> parameter_sets(int count, const Options& options, int angles);
// The result by the plain formulation; for round_trip by its closed form.
std::vector<double> exact(Pattern pattern, int count, const Problem& problem);

// Private to the workload.
using PatternFactory = std::unique_ptr<Computation>(Pattern pattern, int count, Backend& backend,
                                                    const Problem& problem);
PatternFactory make_cuda_reference_pattern, make_cuda_pattern;
namespace isa_v3 {
PatternFactory make_host_reference_pattern, make_host_pattern;
}
namespace isa_v4 {
PatternFactory make_host_reference_pattern, make_host_pattern;
}

}  // namespace holdfast::xpcs_fit
