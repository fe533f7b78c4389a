// SPDX-License-Identifier: Apache-2.0
// Fits that stream: data come batch by batch, and a batch that fails is read again.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "xpcs_fit/stream/streamed_fit.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {

struct StreamOptions {
  std::int64_t batch = 512;  // points of a batch, in the flat order
  StreamSettings settings = {};
  // Where checkpoints go, and whether to begin with the newest of them; empty: there are none.
  std::filesystem::path folder = {};
  bool resume = false;
};

// What a checkpoint is of, in words: two fits of the same words go on from each other's.
std::string configuration(const Problem& problem, const StreamOptions& options);

// Until it converges; result() as of Unit::converged_fit, readings() what became of the batches. On
// a host, in f64, contrast and offset shared, all weights 1.
std::unique_ptr<Computation> make_stream(Backend& backend, const Problem& problem,
                                         const StreamOptions& options);

// Private to the workload.
using StreamFactory = std::unique_ptr<Computation>(Backend& backend, const Problem& problem,
                                                   const StreamOptions& options);
namespace isa_v3 {
StreamFactory make_host_stream;
}
namespace isa_v4 {
StreamFactory make_host_stream;
}

}  // namespace holdfast::xpcs_fit
