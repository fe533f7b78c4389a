// SPDX-License-Identifier: Apache-2.0
// For tests: kernels of real workloads made worse in copies of their sources, which
// HOLDFAST_SOURCES substitutes for the built-in ones: without a build or a GPU, the gate notices
// each by its own cause.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "planted/gate.hpp"

namespace holdfast::planted {

struct KernelPlant {
  const char *name = "", *file = "";       // of the device code in the workload's folder
  std::string_view where = {};             // the code at that place
  std::string before = {}, after = {};     // planted around it
  bool instead = false;                    // replaces it
  const char *of_case = "", *metric = "";  // what regresses
  const char* verdict = "REGRESSION";      // on it
  const char *kernel = "", *cause = "";    // in its evidence: which kernel changed, and how
};

// The plants for the kernels of one workload.
struct PlantedKernels {
  std::string workload;
  std::vector<KernelPlant> plants = {};
};

// Clock readings that stay live to the end of a kernel which writes `array`, of `type`: two
// registers each that cannot be freed.
inline std::string sixteen_registers(const std::string& array, const std::string& type = "T") {
  return "  long long planted[16];\n"
         "#pragma unroll\n"
         "  for (int k = 0; k < 16; ++k) planted[k] = clock64();\n"
         "  struct Keep {\n"
         "    const long long* values;\n"
         "    " +
         type +
         "* out;\n"
         "    __device__ ~Keep() {\n"
         "#pragma unroll\n"
         "      for (int k = 0; k < 16; ++k)\n"
         "        if (values[k] == clock64()) out[k] = " +
         type +
         "(0);\n"
         "    }\n"
         "  } keep{planted, " +
         array + "};\n";
}

inline void plant_kernels(const PlantedKernels& planted, const std::filesystem::path& into) {
  const auto& [workload, plants] = planted;
  std::filesystem::create_directories(into);
  std::map<std::string, std::string> files;
  for (const KernelPlant& one : plants) {
    std::string& source = files[one.file];
    if (source.empty())
      source = read(std::string(HOLDFAST_KERNELS "/") + workload + "/device/" + one.file);
    const auto at = source.find(one.where);
    ASSERT_NE(at, source.npos) << one.file << " no longer has where the test plants " << one.name;
    const std::string instead = one.before + std::string(one.instead ? "" : one.where) + one.after;
    source.replace(at, one.where.size(), instead);
  }
  for (const auto& [file, source] : files) std::ofstream(into / file) << source;
}

// A plant's row of the verdict, and its cause.
inline void expect_row(const std::string& workload, const KernelPlant& plant,
                       const nlohmann::json& verdict) {
  for (const auto& row : verdict.at("rows")) {
    if (row.at("case") != workload + '/' + plant.of_case || row.at("metric") != plant.metric ||
        row.at("variant") != "optimized")
      continue;
    EXPECT_EQ(row.at("verdict"), plant.verdict) << row.dump(1);
    EXPECT_TRUE(row.at("blocking").get<bool>()) << row.dump(1);
    EXPECT_THAT(row.at("evidence").value("code", ""),
                testing::AllOf(testing::HasSubstr(std::string(plant.kernel) + ": "),
                               testing::HasSubstr(plant.cause)));
    return;
  }
  ADD_FAILURE() << "no row of " << plant.metric << " in " << plant.of_case;
}

// All plants of a workload are in separate kernels, and are compiled together. Accepts a suite as
// built, plants, and measures each plant's case alone: each ends in exit 1, with its cause.
inline void expect_found(const PlantedKernels& planted) {
  const auto& [workload, plants] = planted;
  const auto folder = fresh_folder("planted_kernels_" + workload);
  const Gate gate(workload, "cuda-dry:sm_90", folder);
  const Said before = gate.measure("HOLDFAST_SOURCES=", "unplanted");
  ASSERT_EQ(before.exit, 0) << before.words;
  const Said accepted = gate.accept("unplanted");
  ASSERT_EQ(accepted.exit, 0) << accepted.words;
  const auto sources = folder / "sources";
  plant_kernels(planted, sources / workload);
  for (const KernelPlant& one : plants) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, one.name);
    const Said after = gate.measure("HOLDFAST_SOURCES=" + sources.string(), one.metric,
                                    "'--filter=^" + workload + '/' + one.of_case + "$'");
    ASSERT_EQ(after.exit, 0) << after.words;
    const Said said = gate.check(one.metric);
    EXPECT_EQ(said.exit, 1) << said.words;
    const auto verdict = read(folder / one.metric / "verdict.json");
    expect_row(workload, one, nlohmann::json::parse(verdict));
  }
}

}  // namespace holdfast::planted
