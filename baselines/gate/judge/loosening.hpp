// SPDX-License-Identifier: Apache-2.0
// Compares what the policy says of a metric before a change and with it: each difference, and
// whether it lets more pass.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gate/documents/baseline.hpp"
#include "gate/documents/policy/policy.hpp"

namespace holdfast::gate {

// What stands in a proposed patch where its reader is to say why: no reason.
inline constexpr const char* no_reason_yet = "proposed by holdfast check; say why";

// What accepting and the ratchet write by themselves where they ask for no reason: none for a
// loosening, which may have got there by an entry that was taken out before.
namespace unasked {
inline constexpr const char* first = "first baseline";
inline constexpr const char* added = "new";
inline constexpr const char* as_listed = "as listed";
inline constexpr const char* better = "changed for the better";
inline constexpr const char* another_day = "another day of the same code";
inline constexpr const char* proposed = "proposed by holdfast check: better for good";
inline constexpr std::array all = {first, added, as_listed, better, another_day, proposed};
}  // namespace unasked
bool is_unasked(const std::string& why);

// Whether `why` is a reason that somebody gave, and none of `known`.
bool is_new(const std::string& why, const std::set<std::string>& known);

struct StandardChange {
  std::string what;  // "gate", "tolerance", "bound" ...
  std::string before;
  std::string after;
  bool loosens = false;
  Said said = {};        // by the change
  bool excused = false;  // it gives a reason that was not there before
};

// `known` are the reasons that were there before, wherever they stood.
std::vector<StandardChange> compare(const Standard& before, const Standard& after,
                                    const std::set<std::string>& known);

// The reasons of all loosenings; empty where there is none, or one gives no reason of its own.
std::optional<std::string> excuse(const Standard& before, const Standard& after,
                                  const std::set<std::string>& known);

// How an accepted value changes so that more passes: a worse value or anchor, or a spread that
// doubles the limit, or widens it at all without another run. Each is `excused` if its reason is
// none of `known`.
std::vector<StandardChange> compare(const Standard& standard, const Entry& before,
                                    const Entry& after, const std::set<std::string>& known);

}  // namespace holdfast::gate
