// SPDX-License-Identifier: Apache-2.0
#include "runtime/count/ledger.hpp"

#include <iterator>

#include "runtime/base/error.hpp"

namespace holdfast {

static_assert(sizeof(Counts) == std::size(counter_table) * sizeof(std::int64_t), "a row for each");

Counts& Counts::operator+=(const Counts& other) {
  for (const Counter& row : counter_table) this->*row.member += other.*row.member;
  return *this;
}

Counts operator-(Counts left, const Counts& right) {
  for (const Counter& row : counter_table) left.*row.member -= right.*row.member;
  return left;
}

void Ledger::enter(Phase phase, Permissions permissions) {
  phase_ = phase;
  permissions_ = permissions;
}

void Ledger::forbid(std::string_view doing, bool permitted) const {
  if (phase_ == Phase::building || permitted) return;
  throw Error(Fault::broken_rule,
              text(doing,
                   " in a steady step: move it to construction, or let the computation "
                   "declare it in permissions()"));
}

void Ledger::limit_to(std::int64_t bytes, std::string_view remedy) {
  if (bytes < 1)
    throw Error(Fault::bad_input,
                text("a limit of ", bytes, " bytes of memory allows nothing; give 1 or more"));
  limit_bytes_ = bytes;
  remedy_ = remedy;
}

void Ledger::allocated(std::int64_t bytes, std::string_view site) {
  forbid(text("allocates ", bytes, " bytes for '", site, "'"), permissions_.may_allocate);
  if (limit_bytes_ && bytes > *limit_bytes_ - live_bytes)
    throw Error(Fault::out_of_memory,
                text("failed to allocate '", site, "': it asks for ", bytes, " bytes where ",
                     live_bytes, " are held and ", *limit_bytes_, " allowed; ", remedy_));
  ++counts.allocations;
  live_bytes += bytes;
  auto held = live_by_site_.find(site);
  if (held == live_by_site_.end()) held = live_by_site_.emplace(site, 0).first;
  held->second += bytes;
  if (live_bytes > peak_bytes) {
    peak_bytes = live_bytes;
    peak_by_site_ = live_by_site_;
  }
}

void Ledger::released(std::int64_t bytes, std::string_view site) noexcept {
  live_bytes -= bytes;
  const auto held = live_by_site_.find(site);
  if (held == live_by_site_.end()) return;
  held->second -= bytes;
  if (held->second == 0) live_by_site_.erase(held);
}

void Ledger::program(bool ran_nvrtc, std::string_view name) {
  forbid(text("compiles '", name, "'"), permissions_.may_compile);
  ++counts.programs;
  if (ran_nvrtc) ++counts.nvrtc_runs;
}

void Ledger::plan(std::string_view what) {
  forbid(text("plans ", what), permissions_.may_compile);
  ++counts.plans;
}

void Ledger::graph() const {
  forbid("captures a graph", permissions_.may_compile);
}

void Ledger::pinned(std::int64_t bytes) const {
  forbid(text("allocates ", bytes, " bytes of pinned host memory"), permissions_.may_allocate);
}

const std::map<std::string, std::int64_t, std::less<>>& Ledger::peak_by_site() const {
  return peak_by_site_;
}

}  // namespace holdfast
