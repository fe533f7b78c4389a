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

// The base's suite of that name; empty if no base was asked for or, with a message, if it has none.
std::optional<std::filesystem::path> suite_beside(const Plan& plan, const std::string& suite,
                                                  Progress& progress);

// Runs processes of both builds in turn, from paths of one length and with the same Fourier plans;
// of the base only cases that both builds list.
void run_beside(const std::filesystem::path& base, SuiteTask head, const Plan& plan,
                Progress& progress, Sides& sides);

// Removes the base side of an older run.
void withdraw_base(const std::filesystem::path& folder, const std::string& suite);

// Writes <folder>/base/<suite>.json of the run that `head` describes, its cases under their present
// names, with the list of `binary` unchanged; returns the content that it was built from, or
// nothing, with a message, if all its cases were lost.
std::optional<std::string> keep_base(const std::filesystem::path& binary, const Sides& sides,
                                     const Plan& plan, const Results& head,
                                     const std::function<void(Quality&)>& add_machine,
                                     const std::filesystem::path& folder, Progress& progress);

}  // namespace holdfast::gate
