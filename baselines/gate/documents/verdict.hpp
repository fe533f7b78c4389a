// SPDX-License-Identifier: Apache-2.0
// holdfast-verdict/1: what the gate decided.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gate/base/json.hpp"
#include "gate/base/numbers.hpp"

namespace holdfast::gate {

struct Row {
  std::string case_id;
  std::string device_class;
  std::string variant;
  std::string metric;
  std::string kind = {};
  std::string unit = {};
  std::string verdict = {};
  bool blocking = false;
  std::optional<Value> value = {};
  std::optional<Value> baseline = {};
  std::optional<double> change = {};  // value / baseline - 1
  std::optional<double> limit = {};   // the largest worsening that passes, as `change`
  std::string sentence = {};
  std::map<std::string, std::string> evidence = {};  // control, code, rule, bound ...
  std::optional<std::string> next = {};              // the command to type next
  // What it was compared with: accepted, beside (the base's value of the same run) or bound; empty
  // if nothing.
  std::string standard = {};
  // For a time or ratio that gates: the smallest loss of speed that would have failed this run, as
  // a share of the time, and by which standard.
  std::optional<double> resolution = {};
  std::string resolved_by = {};
};

// A symptom that a detector saw in one variant of a case: never a reason to fail, often the reason
// why something failed.
struct Detection {
  std::string case_id;
  std::string device_class;
  std::string variant;
  std::string detector;
  std::string sentence;  // what was seen, with its numbers
  double value = 0;
  double threshold = 0;
  std::string fix;
  std::string source;                        // profile or result: where the numbers come from
  std::optional<std::string> expected = {};  // why its case shows it on purpose
};

// What the judged change does to a rule that judges it, to an alias or to a case.
struct RuleChange {
  std::string rule;
  std::string before;
  std::string after;
  std::string why = {};  // the change's own reason
  bool loosens = false;
  bool blocking = false;  // it loosens, and gives no reason of its own
};

struct Verdict {
  int exit = 0;
  std::map<std::string, std::int64_t> counts = {};
  std::vector<Row> rows = {};
  std::vector<std::string> notes =
      {};  // about parts as a whole: no baseline yet, environment moved
  std::vector<std::string> not_checked = {};  // what this verdict says nothing about, and why
  std::vector<Detection> findings = {};       // the worst first
  std::vector<std::string> caveats = {};      // why exit 0 is not "well"
  std::vector<RuleChange> changes = {};       // since the merge base; blocking ones first
};

Verdict parse_verdict(const Document& document);
Verdict read_verdict(const std::filesystem::path& path);
nlohmann::json to_json(const Verdict& verdict);

}  // namespace holdfast::gate
