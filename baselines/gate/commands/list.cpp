// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <map>

#include "base/names.hpp"
#include "gate/base/printing.hpp"
#include "gate/commands/commands.hpp"
#include "gate/commands/common_options.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/list.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

// A device is known by its kind; a dry one has an architecture, too, which must exist.
void refuse_unknown_architecture(const std::string& device) {
  if (device_kind(device) != "cuda-dry") return;
  std::string known;
  for (const int sm : architectures) {
    if (sm < oldest_of_suites) continue;
    const std::string name = text("cuda-dry:sm_", sm);
    if (device == name || device == "cuda-dry") return;
    add_to(known, name);
  }
  throw Error(Fault::bad_input,
              text("--device=", device, ": there is no such architecture; there are ", known));
}

// The lists of the suites asked for, or of all, with the cases that the device has.
std::vector<List> chosen_lists(const Options& options, const fs::path& folder) {
  std::vector<std::string> names = suite_names(folder);
  if (names.empty())
    throw Error(Fault::bad_input, text("no suite is built in ", folder.string(),
                                       "; build them, or name their folder with --bin-dir"));
  if (!options.operands().empty()) {
    for (const std::string& suite : options.operands())
      if (std::find(names.begin(), names.end(), suite) == names.end())
        (void)find_suite(suite, folder);  // throws the sentence with the nearest name
    names = options.operands();
  }
  std::vector<List> lists;
  for (const std::string& name : names) lists.push_back(read_list(list_path(folder, name)));
  if (const auto device = options.value("device")) {
    refuse_unknown_architecture(*device);
    std::size_t found = 0;
    for (List& list : lists) {
      std::erase_if(list.cases, [&](const ListedCase& listed) {
        return !listed.devices.contains(device_kind(*device));
      });
      found += list.cases.size();
    }
    if (found == 0)
      throw Error(Fault::bad_input, text("no case runs on --device=", *device,
                                         "; the devices are host, cuda and cuda-dry:sm_NN"));
  }
  return lists;
}

void print(const List& list) {
  if (printing().quiet) {
    for (const ListedCase& listed : list.cases) std::cout << listed.id << '\n';
    return;
  }
  std::size_t width = 0;
  for (const ListedCase& listed : list.cases) width = std::max(width, listed.id.size());
  std::cout << list.suite << ": " << plural(list.cases.size(), "case") << "\n";
  std::map<std::string, std::size_t> uncounted;  // cases by why they are uncounted
  for (const ListedCase& listed : list.cases) {
    if (listed.uncounted) ++uncounted[*listed.uncounted];
    std::string devices;
    for (const auto& [kind, metrics] : listed.devices) add_to(devices, kind);
    std::string tier = listed.tier;
    tier.resize(6, ' ');
    std::cout << "  " << listed.id << std::string(width - listed.id.size() + 2, ' ') << tier
              << devices << (listed.reference ? ", against a reference" : "")
              << (listed.uncounted ? ", not counted" : "") << '\n';
  }
  for (const auto& [why, count] : uncounted)
    std::cout << "  not counted: the instructions of " << plural(count, "case") << ": " << why
              << '\n';
}

int list(const Options& options) {
  const std::vector<List> lists =
      chosen_lists(options, options.value_or("bin-dir", binary_folder().string()));
  if (options.has("json")) {
    nlohmann::json documents = nlohmann::json::array();
    for (const List& list : lists) documents.push_back(to_json(list));
    std::cout << canonical({{"schema", "holdfast-lists/1"}, {"suites", documents}});
    return 0;
  }
  for (const List& list : lists) print(list);
  return 0;
}

}  // namespace

Command list_command() {
  return {.name = "list",
          .summary = "Shows the suites of this build with their cases, tiers and devices.",
          .operands = "[SUITE...]",
          .most_operands = 1000,
          .options = {{"device", "D", "only cases that run on it: host, cuda or cuda-dry:sm_NN"},
                      common::bin_dir,
                      {"json", "", "as JSON (holdfast-lists/1: the lists of all suites)"}},
          .examples = "  holdfast list cubed_sphere_swe --device=host\n",
          .run = list};
}

}  // namespace holdfast::gate
