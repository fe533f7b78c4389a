// SPDX-License-Identifier: Apache-2.0
#include "gate/result_files.hpp"

#include <algorithm>

namespace holdfast::gate {

namespace fs = std::filesystem;

std::vector<fs::path> files_by_class(const fs::path& root, std::string_view ending) {
  std::vector<fs::path> files;
  for (const auto& device_class : fs::directory_iterator(root)) {
    if (!device_class.is_directory()) continue;
    for (const auto& entry : fs::directory_iterator(device_class.path()))
      if (entry.path().filename().string().ends_with(ending)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
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
}

std::vector<StoredResults> read_all_results(const fs::path& root) {
  const std::string make =
      text("measure first: holdfast run SUITE --device=host --out=", root.string());
  require_folder(root, make);
  std::vector<StoredResults> all;
  for (const fs::path& file : files_by_class(root, ".json"))
    if (!file.filename().string().ends_with(".list.json"))
      all.push_back({file, read_results(file)});
  if (all.empty())
    throw Error(Fault::bad_input,
                text(root.string(), " holds no results (<device class>/<suite>.json); ", make));
  return all;
}

}  // namespace holdfast::gate
