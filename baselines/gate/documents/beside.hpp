// SPDX-License-Identifier: Apache-2.0
// The base's side of a run, `holdfast run --beside=BUILD`: the same suite of another build, run in
// turn, so that its times are of the same hour. It stands in <device class>/base/<suite>.json, with
// its list.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "gate/documents/aliases.hpp"
#include "gate/documents/list.hpp"
#include "gate/documents/measured.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

// The file in the folder of a device class.
std::filesystem::path base_side(const std::filesystem::path& folder, const std::string& suite);

// <build>/bin, with the suites of another build. Throws Error(bad_input) if there is no such
// folder, or if it is the measured one, `head`; `option` is the option that named it.
std::filesystem::path base_folder(std::string_view option, const std::filesystem::path& build,
                                  const std::filesystem::path& head);

// The former names, in another build, of cases that have been renamed since, by present name.
using FormerNames = std::map<std::string, std::string>;
inline const std::string& former_name(const FormerNames& names, const std::string& case_id) {
  const auto at = names.find(case_id);
  return at == names.end() ? case_id : at->second;
}

// The former names in a build with this list. A name that it has itself belongs to that case.
FormerNames former_names(const List& list, const Aliases& aliases);
// The list under present names.
List renamed(List list, const FormerNames& names);

// What times and ratios are compared with, by entry key with present names.
struct Beside {
  std::map<std::string, Measured> values = {};
  std::string content = {};
  Quality quality = {};                 // an invalid one is not compared with
  std::string compiled_otherwise = {};  // how it differs from the head, in words; else empty

  const Measured* find(const std::string& key) const {
    const auto at = values.find(key);
    return at == values.end() ? nullptr : &at->second;
  }
};

// The base's side of the run `head`; empty if it has none. Throws if it is of another run, machine
// or device, or was not measured from the suite `binary`; `measuring` are the options that measure
// both again.
std::optional<Beside> read_beside(const std::filesystem::path& root, const Results& head,
                                  const std::filesystem::path& binary, const Aliases& aliases,
                                  const std::string& measuring);

}  // namespace holdfast::gate
