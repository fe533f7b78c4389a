// SPDX-License-Identifier: Apache-2.0
// How many threads the host's libraries and loops use from here on.
#pragma once

namespace holdfast {

// All that the process may use, until there are fewer: at most so many while this lives. Opening a
// backend gives all of them back.
class FewerThreads {
 public:
  explicit FewerThreads(int most);
  ~FewerThreads();
  FewerThreads(const FewerThreads&) = delete;
  FewerThreads& operator=(const FewerThreads&) = delete;
};

void use_host_threads(int threads);

}  // namespace holdfast
