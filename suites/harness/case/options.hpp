// SPDX-License-Identifier: Apache-2.0
// The command line of a suite binary, `--name=VALUE` or `--name VALUE`; Google Benchmark's own
// flags pass through, but for --benchmark_filter, which is --filter.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/case/profile_options.hpp"

namespace holdfast {

struct OptionRow {
  std::string_view name = {};   // without the dashes
  std::string_view value = {};  // what its value is called in --help; empty for a switch
  std::string_view help = {};
  std::string_view needs = {};  // another option, without which this one says nothing
};

struct SuiteOptions {
  std::string device = "host";  // of a list that is not told: empty, which is any
  std::string tier = "gate";    // of a list that is not told: full
  std::string filter = {};      // what IdFilter takes of case ids
  std::string out = {};         // result file; empty: none
  std::string list = {};        // "json" or "people"; empty: measure
  ProfileOptions profiling = {};
  bool lock_step = false;           // serve one case to a paired comparison instead of measuring
  bool count_instructions = false;  // of single steps, under callgrind, instead of measuring
  bool help = false;
  std::map<std::string, std::string> custom = {};  // the suite's own options that were given
  std::string benchmark_out = {}, benchmark_format = "console";  // seen on their way to it
  std::vector<std::string> benchmark_flags = {};                 // for Google Benchmark

  // The whole number given for one of the suite's own options; Error{bad_input} for anything else.
  std::optional<int> integer(std::string_view name) const;
};

// Throws Error{bad_input} for an unknown option, one given twice, one that says nothing without
// another, a missing value, a switch with one, a filter that is no regular expression. Google
// Benchmark's flags may repeat.
SuiteOptions parse_options(const std::vector<std::string>& arguments,
                           const std::vector<OptionRow>& custom);

// `case_id` is of a case that the options' defaults choose, for an example.
std::string usage(std::string_view suite, const std::vector<OptionRow>& custom,
                  std::string_view case_id);

}  // namespace holdfast
