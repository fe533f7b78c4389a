// SPDX-License-Identifier: Apache-2.0
// Why a case is slower, or is not what it was: the evidence of one case on one device class, rung
// by rung, and the causes that it supports. Pure functions over two sides.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gate/documents/baseline.hpp"
#include "gate/documents/kernel_table.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/profile.hpp"
#include "gate/documents/results.hpp"
#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

// What is known of a case on one side: a measurement, or the accepted baseline.
struct Side {
  using Name = std::pair<std::string, std::string>;  // variant and metric
  std::map<Name, Value> values = {};
  std::map<std::string, std::map<std::string, KernelFacts>> kernels = {};  // by variant and name
  std::map<std::string, std::string> environment = {};  // nvrtc, compiler ...; only what is known
  std::map<std::string, Profile> profiles = {};         // by variant

  std::optional<double> number(const std::string& variant, const std::string& metric) const;
};

Side measured_side(const Results& results, const CaseResult& result,
                   const std::vector<Profile>& profiles);
Side baseline_side(const Baseline& baseline, const std::string& case_id);

struct Evidence {
  std::string case_id = {};
  std::string device_class = {};
  std::string device_name = {};
  // Commands: to measure the case again, to profile it, to accept it or measure what can be
  // accepted or compared with, and to time two builds in turn.
  std::string run_again = {}, profile = {}, accept = {}, compare = {};
  std::string against = {};         // what the other side is: "the baseline", a folder
  std::string untimed = {};         // what is said if it has no time of the case
  std::optional<Side> before = {};  // empty: there is nothing to compare with,
  std::string absent = "which does not have it";  // and this is said of the other side
  Side now = {};
  CaseResult result = {};
  Quality quality = {};
  std::map<std::string, std::optional<double>> ceilings = {};
  std::vector<Row> rows = {};  // of the verdict, about this case
  std::vector<std::string> notes = {};
  std::vector<Detection> findings = {};
};

struct Rung {
  std::string name = {};
  std::vector<std::string> lines = {};
};

// Verdict, code, environment, counts, control, kernels, ceilings, detectors: in this order, each
// with a line at least.
std::vector<Rung> ladder(const Evidence& evidence);

struct Cause {
  std::string sentence = {};
  std::string next = {};  // the command to type next
};

// The most telling first; at least one.
std::vector<Cause> causes(const Evidence& evidence);

// A kernel that one side or both have, and what differs.
struct KernelChange {
  std::string variant = {};
  std::string kernel = {};
  std::optional<KernelFacts> before = {}, now = {};

  bool has_same_cubin() const;      // which both sides know
  bool has_same_resources() const;  // registers, spills, shared bytes
  bool is_identical() const;        // and machine code
};
std::vector<KernelChange> kernel_changes(const Evidence& evidence);

// A number that both sides know.
struct ValueChange {
  std::string variant = {};
  std::string metric = {};
  double before = 0, now = 0;

  std::string words() const;  // "launches 4 -> 5"
};
// Counts, bytes and what the compiler made, where they differ.
std::vector<ValueChange> count_changes(const Evidence& evidence);
std::optional<ValueChange> change_of(const Evidence& evidence, const std::string& variant,
                                     const std::string& metric);

// Whether the compiled code of a variant is the same and launched in the same way; empty where one
// side does not know.
std::optional<bool> same_code(const Evidence& evidence, const std::string& variant);
// Whether both sides know the same kernels of a variant, each with the same machine code. They may
// be launched otherwise.
bool same_kernels(const Evidence& evidence, const std::string& variant);

// "nvrtc 13.0.88 -> 13.1.20", one for each difference that both sides know.
std::vector<std::string> environment_changes(const Evidence& evidence);

}  // namespace holdfast::gate
