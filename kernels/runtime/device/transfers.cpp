// SPDX-License-Identifier: Apache-2.0
// The verbs of a device that move data to the host and back, and the order among its lanes.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <utility>

#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/transfer_guard.hpp"
#include "runtime/count/recorder.hpp"
#include "runtime/device/device.hpp"

namespace holdfast {
namespace {

// HOLDFAST_TRANSFER_GUARD=log|error: what to do about a transfer in a steady step.
void guard_transfer(const Ledger& ledger, std::string_view doing, std::size_t bytes) {
  if (ledger.phase() == Ledger::Phase::building) return;
  const auto guard = transfer_guard();
  if (guard == TransferGuard::off) return;
  const auto path = scope_path();
  const auto sentence =
      text(doing, " ", bytes, " bytes in a steady step", path.empty() ? "" : ", in scope " + path);
  if (guard == TransferGuard::error)
    throw Error(Fault::broken_rule, text(sentence, ", which HOLDFAST_TRANSFER_GUARD forbids"));
  log(LogLevel::warn, sentence);
}

}  // namespace

void* Device::allocate_pinned(std::size_t bytes) {
  forbid_in_capture("allocates pinned host memory");
  ledger_->pinned(static_cast<std::int64_t>(bytes));
  void* const memory = do_allocate_pinned(bytes);
  pinned_[memory] = bytes;
  return memory;
}

void Device::release_pinned(void* memory) noexcept {
  if (capturing_) released_in_capture_ = "releases pinned host memory";
  pinned_.erase(memory);
  do_release_pinned(memory);
}

void* Device::do_allocate_pinned(std::size_t bytes) {
  void* memory = std::calloc(std::max<std::size_t>(bytes, 1), 1);
  if (!memory)
    throw Error(Fault::out_of_memory, text("failed to allocate ", bytes,
                                           " bytes on the host: this machine has no more; choose a "
                                           "smaller size"));
  return memory;
}

void Device::do_release_pinned(void* memory) noexcept {
  std::free(memory);
}

// Without a lane the host waits: on return the caller owns its memory again.
void Device::count_transfer(std::int64_t Counts::*direction, std::size_t bytes,
                            std::optional<Lane> later) {
  const auto moved = static_cast<std::int64_t>(bytes);
  Counts& made = ledger_->counts;
  if (later == Lane::copies) ++enqueued_;  // one of the main lane leaves no kernel running
  ++made.transfers;
  made.*direction += moved;
  if (!later) {
    ++made.syncs;
    overlap_.await(overlap_.recorded(Lane::main));
  } else if (*later == Lane::copies) {
    const std::int64_t before = overlap_.lone_launches();
    made.hidden_bytes += overlap_.transfer(moved);
    made.lone_launches += overlap_.lone_launches() - before;
  }
}

// A device copies such memory piece by piece through page-locked memory of its own.
void Device::count_pageable(const void* memory, std::size_t bytes) {
  if (!is_pinned(memory, bytes)) ledger_->counts.pageable_bytes += static_cast<std::int64_t>(bytes);
}

void Device::upload(void* to, const void* from, std::size_t bytes) {
  forbid_in_capture("uploads from host memory, which need not outlive the graph,");
  if (is_foreign({to, bytes})) refuse_foreign(text("uploads ", bytes, " bytes to"));
  guard_transfer(*ledger_, "uploads", bytes);
  const Verb verb(ledger_->recorder, [&](Recorder& recorder) {
    return recorder.open_transfer(Activity::Kind::upload, bytes);
  });
  do_upload(to, from, bytes);
  count_pageable(from, bytes);
  count_transfer(&Counts::h2d_bytes, bytes, std::nullopt);
}

void Device::download(void* to, const void* from, std::size_t bytes) {
  forbid_in_capture("waits for a download");
  if (is_foreign({from, bytes})) refuse_foreign(text("downloads ", bytes, " bytes from"));
  guard_transfer(*ledger_, "downloads", bytes);
  const Verb verb(ledger_->recorder, [&](Recorder& recorder) {
    return recorder.open_transfer(Activity::Kind::download, bytes);
  });
  do_download(to, from, bytes);
  count_pageable(to, bytes);
  count_transfer(&Counts::d2h_bytes, bytes, std::nullopt);
}

bool Device::is_pinned(const void* memory, std::size_t bytes) const {
  const auto after = pinned_.upper_bound(memory);
  if (after == pinned_.begin()) return false;
  const auto& [begin, held] = *std::prev(after);
  if (bytes > held) return false;
  const auto* const last = static_cast<const std::byte*>(begin) + (held - bytes);
  return !std::less<>()(last, static_cast<const std::byte*>(memory));
}

void Device::require_pinned(std::string_view doing, const void* memory, std::size_t bytes) const {
  if (is_pinned(memory, bytes)) return;
  throw Error(Fault::broken_rule,
              text(doing, " ", bytes,
                   " bytes without waiting, but that memory of the host is not page-locked: take "
                   "it from allocate_pinned, or wait"));
}

void Device::require_own(const LaneEvent& event) const {
  if (event.device != this)
    throw Error(Fault::bad_input, text("event '", event.name, "' belongs to another device than ",
                                       name(), ": make one here"));
}

void Device::require_recorded(const LaneEvent& event) const {
  require_own(event);
  if (!event.recorded_on)
    throw Error(Fault::broken_rule,
                text("waits for event '", event.name, "', which no lane has recorded"));
}

void Device::upload_later(void* to, const void* pinned, std::size_t bytes, Lane lane) {
  forbid_in_capture("uploads beside the main lane");
  require_pinned("uploads", pinned, bytes);
  if (is_foreign({to, bytes})) refuse_foreign(text("uploads ", bytes, " bytes to"));
  guard_transfer(*ledger_, "uploads", bytes);
  const Verb verb(ledger_->recorder, [&](Recorder& recorder) {
    return recorder.open_transfer(Activity::Kind::upload, bytes, lane);
  });
  do_upload_later(to, pinned, bytes, lane);
  count_transfer(&Counts::h2d_bytes, bytes, lane);
}

void Device::download_later(void* pinned, const void* from, std::size_t bytes, Lane lane) {
  forbid_in_capture("downloads beside the main lane");
  require_pinned("downloads", pinned, bytes);
  if (is_foreign({from, bytes})) refuse_foreign(text("downloads ", bytes, " bytes from"));
  guard_transfer(*ledger_, "downloads", bytes);
  const Verb verb(ledger_->recorder, [&](Recorder& recorder) {
    return recorder.open_transfer(Activity::Kind::download, bytes, lane);
  });
  do_download_later(pinned, from, bytes, lane);
  count_transfer(&Counts::d2h_bytes, bytes, lane);
}

std::unique_ptr<LaneEvent> Device::make_event(std::string name) {
  forbid_in_capture(text("makes event '", name, "'"));
  return do_make_event(std::move(name));
}

void Device::record(LaneEvent& event, Lane lane) {
  forbid_in_capture(text("records event '", event.name, "'"));
  require_own(event);
  const Verb verb(ledger_->recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::record, event.name, 0, lane);
  });
  do_record(event, lane);
  event.recorded_on = lane;
  event.enqueued_before = enqueued_;
  event.done = overlap_.recorded(lane);
}

void Device::wait(Lane lane, const LaneEvent& event) {
  forbid_in_capture(text("waits for event '", event.name, "'"));
  require_recorded(event);
  const Verb verb(ledger_->recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::wait, event.name, 0, lane);
  });
  do_wait(lane, event);
  overlap_.wait(lane, event.done);
}

void Device::await(const LaneEvent& event) {
  forbid_in_capture(text("waits for event '", event.name, "'"));
  require_recorded(event);
  const Verb verb(ledger_->recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::synchronize, event.name, 0, *event.recorded_on);
  });
  do_await(event);
  overlap_.await(event.done);
  ++ledger_->counts.syncs;
}

void Device::keep_pace(const LaneEvent& event) {
  forbid_in_capture(text("waits for event '", event.name, "'"));
  require_recorded(event);
  do_await(event);
  overlap_.await(event.done);
  if (event.enqueued_before == enqueued_) ++ledger_->counts.syncs;
}

bool Device::reached(const LaneEvent& event) const {
  forbid_in_capture(text("asks for event '", event.name, "'"));
  require_recorded(event);
  ++ledger_->counts.polls;
  return do_reached(event);
}

}  // namespace holdfast
