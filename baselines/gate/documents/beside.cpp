// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/beside.hpp"

#include <set>

#include "gate/base/error.hpp"
#include "gate/base/shown_text.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/measured_part.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

// The side of a base, and how both were measured: " --bin-dir=L --beside=BUILD".
struct OtherSide {
  const fs::path& root;
  const Results& head;
  const std::string& measuring;

  Error wrong(const fs::path& file, const std::string& why) const {
    return Error(
        Fault::incomplete,
        text(file.string(), ": ", why, "; measure both again: holdfast run ", head.suite,
             " --device=", head.env.device_name, measuring, " --out=", shell_word(root.string())));
  }
};

// The compiler's name, and whether the flags differ: only their hash is stored.
std::string compiled_otherwise(const Environment& base, const Environment& head) {
  std::string flags = base.flags == head.flags ? "" : "with other flags";
  if (base.compiler == head.compiler) return flags;
  return text("by ", base.compiler.value_or("an unknown compiler"), ", and this build by ",
              head.compiler.value_or("an unknown one"), flags.empty() ? "" : ", and " + flags);
}

}  // namespace

fs::path base_side(const fs::path& folder, const std::string& suite) {
  return folder / "base" / (suite + ".json");
}

fs::path base_folder(std::string_view option, const fs::path& build, const fs::path& head) {
  const fs::path folder = build / "bin";
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw Error(Fault::bad_input, text("--", option, "=", build.string(), ": there is no ",
                                       folder.string(), "; give the build folder to compare with"));
  if (fs::equivalent(folder, head, ignored))
    throw Error(Fault::bad_input,
                text("--", option, "=", build.string(),
                     " is the build that is measured: give one of the code before the change"));
  return folder;
}

FormerNames former_names(const List& list, const Aliases& aliases) {
  std::set<std::string> own;
  for (const ListedCase& listed : list.cases) own.insert(listed.id);
  FormerNames names;
  for (const std::string& id : own)
    if (const std::string now = aliases.current(id); !own.contains(now)) names.emplace(now, id);
  return names;
}

List renamed(List list, const FormerNames& names) {
  std::map<std::string, std::string> present;
  for (const auto& [now, former] : names) present[former] = now;
  for (ListedCase& listed : list.cases)
    if (const auto at = present.find(listed.id); at != present.end()) listed.id = at->second;
  return list;
}

std::optional<Beside> read_beside(const fs::path& root, const Results& head, const fs::path& binary,
                                  const Aliases& aliases, const std::string& measuring) {
  const OtherSide side{root, head, measuring};
  const fs::path file = base_side(root / head.env.device_class, head.suite);
  if (!head.run.beside && !fs::exists(file)) return std::nullopt;
  if (!fs::exists(file))
    throw side.wrong(
        file, "the results say that they were measured beside a base, whose side is missing");
  const Results base = read_results(file);
  const auto same = [&](const std::string& what, const auto& here, const auto& there) {
    if (here != there)
      throw side.wrong(file, text("the base's side is of another ", what, " than the results"));
  };
  same("suite", base.suite, head.suite);
  same("run", base.run.id, head.run.id);
  same("tier", base.tier, head.tier);
  same("device class", base.env.device_class, head.env.device_class);
  same("processor", base.env.processor, head.env.processor);
  if (head.run.beside != base.run.content)
    throw side.wrong(file, "the base's side is of another base than the results tell of");
  const fs::path list = list_path(file.parent_path(), head.suite);
  if (!fs::exists(list) || sha256(read_file(list)) != base.list_hash)
    throw side.wrong(list,
                     "the base's list is missing, or not the one that its side was measured by");
  if (!fs::exists(binary))
    throw Error(Fault::incomplete,
                text(file.string(), ": measured beside a build that has ", head.suite,
                     ", and there is no ", binary.string(), "; name that build with --confirm"));
  if (const std::string why = not_of_binary(base.run, binary); !why.empty())
    throw side.wrong(file, text("the base's side was ", why));
  Beside beside{.content = base.run.content,
                .quality = base.quality,
                .compiled_otherwise = compiled_otherwise(base.env, head.env)};
  for (const CaseResult& result : base.cases) {
    if (result.status != "ok" || is_wrong(result, base.env.device_name)) continue;
    const std::string now = aliases.current(result.id);
    if (now != result.id && base.find(now)) continue;
    for (const NamedMetric& metric : named_metrics(result))
      if (metric.measured && (metric.kind == "time" || metric.kind == "ratio"))
        beside.values[entry_key(now, metric.variant, metric.name)] = *metric.measured;
  }
  return beside;
}

}  // namespace holdfast::gate
