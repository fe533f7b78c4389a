// SPDX-License-Identifier: Apache-2.0
// holdfast-results/1: what one suite measured on one device.
// Reading is strict (an unknown key, a missing key or another schema version is an error with file,
// line and key); writing is canonical, so that equal data gives equal bytes. An empty optional is
// written as null where the schema requires the key, and left out where it does not.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/base/json.hpp"

namespace holdfast::gate {

// One metric of one variant, or of the case as a whole. Exact and codegen metrics have a value;
// clocked ones (times, ratios, bounds on values made of times) have one number per process and
// their median. A null value with a reason is a metric the device could not give.
struct Metric {
  std::string kind = {};
  std::optional<double> value = {};
  std::optional<std::string> reason = {};
  std::vector<double> processes = {};
  std::optional<double> median = {};
  std::optional<double> mad_between = {};  // median absolute deviation of `processes`, unscaled
  std::optional<std::int64_t> samples = {};

  std::optional<double> number() const { return value ? value : median; }
};
using Metrics = std::map<std::string, Metric>;

struct KernelRow {
  std::string name;
  std::optional<std::int64_t> registers = {};
  std::optional<std::int64_t> spill_bytes = {};
  std::optional<std::int64_t> shared_bytes = {};
  std::optional<std::int64_t> launches = {};  // per step
  std::optional<std::string> cubin = {};      // hash of the machine code
  std::optional<std::string> kind = {};       // fused, scatter, gemm ...; optional key
  // How it is launched and what its instructions are, by name: "blocks", "f64", "global_load_16";
  // optional key, of kernels that are launched.
  std::map<std::string, double> evidence = {};
};

struct Variant {
  std::optional<std::string> identity = {};  // hash over all programs; null on host
  std::vector<KernelRow> kernels = {};
  Metrics metrics = {};
};

struct ResultCheck {
  std::string status = "not_executed";  // passed, failed, not_executed
  std::optional<double> error = {};
  std::optional<double> limit = {};
  std::optional<std::string> oracle = {};
  // The second verification, after the timed section; optional key.
  std::optional<std::int64_t> again_seed = {}, again_steps = {};
};

struct CaseResult {
  std::string id;
  std::string tier;
  std::string status = "ok";  // ok, failed, skipped, crashed, timeout, missing
  std::optional<std::string> reason = {};
  bool executed = false;
  ResultCheck check = {};
  std::map<std::string, Variant> variants = {};
  Metrics metrics = {};  // of the case as a whole: speedup, peak_ratio
  Metrics derived = {};  // one reading over another of the same run; the key is optional
  // Its clocked values come from other rounds than those of the build that took turns with it, so
  // that they are no pairs; optional key.
  bool of_other_rounds = false;
};

struct Run {
  std::string id;
  std::string utc;
  std::string content;  // hash of kernels, suites, cmake and the CMake files beside them
  std::optional<std::string> git_sha = {};
  bool git_dirty = false;
  std::int64_t processes = 1;
  std::optional<std::string> binary = {};  // hash of the suite's bytes; optional key
  std::optional<std::string> sources =
      {};  // HOLDFAST_SOURCES: device code that no build contains; optional key
  std::vector<std::string> custom =
      {};  // a suite's own options, which make a custom run; optional key
  std::optional<std::string> beside =
      {};  // content of the build it was measured in turn with; optional key
  std::optional<std::string> base = {};    // the folder of that build; optional key
  std::optional<std::string> filter = {};  // that left cases out; optional key
};

struct DeviceInfo {
  std::optional<std::string> name = {};
  std::optional<std::string> sm = {};
  std::optional<std::int64_t> sms = {};
  std::optional<std::int64_t> memory_bytes = {};
};

struct Environment {
  std::string device_class;  // e.g. host-x86_64-v4-2t
  std::string device_name;   // what --device was given: host, cuda, cuda-dry:sm_90
  DeviceInfo device = {};
  std::optional<std::string> driver = {};
  std::optional<std::string> cuda = {};
  std::optional<std::string> nvrtc = {};
  std::optional<std::string> nvjitlink = {};
  std::optional<std::string> nvdisasm = {};  // absent from older results
  std::optional<std::string> compiler = {};
  std::optional<std::string> flags = {};
  std::optional<std::string> cpu = {};  // product name: "AMD EPYC"
  std::string processor = "unknown";    // vendor, family, model: "AuthenticAMD-26-2"
  std::optional<bool> awake = {};       // whether a host's CPUs were kept awake while measuring
  std::optional<std::int64_t> threads = {};
  std::optional<std::int64_t> cpus = {};  // of the machine; optional key
  std::optional<std::string> isa = {};
  std::string fingerprint;
};

// The state within which a host's times and ratios compare: its processor, whether idle CPUs are
// halted, and whether the CPUs of its threads stood apart: "AuthenticAMD-26-2",
// "AuthenticAMD-26-2 kept awake", "AuthenticAMD-26-2 kept awake apart"
std::string timed_on(const Environment& env, bool apart);

bool is_host_class(const std::string& device_class);

struct Quality {
  bool valid = true;
  std::vector<std::string> reasons = {};
  std::optional<double> load = {};
  std::optional<double> sm_clock_hz = {};
  std::optional<bool> throttled = {};
  std::optional<double> temperature_c = {};
  std::optional<std::int64_t> other_processes = {};
  // Over the whole run; optional keys. The shares of the machine's CPUs that other work had and
  // that the hypervisor kept, and of the time in which something waited for memory.
  std::optional<double> others_fraction = {}, steal_fraction = {}, memory_stall_fraction = {};
  std::optional<double> cpu_clock_hz = {}, mem_clock_hz = {};  // the least that was seen
  std::optional<std::int64_t> ecc_errors = {};                 // uncorrected
};

struct Results {
  std::string suite;
  std::string tier;
  bool partial = false;
  std::string status = "ok";               // ok, no_device; optional key
  std::optional<std::string> reason = {};  // why there is no device; optional key
  std::string list_hash = {};              // sha256 of the bytes of <suite>.list.json
  Run run = {};
  Environment env = {};
  Quality quality = {};
  std::map<std::string, std::optional<double>> ceilings = {};
  std::vector<CaseResult> cases = {};

  const CaseResult* find(std::string_view id) const;
};

// Whether threads stood apart in most cases of the run. A hypervisor moves processors between
// caches: a cache line takes 35 to 80 ns from thread to thread within one of them, and 300 to 400
// ns between two.
bool stood_apart(const Results& results);
std::string timed_on(const Results& results);

Results parse_results(const Document& document);
Results read_results(const std::filesystem::path& path);
nlohmann::json to_json(const Results& results);

}  // namespace holdfast::gate
