// SPDX-License-Identifier: Apache-2.0
// The main program of every suite, from top to bottom: options, list, device, cases, then serving a
// paired comparison, or counting instructions, or profiling, or measuring under Google Benchmark's
// report, and the result file.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/files.hpp"
#include "base/id_filter.hpp"
#include "base/names.hpp"
#include "base/sha256.hpp"
#include "harness/case/case.hpp"
#include "harness/machine/measuring_turn.hpp"
#include "harness/measure/ceilings_of.hpp"
#include "harness/measure/instruction_count.hpp"
#include "harness/measure/lock_step.hpp"
#include "harness/measure/measure.hpp"
#include "harness/profile/gpu_watch.hpp"
#include "harness/profile/nvml_log.hpp"
#include "harness/profile/profile_run.hpp"
#include "harness/results/environment.hpp"
#include "harness/results/result_writer.hpp"
#include "harness/results/table.hpp"
#include "runtime/backend/settings.hpp"
#include "runtime/base/error.hpp"
#include "runtime/compile/source_text.hpp"

namespace holdfast {
namespace {

// Number of other processes that hold a case ready on the same device: the build that this one is
// compared with.
constexpr std::int64_t other_sides = 1;

int exit_code(Fault fault) {
  switch (fault) {
    case Fault::bad_input:
      return Exit::bad_input;
    case Fault::no_device:
      return Exit::no_device;
    case Fault::compile:
    case Fault::device:
    case Fault::out_of_memory:
    case Fault::broken_rule:
      return Exit::incomplete;
  }
  return Exit::incomplete;
}

// An interrupted case was not measured, which outranks a wrong one.
int exit_code(const std::vector<Measured>& measured) {
  int code = 0;
  for (const auto& [which, measurement] : measured) {
    if (measurement.broke_off) return Exit::incomplete;
    if (measurement.status == Measurement::Status::failed) code = Exit::failed;
  }
  return code;
}

void print_for_people(const std::vector<Case>& cases) {
  std::map<std::string, std::size_t> uncounted;  // cases by reason for not counting instructions
  for (const Case& one : cases) {
    const auto why = one.why_uncounted();
    if (why) ++uncounted[*why];
    std::string line(name(one.tier));
    line.resize(7, ' ');
    line += one.id;
    for (const std::string& device : one.devices)
      line += (device == one.devices.front() ? "  [" : ", ") + device;
    std::cout << line << "]" << (one.reference ? "" : "  no reference")
              << (why ? "  not counted" : "") << "\n";
  }
  for (const auto& [why, count] : uncounted)
    std::cout << "not counted: the instructions of " << plural(count, "case") << ": " << why
              << "\n";
}

void refuse_old(const std::string& device) {
  for (const int sm : architectures)
    if (sm < oldest_of_suites && device == text("cuda-dry:sm_", sm))
      throw Error(Fault::bad_input, text("--device=", device, ": the suites need sm_",
                                         oldest_of_suites, " or later; use cuda-dry:sm_90"));
}

// The cases of this device, or of any if empty, up to this tier.
std::vector<const Case*> of_tier(const std::vector<Case>& cases, const SuiteOptions& options) {
  const Tier most = tier(options.tier);
  const bool any = options.device.empty();
  if (!any) check_device(options.device);
  refuse_old(options.device);
  std::vector<const Case*> chosen;
  for (const Case& one : cases)
    if ((any || one.runs_on(options.device)) && one.tier <= most) chosen.push_back(&one);
  if (chosen.empty())
    throw Error(Fault::bad_input,
                text("there is no case for ", any ? "" : text("--device=", options.device, " "),
                     "--tier=", options.tier, "; --list shows what there is"));
  return chosen;
}

// The id of a case that the default options choose, else of the suite's first.
std::string usual_case(const Suite& suite) {
  const SuiteOptions defaults;
  const std::vector<Case> cases = suite.cases(defaults);
  const auto usual = std::find_if(cases.begin(), cases.end(), [](const Case& one) {
    return one.runs_on("host") && one.tier <= Tier::gate;
  });
  return (usual == cases.end() ? cases.front() : *usual).id;
}

// The cases whose id matches `filter`, or with a leading '-' does not.
std::vector<const Case*> filtered(std::vector<const Case*> cases, const std::string& filter) {
  const IdFilter chosen(filter);
  std::erase_if(cases, [&](const Case* one) { return !chosen.takes(one->id); });
  if (cases.empty())
    throw Error(Fault::bad_input,
                text("--filter=", filter,
                     " matches no case of this device and tier; --list shows what there is"));
  return cases;
}

void print_list(const std::string& suite, const std::vector<Case>& cases,
                const SuiteOptions& options) {
  std::vector<Case> listed;
  for (const Case* one : filtered(of_tier(cases, options), options.filter)) listed.push_back(*one);
  if (options.list == "people") return print_for_people(listed);
  std::cout << document(list_json(suite, listed));
}

const Case& the_only(const std::vector<const Case*>& chosen) {
  if (chosen.size() != 1)
    throw Error(Fault::bad_input,
                text("--lock-step times one case, and ", chosen.size(), " are chosen (",
                     chosen[0]->id, ", ", chosen[1]->id, chosen.size() > 2 ? ", .." : "",
                     "); narrow them with --filter='^<id>$'"));
  return *chosen.front();
}

// Empty for a protocol that reads none.
std::optional<double> peak_bytes_of(const VariantMeasurement& variant) {
  if (variant.peak_bytes > 0) return static_cast<double>(variant.peak_bytes);
  const auto read = variant.readings.find("peak_bytes");
  return read == variant.readings.end() ? std::nullopt : std::optional(read->second);
}

// Google Benchmark owns the loop; measure() samples inside. One iteration and one repetition, so
// that statistics rows, which can hold NaN, never appear. Results are stored after each case, so
// that a crash does not lose the cases before.
class Run {
 public:
  using Keep = std::function<void(const std::vector<Measured>&)>;
  Run(const SuiteOptions& options, std::size_t count, const Ceilings* ceilings, Keep keep)
      : options_(options), count_(count), ceilings_(ceilings), keep_(std::move(keep)) {}

  void add(const Case& one) {
    ::benchmark::RegisterBenchmark(one.id.c_str(),
                                   [this, &one](::benchmark::State& state) { run(one, state); })
        ->UseManualTime()
        ->Iterations(1)
        ->Repetitions(1)
        ->Unit(::benchmark::kMicrosecond);
  }
  std::vector<Measured> take() {
    if (error_) std::rethrow_exception(error_);
    return std::move(measured_);
  }

 private:
  void run(const Case& one, ::benchmark::State& state) {
    state.SetLabel(one.id);
    if (error_) return state.SkipWithError(Table::not_run);
    std::fprintf(stderr, "[%zu/%zu] %s\n", measured_.size() + 1, count_, one.id.c_str());
    try {
      const MeasuringTurn turn(options_.device);
      measured_.push_back({&one, measure(one, options_.device, {.ceilings = ceilings_})});
      keep_(measured_);
    } catch (...) {
      error_ = std::current_exception();
      return state.SkipWithError("it could not run");
    }
    report(measured_.back(), state);
    if (measured_.back().measurement.device_broke)
      error_ = std::make_exception_ptr(
          Error(Fault::device, text("after ", one.id,
                                    " failed, nothing that this process asks of the device can be "
                                    "trusted; the cases behind it need another process")));
  }

  void report(const Measured& measured, ::benchmark::State& state) {
    const Measurement& measurement = measured.measurement;
    if (measurement.status == Measurement::Status::failed) {
      std::fprintf(stderr, "failed %s: %s\n", measured.which->id.c_str(),
                   measurement.reason.c_str());
      return state.SkipWithError(measurement.reason.c_str());
    }
    for (auto iteration : state) {
      (void)iteration;
      state.SetIterationTime(measurement.optimized.seconds.value_or(0));
    }
    if (measurement.speedup) state.counters["speedup"] = *measurement.speedup;
    if (const auto bytes = peak_bytes_of(measurement.optimized))
      state.counters["peak_bytes"] = *bytes;
    if (measurement.optimized.identity)
      state.counters["launches"] = static_cast<double>(measurement.optimized.step.launches);
  }

  const SuiteOptions& options_;
  std::size_t count_;
  const Ceilings* ceilings_;
  Keep keep_;
  std::vector<Measured> measured_ = {};
  std::exception_ptr error_ = {};
};

// Google Benchmark does not check whether writing its file succeeds.
void check_complete(const std::filesystem::path& file) {
  // Reading a FIFO or a terminal would block.
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file)) return;
  std::ifstream stream(file);
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  if (content.ends_with(content.starts_with('{') ? "}\n" : "\n")) return;
  throw Error(Fault::bad_input,
              text("--benchmark_out=", file.string(), ": cannot be written to its ",
                   "end (is the disk full?); choose another place"));
}

// What Google Benchmark has read before main() begins: defaults of its flags, which would leave
// cases out, or all, or time them otherwise. Values may be secret, so only names are told.
void refuse_benchmark_variables() {
  for (const char* variable :
       {"BENCHMARK_COLOR", "BENCHMARK_CONTEXT", "BENCHMARK_COUNTERS_TABULAR",
        "BENCHMARK_DISPLAY_AGGREGATES_ONLY", "BENCHMARK_DRY_RUN",
        "BENCHMARK_ENABLE_RANDOM_INTERLEAVING", "BENCHMARK_FILTER", "BENCHMARK_FORMAT",
        "BENCHMARK_LIST_TESTS", "BENCHMARK_MIN_TIME", "BENCHMARK_MIN_WARMUP_TIME", "BENCHMARK_OUT",
        "BENCHMARK_OUT_FORMAT", "BENCHMARK_PERF_COUNTERS", "BENCHMARK_REPETITIONS",
        "BENCHMARK_REPORT_AGGREGATES_ONLY", "BENCHMARK_TIME_UNIT"})
    if (std::getenv(variable))
      throw Error(Fault::bad_input,
                  text("the environment has ", variable,
                       ": a suite takes Google Benchmark's flags from its command line; unset it"));
}

// Google Benchmark keeps the address of `program`, and copies the flags.
void initialise_benchmark(char* program, const SuiteOptions& options) {
  std::vector<std::string> words = options.benchmark_flags;
  std::vector<char*> argv = {program};
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  ::benchmark::Initialize(&argc, argv.data());
  if (argc > 1)
    throw Error(Fault::bad_input, text("Google Benchmark has no option ", argv[1], "; see --help"));
  ::benchmark::AddCustomContext("device", options.device);
  // Its own entry library_build_type would look like our mistake.
  ::benchmark::AddCustomContext("timing", "sampled by holdfast, whatever the library's build type");
}

// Measures the chosen cases of `all` that device and tier have, and stores what is measured so far.
std::vector<Measured> measure_all(const std::vector<const Case*>& chosen, std::size_t all,
                                  const SuiteOptions& options, Backend& backend, Report& report) {
  const auto gpu = watch_gpu(options.device);
  report.ceilings = ceilings_of(backend);
  const auto keep = [&](const std::vector<Measured>& measured) {
    if (options.out.empty()) return;
    report.cases = measured;
    report.partial = measured.size() != all;
    if (gpu) report.quality = gpu->quality();
    write_document(options.out, document(report_json(report, backend)));
  };
  Run measuring(options, chosen.size(), report.ceilings ? &*report.ceilings : nullptr, keep);
  for (const Case* one : chosen) measuring.add(*one);
  Table table(text(report.suite, " on ", options.device, ", tier ", options.tier, ": ",
                   plural(chosen.size(), "case")));
  ::benchmark::RunSpecifiedBenchmarks(options.benchmark_format == "console" ? &table : nullptr);
  ::benchmark::Shutdown();
  const std::vector<Measured> measured = measuring.take();
  if (measured.size() != chosen.size())
    throw Error(Fault::broken_rule, text("Google Benchmark took ", measured.size(), " samples of ",
                                         plural(chosen.size(), "case"), " instead of one each"));
  keep(measured);
  return measured;
}

int run(char* program, const std::vector<std::string>& arguments) {
  const Suite suite = holdfast::suite();
  const SuiteOptions options = parse_options(arguments, suite.options);
  if (options.help) {
    std::cout << usage(suite.name, suite.options, usual_case(suite));
    return 0;
  }
  const std::vector<Case> cases = suite.cases(options);
  if (!options.list.empty()) {
    print_list(suite.name, cases, options);
    return 0;
  }

  check_settings();
  refuse_benchmark_variables();
  const auto all = of_tier(cases, options);
  const auto chosen = filtered(all, options.filter);
  if (options.lock_step) {
    const auto sensors = sensors_of(options.device);
    serve_lock_step(the_only(chosen), options.device, std::cin, std::cout,
                    [&] { return sensors && is_disturbed(sensors->sample(), other_sides); });
    return 0;
  }
  if (options.count_instructions)
    return count_instructions(chosen, options.device) ? 0 : Exit::failed;
  if (!options.out.empty()) {
    check_writable(options.out);
    (void)provenance();  // refuses before anything is measured
  }
  if (!options.benchmark_out.empty()) check_writable(options.benchmark_out, "benchmark_out");
  prepare_profile(options.profiling);
  const auto backend = open_backend(options.device);
  const auto sensors = begin_nvml_log(options.profiling, options.device);
  if (options.profiling.profiles()) return profile_cases(suite.name, chosen, options);
  initialise_benchmark(program, options);

  Report report{.suite = suite.name,
                .tier = options.tier,
                .list_hash = sha256(document(list_json(suite.name, cases)))};
  for (const auto& [option, value] : options.custom)
    report.custom.push_back(text("--", option, "=", value));
  const auto measured = measure_all(chosen, all.size(), options, *backend, report);
  if (!options.benchmark_out.empty()) check_complete(options.benchmark_out);
  return exit_code(measured);
}

}  // namespace
}  // namespace holdfast

// OpenMP's threads spin at a barrier for milliseconds by default, which on a busy machine takes the
// CPU from the very thread that they wait for. libgomp reads its setting once, before main(), so
// the process restarts.
static void start_again_with_short_spins(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") || std::getenv("OMP_WAIT_POLICY")) return;
  ::setenv("GOMP_SPINCOUNT", "1000",
           1);                      // some 20 us: libgomp's own value when threads outnumber CPUs
  ::execv("/proc/self/exe", argv);  // if this fails, the default stays
}

int main(int argc, char** argv) {
  holdfast::hold_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` fails, and says so
  start_again_with_short_spins(argv);
  const std::string program = std::filesystem::path(argv[0]).filename().string();
  try {
    const int code = holdfast::run(argv[0], std::vector<std::string>(argv + 1, argv + argc));
    holdfast::warn_of_unused_sources();
    if (!std::cout.flush())
      throw holdfast::Error(holdfast::Fault::bad_input, "cannot write to the standard output");
    return code;
  } catch (const holdfast::Error& error) {
    std::cout.flush();
    std::cerr << program << ": " << error.what() << "\n";
    return holdfast::exit_code(error.fault());
  } catch (const std::exception& error) {
    std::cerr << program << ": " << error.what() << "\n";
    return holdfast::exit_code(holdfast::Fault::device);
  }
}
