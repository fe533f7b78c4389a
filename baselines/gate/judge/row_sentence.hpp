// SPDX-License-Identifier: Apache-2.0
// A row's sentence, "CASE VARIANT on DEVICE: METRIC because": put together and taken apart here
// alone. Of a verdict that was read it is all that tells what happened.
#pragma once

#include <string>
#include <string_view>

#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

void say(Row& row, const std::string& because);

// Without case, variant and device; without the metric as well.
std::string_view said(const Row& row);
std::string_view because(const Row& row);

// Of a case without a result, by its status: "the case crashed: it fell".
std::string lost_case(const std::string& status, const std::string& reason);
// Of such a row: "crashed", "timed out", "skipped", "wrong" or, of any other, "missing".
std::string_view how_lost(const Row& row);

// "accepted with this change: one more stage", which is added to what was said before.
std::string accepted_because(const std::string& why);
// Why it was accepted; the whole sentence where it does not say.
std::string_view why_accepted(const Row& row);

}  // namespace holdfast::gate
