// SPDX-License-Identifier: Apache-2.0
#include "gate/root.hpp"

#include <algorithm>
#include <map>

#include "gate/installed.hpp"
#include "gate/result_files.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

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

std::vector<fs::path> result_files(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const auto& folder : fs::directory_iterator(directory)) {
    if (!folder.is_directory()) continue;
    for (const auto& file : fs::directory_iterator(folder.path())) {
      // Lists, traces and whatever else has a second dot are not results; nor is what begins with
      // one.
      const std::string name = file.path().filename().string();
      if (name.ends_with(".json") && name.find('.') == name.size() - 5)
        files.push_back(file.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

Error other_build(const fs::path& file, const fs::path& list, const Results& results) {
  return Error(
      Fault::incomplete,
      text(file.string(),
           ": a list of another build: the results were measured against another list than ",
           list.string(), "; measure again: holdfast run ", results.suite, " --device=",
           results.env.device_name, " --out=", file.parent_path().parent_path().string()));
}

}  // namespace

std::vector<List> lists_of_build(const fs::path& folder) {
  std::vector<List> lists;
  for (auto& [suite, file] : build_lists(folder)) lists.push_back(std::move(file.list));
  return lists;
}

Root read_root(const fs::path& directory, const RootOptions& options) {
  require_folder(directory, text("measure first: holdfast run SUITE --device=host --out=",
                                 directory.string()));
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
    }
    root.parts.push_back(std::move(part));
  }
  return root;
}

}  // namespace holdfast::gate
