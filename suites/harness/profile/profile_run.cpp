// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/profile_run.hpp"

#include <cstdio>
#include <filesystem>
#include <iostream>

#include "harness/measure/ceilings_of.hpp"
#include "harness/profile/kernel_dump.hpp"
#include "harness/profile/memory_profile.hpp"
#include "harness/profile/profile.hpp"
#include "harness/profile/profile_record.hpp"
#include "harness/profile/profile_writer.hpp"
#include "harness/profile/trace.hpp"
#include "harness/results/result_writer.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using std::filesystem::path;

void say(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
}

// Writes all requested files of one case and variant.
void write_all(const ProfileOptions& options, const Profiled& data, const Profile& profile) {
  const std::string stem = file_stem(data);
  std::string trace_file;
  if (!options.trace.empty()) {
    const Trace trace = trace_of(data);
    trace_file = stem + ".trace.json";
    write_document(path(options.trace) / trace_file, trace.text);
    if (!trace.cut.empty()) say(text(data.case_id, ": ", trace.cut));
    say(text("open ", (path(options.trace) / trace_file).string(), " in https://ui.perfetto.dev"));
  }
  if (!options.profile.empty())
    write_document(path(options.profile) / (stem + ".profile.json"),
                   document(profile_json(data, profile, trace_file)));
  if (!options.memory_profile.empty())
    write_document(path(options.memory_profile) / (stem + ".pb.gz"), memory_profile(data));
  if (!options.dump_kernels.empty() && data.architecture)
    dump_kernels(data, path(options.dump_kernels) / stem);
}

// A sentence if the mean over all windows is too long, by the host's clock until the device was
// done.
std::optional<std::string> too_slow(const ProfileOptions& options, const Profiled& data) {
  if (!options.assert_mean) return {};
  double seconds = 0;
  for (const StepWindow& window : data.windows) seconds += window.seconds.value_or(0);
  const double mean = seconds / static_cast<double>(data.step_count());
  if (mean <= *options.assert_mean) return {};
  return text(data.case_id, " ", variant_name(data.variant), ": the mean step took ", mean,
              " s over ", data.step_count(), " steps, --assert-mean=", *options.assert_mean,
              " allows less");
}

// Returns a sentence for each variant whose steps are too slow.
std::vector<std::string> profile_case(const std::string& suite, const Case& one,
                                      const SuiteOptions& options, const Ceilings* ceilings) {
  const ProfileOptions& wanted = options.profiling;
  const auto& steps = std::get<Steps>(one.recipe);
  const ProfilePlan plan = {.steps = wanted.steps,
                            .every = wanted.every,
                            .windows = wanted.every > 0 ? wanted.windows : 1};
  const auto expected = expected_result(steps, options.device);
  std::vector<std::string> complaints;
  for (const Variant variant : {Variant::reference, Variant::optimized}) {
    if (!wanted.wants(variant)) continue;
    if (variant == Variant::reference && !one.has_reference(options.device)) {
      say(text(one.id, ": it has no reference variant to profile"));
      continue;
    }
    ProfiledSubject subject = record(suite, one, variant, options.device, plan, expected);
    if (ceilings) {  // which only a device that executes has
      const std::int64_t peak = subject.data.peak_bytes;
      subject.data.floor_seconds = floor_seconds(*ceilings, one.work, peak);
      subject.data.kernels_floor_seconds = kernels_floor_seconds(*ceilings, one.work, peak);
    }
    const Profile profile = analyse(subject.data);
    write_all(wanted, subject.data, profile);
    std::cout << profile_text(subject.data, profile) << std::flush;
    if (auto complaint = too_slow(wanted, subject.data)) complaints.push_back(*complaint);
  }
  return complaints;
}

}  // namespace

void prepare_profile(const ProfileOptions& options) {
  const std::pair<const char*, const std::string&> folders[] = {
      {"profile", options.profile},
      {"trace", options.trace},
      {"memory-profile", options.memory_profile},
      {"dump-kernels", options.dump_kernels}};
  for (const auto& [option, folder] : folders) {
    if (folder.empty()) continue;
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);
    if (problem)
      throw Error(Fault::bad_input, text("--", option, "=", folder, ": cannot be made a folder (",
                                         problem.message(), "); choose another place"));
    check_writable(path(folder) / "profile", option);
  }
  if (!options.nvml_log.empty()) check_writable(options.nvml_log, "nvml-log");
}

int profile_cases(const std::string& suite, const std::vector<const Case*>& cases,
                  const SuiteOptions& options) {
  const auto backend = open_backend(options.device);
  if (!options.profiling.dump_kernels.empty() && !backend->device)
    say("--dump-kernels: the host backend compiles no kernels, so none are written");
  std::optional<Ceilings> ceilings;
  if (!options.profiling.profile.empty()) ceilings = ceilings_of(*backend);
  std::size_t number = 0, profiled = 0;
  bool incomplete = false;
  std::vector<std::string> complaints;
  for (const Case* one : cases) {
    say(text("[", ++number, "/", cases.size(), "] ", one->id));
    if (!std::holds_alternative<Steps>(one->recipe)) {
      say(text(one->id, ": not one repeated step, so there is none to profile"));
      continue;
    }
    ++profiled;
    try {
      for (std::string& slow : profile_case(suite, *one, options, ceilings ? &*ceilings : nullptr))
        complaints.push_back(std::move(slow));
    } catch (const Error& error) {
      if (error.fault() == Fault::no_device || error.fault() == Fault::bad_input) throw;
      if (error.fault() == Fault::device)
        throw Error(Fault::device, text(one->id, ": ", error.what()));
      incomplete = incomplete || error.fault() == Fault::out_of_memory;
      complaints.push_back(text("failed ", one->id, ": ", error.what()));
    }
  }
  if (profiled == 0)
    throw Error(Fault::bad_input,
                "none of the chosen cases is made of steps, so nothing was profiled; choose others "
                "with --filter");
  for (const std::string& complaint : complaints) say(complaint);
  return incomplete ? Exit::incomplete : complaints.empty() ? 0 : Exit::failed;
}

}  // namespace holdfast
