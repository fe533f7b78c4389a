// SPDX-License-Identifier: Apache-2.0
// A team whose threads read what others write: unsynchronised, or, if asked to be `ordered`, with a
// barrier, a lock and the end of a region between. Preset tsan must report only the former.
#include <string_view>
#include <vector>

int main(int count, char** words) {
  const bool ordered = count > 1 && std::string_view(words[1]) == "ordered";
  constexpr int n = 1000;
  std::vector<int> values(n, 1);
  int sum = 0;
  for (int pass = 0; pass < 20; ++pass) {
#pragma omp parallel num_threads(4)
    {
#pragma omp for
      for (int i = 0; i < n; ++i) ++values[i];
      int own = 0;
#pragma omp for nowait
      for (int i = 0; i < n; ++i) own += values[n - 1 - i];
      if (ordered) {
#pragma omp critical
        sum += own;
      } else {
        sum += own;
      }
    }
#pragma omp parallel for num_threads(4) schedule(dynamic)
    for (int i = 0; i < n; ++i) values[n - 1 - i] -= 1;
  }
  return ordered && sum != 20 * 2 * n;
}
