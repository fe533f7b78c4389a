// SPDX-License-Identifier: Apache-2.0
// Google Benchmark's report for people: a line per case, with the columns that mean something here.
// Its own has a processor time and an iteration count, which our sampling leaves without meaning,
// and speaks of how the library was built, which no timing depends on.
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

 private:
  std::string title_;
};

}  // namespace holdfast
