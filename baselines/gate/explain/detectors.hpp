// SPDX-License-Identifier: Apache-2.0
// What to look for in a profile or a result: a table of symptoms, each with its threshold and what
// cures it. Detectors explain; they never decide.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/documents/list.hpp"
#include "gate/documents/profile.hpp"
#include "gate/documents/results.hpp"
#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

// One variant of one case, as far as it is known: a result, a profile, or both.
struct Sighting {
  std::string case_id = {};
  std::string variant = {};
  std::string device_class = {};
  const Results* part = nullptr;       // all cases of the run, for symptoms beside another case
  const CaseResult* result = nullptr;  // of the case, with ...
  const Variant* numbers = nullptr;    // ... its variant
  const Profile* profile = nullptr;

  // Steps of the workload in one step(): K of a case with the axis steps:K, else 1.
  double inner_steps() const;
  // A metric of the variant, or else of the case.
  std::optional<double> metric(const std::string& name) const;
};

struct Symptom {
  double value = 0;
  std::string words = {};   // with the numbers
  std::string source = {};  // profile or result
};

struct Detector {
  const char* name;
  const char* symptom;  // in plain words
  double threshold;
  const char* unit;
  const char* fix;
  std::optional<Symptom> (*look)(const Sighting& seen, double threshold);
};

const std::vector<Detector>& detectors();

// The findings, in the table's order.
std::vector<Detection> examine(const Sighting& seen);

// The findings in all variants of a run's cases, with profiles where there are any; those that the
// list expects are marked as expected.
std::vector<Detection> examine(const Results& results, const std::vector<Profile>& profiles,
                               const List& list = {});

void mark_expected(const List& list, const std::string& device, std::vector<Detection>& findings);

// A sentence for each finding that the list expects of a measured case, and that is neither in
// `found` nor seen without profiles, beside which some detectors are silent.
std::vector<std::string> unseen(const Results& results, const List& list,
                                const std::vector<Detection>& found);

// Sorts by the distance beyond the threshold, the worst first; expected findings and references,
// which do on purpose what detectors warn of, come last.
void sort_by_severity(std::vector<Detection>& findings);

}  // namespace holdfast::gate
