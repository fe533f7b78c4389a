// SPDX-License-Identifier: Apache-2.0
// Whole fits by the way they go over their data: all at once, chunk by chunk, or as a stream.
#pragma once

#include <functional>
#include <memory>

#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/problem/strategy.hpp"
#include "xpcs_fit/streams.hpp"

namespace holdfast::xpcs_fit {

struct StrategyOptions {
  Strategy strategy = Strategy::standard;
  DataSource source = DataSource::resident;
  std::int64_t chunk = 0;         // points of a chunk or a batch; of chunks and streams alone
  int passes = accounted_passes;  // so many, or 0 until it converges
  // Chunked alone: told of chunk `chunk` of a pass, both from 0, when it is done.
  std::function<void(int pass, int chunk)> told = {};
};

// result() as of fits. Linear, contrast and offset shared, all weights 1, f64. The reference
// materialises the Jacobian of a chunk at a time; chunked it brings each chunk anew, streaming it
// holds nothing from one batch to the next. Throws Error{bad_input} for what it cannot do.
std::unique_ptr<Computation> make_fit(Backend& backend, Variant variant, const Problem& problem,
                                      const StrategyOptions& options);

// The peak on a device by formula, of the bytes asked for, within a percent from size s on.
std::int64_t estimate_fit_bytes(const Backend& backend, Variant variant, const Problem& problem,
                                const StrategyOptions& options);

// Private to the workload: the reference of all but the standard way.
using StrategyFactory = std::unique_ptr<Computation>(Backend& backend, const Problem& problem,
                                                     const StrategyOptions& options);
StrategyFactory make_cuda_plain_fit;
namespace isa_v3 {
StrategyFactory make_host_plain_fit;
}
namespace isa_v4 {
StrategyFactory make_host_plain_fit;
}

}  // namespace holdfast::xpcs_fit
