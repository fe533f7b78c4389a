// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/stream/progress.hpp"

#include <chrono>
#include <cstdio>
#include <utility>

namespace holdfast::xpcs_fit {
namespace {

constexpr double least_seconds = 0.1;  // from one line to the next

double machine_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Progress::Progress(int chunks, std::int64_t points_each, std::ostream& out,
                   std::function<double()> seconds)
    : chunks_(chunks),
      points_each_(points_each),
      out_(out),
      seconds_(seconds ? std::move(seconds) : machine_seconds),
      begin_(seconds_()),
      last_line_(begin_) {}

void Progress::done(int pass, int chunk) {
  ++chunks_done_;
  const double now = seconds_();
  const bool edge = lines_ == 0 || chunk + 1 == chunks_;
  if (now - last_line_ < least_seconds && !edge) return;
  last_line_ = now;
  ++lines_;
  const double took = now - begin_, chunks = static_cast<double>(chunks_done_);
  const double rate = took > 0 ? chunks * static_cast<double>(points_each_) / took : 0;
  char line[160];
  std::snprintf(line, sizeof line, "xpcs_fit chunk %d/%d %d%% pass %d %.3g pts/s eta %.1fs\n",
                chunk + 1, chunks_, 100 * (chunk + 1) / chunks_, pass, rate,
                took / chunks * (chunks_ - chunk - 1));
  out_ << line << std::flush;
}

}  // namespace holdfast::xpcs_fit
