// SPDX-License-Identifier: Apache-2.0
// Limits the threads of the host's libraries and loops.
#pragma once

namespace holdfast {

// While this lives, at most `most` threads are used, instead of all that the process may use.
// Opening a backend restores them all.
class FewerThreads {
 public:
  explicit FewerThreads(int most);
  ~FewerThreads();
  FewerThreads(const FewerThreads&) = delete;
  FewerThreads& operator=(const FewerThreads&) = delete;
};

void use_host_threads(int threads);

}  // namespace holdfast
