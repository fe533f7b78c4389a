// SPDX-License-Identifier: Apache-2.0
// The command line of a suite binary, `--name=VALUE` or `--name VALUE`; Google Benchmark's own
// flags pass through, except --benchmark_filter, which acts as --filter.
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
  std::string_view value = {};  // the value's name in --help; empty for a switch
  std::string_view help = {};
  std::string_view needs = {};  // another option, without which this one has no effect
};

struct SuiteOptions {
  std::string device = "host";  // a list without one gets empty, meaning any
  std::string tier = "gate";    // a list without one gets full
  std::string filter = {};      // of case ids, in IdFilter's syntax
  std::string out = {};         // result file; empty: none
  std::string list = {};        // "json" or "people"; empty: measure
  ProfileOptions profiling = {};
  bool lock_step = false;           // serve one case to a paired comparison instead of measuring
  bool count_instructions = false;  // of single steps, under callgrind, instead of measuring
  bool help = false;
  std::map<std::string, std::string> custom = {};                // the suite's own, as given
  std::string benchmark_out = {}, benchmark_format = "console";  // noted while passing through
  std::vector<std::string> benchmark_flags = {};                 // for Google Benchmark

  // The whole number given for one of the suite's own options; throws Error{bad_input} for anything
  // else.
  std::optional<int> integer(std::string_view name) const;
};

// Throws Error{bad_input} for an unknown option, a repeated one, one without the option it needs, a
// missing value, a switch with one, an invalid regular expression as filter. Google Benchmark's
// flags may repeat.
SuiteOptions parse_options(const std::vector<std::string>& arguments,
                           const std::vector<OptionRow>& custom);

// `case_id`: an example, chosen by the options' defaults.
std::string usage(std::string_view suite, const std::vector<OptionRow>& custom,
                  std::string_view case_id);

}  // namespace holdfast
