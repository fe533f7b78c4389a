// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "gate/base/printing.hpp"
#include "gate/base/shown_text.hpp"
#include "gate/base/written_file.hpp"
#include "gate/commands/commands.hpp"
#include "gate/commands/common_options.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/documents/list.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/documents/verdict.hpp"
#include "gate/explain/detectors.hpp"
#include "gate/measure/suite_process.hpp"
#include "gate/report/profile_report.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr double profile_timeout_seconds = 300;

std::string required(const Options& options, const char* name, const char* what) {
  const std::string value = options.value_or(name, "");
  if (value.empty())
    throw Error(Fault::bad_input, text("holdfast profile needs --", name, "=", what));
  return value;
}

// The ids of the suite's cases that the device has; throws where there are none.
std::vector<std::string> ids_on(const List& list, const std::string& device) {
  std::vector<std::string> ids;
  for (const ListedCase& listed : list.cases)
    if (listed.devices.contains(device_kind(device))) ids.push_back(listed.id);
  if (ids.empty())
    throw Error(Fault::bad_input, text(list.suite, " has no case for --device=", device,
                                       "; see holdfast list ", list.suite));
  return ids;
}

// This command's options, and the suite's names for them.
constexpr std::pair<const char*, const char*> handed_on[] = {
    {"steps", "profile-steps"},     {"every", "profile-every"}, {"variant", "variant"},
    {"assert-mean", "assert-mean"}, {"nvml-log", "nvml-log"},   {"nvml-period", "nvml-period"}};

std::vector<std::string> suite_arguments(const Options& options, const std::string& device,
                                         const std::string& id, const std::string& out) {
  std::vector<std::string> arguments = {
      "--device=" + device,   "--tier=full",    "--filter=" + pattern_of(id),
      "--profile=" + out,     "--trace=" + out, "--memory-profile=" + out,
      "--dump-kernels=" + out};
  for (const auto& [ours, theirs] : handed_on)
    if (const auto value = options.value(ours))
      arguments.push_back(text("--", theirs, "=", *value));
  return arguments;
}

// The suite's message, with option names as the user typed them.
std::string as_typed(std::string words) {
  for (const auto& [ours, theirs] : handed_on) {
    const std::string typed = text("--", ours), said = text("--", theirs);
    for (std::size_t at = 0; (at = words.find(said, at)) != words.npos; at += typed.size())
      words.replace(at, said.size(), typed);
  }
  return words;
}

// Sets an earlier profile of the case aside while a new one is made, so that no old file is shown
// as new. It is put back unless replaced: a suite that refuses its options, or lacks the device,
// costs nobody a profile.
class OlderProfile {
 public:
  OlderProfile(fs::path out, const std::string& id)
      : out_(std::move(out)), aside_(out_ / text('.', slug(id), ".older")) {
    for (const char* variant : {"optimized", "reference"}) {
      const std::string stem = text(slug(id), ".", variant);
      for (const std::string& name :
           {profile_name(id, variant), stem + ".trace.json", stem + ".pb.gz", stem})
        names_.push_back(name);
    }
    settle();  // what a killed command left
    std::error_code problem;
    fs::create_directory(aside_, problem);
    move(out_, aside_, problem);
    if (!problem) return;
    std::error_code ignored;
    move(aside_, out_, ignored);
    fs::remove(aside_, ignored);
    throw Error(Fault::bad_input, text("cannot set aside the older profile in ", out_.string(),
                                       ": ", problem.message(), "; name another folder"));
  }
  OlderProfile(const OlderProfile&) = delete;
  OlderProfile& operator=(const OlderProfile&) = delete;
  ~OlderProfile() {
    if (!is_replaced_) settle();
  }

  void replace() {
    is_replaced_ = true;
    std::error_code problem;
    fs::remove_all(aside_, problem);
    if (problem)
      throw Error(Fault::bad_input, text("cannot remove the older profile, ", aside_.string(), ": ",
                                         problem.message(), "; remove it by hand"));
  }

 private:
  fs::path out_, aside_;
  std::vector<std::string> names_ = {};
  bool is_replaced_ = false;

  void move(const fs::path& from, const fs::path& to, std::error_code& problem) const {
    for (const std::string& name : names_) {
      if (problem) return;
      if (fs::exists(from / name, problem)) fs::rename(from / name, to / name, problem);
    }
  }

  // Puts the older files back unless there are new ones: parts of two profiles are never mixed.
  void settle() const {
    std::error_code ignored;
    const auto is_new = [&](const std::string& name) { return fs::exists(out_ / name, ignored); };
    if (std::none_of(names_.begin(), names_.end(), is_new)) {
      ignored.clear();
      move(aside_, out_, ignored);
    }
    fs::remove_all(aside_, ignored);
  }
};

// The files that were written for this variant, and what opens them.
std::string files_of(const fs::path& out, const Profile& profile) {
  const std::string stem = text(slug(profile.case_id), ".", profile.variant);
  const std::pair<std::string, const char*> known[] = {
      {stem + ".profile.json", "this, for programs"},
      {stem + ".trace.json", "a timeline: open the trace at https://ui.perfetto.dev"},
      {stem + ".pb.gz", "memory by site: go tool pprof -http=: FILE"},
      {stem, "source, PTX, cubin, resources and launches of each kernel"}};
  std::string files;
  for (const auto& [name, what] : known)
    if (fs::exists(out / name)) files += text("  ", (out / name).string(), "\n    ", what, "\n");
  return text("\nfiles\n", files);
}

// Handles a line of the suite: a warning is printed, also without progress.
void tell(std::string_view line, Progress& progress) {
  constexpr std::string_view warning = "holdfast: warn: ";
  if (line.starts_with(warning))
    progress.warn("warning: ", shown_text(as_typed(std::string(line.substr(warning.size())))));
  else
    progress.following(line);
}

void show(const Profile& profile, const List& list, const fs::path& out, const Options& options) {
  if (options.has("trace")) {
    std::cout << (out / profile.trace.value_or(
                            text(slug(profile.case_id), ".", profile.variant, ".trace.json")))
                     .string()
              << "\n";
    return;
  }
  std::vector<Detection> findings = examine(Sighting{.case_id = profile.case_id,
                                                     .variant = profile.variant,
                                                     .device_class = profile.device_class,
                                                     .profile = &profile});
  mark_expected(list, profile.device, findings);
  const std::string told =
      describe(findings, {.at_most = findings.size(), .references = true, .places = false});
  std::cout << (printing().quiet ? describe_briefly(profile) : describe(profile))
            << "\nwhat to look for\n"
            << (told.empty() ? "nothing stands out\n" : told) << describe_expected(findings);
  if (!printing().quiet) std::cout << files_of(out, profile);
}

int profile(const Options& options) {
  const std::string device =
      required(options, "device", "D: host, cuda, or cuda-dry:sm_90, which needs no GPU");
  const fs::path out = required(options, "out", "DIR, the folder that receives the files");
  const double timeout = options.positive("timeout").value_or(profile_timeout_seconds);
  const fs::path binary =
      find_suite(options.operands()[0], options.value_or("bin-dir", binary_folder().string()));
  const std::string suite = binary.filename().string();
  const List list = listed_by(binary);
  const std::string id =
      resolve_case(options.operands()[1], ids_on(list, device), text(suite, " on ", device));

  make_folder(out);
  OlderProfile older(out, id);
  catch_interruptions();
  Progress progress(suite);
  const auto lock = lock_device(device, progress);
  progress.following(text(suite, ": profiling ", id, " on ", device, " ..."));
  Outcome outcome = run_task({.program = binary,
                              .arguments = suite_arguments(options, device, id, out.string()),
                              .timeout_seconds = timeout,
                              .on_line = [&](std::string_view line) { tell(line, progress); }});
  outcome.complaints = as_typed(std::move(outcome.complaints));
  pass_on_refusals(outcome, suite);
  older.replace();
  progress.clear();

  std::size_t shown = 0;
  for (const char* variant : {"optimized", "reference"}) {
    const fs::path file = out / profile_name(id, variant);
    if (!fs::exists(file)) continue;
    if (shown++ > 0) std::cout << "\n";
    show(read_profile(file), list, out, options);
  }
  const std::string words = last_lines(outcome.complaints, 1);
  const bool failed =
      outcome.ending == Ending::exited && outcome.code == exit_code(Fault::regression);
  if (failed) throw Error(Fault::regression, words.empty() ? suite + " failed" : words);
  if (outcome.ending != Ending::exited || outcome.code != 0 || shown == 0)
    throw Error(Fault::incomplete,
                text(suite, " ", describe(outcome, timeout),
                     shown == 0 ? " and wrote no profile" : "", words.empty() ? "" : ": ", words));
  return 0;
}

}  // namespace

Command profile_command() {
  return {
      .name = "profile",
      .summary = "Profiles a few steps of one case, and says what stands out.",
      .operands = "SUITE CASE",
      .fewest_operands = 2,
      .most_operands = 2,
      .options = {{"device", "D", "host, cuda, cuda:N or cuda-dry:sm_NN"},
                  {"out", "DIR", "receives document, trace, memory profile and kernels"},
                  {"steps", "K", "profile K steps in a row after the warm-up (default 10)"},
                  {"every", "N", "profile periodically: K steps at step N, 2 N, ..."},
                  {"variant", "WHICH", "optimized (default), reference or both"},
                  {"trace", "", "print the path of the timeline alone, for scripts"},
                  {"assert-mean", "SECONDS", "exit 1 when a mean step takes longer"},
                  {"nvml-log", "FILE", "sample load, memory, clocks and power meanwhile"},
                  OptionRow{"nvml-period", "SECONDS", "between two samples (default 0.1)"}.beside(
                      "nvml-log"),
                  {"timeout", "SECONDS", "given to the suite (default 300)"},
                  common::bin_dir,
                  {"quiet", "", "print the overview and what stands out"}},
      .examples =
          "  holdfast profile cubed_sphere_swe rk4_step/n:48/f64 --device=cuda-dry:sm_90 "
          "--out=profile\n"
          "  holdfast profile clusterless_kde decode/size:small/data:profile --device=host "
          "--steps=2 "
          "--assert-mean=0.15 "
          "--out=profile\n"
          "  holdfast profile cubed_sphere_swe loop/n:96/steps:100/launch:graph --device=cuda "
          "--every=100 --steps=2 --out=profile\n",
      .run = profile};
}

}  // namespace holdfast::gate
