// SPDX-License-Identifier: Apache-2.0
// The side of a run that another build had, `holdfast run --beside=BUILD`: the same suite in turn
// with it, so that its times are of the same hour. It stands in <device class>/base/<suite>.json,
// with its list.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "gate/documents/aliases.hpp"
#include "gate/documents/list.hpp"
#include "gate/documents/results.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {

// In the folder of a device class.
std::filesystem::path base_side(const std::filesystem::path& folder, const std::string& suite);

// <build>/bin, where the suites of another build are. Throws Error(bad_input) where there is no
// such folder, or it is `head`, the one that is measured; `option` is what named it.
std::filesystem::path base_folder(std::string_view option, const std::filesystem::path& build,
                                  const std::filesystem::path& head);

// What another build calls cases that have been renamed since, by their present names.
using FormerNames = std::map<std::string, std::string>;
inline const std::string& former_name(const FormerNames& names, const std::string& case_id) {
  const auto at = names.find(case_id);
  return at == names.end() ? case_id : at->second;
}

// Of a build that lists these cases. A name that it has itself is that case's.
FormerNames former_names(const List& list, const Aliases& aliases);
// The list under present names.
List renamed(List list, const FormerNames& names);

// What times and ratios are held against, by entry key of cases' present names.
struct Beside {
  std::map<std::string, Measured> values = {};
  std::string content = {};
  Quality quality = {};                 // an invalid one is nothing to be held against
  std::string compiled_otherwise = {};  // than the other side, in words; empty where alike

  const Measured* find(const std::string& key) const {
    const auto at = values.find(key);
    return at == values.end() ? nullptr : &at->second;
  }
};

// Of the run whose other side `head` is; empty where it has none. Throws where it is of another
// run, machine or device, or was not measured from the suite `binary`; `measuring` are the options
// that measure both again.
std::optional<Beside> read_beside(const std::filesystem::path& root, const Results& head,
                                  const std::filesystem::path& binary, const Aliases& aliases,
                                  const std::string& measuring);

}  // namespace holdfast::gate
