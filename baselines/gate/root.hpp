// SPDX-License-Identifier: Apache-2.0
// A results root, <DIR>/<device_class>/<suite>.json with <suite>.list.json beside it, read and held
// against the lists of the build, so that a measurement of another build is never judged.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gate/documents.hpp"

namespace holdfast::gate {

struct MeasuredPart {
  std::filesystem::path file;
  Results results;
  List list = {};  // empty for a part whose device the machine does not have
  bool no_device() const { return results.status == "no_device"; }
};

struct RootOptions {
  std::optional<std::filesystem::path> lists =
      {};                                // the build's lists; by default the folder of this program
  std::optional<std::string> only = {};  // this suite alone
  std::optional<std::string> device = {};  // this device alone, as given to `holdfast run --device`
};

struct Root {
  std::vector<MeasuredPart> parts = {};  // sorted by device class and suite
  std::vector<List> lists = {};          // of the build and of the parts
  bool complete = false;                 // whether the lists of the whole build are known
};

// The lists that a build wrote into `folder`, sorted by suite.
std::vector<List> lists_of_build(const std::filesystem::path& folder);

// Throws for an absent folder, a file that is not what its place says, and a list of another build.
Root read_root(const std::filesystem::path& directory, const RootOptions& options);

}  // namespace holdfast::gate
