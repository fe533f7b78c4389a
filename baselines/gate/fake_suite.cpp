// SPDX-License-Identifier: Apache-2.0
// A suite for tests: it keeps the contract between `holdfast run` and its suites, or breaks it in
// the one way that FAKE_SUITE names. It computes nothing; its second process is told from its first
// by a file beside the results.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace {

constexpr const char* cases[] = {"fake_suite/add/n:8/f64", "fake_suite/scale/n:8/f64"};

void print_list() {
  std::cout << R"({"schema": "holdfast-list/1", "suite": "fake_suite", "cases": [)";
  const char* separator = "";
  for (const char* id : cases) {
    std::cout
        << separator << R"({"id": ")" << id << R"(", "tier": "gate", "reference": false, )"
        << R"("devices": {"host": {"metrics": ["launches", "time_s"]}, "cuda": {"metrics": []}}})";
    separator = ", ";
  }
  std::cout << "]}\n";
}

void write_case(std::ostream& out, const char* id, bool failed, int launches, double seconds) {
  out << R"({"id": ")" << id << R"(", "tier": "gate", "status": ")" << (failed ? "failed" : "ok")
      << R"(", "reason": )" << (failed ? R"("error 0.5 above 1e-12")" : "null")
      << R"(, "executed": true, "check": {"status": ")" << (failed ? "failed" : "passed")
      << R"(", "error": 0, "limit": 1e-12, "oracle": "golden"}, "metrics": {}, "variants": {"optimized": )"
      << R"({"identity": null, "kernels": [], "metrics": {"launches": {"kind": "exact", "value": )"
      << launches << R"(}, "time_s": {"kind": "time", "processes": [)" << seconds
      << R"(], "median": )" << seconds << R"(, "mad_between": 0, "samples": 10}}}}})";
}

void write_results(const std::string& path, const std::string& behaviour, int process) {
  std::ofstream out(path);
  out << R"({"schema": "holdfast-results/1", "suite": "fake_suite", "tier": "gate", "partial": false,)"
      << R"( "run": {"processes": 1}, "env": {"device_class": "host-fake-1t", "device_name": "host",)"
      << R"( "device": {"name": "fake", "sm": null, "sms": null, "memory_bytes": null}, "driver": null,)"
      << R"( "cuda": null, "nvrtc": null, "nvjitlink": null, "compiler": null, "flags": null,)"
      << R"( "host": {"cpu": null, "threads": 1, "isa": null}, "fingerprint": "fake"},)"
      << R"( "quality": {"valid": true, "reasons": [], "load": null, "sm_clock_hz": null,)"
      << R"( "throttled": null, "temperature_c": null, "other_processes": null}, "ceilings": {}, "cases": [)";
  if (behaviour == "invalid") return;
  const bool disagrees = behaviour == "disagree" && process > 1;
  write_case(out, cases[0], behaviour == "wrong", disagrees ? 5 : 4, process);
  if (behaviour != "incomplete") {
    out << ", ";
    write_case(out, cases[1], false, 1, 10);
  }
  out << "]}\n";
}

// How many processes have written beside `path` before, this one included.
int count_process(const std::string& path) {
  const std::filesystem::path counter = std::filesystem::path(path).parent_path() / "count";
  int count = 0;
  std::ifstream(counter) >> count;
  std::ofstream(counter) << ++count;
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  const char* setting = std::getenv("FAKE_SUITE");
  const std::string behaviour = setting ? setting : "ok";
  std::string out;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--list=json") {
      print_list();
      return 0;
    }
    if (argument.starts_with("--out=")) out = argument.substr(6);
  }
  if (behaviour == "refuse") {
    std::cerr << "fake_suite: there is no case of that name; see --list=json\n";
    return 2;
  }
  if (behaviour == "no_device") {
    std::cerr << "fake_suite: this machine has no CUDA device; run on one\n";
    return 77;
  }
  const int process = count_process(out);
  if (behaviour == "interrupt") ::kill(::getppid(), SIGINT);  // as Ctrl-C does to `holdfast run`
  if (behaviour == "hang" || behaviour == "interrupt") ::pause();
  if (behaviour == "crash" || (behaviour == "crash_later" && process > 1)) {
    std::cerr << "about to fall\n";
    std::raise(SIGSEGV);
  }
  if (behaviour == "silent") return 0;
  if (behaviour == "unpadded" && !std::getenv("HOLDFAST_PADDING")) return 3;
  write_results(out, behaviour, process);
  return behaviour == "wrong" ? 1 : 0;
}
