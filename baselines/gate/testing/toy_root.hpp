// SPDX-License-Identifier: Apache-2.0
// Results, lists, baselines and a policy for tests: a toy suite of two cases, measured well, to be
// spoilt by a test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "gate/base/process.hpp"
#include "gate/documents/baseline.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/results.hpp"
#include "gate/testing/arguments.hpp"

namespace holdfast::gate::toy {

inline constexpr const char* step_id = "toy/step/n:64/f64";
inline constexpr const char* sum_id = "toy/sum/n:64/f64";
inline constexpr const char* processor = "AuthenticAMD-26-2";

inline const std::string policy_text = R"(// A policy of the usual kinds and a few metrics.
{"schema": "holdfast-policy/1",
 "kinds": {"exact": {"gate": "block", "tolerance": 0, "two_sided": ["reference"]},
           "codegen": {"gate": "block", "tolerance": 0, "same": ["nvrtc", "nvjitlink"]},
           "ratio": {"gate": "block", "tolerance": 0.03, "host_tolerance": 0.05},
           "time": {"gate": "warn", "tolerance": 0.03, "host_tolerance": 0.05},
           "advisory": {"gate": "off"}},
 "metrics": {"identity": {"gate": "warn"}, "floor_fraction": {"impossible_above": 1.1}},
 "rules": [
  {"match": "toy/step/**", "variant": "optimized", "metric": "launches", "bound": {"max": 64, "source": "a toy's bound"}}],
 "waivers": []}
)";

// `content` with the first `from` replaced; throws where there is none.
inline std::string replaced(std::string content, const std::string& from, const std::string& to) {
  const std::size_t at = content.find(from);
  if (at == std::string::npos) throw std::runtime_error(from + " is not in " + content);
  return content.replace(at, from.size(), to);
}
inline std::string policy_with(const std::string& from, const std::string& to) {
  return replaced(policy_text, from, to);
}

// The begin of the toy's only rule, behind the cases that it matches.
inline constexpr const char* launches_bound =
    R"("variant": "optimized", "metric": "launches", "bound": {"max": 64)";

inline Meanings metrics() {
  return {{"launches", {"exact"}},
          {"peak_bytes", {"exact", Better::lower, "B"}},
          {"registers_max", {"codegen"}},
          {"identity", {"codegen", Better::same}},
          {"time_s", {"time", Better::lower, "s"}},
          {"handover_s", {"time", Better::lower, "s"}},
          {"floor_fraction", {"advisory", Better::higher}},
          {"speedup", {"ratio", Better::higher}}};
}

// A policy from this text, for the toy's metrics.
inline Policy policy(const std::string& content = policy_text) {
  return Policy::parse(Document("policy/common.json", content, Comments::allowed), "2026-11-21")
      .with(metrics());
}

inline List list() {
  const std::vector<std::string> dry = {"identity", "launches", "peak_bytes", "registers_max"};
  const std::vector<std::string> host = {"peak_bytes", "speedup", "time_s"};
  List made{.suite = "toy", .metrics = metrics()};
  for (const char* id : {step_id, sum_id})
    made.cases.push_back({.id = id,
                          .tier = "gate",
                          .reference = true,
                          .devices = {{"cuda-dry", {dry}}, {"host", {host}}},
                          .limit = 1e-12});
  return made;
}

inline std::string list_text() {
  return canonical(to_json(list()));
}

inline Results empty_results(const std::string& device_name, const std::string& device_class) {
  Results made{.suite = "toy", .tier = "gate", .list_hash = sha256(list_text())};
  made.run = {
      .id = "2026-11-21T12:00:00Z-7f3a", .utc = "2026-11-21T12:00:00Z", .content = "sha256:c0"};
  made.env = {.device_class = device_class,
              .device_name = device_name,
              .compiler = "g++ 12.2.0",
              .processor = processor,
              .fingerprint = "sha256:f0"};
  return made;
}

inline Metric exact(double value) {
  return {.kind = "exact", .value = value};
}
inline Metric codegen(double value) {
  return {.kind = "codegen", .value = value};
}

// Five processes whose median is `middle`, within one percent of it.
inline Metric timed(const std::string& kind, double middle) {
  return {.kind = kind,
          .processes = {0.99 * middle, 0.995 * middle, middle, 1.005 * middle, 1.01 * middle},
          .median = middle,
          .mad_between = 0.005 * middle,
          .samples = 400};
}

inline Results dry() {
  Results made = empty_results("cuda-dry:sm_90", "cuda-dry-sm_90");
  made.env.nvrtc = "13.0.88";
  made.env.nvjitlink = "13.0.88";
  for (const char* id : {step_id, sum_id}) {
    CaseResult& result = made.cases.emplace_back(CaseResult{.id = id, .tier = "gate"});
    for (const char* variant : {"optimized", "reference"}) {
      const bool optimized = std::string(variant) == "optimized";
      result.variants[variant] = {.identity = optimized ? "sha256:aa" : "sha256:bb",
                                  .kernels = {{.name = "stage",
                                               .registers = 40,
                                               .spill_bytes = 0,
                                               .shared_bytes = 1024,
                                               .launches = 4,
                                               .cubin = "sha256:1a"},
                                              {.name = "edge",
                                               .registers = 20,
                                               .spill_bytes = 0,
                                               .shared_bytes = 0,
                                               .launches = 1,
                                               .cubin = "sha256:2b"}},
                                  .metrics = {{"launches", exact(optimized ? 4 : 888)},
                                              {"peak_bytes", exact(1177856)},
                                              {"registers_max", codegen(40)}}};
    }
  }
  return made;
}

inline Results host() {
  Results made = empty_results("host", "host-x86_64-v4-2t");
  made.run.processes = 5;
  for (const char* id : {step_id, sum_id}) {
    CaseResult& result =
        made.cases.emplace_back(CaseResult{.id = id, .tier = "gate", .executed = true});
    result.check = {.status = "passed", .error = 1e-15, .limit = 1e-12, .oracle = "golden"};
    result.variants["optimized"] = {
        .metrics = {{"peak_bytes", exact(4096)}, {"time_s", timed("time", 6e-4)}}};
    result.variants["reference"] = {
        .metrics = {{"peak_bytes", exact(8192)}, {"time_s", timed("time", 6e-3)}}};
    result.metrics["speedup"] = timed("ratio", 10);
  }
  return made;
}

inline Metric& metric(Results& results, const std::string& variant, const std::string& name) {
  CaseResult& first = results.cases.front();
  return variant == "case" ? first.metrics[name] : first.variants[variant].metrics[name];
}

// The baseline as if the case `id` had had the name `former` when it was accepted.
inline Baseline accepted_as(const std::string& former, const std::string& id, Baseline baseline) {
  const auto rename = [&](Entries& entries) {
    for (auto& [key, entry] : std::exchange(entries, {}))
      entries[key.starts_with(id + '|') ? former + key.substr(id.size()) : key] = entry;
  };
  rename(baseline.entries);
  for (auto& [processor, entries] : baseline.processors) rename(entries);
  return baseline;
}

// What the error that `read` throws says.
template <class Read>
std::string complaint(const Read& read) {
  try {
    (void)read();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::bad_input);
    return error.what();
  }
  return "accepted";
}

// A folder with a policy, baselines, the build's lists and a results root, removed at the end; and
// the real command.
class Root : public testing::Test {
 protected:
  TemporaryFolder folder_{"gate_test"};
  const std::filesystem::path baselines_ = folder_.path() / "baselines";
  const std::filesystem::path common_policy_ = baselines_ / "policy" / "common.json";
  const std::filesystem::path lists_ = folder_.path() / "bin";
  const std::filesystem::path results_ = folder_.path() / "results";

  void SetUp() override {
    for (const auto& path : {baselines_ / "policy", lists_, results_})
      std::filesystem::create_directories(path);
    write_file(common_policy_, policy_text);
    write_file(lists_ / "toy.list.json", list_text());
    write_file(lists_ / "content.json",
               R"({"content": "sha256:c0", "git": {"dirty": false, "sha": null}})");
  }

  std::filesystem::path result_path(const Results& results) const {
    return results_ / results.env.device_class / "toy.json";
  }

  void store(const Results& results) const { store_in(results_, results); }
  void store(Results results, const std::function<void(Results&)>& change) const {
    change(results);
    store(results);
  }
  void store(Results results, const std::string& variant, const std::string& name,
             const Metric& value) const {
    metric(results, variant, name) = value;
    store(results);
  }
  static void store_in(const std::filesystem::path& root, const Results& results) {
    const std::filesystem::path folder = root / results.env.device_class;
    std::filesystem::create_directories(folder);
    write_file(folder / "toy.json", canonical(to_json(results)));
    write_file(folder / "toy.list.json", list_text());
  }

  // Replaces the first occurrence in a file of the root.
  static void spoil(const std::filesystem::path& path, const std::string& from,
                    const std::string& to) {
    write_file(path, replaced(read_file(path), from, to));
  }
};

}  // namespace holdfast::gate::toy
