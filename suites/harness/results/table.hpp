// SPDX-License-Identifier: Apache-2.0
// Google Benchmark's report on a console: a line per case, with the columns that mean something
// here. The library's own has a processor time and an iteration count, which our sampling makes
// meaningless, and mentions the library's build type, which no timing depends on.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace holdfast {

class Table final : public ::benchmark::BenchmarkReporter {
 public:
  explicit Table(std::string title) : title_(std::move(title)) {}
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;

  // The error of a case that had no turn; any other is shown as its failure.
  static constexpr const char* not_run = "not run";

 private:
  std::string title_;
};

}  // namespace holdfast
