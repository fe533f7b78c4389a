// SPDX-License-Identifier: Apache-2.0
#include "harness/results/table.hpp"

#include <array>
#include <cstdio>
#include <ostream>

namespace holdfast {
namespace {

std::string shown(double value, const char* format) {
  std::array<char, 32> digits = {};
  std::snprintf(digits.data(), digits.size(), format, value);
  return digits.data();
}

// Empty if a device or a case lacks the value.
std::string counter(const ::benchmark::BenchmarkReporter::Run& run, const char* name,
                    const char* format) {
  const auto found = run.counters.find(name);
  return found == run.counters.end() ? "" : shown(found->second.value, format);
}

std::string seconds(double seconds) {
  if (seconds <= 0) return "";  // nothing was executed
  if (seconds < 1e-3) return shown(seconds * 1e6, "%.1f us");
  if (seconds < 1) return shown(seconds * 1e3, "%.2f ms");
  return shown(seconds, "%.3f s");
}

// In the style of `holdfast`: exact until a prefix is shorter.
std::string bytes(double bytes) {
  if (bytes >= 1e9) return shown(bytes / 1e9, "%.4g GB");
  if (bytes >= 1e6) return shown(bytes / 1e6, "%.4g MB");
  if (bytes >= 1e4) return shown(bytes / 1e3, "%.4g kB");
  return shown(bytes, "%.0f B");
}

std::string peak_of(const ::benchmark::BenchmarkReporter::Run& run) {
  const auto found = run.counters.find("peak_bytes");
  return found == run.counters.end() ? "" : bytes(found->second.value);
}

void print(std::ostream& out, const std::string& time, const std::string& speedup,
           const std::string& peak_memory, const std::string& launches, const std::string& id) {
  std::array<char, 64> columns = {};
  std::snprintf(columns.data(), columns.size(), "%10s %9s %12s %9s", time.c_str(), speedup.c_str(),
                peak_memory.c_str(), launches.c_str());
  out << columns.data() << "  " << id << std::endl;  // flushed, so that it appears immediately
}

}  // namespace

bool Table::ReportContext(const Context&) {
  GetOutputStream() << title_ << "\n";
  print(GetOutputStream(), "time", "speedup", "peak memory", "launches", "case");
  return true;
}

void Table::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.error_occurred)
      print(GetOutputStream(), run.error_message == not_run ? not_run : "failed", "", "", "",
            run.report_label);
    else
      print(GetOutputStream(), seconds(run.real_accumulated_time), counter(run, "speedup", "%.2f"),
            peak_of(run), counter(run, "launches", "%.0f"), run.report_label);
  }
}

}  // namespace holdfast
