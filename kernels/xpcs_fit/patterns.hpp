// SPDX-License-Identifier: Apache-2.0
// What surrounds fits: the patterns of programs that the plain formulation is slow at, and what the
// optimized one does instead.
#pragma once

#include <memory>

#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {

enum class Pattern {
  angle_loop,  // a model of each angle by a call of its own; optimized: of all at once
  costs,       // F at `count` sets of parameters, one after the other; optimized: 8 in one reading
  chunks,      // the model in `count` chunks, each gathered from a whole one; optimized: it alone
  round_trip,  // x -= (x - m) / 100, `count` times, there and back each time; optimized: once
  turns,  // the same, there and back once, and on a device compiled for `count`; optimized: not
};
inline constexpr double relaxation = 0.01;

// result(): the model, [angles, frames, frames]; F of each set, [count]; x, as the model.
std::unique_ptr<Computation> make(Pattern pattern, int count, Backend& backend, Variant variant,
                                  const Problem& problem);
Work work(Pattern pattern, int count, const Size& size, const Options& options);

// The sets of parameters of `costs`: the truth, then the truth times 1 + z / 100, [count, p].
std::vector<double> parameter_sets(int count, const Options& options, int angles);
// The result by the plain formulation; that of round_trip by its closed form.
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
