// SPDX-License-Identifier: Apache-2.0
#include "calibration/host_caches.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace holdfast::calibration {
namespace {

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;

// Typical of server CPUs since 2017, rather too large than too small: an underestimated cache would
// promise less than the machine can do.
constexpr std::size_t common_bytes[] = {48 * KiB, 2 * MiB, 32 * MiB};

std::string first_word(const std::filesystem::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

// "48K", "32M"; 0 if unreadable.
std::size_t size_in(const std::string& word) {
  std::istringstream stream(word);
  std::size_t number = 0;
  char unit = ' ';
  if (!(stream >> number)) return 0;
  stream >> unit;
  return number * (unit == 'K' ? KiB : unit == 'M' ? MiB : 1);
}

// The number of CPUs in a list: 5 for "0-3,8"; 0 if unreadable.
int count_in(const std::string& list) {
  std::istringstream stream(list);
  int count = 0;
  for (std::string range; std::getline(stream, range, ',');) {
    int first = 0, last = 0;
    char dash = ' ';
    std::istringstream ends(range);
    if (!(ends >> first)) continue;
    count += ends >> dash >> last ? std::max(last - first + 1, 1) : 1;
  }
  return count;
}

}  // namespace

std::size_t Cache::team_bytes(int threads) const {
  return bytes * static_cast<std::size_t>(std::clamp(threads, 1, instances));
}

std::vector<Cache> host_caches(const std::filesystem::path& system) {
  const int cpus = std::max(count_in(first_word(system / "online")), 1);
  std::vector<Cache> caches;
  for (int level = 1; level <= 3; ++level) {
    const bool shared = level == 3;
    caches.push_back({.level = level,
                      .bytes = common_bytes[level - 1],
                      .instances = shared ? 1 : cpus,
                      .sharers = shared ? cpus : 1});
  }
  for (int index = 0;; ++index) {
    const auto folder = system / "cpu0" / "cache" / ("index" + std::to_string(index));
    const auto level = size_in(first_word(folder / "level"));
    if (level == 0) break;
    const auto bytes = size_in(first_word(folder / "size"));
    if (level > caches.size() || bytes == 0 || first_word(folder / "type") == "Instruction")
      continue;
    const int sharers = std::clamp(count_in(first_word(folder / "shared_cpu_list")), 1, cpus);
    caches[level - 1] = {.level = static_cast<int>(level),
                         .bytes = bytes,
                         .instances = std::max(cpus / sharers, 1),
                         .sharers = sharers};
  }
  return caches;
}

}  // namespace holdfast::calibration
