// SPDX-License-Identifier: Apache-2.0
// A results root, <root>/<device_class>/<suite>.json with <suite>.list.json beside it: read as it
// is, whichever build it belongs to, or checked against the lists of the build, so that a
// measurement of another build is never judged. And its profiles,
// <root>/<device_class>/profiles/<suite>/<slug of the case>.<variant>.profile.json.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/documents/list.hpp"
#include "gate/documents/profile.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

struct StoredResults {
  std::filesystem::path file;
  Results results = {};
};

// The files with this ending in the folders of `root`, sorted.
std::vector<std::filesystem::path> files_by_class(const std::filesystem::path& root,
                                                  std::string_view ending);

// Whether `folder` has results in folders of device classes, a verdict, or what an unfinished run
// left. Only there a check may write, and remove its older verdict.
bool is_results_root(const std::filesystem::path& folder);

// Removes the verdict of an older check or on older results, so that nobody takes it for a newer
// one.
void withdraw_verdict(const std::filesystem::path& root);

// Throws Error(incomplete) for the folder of a device class that was given in place of the root
// above it, to `command` where its sentence is to name one.
void refuse_class_folder(const std::filesystem::path& folder, std::string_view command = "");

// Throws Error(bad_input) for a folder of a root that is a link: what is written or removed there
// would be elsewhere.
void refuse_links(const std::filesystem::path& root);

// Throws Error(bad_input) unless the file and its folder are named as the suite and the device
// class of the results in it, and that class is the device's, if it is a dry one.
void check_place(const std::filesystem::path& file, const Results& results);

// All results of a root, sorted by device class and suite. Throws Error(bad_input) for an absent or
// empty root and as check_place() does, Error(incomplete) for the folder of a device class.
std::vector<StoredResults> read_all_results(const std::filesystem::path& root);

// The list that they were measured against; empty where none stands beside them: they are older, or
// alone.
List list_beside(const StoredResults& stored);

// Throws Error(bad_input) for a device that does not exist.
void require_device(const std::string& device);

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

// Throws for an absent folder, a file that does not match its place, and a list of another build;
// if nothing is found, also for a suite that the build does not have and a device that does not
// exist.
Root read_root(const std::filesystem::path& directory, const RootOptions& options);

std::filesystem::path profiles_folder(const std::filesystem::path& root,
                                      const std::string& device_class, const std::string& suite);

// "<slug>.<variant>.profile.json"
std::string profile_name(const std::string& case_id, const std::string& variant);

// All profiles of a folder, sorted by file; none where there is no folder. Throws Error(bad_input)
// for a broken document and for one whose name says another case or variant.
std::vector<Profile> read_profiles(const std::filesystem::path& folder);

// The profiles of one suite in a results root, which must be of that suite and device class.
std::vector<Profile> read_root_profiles(const std::filesystem::path& root,
                                        const std::string& device_class, const std::string& suite);

}  // namespace holdfast::gate
