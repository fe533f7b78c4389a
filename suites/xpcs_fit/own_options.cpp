// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/own_options.hpp"

#include <algorithm>
#include <string>

#include "families/given.hpp"

namespace holdfast::xpcs_fit {
namespace {

// The way that fits are to go: one of four words, or by size, which "auto" asks for and a word that
// there is not falls back to.
std::string wanted_way(const SuiteOptions& options) {
  const auto given = options.custom.find("strategy");
  if (given == options.custom.end() || given->second == "auto") return {};
  const auto& words = strategy_words.words;
  if (std::find(words.begin(), words.end(), given->second) != words.end()) return given->second;
  (void)choose_strategy(1, 1, available_gib, given->second);  // says so
  return {};
}

// What the suite's own options make of a row.
Row with(const SuiteOptions& options, const std::string& way, Row row) {
  const Given given(options);
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
          {"min-success-rate", "X", "the least share of batches with which a stream goes on"}};
}

void follow(const SuiteOptions& options, std::vector<Row>& rows) {
  const std::string way = wanted_way(options);
  for (Row& row : rows) row = with(options, way, row);
}

}  // namespace holdfast::xpcs_fit
