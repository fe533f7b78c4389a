// SPDX-License-Identifier: Apache-2.0
// Whether what was measured is all that a check should see, and of the build that it speaks for.
#pragma once

#include "gate/base/error.hpp"
#include "gate/commands/check/check.hpp"

namespace holdfast::gate {

// What measures a suite into the results that are checked.
std::string measure_command(const CheckRequest& request, const std::string& suite,
                            const std::string& device);

// Why a part does not stand for the whole gate; empty where it does.
std::string shortcoming(const Results& results);

// Once each.
void add_caveat(const std::string& caveat, Verdict& verdict);

bool is_of_build(const CheckRequest& request, const Results& results);

// The results are of the build whose lists they are held against, or say nothing about it.
void refuse_other_content(const CheckRequest& request, const MeasuredPart& part, Verdict& verdict);

// Of the whole build: what a verdict says nothing about, because nobody measured it.
void tell_unmeasured(const CheckRequest& request, const Root& root, Verdict& verdict);

// What was measured in turn with a base that fell, and is held against nothing of its hour.
void tell_lost_by_base(const Part& part, Verdict& verdict);

// Parts that somebody said must be there, and be whole.
void look_for_expected(const CheckRequest& request, const Root& root, Verdict& verdict);

// A GPU's part is excused where the machine has no GPU, and there alone.
Error nothing_there(const CheckRequest& request);

}  // namespace holdfast::gate
