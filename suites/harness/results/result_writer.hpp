// SPDX-License-Identifier: Apache-2.0
// Writes holdfast-results/1 and holdfast-list/2, whose schemas are in baselines/formats/.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/measure/measure.hpp"
#include "harness/measure/metrics.hpp"
#include "harness/results/run_quality.hpp"

namespace holdfast {

struct Measured {
  const Case* which = nullptr;
  Measurement measurement = {};
};

// A case for `cases` of a result. Throws Error{broken_rule}, naming case and metric, for a value
// that is not finite.
nlohmann::json case_json(const Measured& measured, const std::string& device);

struct Report {
  std::string suite = {};
  std::string tier = {};
  bool partial = false;
  std::vector<std::string> custom = {};  // "--size=384": given options of the suite's own
  std::string list_hash = {};
  std::optional<Ceilings> ceilings = {};
  std::vector<Measured> cases = {};
  RunQuality quality = {};
};
nlohmann::json report_json(const Report& report, const Backend& backend);

nlohmann::json list_json(const std::string& suite, const std::vector<Case>& cases);

// The bytes of a document: sorted keys, one newline at the end.
std::string document(const nlohmann::json& json);

// Throws Error{bad_input} with a remedy if `path`, given as --option=path, cannot be written;
// called before anything is measured.
void check_writable(const std::filesystem::path& path, std::string_view option = "out");
// Writes beside the file and renames, so that nobody sees half of it.
void write_document(const std::filesystem::path& path, std::string_view content);

}  // namespace holdfast
