// SPDX-License-Identifier: Apache-2.0
// Lines that tell how far a fit has come: the first chunk, the last, and between them no more than
// ten a second.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>

namespace holdfast::xpcs_fit {

class Progress {
 public:
  // `seconds` is a clock that only goes forward; none: the machine's.
  Progress(int chunks, std::int64_t points_each, std::ostream& out,
           std::function<double()> seconds = {});

  // Chunk `chunk` of a pass, both counted from 0, is done.
  void done(int pass, int chunk);
  int lines() const { return lines_; }

 private:
  int chunks_;
  std::int64_t points_each_, chunks_done_ = 0;
  std::ostream& out_;
  std::function<double()> seconds_;
  double begin_, last_line_;
  int lines_ = 0;
};

}  // namespace holdfast::xpcs_fit
