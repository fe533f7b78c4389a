// SPDX-License-Identifier: Apache-2.0
// Streamed fits: data arrive batch by batch, and a failed batch is read again.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/words.hpp"
#include "xpcs_fit/stream/streamed_fit.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {

// Where a stream's data lie: on the host, from where each batch is copied; in the memory where they
// are computed; nowhere, because a device generates each batch in its turn.
enum class DataSource { host, resident, generated };
inline constexpr Words<DataSource, 3> source_words = {"source", {"host", "resident", "gen"}};
// Batches are ranges of the flat order of points, or whole rows of every angle.
enum class BatchOrder { flat, rows };
inline constexpr int stream_slots = 3;  // batches in flight at a time, on a device

struct StreamOptions {
  std::int64_t batch = 512;  // points per batch; by rows, as many whole rows as these are
  int passes = 0;            // how many, or 0 until it converges
  DataSource source = DataSource::host;
  std::optional<BatchOrder> order = {};  // empty: flat on a host, rows on a device
  int slots = stream_slots;              // of a stream without fault checks, on a device
  // Called for each batch of a pass, in their order, once it is done, if faults are not checked. On
  // a device nothing waits for a batch: it is reported when a later one is sent or the result read.
  std::function<void(int pass, int batch)> told = {};
  // Bytes of the device that the stream may hold; its batches shrink until it fits.
  std::optional<std::int64_t> budget_bytes = {};
  StreamSettings settings = {};
  // The folder of checkpoints, and whether to begin with the newest; empty: there are none.
  std::filesystem::path folder = {};
  bool resume = false;
};

// Whether the sums of each batch come to the host: not for a plain stream on a device, nor for a
// fast one that is not saved.
inline bool is_looked_at(const StreamOptions& options) {
  return options.settings.mode == StreamMode::full || !options.folder.empty();
}

// Throws Error{bad_input} for a frequency below 1 and for a success rate outside of 0 to 1.
void check_stream_settings(const StreamSettings& settings);

// The identity of a checkpoint in words: two fits with the same words can resume each other.
// Numbers are exact to the last bit, data are identified by a checksum, which reads all of them. A
// device or instruction set is part of it, since another adds up in another order.
std::string configuration(const Backend& backend, const Problem& problem,
                          const StreamOptions& options);

// result() as for fits; readings(): statistics of the batches. Linear, contrast and offset shared,
// all weights 1; on a host in f64, and resident data by rows. If its batches do not fit in memory,
// they are halved with a warning. Throws Error{bad_input} for what is unsupported, among others
// budget_too_small for a budget below one row.
std::unique_ptr<Computation> make_stream(Backend& backend, const Problem& problem,
                                         const StreamOptions& options);

// The peak by formula, in requested bytes; on a host within a percent from size s on.
std::int64_t estimate_stream_bytes(const Backend& backend, const Problem& problem,
                                   const StreamOptions& options);

// A fit that falls back to a stream if the device has no room for its data.
struct FitWithin {
  std::unique_ptr<Computation> computation = {};
  std::vector<std::string> recovery_actions = {};  // what was given up, and why
};
// A fit of 8 passes within the limit of the backend's ledger.
FitWithin make_fit_within(Backend& backend, const Problem& problem);

// Private to the workload.
using StreamFactory = std::unique_ptr<Computation>(Backend& backend, const Problem& problem,
                                                   const StreamOptions& options);
StreamFactory make_cuda_stream;
namespace isa_v3 {
StreamFactory make_host_stream;
}
namespace isa_v4 {
StreamFactory make_host_stream;
}

}  // namespace holdfast::xpcs_fit
