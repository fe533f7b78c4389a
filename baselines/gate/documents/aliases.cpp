// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/aliases.hpp"
#include "gate/base/shown_text.hpp"

#include <algorithm>

#include "gate/documents/case_name.hpp"
#include "gate/documents/names.hpp"

namespace holdfast::gate {
Aliases Aliases::read(const std::filesystem::path& baselines) {
  const std::filesystem::path file = baselines / "aliases.json";
  if (!std::filesystem::exists(file)) return {};
  return parse(Document::open(file, Comments::allowed));
}

Aliases Aliases::parse(const Document& document) {
  Aliases aliases;
  aliases.file_ = document.root().file();
  Object object = open_schema(document, "holdfast-aliases/1");
  std::map<std::string, std::string> old_names;  // by the new one
  for (const auto& [from, reader] : object.take("aliases").object().rest()) {
    const std::string& to = reader.string();
    if (suite_of(from) != suite_of(to) || to.find('/') == std::string::npos)
      throw reader.wrong(text("'", from, "' cannot become '", to,
                              "': an alias is a case id, and stays within its suite"));
    const auto [other, is_first] = old_names.try_emplace(to, from);
    if (!is_first)
      throw reader.wrong(text("'", other->second, "' and '", from, "' cannot both become '", to,
                              "': a case has one history"));
    aliases.renamed_[from] = {.to = to, .line = reader.line()};
  }
  if (const auto reasons = object.optional("why"))
    for (const auto& [from, reader] : reasons->object().rest()) {
      const auto alias = aliases.renamed_.find(from);
      if (alias == aliases.renamed_.end())
        throw reader.wrong(text("'why' speaks of '", from, "', which 'aliases' does not have"));
      alias->second.why = reason_of(reader);
    }
  object.close();
  // Each new name has one old one, so a chain longer than the map is a cycle.
  for (const auto& [from, target] : aliases.renamed_) {
    std::size_t steps = 0;
    for (auto at = aliases.renamed_.find(from); at != aliases.renamed_.end();
         at = aliases.renamed_.find(at->second.to))
      if (++steps > aliases.renamed_.size())
        throw Error(Fault::bad_input, text(aliases.file_, ":", target.line, ": '", from,
                                           "' is renamed until it is called '", from, "' again"));
  }
  return aliases;
}

std::string Aliases::current(const std::string& case_id) const {
  std::string id = case_id;
  for (auto at = renamed_.find(id); at != renamed_.end(); at = renamed_.find(id))
    id = at->second.to;
  return id;
}

std::map<std::string, std::string> Aliases::names() const {
  std::map<std::string, std::string> names;
  for (const auto& [from, target] : renamed_) names[from] = target.to;
  return names;
}

std::string Aliases::why(const std::string& old_id) const {
  const auto alias = renamed_.find(old_id);
  return alias == renamed_.end() ? "" : alias->second.why;
}

std::set<std::string> Aliases::reasons() const {
  std::set<std::string> reasons;
  for (const auto& [from, target] : renamed_)
    if (!target.why.empty()) reasons.insert(as_seen(target.why));
  return reasons;
}

void Aliases::rename(Baseline& baseline) const {
  if (empty()) return;
  const auto renamed = [&](const Entries& before) {
    Entries entries;
    for (const auto& [key, entry] : before) {
      const std::size_t bar = std::min(key.find('|'), key.size());
      const std::string now = current(key.substr(0, bar)) + key.substr(bar);
      if (!entries.try_emplace(now, entry).second)
        throw Error(
            Fault::bad_input,
            text(file_, ": the baseline of ", baseline.device_class, " has ", now,
                 " under an old name as well; remove the alias, or the entries of one name"));
    }
    return entries;
  };
  baseline.entries = renamed(baseline.entries);
  for (auto& [processor, entries] : baseline.processors) entries = renamed(entries);
  baseline.limits = renamed(baseline.limits);
  if (!baseline.bounded) return;
  MetricNames bounded;
  for (const auto& [id, names] : *baseline.bounded)
    bounded[current(id)].insert(names.begin(), names.end());
  baseline.bounded = std::move(bounded);
}

void Aliases::check_against(const std::vector<List>& lists, bool complete) const {
  for (const auto& alias : renamed_) {
    const std::string& from = alias.first;
    const Target& target = alias.second;
    const List* list = find_list(lists, suite_of(from));
    const auto refuse = [&](const std::string& because) {
      throw Error(Fault::bad_input, text(file_, ":", target.line, ": ", because));
    };
    if (!list) {
      if (complete) refuse(text("this alias matches nothing: there is no suite ", suite_of(from)));
      continue;
    }
    if (list->find(from))
      refuse(text("'", from, "' is still a case of its suite, so it cannot be an old name"));
    if (!renamed_.contains(target.to) && !list->find(target.to))
      refuse(text("this alias matches nothing: no case is called '", target.to, "'"));
  }
}

}  // namespace holdfast::gate
