// SPDX-License-Identifier: Apache-2.0
// The other side of `holdfast run --beside=BUILD`: the same suite of another build, in turn.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "gate/commands/run/plan.hpp"
#include "gate/documents/results.hpp"
#include "gate/measure/suite_run.hpp"

namespace holdfast::gate {

// The base's suite of that name; empty, with a word, where it has none, and where nobody asked.
std::optional<std::filesystem::path> suite_beside(const Plan& plan, const std::string& suite,
                                                  Progress& progress);

// From paths of one length, with plans of one Fourier transform: the processes of both in turn, of
// the base's those cases that both builds list.
void run_beside(const std::filesystem::path& base, SuiteTask head, const Plan& plan,
                Progress& progress, Sides& sides);

// One of an older run does not stay.
void withdraw_base(const std::filesystem::path& folder, const std::string& suite);

// Writes <folder>/base/<suite>.json of the run that `head` tells, its cases under their present
// names, with the list of `binary` as that is; returns the content that it was built from, and
// nothing, with a word, where all its cases were lost.
std::optional<std::string> keep_base(const std::filesystem::path& binary, const Sides& sides,
                                     const Plan& plan, const Results& head,
                                     const std::function<void(Quality&)>& add_machine,
                                     const std::filesystem::path& folder, Progress& progress);

}  // namespace holdfast::gate
