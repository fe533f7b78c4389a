// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/doctor.hpp"

#include <dlfcn.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <thread>

#include "base/disassembler.hpp"
#include "base/names.hpp"
#include "gate/base/printing.hpp"
#include "gate/base/process.hpp"
#include "gate/base/shown_text.hpp"
#include "gate/commands/commands.hpp"
#include "gate/commands/common_options.hpp"
#include "gate/commands/resolution.hpp"
#include "gate/documents/baseline.hpp"
#include "gate/documents/baseline_files.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/results.hpp"
#include "gate/documents/verdict.hpp"
#include "gate/measure/gpu_driver.hpp"
#include "gate/measure/machine_load.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr const char* cuda_fix = "./cmake/bootstrap.sh --cuda, then configure again";

struct ToolkitRow {
  const char* library;
  const char* purpose;
  bool dry_needs_it;
};
constexpr ToolkitRow toolkit[] = {
    {"libnvrtc.so.13", "compiles device code", true},
    {"libnvJitLink.so.13", "links device code", true},
    {"libcudart.so.13", "runs device code", true},
    {"libcublas.so.13", "matrix products on cuda", false},
    {"libcufft.so.12", "Fourier transforms on cuda", false},
    {"libcupti.so.13", "profiles on cuda", false},
};

std::string first_word_of(const fs::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

// The first `path` below this program's folder or one above it: what bootstrap.sh puts into the
// source tree.
std::optional<fs::path> above(const fs::path& path) {
  for (fs::path folder = binary_folder(); folder != folder.parent_path();
       folder = folder.parent_path())
    if (std::error_code ignored; fs::exists(folder / path, ignored)) return folder / path;
  return std::nullopt;
}

Finding cpu() {
  std::ifstream info("/proc/cpuinfo");
  std::string model = "unknown";
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    model = line.substr(std::min(line.find(':') + 2, line.size()));
    break;
  }
  const std::string isa = host_isa();
  if (has_host_code(isa)) return {"cpu", Health::ok, text(model, ", ", isa)};
  return {"cpu", Health::absent, text(model, ", ", isa, ", below x86-64-v3"),
          "use a machine with AVX2 and FMA: host code is compiled for x86-64-v3 and x86-64-v4"};
}

Finding memory() {
  const double bytes = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                       static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  return {"memory", Health::ok, text(std::round(bytes / 1e8) / 10, " GB")};
}

Finding precedence_of_suites() {
  const Precedence found = precedence();
  if (!found.complaint.empty())
    return {"precedence", Health::absent, found.complaint, "unset HOLDFAST_PRECEDENCE"};
  if (found.granted)
    return {"precedence", Health::ok, "other programs wait while a suite measures"};
  return {"precedence", Health::noisy, "none: other programs take turns with what a suite measures",
          "real-time scheduling: ulimit -r 1 (limits.conf), or a container's --cap-add=SYS_NICE"};
}

Finding governor() {
  const std::string name = first_word_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (name.empty())
    return {"cpu clock", Health::ok, "not for this machine to set (virtual, or no cpufreq)"};
  if (name == "performance") return {"cpu clock", Health::ok, "governor performance"};
  return {"cpu clock", Health::noisy, "governor " + name,
          "sudo cpupower frequency-set --governor performance"};
}

Finding driver(const GpuDriver& gpu) {
  if (!gpu.problem.empty())
    return {"gpu driver", Health::absent, gpu.problem,
            gpu.installed
                ? "see nvidia-smi; cuda-dry:sm_90 needs neither driver nor GPU"
                : "install the NVIDIA driver where there is a GPU; cuda-dry:sm_90 needs neither"};
  return {"gpu driver", Health::ok, text("CUDA ", gpu.version, ", ", listed(gpu.gpus))};
}

bool can_load(const std::string& library) {
  std::vector<fs::path> candidates = {library};
  for (const fs::path root : {"/usr/local/cuda", "/usr/local/cuda-13.0"})
    for (const char* folder : {"lib64", "extras/CUPTI/lib64"})
      candidates.push_back(root / folder / library);
  if (const char* root = std::getenv("CUDA_HOME"))
    candidates.push_back(fs::path(root) / "lib64" / library);
  if (const auto environment = above(".venv/lib")) {
    std::error_code ignored;
    for (const auto& python : fs::directory_iterator(*environment, ignored))
      candidates.push_back(python.path() / "site-packages/nvidia/cu13/lib" / library);
  }
  return std::any_of(candidates.begin(), candidates.end(), [](const fs::path& candidate) {
    return ::dlopen(candidate.c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr;
  });
}

Finding python() {
  const auto own = above(".venv/bin/python3");
  const auto found = own ? own : find_program("python3");
  const char* fix = "./cmake/bootstrap.sh (reports are drawn with it; all else works without)";
  if (!found) return {"python", Health::absent, "there is no python3", fix};
  constexpr double patience_seconds = 20;
  const Outcome outcome =
      run_task({.program = *found,
                .arguments = {"-c", "import matplotlib; print(matplotlib.__version__)"},
                .timeout_seconds = patience_seconds});
  if (outcome.ending == Ending::exited && outcome.code == 0)
    return {"python", Health::ok,
            text(found->string(), " with matplotlib ", last_lines(outcome.output, 1))};
  return {"python", Health::absent, text(found->string(), " has no matplotlib"), fix};
}

Finding tool(const std::string& name, const std::string& purpose) {
  if (const auto found = find_program(name)) return {name, Health::ok, found->string()};
  return {name, Health::absent, "not installed", text("./cmake/bootstrap.sh (", purpose, ")")};
}

Finding disassembler() {
  const Disassembler& found = pinned_disassembler();
  constexpr const char* purpose = "counts the instructions of GPU code";
  if (!found.path.empty()) return {"nvdisasm", Health::ok, purpose};
  return {"nvdisasm", Health::absent, text(purpose, "; ", found.absent),
          std::string(disassembler_fix)};
}

Finding suites() {
  const std::string names = listed(suite_names(binary_folder()));
  if (!names.empty()) return {"suites", Health::ok, names};
  return {"suites", Health::absent, text("none in ", binary_folder().string()), "build them"};
}

void print(const Finding& finding) {
  if (printing().quiet && finding.health == Health::ok) return;
  constexpr const char* words[] = {"ok", "noisy", "absent"};
  constexpr Tone tones[] = {Tone::good, Tone::warning, Tone::bad};
  const auto health = static_cast<std::size_t>(finding.health);
  std::string word = words[health], subject = finding.subject;
  word.resize(8, ' ');
  subject.resize(20, ' ');
  std::cout << toned(tones[health], word) << subject << finding.detail << '\n';
  if (!finding.fix.empty()) std::cout << std::string(28, ' ') << "-> " << finding.fix << '\n';
}

// The devices that HOLDFAST_REQUIRE names and that are not among `available`.
std::string lacking(const std::vector<std::string>& available) {
  const char* required = std::getenv("HOLDFAST_REQUIRE");
  std::istringstream names(required ? required : "");
  std::string out;
  for (std::string name; std::getline(names, name, ';');)
    if (!name.empty() && std::find(available.begin(), available.end(), name) == available.end())
      add_to(out, name);
  return out;
}

// Only the run itself knows whether it keeps CPUs awake, so this says for which of both times are
// accepted.
std::string accepted_times(const std::set<std::string>& timed, const std::string& processor) {
  Environment here;
  here.processor = processor;
  const auto are_timed = [&] {
    return timed.contains(timed_on(here, false)) || timed.contains(timed_on(here, true));
  };
  const bool asleep = are_timed();
  here.awake = true;
  const bool awake = are_timed();
  if (asleep && awake) return "times of runs that keep CPUs awake and of others";
  if (awake) return "times only of runs that keep CPUs awake";
  return asleep ? "times only of runs that keep no CPUs awake" : "no times";
}

Verdict verdict_to_resolve(const std::string& root) {
  const std::string judge = text("judge first: holdfast check ", shell_word(root));
  require_folder(root, judge);
  const fs::path file = fs::path(root) / "verdict.json";
  if (!fs::exists(file))
    throw Error(Fault::incomplete, text("there is no ", file.string(), "; ", judge));
  Verdict verdict = read_verdict(file);
  if (verdict.rows.empty() && verdict.exit != 0)
    throw Error(Fault::incomplete, text(file.string(), ": the check ended with exit ", verdict.exit,
                                        verdict.notes.empty() ? "" : ": " + verdict.notes.front(),
                                        "; judge again: holdfast check ", shell_word(root)));
  return verdict;
}

struct Installed {
  std::vector<Finding> findings = {};
  bool dry = true;  // all that cuda-dry needs is there
};

Installed look_for_installed() {
  Installed found;
  for (const ToolkitRow& row : toolkit) {
    const bool there = can_load(row.library);
    found.dry = found.dry && (there || !row.dry_needs_it);
    found.findings.push_back(
        {row.library, there ? Health::ok : Health::absent, row.purpose, there ? "" : cuda_fix});
  }
  found.findings.push_back(disassembler());
  found.findings.push_back(tool("valgrind", "counts the instructions of host code"));
  found.findings.push_back(python());
  found.findings.push_back(suites());
  return found;
}

std::vector<std::string> usable_devices(bool host, bool dry, bool gpu) {
  std::vector<std::string> devices;
  if (host) devices.push_back("host");
  if (dry)
    for (const int sm : architectures)
      if (sm >= oldest_of_suites) devices.push_back(text("cuda-dry:sm_", sm));
  if (dry && gpu) devices.push_back("cuda");
  return devices;
}

int doctor(const Options& options) {
  if (const auto root = options.value("resolution")) {
    if (options.has("ctest-resources"))
      throw Error(Fault::bad_input,
                  "--resolution looks at results instead of this machine; give --ctest-resources "
                  "by itself");
    std::cout << resolution_table(verdict_to_resolve(*root));
    return 0;
  }
  // Others are watched while it is looked for what takes long to find.
  const OthersWatch others;
  const auto watched = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  const GpuDriver gpu = ask_gpu_driver();
  const Installed installed = look_for_installed();
  std::this_thread::sleep_until(watched);
  std::vector<Finding> findings = {cpu(),
                                   threads(host_threads(), std::thread::hardware_concurrency()),
                                   memory(),
                                   load(load_average(), others.share(), usable_cpus()),
                                   precedence_of_suites(),
                                   governor(),
                                   driver(gpu)};
  const auto opens = [](const fs::path& file) { return ::access(file.c_str(), R_OK | W_OK) == 0; };
  if (const auto denied = gpu_permission("/dev", opens)) findings.push_back(*denied);
  findings.insert(findings.end(), installed.findings.begin(), installed.findings.end());
  for (const Finding& finding : findings) print(finding);

  const std::vector<std::string> devices =
      usable_devices(findings.front().health == Health::ok, installed.dry, gpu.problem.empty());
  std::cout << "\ndevices:";
  for (const std::string& device : devices) std::cout << ' ' << device;
  std::cout << (devices.empty() ? " none" : "") << "\na run here is compared with "
            << accepted_of_host(options.value_or("baselines", "baselines"), host_class(),
                                processor().id)
            << '\n';

  if (const auto file = options.value("ctest-resources")) {
    write_file(*file, ctest_resources(gpu.gpus.size()));
    std::cout << *file << ": " << plural(gpu.gpus.size(), "GPU")
              << " for ctest --resource-spec-file\n";
  }
  if (const std::string missing = lacking(devices); !missing.empty())
    throw Error(Fault::incomplete, text("HOLDFAST_REQUIRE names ", missing,
                                        ", which this machine cannot do; see above"));
  return 0;
}

}  // namespace

std::optional<Finding> gpu_permission(const std::filesystem::path& devices,
                                      bool (*may_open)(const std::filesystem::path&)) {
  for (const char* name : {"nvidiactl", "nvidia0", "nvidia-uvm"}) {
    const fs::path file = devices / name;
    struct stat status = {};
    if (::stat(file.c_str(), &status) != 0 || may_open(file)) continue;
    const group* owner = ::getgrgid(status.st_gid);
    const std::string group_name = owner ? owner->gr_name : std::to_string(status.st_gid);
    return Finding{
        "gpu files", Health::absent, text("you may not open ", file.string()),
        text("join its group and log in again: sudo usermod -aG ", group_name, " $USER")};
  }
  return std::nullopt;
}

Finding load(std::optional<double> average, double others, int cpus) {
  if (!average) return {"load", Health::ok, "unknown"};
  const std::string detail = text("load average ", std::round(*average * 100) / 100);
  if (*average <= 0.25 * cpus) return {"load", Health::ok, detail};
  if (others <= 0.05) return {"load", Health::ok, detail + ", of what has ended"};
  return {"load", Health::noisy,
          text(detail, ", and ", std::round(100 * others), " % of the CPUs are in use now"),
          "wait until other work is done: it widens every time that is measured"};
}

Finding threads(const HostThreads& used, unsigned all) {
  if (!used.complaint.empty())
    return {"threads", Health::absent, used.complaint, "no suite runs here until then"};
  const std::string detail = text(all, " hardware threads, suites use ", used.count);
  if (used.count <= static_cast<int>(all)) return {"threads", Health::ok, detail};
  return {"threads", Health::noisy, detail, text("set HOLDFAST_NUM_THREADS to at most ", all)};
}

std::string accepted_of_host(const fs::path& baselines, const std::string& device_class,
                             const std::string& processor) {
  bool counts = false;
  std::set<std::string> timed;
  if (std::error_code ignored; !fs::is_directory(baselines, ignored))
    return text(device_class, "; what is accepted of it is unknown: there is no folder ",
                baselines.string(), "; name it with --baselines");
  const Store store(baselines, Store::Use::reading);
  for (const std::string& place : store.places("devices/", ".json")) {
    if (fs::path(place).parent_path().filename() != device_class) continue;
    const Baseline baseline = *read_baseline_if_any(store, place);
    counts = counts || !baseline.entries.empty();
    for (const auto& [timed_on, entries] : baseline.processors) timed.insert(timed_on);
  }
  if (!counts && timed.empty())
    return text(device_class, ", for which ", baselines.string(), " holds nothing");
  return text(device_class, ", for which ", baselines.string(), " holds ",
              counts ? "counts" : "no counts", ", and for ", processor, " ",
              accepted_times(timed, processor));
}

std::string ctest_resources(std::size_t gpus) {
  nlohmann::json ids = nlohmann::json::array();
  for (std::size_t i = 0; i < gpus; ++i) ids.push_back({{"id", std::to_string(i)}, {"slots", 1}});
  return canonical({{"version", {{"major", 1}, {"minor", 0}}},
                    {"local", nlohmann::json::array({{{"gpus", ids}}})}});
}

Command doctor_command() {
  return {.name = "doctor",
          .summary = "Says what this machine can do, and what to fix.",
          .operands = "",
          .options = {common::baselines,
                      {"ctest-resources", "FILE",
                       "write the GPUs there, for ctest --resource-spec-file"},
                      {"resolution", "DIR",
                       "instead: the smallest loss that would have failed the checked run there"}},
          .examples =
              "  holdfast doctor --resolution=build/release/results\n"
              "  holdfast doctor --ctest-resources=build/release/gpus.json\n",
          .run = doctor};
}

}  // namespace holdfast::gate
