// SPDX-License-Identifier: Apache-2.0
#include "harness/results/table.hpp"

#include <array>
#include <cstdio>
#include <ostream>

namespace holdfast {
namespace {

// Empty for what a device or a case does not have.
std::string shown(double value, const char* format) {
  std::array<char, 32> digits = {};
  std::snprintf(digits.data(), digits.size(), format, value);
  return digits.data();
}

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

void print(std::ostream& out, const std::string& time, const std::string& speedup,
           const std::string& peak_bytes, const std::string& launches, const std::string& id) {
  std::array<char, 64> columns = {};
  std::snprintf(columns.data(), columns.size(), "%10s %9s %12s %9s", time.c_str(), speedup.c_str(),
                peak_bytes.c_str(), launches.c_str());
  out << columns.data() << "  " << id << std::endl;  // seen as soon as it is known
}

}  // namespace

bool Table::ReportContext(const Context&) {
  GetOutputStream() << title_ << "\n";
  print(GetOutputStream(), "time", "speedup", "peak bytes", "launches", "case");
  return true;
}

void Table::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.error_occurred)
      print(GetOutputStream(), "failed", "", "", "", run.report_label);
    else
      print(GetOutputStream(), seconds(run.real_accumulated_time), counter(run, "speedup", "%.2f"),
            counter(run, "peak_bytes", "%.0f"), counter(run, "launches", "%.0f"), run.report_label);
  }
}

}  // namespace holdfast
