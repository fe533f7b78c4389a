// SPDX-License-Identifier: Apache-2.0
// holdfast-list/2: what a suite promises to measure.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gate/base/json.hpp"
#include "gate/documents/meaning.hpp"

namespace holdfast::gate {

// A finding of a detector that a case shows on purpose, in every run on these kinds of devices.
struct ExpectedFinding {
  std::string finding;
  std::string why;
  std::vector<std::string> devices = {};
};

struct ListedCase {
  std::string id;
  std::string tier;
  bool reference = false;
  std::map<std::string, std::vector<std::string>> devices = {};  // device_kind() -> metric names
  std::optional<double> limit = {};  // of the error of its result; empty where it checks none
  // Why its instructions are not counted on a host; empty where they are, or it does not gate
  // there.
  std::optional<std::string> uncounted = {};
  std::vector<ExpectedFinding> expected = {};

  bool has(const std::string& kind, const std::string& metric) const;
};

struct List {
  std::string suite;
  std::vector<ListedCase> cases = {};
  Meanings metrics = {};  // those of all cases, and others

  const ListedCase* find(std::string_view id) const;
};

const List* find_list(std::span<const List> lists, std::string_view suite);

// The tier in which a case is listed on a kind of devices, "" where it is not. Empty if the lists
// do not tell of its suite and, not being `complete`, leave open whether there is one.
std::optional<std::string> tier_on(const std::string& kind, const std::string& case_id,
                                   std::span<const List> lists, bool complete);

List parse_list(const Document& document);
List read_list(const std::filesystem::path& path);
nlohmann::json to_json(const List& list);

}  // namespace holdfast::gate
