// SPDX-License-Identifier: Apache-2.0
// Cases as people name them: by their whole id, or by enough of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::gate {

// "gpt_train" of "gpt_train/step/layers:2/f32".
inline std::string_view suite_of(std::string_view case_id) {
  return case_id.substr(0, case_id.find('/'));
}

// Whether two names differ only in words: the values of the axes and the dtype, which say how much
// a case does, are the same.
bool has_same_axes(std::string_view case_id, std::string_view other_id);

// The id among `ids` that is `word`, or the only one that contains it. Throws Error(bad_input):
// with all that match where several do, else with the nearest names. `where` says whose ids they
// are ("cubed_sphere_swe on host").
std::string resolve_case(const std::string& word, const std::vector<std::string>& ids,
                         const std::string& where);

// The text as part of a regular expression, which then matches it alone; and one that matches this
// id alone.
std::string escaped(std::string_view text);
std::string pattern_of(const std::string& id);

}  // namespace holdfast::gate
