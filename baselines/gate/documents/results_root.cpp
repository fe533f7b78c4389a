// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/results_root.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/names.hpp"
#include "gate/base/numbers.hpp"
#include "gate/base/options.hpp"
#include "gate/base/shown_text.hpp"
#include "gate/base/written_file.hpp"
#include "gate/documents/build_folder.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view verdict_name = "verdict.json";

struct ListFile {
  std::string hash;
  List list;
};

ListFile read_list_file(const fs::path& path) {
  const std::string content = read_file(path);
  return {.hash = sha256(content), .list = parse_list(Document(path.string(), content))};
}

// The lists that the build wrote beside its binaries, by suite.
std::map<std::string, ListFile> build_lists(const fs::path& folder) {
  std::map<std::string, ListFile> lists;
  for (const std::string& suite : suite_names(folder))
    lists[suite] = read_list_file(list_path(folder, suite));
  return lists;
}

// Files with a second dot (lists, self-tests, traces) are not results, nor are hidden files or a
// verdict.
bool is_of_results(const fs::path& file) {
  constexpr std::string_view ending = ".json";
  const std::string name = file.filename().string();
  return name != verdict_name && name.ends_with(ending) &&
         name.find('.') == name.size() - ending.size();
}

// Results have their list beside them, unlike other documents: a build has only lists, baselines
// have none. Files that may not be read do not count.
bool holds_results(const fs::path& folder) {
  if (!fs::is_directory(folder)) return false;
  std::set<std::string> names;
  for (const auto& file :
       fs::directory_iterator(folder, fs::directory_options::skip_permission_denied))
    names.insert(file.path().filename().string());
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return is_of_results(name) && names.contains(list_path("", fs::path(name).stem()).string());
  });
}

bool holds_folder_with_results(const fs::path& root) {
  for (const auto& entry :
       fs::directory_iterator(root, fs::directory_options::skip_permission_denied))
    if (holds_results(entry.path())) return true;
  return false;
}

bool holds_verdict(const fs::path& root) {
  const fs::path file = root / verdict_name;
  return fs::is_regular_file(file) &&
         read_file(file).find("\"holdfast-verdict/") != std::string::npos;
}

std::vector<fs::path> result_files(const fs::path& root) {
  std::vector<fs::path> files = files_by_class(root, ".json");
  std::erase_if(files, [](const fs::path& file) { return !is_of_results(file); });
  return files;
}

// A suite's own options make other cases, and so another list.
Error other_build(const fs::path& file, const fs::path& list, const Results& results) {
  const std::vector<std::string>& custom = results.run.custom;
  const std::string why =
      custom.empty()
          ? text("a list of another build: the results were measured against another list than ",
                 list.string(), "; measure again")
          : text("a custom run (", custom.front(),
                 "), which no baseline speaks about; measure without options of the suite's own");
  return Error(Fault::incomplete, text(file.string(), ": ", why, ": holdfast run ", results.suite,
                                       " --device=", results.env.device_name, " --out=",
                                       shell_word(file.parent_path().parent_path().string())));
}

// A suite or device that nobody could have measured is the caller's mistake, not missing results.
void refuse_unknown(const RootOptions& options, const Root& root) {
  if (options.device) require_device(*options.device);
  if (!options.only || !root.complete) return;
  std::vector<std::string> suites;
  for (const List& list : root.lists) suites.push_back(list.suite);
  if (std::find(suites.begin(), suites.end(), *options.only) != suites.end()) return;
  const auto meant = nearest(*options.only, suites);
  throw Error(Fault::bad_input,
              text("--only=", *options.only, ": this build has no such suite; ",
                   meant ? text("did you mean ", *meant, "?") : std::string("see holdfast list")));
}

// The list, not the measurement, says how far a result may be from its oracle.
void hold_to_limits(MeasuredPart& part) {
  std::map<std::string, double> limits;
  for (const ListedCase& listed : part.list.cases)
    if (listed.limit) limits[listed.id] = *listed.limit;
  for (CaseResult& result : part.results.cases) {
    const auto limit = limits.find(result.id);
    if (!result.check.limit) continue;
    if (limit == limits.end())
      throw Error(Fault::incomplete,
                  text(part.file.string(), ": the result of ", result.id,
                       " was checked, and its list says no limit; build and measure again"));
    // A protocol may check some of its results more strictly.
    if (*result.check.limit > limit->second) {
      const auto [checked, listed] = told_apart(*result.check.limit, limit->second, "1");
      throw Error(Fault::incomplete, text(part.file.string(), ": the result of ", result.id,
                                          " was checked with the limit ", checked,
                                          ", and its list says ", listed, "; measure again"));
    }
  }
}

constexpr std::string_view profile_ending = ".profile.json";

Error elsewhere(const fs::path& file, std::string_view what, const std::string& held,
                const std::string& said) {
  return Error(Fault::bad_input, text(file.string(), ": holds a profile of the ", what, " '", held,
                                      "', and its place says '", said, "'; profile again"));
}

}  // namespace

std::vector<fs::path> files_by_class(const fs::path& root, std::string_view ending) {
  std::vector<fs::path> files;
  for (const fs::path& device_class : folder_entries(root)) {
    if (!fs::is_directory(device_class)) continue;
    for (const fs::path& file : folder_entries(device_class))
      if (file.filename().string().ends_with(ending)) files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_results_root(const fs::path& folder) {
  try {
    if (!fs::is_directory(folder) || holds_results(folder)) return false;
    return holds_folder_with_results(folder) || fs::is_directory(folder / ".unfinished") ||
           fs::is_directory(folder / ".history") || holds_verdict(folder);
  } catch (const std::exception&) {
    return true;  // an older verdict must go even if the disk fails
  }
}

void withdraw_verdict(const fs::path& root) {
  withdraw(root / verdict_name);
  for (const char* name : {"verdict.md", "verdict.xml", "proposed-baseline.patch"})
    withdraw(root / name);
}

void refuse_class_folder(const fs::path& folder, std::string_view command) {
  if (!holds_results(folder)) return;
  fs::path root = (folder / "..").lexically_normal();
  if (!root.has_filename()) root = root.parent_path();
  throw Error(Fault::incomplete,
              text(folder.string(), " is the folder of a device class; give the one above it: ",
                   command, command.empty() ? "" : " ", shell_word(root.string())));
}

namespace {

// What another run into the same root removed meanwhile holds no link.
void refuse_links_below(const fs::path& folder, int levels) {
  std::error_code problem;
  const fs::directory_iterator entries(folder, problem);
  if (problem == std::errc::no_such_file_or_directory) return;
  if (problem) throw fs::filesystem_error("cannot list", folder, problem);
  for (const fs::directory_entry& entry : entries) {
    std::error_code dangling;
    const bool is_folder = entry.is_directory(dangling);
    if (entry.is_symlink() && (is_folder || dangling))
      throw Error(Fault::bad_input,
                  text(entry.path().string(),
                       " is a link, and a folder of results holds files of its own; remove the "
                       "link, or name another --out"));
    if (is_folder && levels > 1) refuse_links_below(entry.path(), levels - 1);
  }
}

}  // namespace

void refuse_links(const fs::path& root) {
  constexpr int levels = 3;  // <device class>/profiles/<suite>
  refuse_links_below(root, levels);
}

std::string how_to_measure(const fs::path& root) {
  return text("measure first: holdfast run SUITE --device=host --out=", shell_word(root.string()));
}

// Proposes to measure only into a path that does not exist yet.
void require_results_folder(const fs::path& root) {
  std::error_code problem;
  require_folder(root, fs::exists(root, problem)
                           ? "give the results root, which holds <device class>/<suite>.json"
                           : how_to_measure(root));
}

void check_place(const fs::path& file, const Results& results) {
  if (results.suite != file.stem())
    throw Error(Fault::bad_input,
                text(file.string(), ": holds results of the suite '", results.suite,
                     "', and its name says '", file.stem().string(), "'"));
  const std::string folder = file.parent_path().filename();
  if (results.env.device_class != folder)
    throw Error(Fault::bad_input,
                text(file.string(), ": holds results of the device class '",
                     results.env.device_class, "', and its folder says '", folder, "'"));
  const std::string& device = results.env.device_name;
  if (device_kind(device) != "cuda-dry") return;
  const std::string device_class = device_file_name(device);
  if (results.env.device_class != device_class)
    throw Error(Fault::bad_input, text(file.string(), ": holds results of the device '", device,
                                       "', whose device class is '", device_class, "', and not '",
                                       results.env.device_class, "'"));
}

std::vector<StoredResults> read_all_results(const fs::path& root) {
  require_results_folder(root);
  std::vector<StoredResults> all;
  for (const fs::path& file : result_files(root)) {
    all.push_back({file, read_results(file)});
    check_place(file, all.back().results);
  }
  if (all.empty()) refuse_class_folder(root);
  if (all.empty())
    throw Error(Fault::bad_input,
                text(root.string(), " holds no results (<device class>/<suite>.json); ",
                     how_to_measure(root)));
  return all;
}

List list_beside(const StoredResults& stored) {
  const fs::path file = list_path(stored.file.parent_path(), stored.results.suite);
  return fs::exists(file) ? read_list(file) : List{};
}

void require_device(const std::string& device) {
  const std::string kind = device_kind(device);
  if ((kind == "host" || kind == "cuda" || kind == "cuda-dry") && device != "cuda-dry") return;
  throw Error(Fault::bad_input,
              text("--device=", device, ": the devices are host, cuda and cuda-dry:sm_NN"));
}

std::vector<List> lists_of_build(const fs::path& folder) {
  std::vector<List> lists;
  for (auto& [suite, file] : build_lists(folder)) lists.push_back(std::move(file.list));
  return lists;
}

Root read_root(const fs::path& directory, const RootOptions& options) {
  require_results_folder(directory);
  const fs::path folder = options.lists.value_or(binary_folder());
  require_folder(folder, "name the folder of the build's lists with --lists");
  const std::map<std::string, ListFile> built = build_lists(folder);

  Root root{.complete = !built.empty()};
  for (const auto& [suite, file] : built) root.lists.push_back(file.list);
  for (const fs::path& file : result_files(directory)) {
    if (options.only && file.stem() != *options.only) continue;
    MeasuredPart part{.file = file, .results = read_results(file)};
    const Results& results = part.results;
    check_place(file, results);
    if (options.device && results.env.device_name != *options.device) continue;
    if (!part.no_device()) {
      const fs::path copy = list_path(file.parent_path(), results.suite);
      if (!fs::exists(copy))
        throw Error(Fault::incomplete,
                    text("the list ", copy.string(), " is absent, so nothing tells whether ",
                         file.string(), " is complete; measure again"));
      ListFile list = read_list_file(copy);
      if (results.list_hash != list.hash) throw other_build(file, copy, results);
      const auto of_build = built.find(results.suite);
      if (of_build != built.end() && of_build->second.hash != list.hash)
        throw other_build(file, list_path(folder, results.suite), results);
      if (of_build == built.end()) {
        if (options.lists)
          throw Error(Fault::incomplete,
                      text("the folder ", folder.string(), " has no list of ", results.suite,
                           "; build it, or name the build's folder with --lists"));
        root.lists.push_back(list.list);
      }
      part.list = std::move(list.list);
      hold_to_limits(part);
    }
    root.parts.push_back(std::move(part));
  }
  if (root.parts.empty()) refuse_unknown(options, root);
  return root;
}

fs::path profiles_folder(const fs::path& root, const std::string& device_class,
                         const std::string& suite) {
  return root / device_class / "profiles" / suite;
}

std::string profile_name(const std::string& case_id, const std::string& variant) {
  return text(slug(case_id), ".", variant, profile_ending);
}

std::vector<Profile> read_profiles(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return {};
  for (const fs::path& file : folder_entries(folder))
    if (file.filename().string().ends_with(profile_ending)) files.push_back(file);
  std::sort(files.begin(), files.end());
  std::vector<Profile> profiles;
  for (const fs::path& file : files) {
    profiles.push_back(read_profile(file));
    const std::string name = profile_name(profiles.back().case_id, profiles.back().variant);
    if (name != file.filename())
      throw elsewhere(file, "case and variant",
                      profiles.back().case_id + ' ' + profiles.back().variant,
                      file.filename().string());
  }
  return profiles;
}

std::vector<Profile> read_root_profiles(const fs::path& root, const std::string& device_class,
                                        const std::string& suite) {
  const fs::path folder = profiles_folder(root, device_class, suite);
  std::vector<Profile> profiles = read_profiles(folder);
  for (const Profile& profile : profiles) {
    const fs::path file = folder / profile_name(profile.case_id, profile.variant);
    if (profile.suite != suite) throw elsewhere(file, "suite", profile.suite, suite);
    if (profile.device_class != device_class)
      throw elsewhere(file, "device class", profile.device_class, device_class);
  }
  return profiles;
}

}  // namespace holdfast::gate
