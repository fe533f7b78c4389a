// SPDX-License-Identifier: Apache-2.0
// Fits that stream: data come batch by batch, and a batch that fails is read again.
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

// Where the data of a stream lie: on the host, from where each batch is copied; where they are
// computed; nowhere, because a device makes those of a batch when it is its turn.
enum class DataSource { host, resident, generated };
inline constexpr Words<DataSource, 3> source_words = {"source", {"host", "resident", "gen"}};
// Batches are ranges of the flat order of points, or whole rows of every angle.
enum class BatchOrder { flat, rows };
inline constexpr int stream_slots = 3;  // batches on their way at a time, on a device

struct StreamOptions {
  std::int64_t batch = 512;  // points of a batch; of rows as many whole ones as that has
  int passes = 0;            // so many, or 0 until it converges
  DataSource source = DataSource::host;
  std::optional<BatchOrder> order = {};  // none: flat on a host, rows on a device
  int slots = stream_slots;              // of who tolerates no faults, on a device
  // Told of each batch of a pass, in their order, once it is done, where no faults are tolerated.
  // On a device nobody waits for a batch: it is told by the time the next one is sent.
  std::function<void(int pass, int batch)> told = {};
  // Bytes of the device that the stream may hold; its batches are made smaller until it does.
  std::optional<std::int64_t> budget_bytes = {};
  StreamSettings settings = {};
  // Where checkpoints go, and whether to begin with the newest of them; empty: there are none.
  std::filesystem::path folder = {};
  bool resume = false;
};

// Whether the sums of each batch come to the host: they do not of a plain stream on a device, nor
// of a fast one that is not saved.
inline bool is_looked_at(const StreamOptions& options) {
  return options.settings.mode == StreamMode::full || !options.folder.empty();
}

// Throws Error{bad_input} for a frequency below 1, and for a share of batches that is none.
void check_stream_settings(const StreamSettings& settings);

// What a checkpoint is of, in words: two fits of the same words go on from each other's. Numbers
// are told to the last bit, and data by a checksum, for which all of them are read.
std::string configuration(const Problem& problem, const StreamOptions& options);

// result() as of fits; readings() what became of the batches. Linear, contrast and offset shared,
// all weights 1; on a host in f64, and what is resident by rows. Where there is no room for its
// batches they are halved, which is told in a warning. Throws Error{bad_input} for what it cannot
// do, budget_too_small for a budget below one row among others.
std::unique_ptr<Computation> make_stream(Backend& backend, const Problem& problem,
                                         const StreamOptions& options);

// The peak by formula, of the bytes asked for; on a host within a percent from size s on.
std::int64_t estimate_stream_bytes(const Backend& backend, const Problem& problem,
                                   const StreamOptions& options);

// A fit that falls back to a stream where the device has no room for its data.
struct FitWithin {
  std::unique_ptr<Computation> computation = {};
  std::vector<std::string> recovery_actions = {};  // what was given up, and why
};
// A fit of 8 passes, within what the backend's ledger allows.
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
