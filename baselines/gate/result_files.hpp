// SPDX-License-Identifier: Apache-2.0
// A results root, <root>/<device_class>/<suite>.json, as it is, without asking which build it
// belongs to.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "gate/documents.hpp"

namespace holdfast::gate {

struct StoredResults {
  std::filesystem::path file;
  Results results = {};
};

// The files with this ending in the folders of `root`, sorted.
std::vector<std::filesystem::path> files_by_class(const std::filesystem::path& root,
                                                  std::string_view ending);

// Throws Error(bad_input) unless the file and its folder are named as the suite and the device
// class of the results in it.
void check_place(const std::filesystem::path& file, const Results& results);

// All results of a root, sorted by device class and suite. Throws Error(bad_input) for an absent or
// empty root.
std::vector<StoredResults> read_all_results(const std::filesystem::path& root);

}  // namespace holdfast::gate
