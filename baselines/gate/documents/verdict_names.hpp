// SPDX-License-Identifier: Apache-2.0
// The names of verdicts and their order.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::gate {

namespace verdict {
inline constexpr const char* pass = "PASS";
inline constexpr const char* regression = "REGRESSION";
inline constexpr const char* changed = "CHANGED";
inline constexpr const char* improved = "IMPROVED";
inline constexpr const char* accepted = "ACCEPTED";
inline constexpr const char* drift = "DRIFT";
inline constexpr const char* environment = "ENV";
inline constexpr const char* noisy = "NOISY";
inline constexpr const char* fresh = "NEW";
inline constexpr const char* missing = "MISSING";
inline constexpr const char* wrong = "WRONG";
inline constexpr const char* suspect_fast = "SUSPECT-FAST";
inline constexpr const char* skipped = "SKIPPED";
inline constexpr const char* waived = "WAIVED";
inline constexpr const char* warning = "WARN";
}  // namespace verdict

inline constexpr double largest_drift = 0.05;  // from the anchor, relative; beyond it is DRIFT

// What a value is compared with: the values of the verdict's key `standard`.
namespace held_against {
inline constexpr const char* accepted = "accepted";
inline constexpr const char* beside = "beside";
inline constexpr const char* bound = "bound";
}  // namespace held_against

// "the base beside it"
std::string words_of(const std::string& standard);

// The names of verdicts, worst first.
const std::vector<std::string>& verdicts_by_severity();
std::size_t severity(const std::string& verdict);  // 0 for the worst

// The key of a row's evidence for what the confirmation found.
inline constexpr const char* confirmation_evidence = "A/B";
// The key of a row's evidence for what another run of the build counted instead.
inline constexpr const char* again_evidence = "again";

}  // namespace holdfast::gate
