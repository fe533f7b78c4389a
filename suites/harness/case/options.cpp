// SPDX-License-Identifier: Apache-2.0
#include "harness/case/options.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "base/id_filter.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

constexpr OptionRow common[] = {
    {"device", "NAME", "host (default), cuda, cuda:N, or cuda-dry:sm_NN, which needs no GPU"},
    {"tier", "TIER", "smoke, gate (default) or full; each includes the ones before it"},
    {"filter", "REGEX",
     "only cases whose id contains a match (RE2); with a leading -, only the others"},
    {"out", "FILE", "write the results there, as holdfast-results/1"},
    {"list", "FORMAT",
     "print all cases, or those of a given device, tier and filter: json, or people (default)"},
    {"lock-step", "", "time one case a sample at a time, as standard input asks; for holdfast ab"},
    {"count-instructions", "", "count a step's instructions, inside callgrind; for holdfast run"},
    {"help", "", "print this"},
};

void print_row(std::string& out, const OptionRow& row) {
  std::string left = text("  --", row.name, row.value.empty() ? "" : "=", row.value);
  left.resize(std::max<std::size_t>(left.size() + 2, 28), ' ');
  out += text(left, row.needs.empty() ? "" : text("with --", row.needs, ": "), row.help, "\n");
}

// Length of the longest common prefix: enough to suggest a correction for a mistyped option.
std::size_t alike(std::string_view a, std::string_view b) {
  std::size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

// Each case is sampled by ourselves, once, whatever these say.
void refuse_sampling_flag(std::string_view flag) {
  const std::string_view given = flag.substr(0, flag.find('='));
  for (const std::string_view name :
       {"--benchmark_repetitions", "--benchmark_min_time", "--benchmark_min_warmup_time"})
    if (given == name)
      throw Error(Fault::bad_input, text(name,
                                         " has no effect: a suite chooses its samples itself; "
                                         "holdfast run --processes=N repeats it"));
  if (given == "--benchmark_list_tests")
    throw Error(Fault::bad_input, text(given, " measures nothing; --list shows what there is"));
}

// Google Benchmark has its own messages and exit codes for invalid values of these.
void take_benchmark_flag(std::string_view flag, SuiteOptions& options) {
  const auto value = flag.substr(std::min(flag.size(), flag.find('=') + 1));
  if (flag.starts_with("--benchmark_filter=")) {
    options.filter = value == "all" ? "" : value;
    return;
  }
  refuse_sampling_flag(flag);
  if ((flag.starts_with("--benchmark_format=") || flag.starts_with("--benchmark_out_format=")) &&
      value != "console" && value != "json" && value != "csv")
    throw Error(Fault::bad_input, text(flag, ": the formats are console, json and csv"));
  if (flag.starts_with("--benchmark_out=")) options.benchmark_out = value;
  if (flag.starts_with("--benchmark_format=")) options.benchmark_format = value;
  options.benchmark_flags.emplace_back(flag);
}

// Serving a comparison and counting replace measuring and everything related to it.
void check_alone(const SuiteOptions& options) {
  if (!options.lock_step && !options.count_instructions) return;
  const std::string_view other = !options.out.empty()                  ? "--out"
                                 : options.profiling.profiles()        ? "a profile"
                                 : !options.profiling.nvml_log.empty() ? "--nvml-log"
                                 : !options.benchmark_flags.empty() ? "a flag of Google Benchmark"
                                 : options.lock_step && options.count_instructions
                                     ? "--count-instructions"
                                     : "";
  if (other.empty()) return;
  throw Error(Fault::bad_input,
              text(options.lock_step ? "--lock-step times one case as standard input asks"
                                     : "--count-instructions counts single steps",
                   " and has no use for ", other, "; leave it out"));
}

bool is_list_format(std::string_view word) {
  return word == "json" || word == "people";
}

// Of options as a whole, whatever their order.
void check_all(const SuiteOptions& options) {
  if (!options.list.empty() && !is_list_format(options.list))
    throw Error(Fault::bad_input,
                text("--list=", options.list, ": the formats are json and people"));
  if (const std::string problem = IdFilter(options.filter).problem(); !problem.empty())
    throw Error(Fault::bad_input,
                text("--filter=", options.filter, ": not a regular expression: ", problem));
  check_together(options.profiling, options.device, options.out);
  check_alone(options);
  if (options.profiling.profiles() && !options.benchmark_flags.empty())
    throw Error(Fault::bad_input, text(options.benchmark_flags.front(),
                                       ": Google Benchmark has no part in a run that is profiled; "
                                       "leave it out"));
}

Error unknown_option(std::string_view name, const std::vector<OptionRow>& rows) {
  const OptionRow* nearest = nullptr;
  for (const OptionRow& row : rows)
    if (alike(row.name, name) >= 2 &&
        (!nearest || alike(row.name, name) > alike(nearest->name, name)))
      nearest = &row;
  return Error(Fault::bad_input,
               nearest ? text("unknown option --", name, "; did you mean --", nearest->name, "?")
                       : text("unknown option --", name, "; --help lists what there is"));
}

// The option that an argument names; it may be given once, a switch without a value.
const OptionRow& row_of(std::string_view argument, const std::vector<OptionRow>& rows,
                        std::set<std::string>& given) {
  const auto equals = std::min(argument.find('='), argument.size());
  const std::string_view name = argument.substr(2, equals - 2);
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const OptionRow& each) { return each.name == name; });
  if (row == rows.end()) throw unknown_option(name, rows);
  if (row->value.empty() && equals < argument.size())
    throw Error(Fault::bad_input, text("--", name, " is a switch and takes no value"));
  if (!given.emplace(name).second)
    throw Error(Fault::bad_input, text("--", name, " is given twice; give it once"));
  return *row;
}

// The value behind '=' or in the next argument, which `i` then counts.
std::string value_of(const OptionRow& row, const std::vector<std::string>& arguments,
                     std::size_t& i) {
  std::string value;
  if (const auto equals = arguments[i].find('='); equals != std::string::npos)
    value = arguments[i].substr(equals + 1);
  else if (row.name == "list")
    value =
        i + 1 < arguments.size() && is_list_format(arguments[i + 1]) ? arguments[++i] : "people";
  else if (row.value.empty())
    value = "on";  // a switch
  else if (i + 1 < arguments.size() && !arguments[i + 1].starts_with("--"))
    value = arguments[++i];
  if (value.empty())
    throw Error(Fault::bad_input,
                text("--", row.name, " needs a value: --", row.name, "=", row.value));
  return value;
}

// Options that would be ignored are refused.
void refuse_idle(const std::vector<OptionRow>& rows, const std::set<std::string>& given) {
  for (const OptionRow& row : rows)
    if (!row.needs.empty() && given.contains(std::string(row.name)) &&
        !given.contains(std::string(row.needs)))
      throw Error(Fault::bad_input, text("--", row.name, " has no effect without --", row.needs,
                                         "; give both, or leave it out"));
}

}  // namespace

std::optional<int> SuiteOptions::integer(std::string_view name) const {
  const auto given = custom.find(std::string(name));
  if (given == custom.end()) return std::nullopt;
  const std::string& digits = given->second;
  int value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (fault == std::errc::result_out_of_range)
    throw Error(Fault::bad_input,
                text("--", name, "=", digits, " is beyond what a number here may be; give at most ",
                     std::numeric_limits<int>::max()));
  if (fault != std::errc() || end != digits.data() + digits.size())
    throw Error(Fault::bad_input, text("--", name, "=", digits, ": give a whole number"));
  return value;
}

SuiteOptions parse_options(const std::vector<std::string>& arguments,
                           const std::vector<OptionRow>& custom) {
  std::vector<OptionRow> rows(std::begin(common), std::end(common));
  rows.insert(rows.end(), profile_rows().begin(), profile_rows().end());
  rows.insert(rows.end(), custom.begin(), custom.end());

  SuiteOptions options;
  std::set<std::string> given;
  const std::map<std::string_view, std::string*> strings = {{"device", &options.device},
                                                            {"tier", &options.tier},
                                                            {"filter", &options.filter},
                                                            {"list", &options.list},
                                                            {"out", &options.out}};
  const std::map<std::string_view, bool*> switches = {
      {"help", &options.help},
      {"lock-step", &options.lock_step},
      {"count-instructions", &options.count_instructions}};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument.starts_with("--benchmark_") || argument.starts_with("--v=")) {
      take_benchmark_flag(argument, options);
      continue;
    }
    if (!argument.starts_with("--"))
      throw Error(Fault::bad_input,
                  text("'", argument, "' is not an option; options begin with --, see --help"));
    const OptionRow& row = row_of(argument, rows, given);
    const std::string_view name = row.name;
    if (const auto known = switches.find(name); known != switches.end()) {
      *known->second = true;
      continue;
    }
    const std::string value = value_of(row, arguments, i);
    if (const auto known = strings.find(name); known != strings.end())
      *known->second = value;
    else if (!take_profile_option(name, value, options.profiling))
      options.custom[std::string(name)] = value;
  }
  refuse_idle(rows, given);
  if (!options.list.empty() && !given.contains("device")) options.device.clear();
  if (!options.list.empty() && !given.contains("tier")) options.tier = "full";
  check_all(options);
  return options;
}

std::string usage(std::string_view suite, const std::vector<OptionRow>& custom,
                  std::string_view case_id) {
  const std::string_view in_suite = case_id.substr(case_id.find('/') + 1);
  std::string out =
      text("usage: ", suite, " [options] [Google Benchmark's own flags]\n",
           "Measures the cases of one suite on one device, in one process.\n\noptions:\n");
  for (const OptionRow& row : common) print_row(out, row);
  out +=
      "\nprofiling (cases are built and checked as always, profiled for a few steps, and not "
      "measured):\n";
  for (const OptionRow& row : profile_rows()) print_row(out, row);
  if (!custom.empty()) {
    out += "\nof this suite (these make a custom run, which no gate takes):\n";
    for (const OptionRow& row : custom) print_row(out, row);
  }
  out += text(
      "\nexamples:\n  ", suite, " --tier=smoke\n  ", suite,
      " --device=cuda-dry:sm_90 --out=results.json\n  ", suite, " --filter='", in_suite,
      "' --benchmark_format=json\n  ", suite,
      " --tier=smoke --profile=profiles --trace=profiles --profile-steps=3\n  ", suite,
      " --tier=smoke --device=cuda-dry:sm_90 --dump-kernels=kernels --variant=both\n  ", suite,
      " --tier=smoke --profile=profiles --profile-every=100 --profile-steps=2 --assert-mean=0.15\n",
      "\nexit codes: 0 well, 1 a case failed or its mean step is too long, 2 usage, 3 a case could "
      "not run to its end, 77 no such device\n");
  return out;
}

}  // namespace holdfast
