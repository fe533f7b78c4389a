// SPDX-License-Identifier: Apache-2.0
// Lines that report the progress of a fit: after its first chunk, at its end, and between them at
// most ten a second.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>

namespace holdfast::xpcs_fit {

class Progress {
 public:
  // `seconds` is a monotonic clock; empty: the machine's.
  Progress(int chunks, std::int64_t points_each, std::ostream& out,
           std::function<double()> seconds = {});

  // Chunk `chunk` of a pass, both counted from 0, is done; the first of pass 0 begins a fit.
  void done(int pass, int chunk);
  // The fit has ended: reports the last chunk unless it was reported already.
  void end();
  int lines() const { return lines_; }

 private:
  void tell(double now);

  int chunks_;
  std::int64_t points_each_, chunks_done_ = 0;
  std::ostream& out_;
  std::function<double()> seconds_;
  double begin_, last_line_, last_chunk_;
  int pass_ = 0, chunk_ = 0;
  bool told_ = true;  // whether the last chunk was reported
  int lines_ = 0;
};

}  // namespace holdfast::xpcs_fit
