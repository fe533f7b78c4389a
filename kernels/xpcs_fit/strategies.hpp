// SPDX-License-Identifier: Apache-2.0
// Whole fits by how they go over their data: all at once, chunk by chunk, or as a stream.
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
  std::int64_t chunk = 0;         // points per chunk or batch; only for chunks and streams
  int passes = accounted_passes;  // how many, or 0 until it converges
  // Chunked only: called when chunk `chunk` of a pass is done, both counted from 0.
  std::function<void(int pass, int chunk)> told = {};
};

// result() as for fits. Linear, contrast and offset shared, all weights 1, f64. The reference
// stores the Jacobian of one chunk at a time; chunked, it copies each chunk anew; streaming, it
// keeps nothing between batches. Throws Error{bad_input} for what is unsupported.
std::unique_ptr<Computation> make_fit(Backend& backend, Variant variant, const Problem& problem,
                                      const StrategyOptions& options);

// The peak on a device by formula, in requested bytes, within a percent from size s on.
std::int64_t estimate_fit_bytes(const Backend& backend, Variant variant, const Problem& problem,
                                const StrategyOptions& options);

// Private to the workload: the reference of all strategies but the standard one.
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
