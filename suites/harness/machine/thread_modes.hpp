// SPDX-License-Identifier: Apache-2.0
// What a computation may set for this process's threads and must restore, because the other variant
// and the oracle compute on the same ones: rounding, flushing of denormals, the threads of a loop.
#pragma once

#include <string>

namespace holdfast {

class ThreadModes {
 public:
  ThreadModes();  // those of the calling thread
  // What is no longer as it was, of the calling thread or, if asked, of any thread of the team;
  // else empty.
  std::string changed(bool of_the_team) const;

 private:
  unsigned floating_point_;
  int threads_;
};

}  // namespace holdfast
