// SPDX-License-Identifier: Apache-2.0
// A suite for tests: it keeps the contract between `holdfast` and its suites, or breaks it in the
// one way that FAKE_SUITE names. It computes nothing; its second process is told from its first by
// a file beside the results, and one build of it from another by what is appended to its binary.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "gate/testing/fake_profile.hpp"

namespace {

const char* cases[] = {"fake_suite/add/n:8/f64", "fake_suite/scale/n:8/f64"};

bool is_base(const std::filesystem::path& self) {
  return self.parent_path().filename() == "base";
}

// "scale_of_base_alone" and "scale_of_head_alone": the second case, in the lists of two builds.
bool lists(const std::string& behaviour, const std::string& id) {
  const bool base = is_base(std::filesystem::read_symlink("/proc/self/exe"));
  return id == cases[0] || behaviour != (base ? "scale_of_head_alone" : "scale_of_base_alone");
}

// "counted": the first case promises instruction counts, as from valgrind, and metrics of a
// profile.
void print_list(const std::string& behaviour) {
  std::cout << R"({"schema": "holdfast-list/2", "suite": "fake_suite", "metrics": {)"
            << R"("instructions": {"kind": "exact", "better": "lower", "unit": "1"}, )"
            << R"("idle_fraction": {"kind": "advisory", "better": "lower", "unit": "1"}, )"
            << R"("launches": {"kind": "exact", "better": "lower", "unit": "1"}, )"
            << R"("time_s": {"kind": "time", "better": "lower", "unit": "s"}}, "cases": [)";
  const char* separator = "";
  for (const char* id : cases) {
    if (!lists(behaviour, id)) continue;
    const bool counted = behaviour == "counted" && id == cases[0];
    std::cout << separator << R"({"id": ")" << id
              << R"(", "tier": "gate", "reference": false, "limit": 1e-12, )"
              << R"("devices": {"host": {"metrics": [)"
              << (counted ? R"("instructions", "idle_fraction", )" : "")
              << R"("launches", "time_s"]}, "cuda": {"metrics": []}}})";
    separator = ", ";
  }
  std::cout << "]}\n";
}

// `disturbed`: other programs held its threads up for half of the time. `counted`: it promises a
// count and what a profile tells.
void write_case(std::ostream& out, const char* id, std::string_view status, int launches,
                double seconds, bool disturbed, bool counted) {
  const std::string_view check = status == "ok"       ? "passed"
                                 : status == "failed" ? "failed"
                                                      : "not_executed";
  const char* waited = disturbed ? R"("waited_fraction": {"kind": "advisory", "value": 0.5})" : "";
  const char* count = counted
                          ? R"("instructions": {"kind": "exact", "value": null, "reason": "yet"},
      "idle_fraction": {"kind": "advisory", "value": null, "reason": "yet"}, )"
                          : "";
  out << R"({"id": ")" << id << R"(", "tier": "gate", "status": ")" << status << R"(", "reason": )"
      << (status == "ok" ? "null" : R"("error 0.5 above 1e-12")")
      << R"(, "executed": true, "check": {"status": ")" << check
      << R"(", "error": 0, "limit": 1e-12, "oracle": "golden"}, "metrics": {)" << waited
      << R"(}, "variants": {"optimized": )"
      << R"({"identity": null, "kernels": [], "metrics": {)" << count
      << R"("launches": {"kind": "exact", "value": )" << launches
      << R"(}, "time_s": {"kind": "time", "processes": [)" << seconds << R"(], "median": )"
      << seconds << R"(, "mad_between": 0, "samples": 10}}}}})";
}

// The last words before it crashes, which FAKE_WORDS may set, as well as the names in a profile.
const char* given_words() {
  return std::getenv("FAKE_WORDS");
}
std::string last_words() {
  const char* given = given_words();
  return std::string(given ? given : "about to fall") + '\n';
}

// Crashes so that nothing catches it, not even a sanitizer.
void crash() {
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
}

void spend(double seconds) {
  const std::chrono::duration<double> time(seconds);
  for (const auto begin = std::chrono::steady_clock::now();
       std::chrono::steady_clock::now() - begin < time;)
    continue;
}

// Each of these words spoils one case: the first "crash_in_case", "hang_in_case", "refuse_in_case"
// and "sticky" (the device), the second "stop_in_case" (somebody stops `holdfast run`) and
// "kill_in_case" (or kills it), and after both "crash_at_exit"; with "_later" appended, in the
// second process.
bool is(const std::string& behaviour, const std::string& trouble, int process) {
  return behaviour == trouble || (behaviour == trouble + "_later" && process == 2);
}

// What a test appended to this build of the suite: "\nstep_seconds=0.0011", then the name of its
// first case. Empty if nothing.
std::string appended(const char* self, const std::string& what) {
  constexpr std::streamoff most = 64;
  std::ifstream binary(self, std::ios::binary | std::ios::ate);
  binary.seekg(-most, std::ios::end);
  const std::string end(std::istreambuf_iterator<char>(binary), {});
  const std::string name = "\n" + what + "=";
  const std::size_t at = end.find(name);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size();
  return end.substr(begin, end.find('\n', begin) - begin);
}
double step_seconds(const char* self) {
  const std::string seconds = appended(self, "step_seconds");
  return seconds.empty() ? 1e-3 : std::stod(seconds);
}

// How other work spoilt the measurement: "shared_as_base" that of the build that another is
// compared with; "busy" has a load of 99.
std::string quality_of(const std::string& behaviour) {
  const bool shared =
      behaviour == "shared_as_base" && is_base(std::filesystem::read_symlink("/proc/self/exe"));
  const std::string why = R"("other processes computed on the GPU")";
  return std::string(R"("valid": )") + (shared ? "false" : "true") + R"(, "reasons": [)" +
         (shared ? why : "") + R"(], "load": )" + (behaviour == "busy" ? "99" : "null");
}

// A ceiling that rises from process to process, unless ceilings are not wanted.
std::string ceilings(int process) {
  const bool unwanted = std::getenv("HOLDFAST_CEILINGS") != nullptr;
  return unwanted ? "" : R"("memory_bytes_per_s": )" + std::to_string(process);
}

// The source of device code that no build contains.
std::string sources() {
  const char* folder = std::getenv("HOLDFAST_SOURCES");
  return folder && *folder ? R"(, "sources": ")" + std::string(folder) + '"' : "";
}

void write_results(const std::string& path, const std::string& behaviour, int process,
                   const std::vector<const char*>& chosen) {
  std::ofstream out(path);
  out << R"({"schema": "holdfast-results/1", "suite": "fake_suite", "tier": "gate", "partial": false,)"
      << R"( "run": {"processes": 1)" << sources()
      << R"(}, "env": {"device_class": "host-fake-1t", "device_name": "host",)"
      << R"( "device": {"name": "fake", "sm": null, "sms": null, "memory_bytes": null}, "driver": null,)"
      << R"( "cuda": null, "nvrtc": null, "nvjitlink": null, "compiler": null, "flags": null,)"
      << R"( "host": {"cpu": null, "processor": "Fake-1-2", "threads": 1, "isa": null}, "fingerprint": "fake"},)"
      << R"( "quality": {)" << quality_of(behaviour) << R"(, "sm_clock_hz": null,)"
      << R"( "throttled": null, "temperature_c": null, "other_processes": null}, "ceilings": {)"
      << ceilings(process) << R"(}, "cases": [)";
  if (behaviour == "invalid") return;
  const bool disagrees = behaviour == "disagree" && process > 1;
  const char* separator = "";
  for (const char* id : chosen) {
    const bool second = id == cases[1];
    if (second && behaviour == "incomplete") continue;
    out << separator;
    const bool wrong = !second && behaviour == "wrong";
    const bool broke = !second && is(behaviour, "sticky", process);
    const char* status = broke ? "crashed" : wrong ? "failed" : "ok";
    write_case(out, id, status,
               second      ? 1
               : disagrees ? 5
                           : 4,
               (second ? 10 : process) * step_seconds("/proc/self/exe") / 1e-3,
               second && behaviour == "disturbed", !second && behaviour == "counted");
    separator = ", ";
  }
  out << "]}\n";
}

// The exit code after all cases: "code_5", or "unannounced_code_5" for a suite that announces none.
int code_of(const std::string& behaviour) {
  const std::string word = "code_";
  const std::size_t at = behaviour.find(word);
  if (at != std::string::npos) return std::stoi(behaviour.substr(at + word.size()));
  return 0;
}

// Measures case by case, as a suite that keeps what it has finished.
int measure(const std::string& path, const std::string& behaviour, int process,
            const std::string& filter) {
  std::vector<const char*> chosen, done;
  for (const char* id : cases)
    if (filter.empty() || std::regex_search(id, std::regex(filter))) chosen.push_back(id);
  for (const char* id : chosen) {
    if (!behaviour.starts_with("unannounced"))
      std::cerr << '[' << done.size() + 1 << '/' << chosen.size() << "] " << id << std::endl;
    if (id == cases[0]) {
      if (is(behaviour, "crash_in_case", process)) crash();
      if (is(behaviour, "hang_in_case", process)) ::pause();
      if (behaviour == "slow_in_case") spend(1.2);
      if (is(behaviour, "refuse_in_case", process)) {
        std::cerr << "fake_suite: the case's table is not there; fetch it\n";
        return 2;
      }
    }
    if (id == cases[1] && is(behaviour, "stop_in_case", process)) {
      ::kill(::getppid(), SIGTERM);
      ::pause();
    }
    if (id == cases[1] && is(behaviour, "kill_in_case", process)) {
      ::kill(::getppid(), SIGKILL);
      return 0;
    }
    done.push_back(id);
    write_results(path, behaviour, process, done);
    if (id == cases[0] && is(behaviour, "sticky", process)) return 3;
  }
  if (is(behaviour, "crash_at_exit", process)) crash();
  const bool failed = behaviour == "wrong" && std::ranges::count(done, cases[0]) > 0;
  return failed ? 1 : code_of(behaviour);
}

// How many processes have written beside `path` before, this one included.
int count_process(const std::string& path) {
  const std::filesystem::path counter = std::filesystem::path(path).parent_path() / "count";
  int count = 0;
  std::ifstream(counter) >> count;
  std::ofstream(counter) << ++count;
  return count;
}

// What a suite writes for the case that --filter names as a whole, or for all: on a host, both
// variants where they are asked for.
struct Profiling {
  std::string folder = {}, filter = {}, variant = "optimized", trace = {};
  bool asserts = false;
};

// Names in a profile that are values; a key is refused where it is not shown as it is.
void name_after(const std::string& words, nlohmann::json& made) {
  made["ops"][0]["name"] = made["overview"]["top_op"] = words;
  made["scopes"][0]["path"] = words;
  made["gaps"][0]["after"] = made["overview"]["max_gap_between"][0] = words;
  made["memory"]["timeline"][0]["site"] = words;
  made["compiles"][0]["program"] = made["compiles"][0]["reason"] = words;
  made["device_name"] = words;
}

void write_profiles(const Profiling& profiling, const std::string& behaviour) {
  std::vector<std::string> variants = {profiling.variant};
  if (profiling.variant == "both") variants = {"optimized", "reference"};
  for (const std::string id : cases) {
    if (!profiling.filter.empty() && profiling.filter != "^" + id + "$") continue;
    for (const std::string& variant : variants) {
      nlohmann::json made = holdfast::gate::toy::gpu_profile(id, variant);
      made["suite"] = "fake_suite";
      made["device"] = "host";
      made["device_class"] = "host-fake-1t";
      made["device_name"] = "fake";
      made["clock"] = "host";
      std::string stem = id;
      std::replace(stem.begin(), stem.end(), '/', '.');
      std::replace(stem.begin(), stem.end(), ':', '_');
      stem += "." + variant;
      if (!profiling.trace.empty()) {
        made["trace"] = stem + ".trace.json";
        std::ofstream(profiling.trace + "/" + stem + ".trace.json") << "[]";
      }
      if (behaviour == "profile_broken") made.erase("overview");
      if (const char* words = given_words()) name_after(words, made);
      std::ofstream(profiling.folder + "/" + stem + ".profile.json")
          << made.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
  }
}

int profile(const Profiling& profiling, const std::string& behaviour) {
  if (behaviour == "profile_crash") {
    std::cerr << last_words();
    crash();
  }
  if (behaviour == "no_device") {
    std::cerr << "fake_suite: this machine has no CUDA device; run on one\n";
    return 77;
  }
  if (behaviour == "profile_warns") std::cerr << "begins\nholdfast: warn: no samples: \x1b[2J\n";
  if (behaviour != "profile_silent") write_profiles(profiling, behaviour);
  if (behaviour == "profile_exhausts") {
    std::cerr << "fake_suite: failed another: out of memory\n";
    return 3;
  }
  if (!profiling.asserts) return 0;
  std::cerr << "fake_suite: the mean step of add takes 605 us, above --assert-mean\n";
  return 1;
}

// The end of a sample from a GPU that is slowed down, always or at times; else empty.
std::string told_of_gpu(const std::string& behaviour, int sample) {
  if (behaviour == "slowed") return " 0 1";
  if (behaviour == "slowed_at_times") return sample % 12 == 5 ? " 0 1" : " 0 0";
  return "";
}

// "exclusive": as a GPU in exclusive mode, this takes one process of a build at a time. Held until
// the process ends.
bool is_taken(const char* self) {
  const auto build = std::filesystem::path(self).parent_path();
  const int file =
      ::open((build.parent_path() / "taken").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  return ::flock(file, LOCK_EX | LOCK_NB) != 0;
}

// "crowded": as a GPU whose memory two processes fill together, this refuses the first two.
bool is_crowded(const char* self) {
  const auto starts = std::filesystem::path(self).parent_path().parent_path() / "crowd";
  std::ofstream(starts, std::ios::app) << '.';
  return std::filesystem::file_size(starts) <= 2;
}

// Answers samples without taking any time. The CPU time is the same in every build, and FAKE_LOG
// names a file that receives each sample's folder, FAKE_STARTS that of each process.
int answer(const char* self, const std::string& behaviour) {
  const bool of_head = std::filesystem::path(self).parent_path().filename() == "head";
  const double seconds = step_seconds(self) * (behaviour == "slow_as_head" && of_head ? 1.1 : 1);
  const char* log = std::getenv("FAKE_LOG");
  if (const char* starts = std::getenv("FAKE_STARTS"))
    std::ofstream(starts, std::ios::app)
        << std::filesystem::path(self).parent_path().filename().string() << ' ';
  const std::string flood(1 << 16, 'x');
  while (behaviour == "endless_line" && std::cout << flood) continue;
  while (behaviour == "endless_complaints" && std::cerr << flood) continue;
  std::cout << (behaviour == "unready" ? "hello" : "ready 3") << std::endl;
  int sample = 0;
  for (std::string line; std::getline(std::cin, line); ++sample) {
    if (behaviour == "dies" && sample == 5) {
      std::cerr << last_words();
      crash();
    }
    if (log && line == "optimized")
      std::ofstream(log, std::ios::app)
          << std::filesystem::path(self).parent_path().string() << '\n';
    const double jitter = 1 + 1e-4 * (sample * 7 % 11);
    if (line.starts_with("batch "))
      std::cout << "ok" << std::endl;
    else if (behaviour == "nonsense")
      std::cout << "-1 x" << std::endl;
    else if (line == "reference" && behaviour == "no_reference")
      std::cout << "none" << std::endl;
    else
      std::cout << (line == "reference" ? 2e-3 : seconds) * jitter << ' '
                << (behaviour == "one_clock" ? seconds : 1e-3) << told_of_gpu(behaviour, sample)
                << std::endl;
  }
  return 0;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): a suite that crashes is a suite to be tested with
int main(int argc, char** argv) {
  const char* setting = std::getenv("FAKE_SUITE");
  const std::string behaviour = setting ? setting : "ok";
  const std::string first_case = appended("/proc/self/exe", "first_case");
  if (!first_case.empty()) cases[0] = first_case.c_str();
  std::string out;
  bool lock_step = false;
  Profiling profiling;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--list=json") {
      print_list(behaviour);
      return 0;
    }
    if (argument == "--lock-step") lock_step = true;
    const std::size_t equals = std::min(argument.find('='), argument.size() - 1);
    const std::string name = argument.substr(0, equals);
    const std::string value = argument.substr(equals + 1);
    if (name == "--out") out = value;
    if (name == "--profile") profiling.folder = value;
    if (name == "--trace") profiling.trace = value;
    if (name == "--filter") profiling.filter = value;
    if (name == "--variant") profiling.variant = value;
    if (name == "--assert-mean") profiling.asserts = true;
  }
  if (!profiling.folder.empty()) return profile(profiling, behaviour);
  const auto is_chosen = [&](const char* id) {
    return std::regex_search(id, std::regex(profiling.filter));
  };
  const bool refuses = behaviour == "refuse" || (behaviour == "head_refuses" && !is_base(argv[0]));
  if (refuses || (lock_step && std::ranges::none_of(cases, is_chosen))) {
    std::cerr << "fake_suite: there is no case of that name; see --list=json\n";
    return 2;
  }
  if (behaviour == "no_device") {
    std::cerr << "fake_suite: this machine has no CUDA device; run on one\n";
    return 77;
  }
  if (lock_step && behaviour == "exclusive" && is_taken(argv[0])) {
    std::cerr << "fake_suite: the device is busy; wait until it is free\n";
    return 3;
  }
  if (lock_step && behaviour == "crowded" && is_crowded(argv[0])) {
    std::cerr << "fake_suite: the device is out of memory; wait until some is free\n";
    return 3;
  }
  if (lock_step) return answer(argv[0], behaviour);
  const int process = count_process(out);
  const std::filesystem::path folder = std::filesystem::path(argv[0]).parent_path();
  if (const char* log = std::getenv("FAKE_LOG"))
    std::ofstream(log, std::ios::app) << folder.string() << '\n';
  if (behaviour == "falls_as_base" && is_base(argv[0])) crash();
  const std::map<std::string, int> signals = {
      {"interrupt", SIGINT}, {"quit", SIGQUIT}, {"pipe", SIGPIPE}, {"end", SIGTERM}};
  const auto signal = signals.find(behaviour);  // as Ctrl-C sends one to `holdfast run`
  if (signal != signals.end()) ::kill(::getppid(), signal->second);
  if (behaviour == "hang" || signal != signals.end()) ::pause();
  if (behaviour == "crash" || (behaviour == "crash_later" && process > 1)) {
    std::cerr << last_words();
    crash();
  }
  if (behaviour == "crash_in_calibration" && !std::getenv("HOLDFAST_CEILINGS")) crash();
  if (behaviour == "silent") return 0;
  if (behaviour == "unpadded" && !std::getenv("HOLDFAST_PADDING")) return 3;
  if (behaviour == "invalid") {
    write_results(out, behaviour, process, {});
    return 0;
  }
  return measure(out, behaviour, process, profiling.filter);
}
