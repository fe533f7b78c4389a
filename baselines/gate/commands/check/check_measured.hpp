// SPDX-License-Identifier: Apache-2.0
// Whether the results are complete and belong to the build that they are checked for.
#pragma once

#include "gate/base/error.hpp"
#include "gate/commands/check/check.hpp"

namespace holdfast::gate {

// The command that measures a suite into the checked results.
std::string measure_command(const CheckRequest& request, const std::string& suite,
                            const std::string& device);

// Why a part does not stand for the whole gate; empty where it does.
std::string shortcoming(const Results& results);
// Why a part does not answer for the build's whole gate: its shortcoming, or device code from
// elsewhere; empty where it does.
std::string no_answer(const Results& results);

// Adds a caveat, once.
void add_caveat(const std::string& caveat, Verdict& verdict);

bool is_of_build(const CheckRequest& request, const Results& results);

// Throws for results of another content than the lists' build; with `any_content` it notes them.
void refuse_other_content(const CheckRequest& request, const MeasuredPart& part, Verdict& verdict);

// Reports, for the whole build, what the verdict does not cover because nobody measured it.
void tell_unmeasured(const CheckRequest& request, const Root& root, Verdict& verdict);

// Reports values without one of the same hour to be compared with, because the base failed to
// measure it.
void tell_lost_by_base(const Part& part, Verdict& verdict);

// Reports a suite that the check needs on a device, and has not.
void miss(const std::string& suite, const std::string& device, const std::string& because,
          const std::string& next, Verdict& verdict);

// Parts named by --expect must be there, and be complete.
void look_for_expected(const CheckRequest& request, const Root& root, Verdict& verdict);

// The error for a root without results. Only on a machine without a GPU is a missing GPU part
// excused.
Error nothing_there(const CheckRequest& request);

}  // namespace holdfast::gate
