// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/cpu_waits.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

namespace holdfast {
namespace {

namespace fs = std::filesystem;

constexpr double time_slice = 4e-3;

// The second number of a schedstat: nanoseconds in which the thread could run and did not.
double waited_seconds(int schedstat) {
  std::array<char, 96> line = {};
  if (::pread(schedstat, line.data(), line.size() - 1, 0) <= 0) return 0;
  char* second = nullptr;
  (void)std::strtoull(line.data(), &second, 10);
  return 1e-9 * static_cast<double>(std::strtoull(second, nullptr, 10));
}

double interrupted_seconds() {
  rusage usage = {};
  (void)::getrusage(RUSAGE_SELF, &usage);
  return time_slice * static_cast<double>(usage.ru_nivcsw);
}

}  // namespace

CpuWaits::CpuWaits() {
  std::error_code absent;
  for (const auto& thread : fs::directory_iterator("/proc/self/task", absent)) {
    Descriptor file(::open((thread.path() / "schedstat").c_str(), O_RDONLY | O_CLOEXEC));
    if (*file >= 0) threads_.push_back(std::move(file));
  }
}

double CpuWaits::seconds() const {
  if (threads_.empty()) return interrupted_seconds();
  double sum = 0;
  for (const Descriptor& thread : threads_) sum += waited_seconds(*thread);
  return sum;
}

}  // namespace holdfast
