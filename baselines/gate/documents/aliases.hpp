// SPDX-License-Identifier: Apache-2.0
// Renamed cases: what was accepted under an old id holds for the new one. An entry takes its new
// name when it is accepted; the line in aliases.json stays as long as the history knows the old id.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gate/documents/baseline.hpp"
#include "gate/documents/list.hpp"

namespace holdfast::gate {

class Aliases {
 public:
  // aliases.json of `baselines`; none where there is no such file.
  static Aliases read(const std::filesystem::path& baselines);
  // Throws for a name that leads back to itself, two old names of one case, a name that moves to
  // another suite, and a reason of no alias.
  static Aliases parse(const Document& document);

  // The name that a case has now; through all of its renamings.
  std::string current(const std::string& case_id) const;

  // Renames entries to their cases' present names. Throws if a case has entries under both names.
  void rename(Baseline& baseline) const;

  // Throws for a new name that no case of its suite has, and an old one that a case still has.
  // Unless the lists are `complete`, suites without a list are skipped.
  void check_against(const std::vector<List>& lists, bool complete) const;

  // The present name of each old one, through one renaming.
  std::map<std::string, std::string> names() const;
  // Why the case of that old id is another one now; "" where nothing says so.
  std::string why(const std::string& old_id) const;
  std::set<std::string> reasons() const;
  bool empty() const { return renamed_.empty(); }

 private:
  struct Target {
    std::string to;
    std::size_t line = 0;
    std::string why = {};
  };
  std::string file_;
  std::map<std::string, Target> renamed_;  // by the old id
};

}  // namespace holdfast::gate
