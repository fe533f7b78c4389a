// SPDX-License-Identifier: Apache-2.0
// What every command needs that starts a suite: its list, its refusals, its progress, its GPU.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gate/base/error.hpp"
#include "gate/base/printing.hpp"
#include "gate/base/process.hpp"
#include "gate/documents/list.hpp"

namespace holdfast::gate {

// One line per process; on a terminal a line that follows the suite as well.
class Progress {
 public:
  explicit Progress(std::string suite) : suite_(std::move(suite)) {}
  ~Progress() { clear(); }
  void following(std::string_view line) {
    if (!rewrites_ || printing().quiet || line.empty()) return;
    constexpr std::size_t columns = 100;
    std::cerr << "\r\x1b[K" << line.substr(0, columns) << std::flush;
    shown_ = true;
  }
  template <class... Parts>
  void say(const Parts&... parts) {
    if (!printing().quiet) warn(parts...);
  }
  // Printed even without progress.
  template <class... Parts>
  void warn(const Parts&... parts) {
    clear();
    std::cerr << suite_ << ": " << text(parts...) << std::endl;
  }
  void clear() {
    if (std::exchange(shown_, false)) std::cerr << "\r\x1b[K" << std::flush;
  }

 private:
  std::string suite_;
  const bool rewrites_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
};

// The case of `asked` that a line announces, "[3/22] id": a suite says so before it begins one.
std::string announced(std::string_view line, const std::set<std::string>& asked);

// Throws the suite's own sentence if it refused what it was asked (exit 2) or has no such device
// (77), as opposed to a failure in a case.
void pass_on_refusals(const Outcome& outcome, const std::string& suite);

// The value of HOLDFAST_PADDING for a fresh process: environments of different length move stacks
// and mappings, so that none profits from a lucky alignment.
std::string padding(std::mt19937_64& random);

// A filter that chooses these cases and no other, by a suite of any build.
std::string filter_of(const std::set<std::string>& ids);

// The list as the suite prints it now. The build stored the same bytes beside it; another list is
// another build's. `custom` are the suite's own options, which may change its list.
std::string list_of(const std::filesystem::path& binary, const std::vector<std::string>& custom);
List listed_by(const std::filesystem::path& binary);

// Keeps other runs of holdfast off the GPU while it lives; empty if the device is not a GPU.
std::optional<MachineLock> lock_device(const std::string& device, Progress& progress);

}  // namespace holdfast::gate
