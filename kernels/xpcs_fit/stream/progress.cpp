// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/stream/progress.hpp"

#include <cstdio>
#include <utility>

#include "base/time.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr double least_seconds = 0.1;  // between lines

}  // namespace

Progress::Progress(int chunks, std::int64_t points_each, std::ostream& out,
                   std::function<double()> seconds)
    : chunks_(chunks),
      points_each_(points_each),
      out_(out),
      seconds_(seconds ? std::move(seconds) : monotonic_seconds),
      begin_(seconds_()),
      last_line_(begin_),
      last_chunk_(begin_) {}

void Progress::done(int pass, int chunk) {
  const double now = seconds_();
  const bool first = pass == 0 && chunk == 0;
  if (first && chunks_done_ > 0) {
    begin_ = last_chunk_;  // where the last fit ended
    chunks_done_ = 0;
  }
  last_chunk_ = now;
  ++chunks_done_;
  pass_ = pass;
  chunk_ = chunk;
  told_ = false;
  if (first || now - last_line_ >= least_seconds) tell(now);
}

void Progress::end() {
  if (!told_) tell(seconds_());
}

void Progress::tell(double now) {
  told_ = true;
  last_line_ = now;
  ++lines_;
  const double took = now - begin_, chunks = static_cast<double>(chunks_done_);
  const double rate = took > 0 ? chunks * static_cast<double>(points_each_) / took : 0;
  char line[160];
  std::snprintf(line, sizeof line, "xpcs_fit chunk %d/%d %d%% pass %d %.3g pts/s eta %.1fs\n",
                chunk_ + 1, chunks_, 100 * (chunk_ + 1) / chunks_, pass_, rate,
                took / chunks * (chunks_ - chunk_ - 1));
  out_ << line << std::flush;
}

}  // namespace holdfast::xpcs_fit
