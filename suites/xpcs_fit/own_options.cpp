// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/own_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "families/given.hpp"
#include "xpcs_fit/streams.hpp"

namespace holdfast::xpcs_fit {
namespace {

// The strategy of fits: one of four words, or empty for a choice by size, which "auto" and unknown
// words lead to.
std::string wanted_way(const SuiteOptions& options) {
  const auto given = options.custom.find("strategy");
  if (given == options.custom.end() || given->second == "auto") return {};
  const auto& words = strategy_words.words;
  if (std::find(words.begin(), words.end(), given->second) != words.end()) return given->second;
  (void)choose_strategy(1, 1, available_gib, given->second);  // warns
  return {};
}

// Checks for a folder that exists, or that a stream can create.
void check_folder(const std::string& given) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  fs::path there = fs::absolute(given);
  while (!fs::exists(there, unknown) && there.has_relative_path()) there = there.parent_path();
  const bool is_folder = fs::is_directory(there, unknown);
  if (is_folder && ::access(there.c_str(), W_OK) == 0) return;
  throw Error(Fault::bad_input, text("--checkpoint-dir=", given, ": ", there.string(),
                                     is_folder ? " cannot be written to" : " is no folder",
                                     "; name a folder of your own"));
}

// A process has 1024 CPUs at most.
int some_threads(int given) {
  if (given >= 1 && given <= 1024) return given;
  throw Error(Fault::bad_input, text("--threads=", given, ": give 1 to 1024"));
}

// The case of families::threads that was asked for, besides those of every list, which does not
// depend on the machine.
void add_threads(const SuiteOptions& options, std::vector<Row>& rows) {
  Row more = {.family = &families::threads, .size = NamedSize::s};
  if (Given(options).number("threads", more.count, some_threads)) rows.push_back(more);
}

// Called before any case begins, whichever of them use the options.
void check(const SuiteOptions& options) {
  const Given given(options);
  StreamSettings settings;
  given.number("checkpoint-frequency", settings.checkpoint_frequency);
  given.real("min-success-rate", settings.least_success_rate);
  check_stream_settings(settings);
  if (given.has("checkpoint-dir")) check_folder(options.custom.at("checkpoint-dir"));
}

// A row changed by the suite's own options.
Row with(const SuiteOptions& options, const std::string& way, Row row) {
  const Given given(options);
  // The fits of families::stream_resume are stopped behind checkpoints after every tenth batch.
  if (row.family != &families::stream_resume)
    given.number("checkpoint-frequency", row.checkpoint_frequency);
  if (given.has("checkpoint-dir")) row.checkpoint_folder = options.custom.at("checkpoint-dir");
  given.real("min-success-rate", row.least_success_rate);
  if (!given.has("strategy") ||
      (row.family != &families::fit && row.family != &families::converged))
    return row;
  const int p = parameter_count(row.options, size_of(row).angles);
  row.strategy = choose_strategy(points_of(row), p, available_gib, way);
  row.source = row.strategy == Strategy::streaming ? DataSource::host : DataSource::resident;
  return row;
}

}  // namespace

std::vector<OptionRow> own_options() {
  return {{"strategy", "WORD",
           "how fits go over their data: standard, large, chunked, streaming, or auto "
           "by size"},
          {"checkpoint-dir", "DIR", "where streams save how far they are"},
          {"checkpoint-frequency", "N", "batches from one checkpoint to the next"},
          {"min-success-rate", "X", "the least share of batches with which a stream goes on"},
          {"threads", "N", "one more case of threads, on so many"}};
}

void follow(const SuiteOptions& options, std::vector<Row>& rows) {
  check(options);
  const std::string way = wanted_way(options);
  for (Row& row : rows) row = with(options, way, row);
  add_threads(options, rows);
}

}  // namespace holdfast::xpcs_fit
