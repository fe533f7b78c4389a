// SPDX-License-Identifier: Apache-2.0
// The real binary as a user types it: its messages, exit codes and files.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/testing/suite_command.hpp"

namespace holdfast {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A measuring run without ceilings, which take longer than a small case.
constexpr const char* uncalibrated = "HOLDFAST_CEILINGS=none " CUBED_SPHERE_SWE_BINARY " ";
// Where output is compared as a whole: a test that measures beside this one causes a warning.
constexpr const char* unwarned = "HOLDFAST_LOG=error ";

class SuiteCommand : public SuiteInAShell {
 protected:
  // Keeps the binary from restarting, which takes half the time of most of these runs.
  static void SetUpTestSuite() { ::setenv("GOMP_SPINCOUNT", "1000", 0); }
};

TEST_F(SuiteCommand, HelpShowsOptionsAndExamples) {
  const Said said = suite("--help");
  EXPECT_EQ(said.exit, 0);
  EXPECT_THAT(said.words, HasSubstr("--device=NAME"));
  EXPECT_THAT(said.words, HasSubstr("--size=N"));
  EXPECT_THAT(said.words, HasSubstr("examples:"));
}

// For each suite beside this one; --list measures nothing.
TEST_F(SuiteCommand, EveryExampleOfEveryHelpChoosesCases) {
  namespace fs = std::filesystem;
  const fs::path here = fs::path(CUBED_SPHERE_SWE_BINARY).parent_path();
  for (const auto& entry : fs::directory_iterator(here)) {
    const fs::path& list = entry.path();
    if (!list.string().ends_with(".list.json")) continue;
    const std::string name = list.stem().stem().string(), binary = (here / name).string();
    const std::string help = run(binary + " --help").words;
    std::istringstream lines(help.substr(std::min(help.find("\nexamples:\n"), help.size())));
    std::size_t examples = 0;
    for (std::string line; std::getline(lines, line);) {
      const std::string beginning = "  " + name + ' ';
      if (!line.starts_with(beginning)) continue;
      ++examples;
      const Said said = run(binary + ' ' + line.substr(beginning.size()) + " --list");
      EXPECT_EQ(said.exit, 0) << line << ": " << said.words;
    }
    EXPECT_GE(examples, 6u) << name;
  }
}

// Each process that counts instructions would have valgrind read them.
TEST_F(SuiteCommand, StartsWithoutCompilersAndLibrariesOfAGpu) {
  const Said needed = run("ldd " CUBED_SPHERE_SWE_BINARY);
  EXPECT_THAT(needed.words, HasSubstr("libc.so"));
  for (const char* library : {"libnvrtc", "libnvJitLink", "libcublas", "libcufft"})
    EXPECT_THAT(needed.words, Not(HasSubstr(library)));
}

TEST_F(SuiteCommand, AnUnknownDeviceIsOneSentenceAndUsage) {
  expect_usage(suite("--device=tpu"), "tpu");
}

TEST_F(SuiteCommand, AnUnknownOptionGetsASuggestion) {
  expect_usage(suite("--divice=host"));
}

TEST_F(SuiteCommand, AFilterThatMatchesNothingIsUsage) {
  expect_usage(suite("--filter=no_such_case"), "no_such_case");
}

TEST_F(SuiteCommand, AFilterThatMatchesNothingIsUsageWithoutTheDeviceToo) {
  EXPECT_EQ(suite("--device=cuda:99 --filter=no_such_case").exit, 2);
}

TEST_F(SuiteCommand, AnUnknownFlagOfGoogleBenchmarkIsUsage) {
  EXPECT_EQ(suite("--benchmark_no_such_flag=1").exit, 2);
}

TEST_F(SuiteCommand, AVariableOfGoogleBenchmarkIsUsage) {
  for (const char* variable : {"BENCHMARK_FILTER", "BENCHMARK_LIST_TESTS"}) {
    const Said said = run(std::string(variable) + "=its_value " + uncalibrated +
                          "--tier=smoke --filter=rhs/n:24");
    expect_usage(said, variable);
    EXPECT_THAT(said.words, Not(HasSubstr("its_value")));
  }
}

TEST_F(SuiteCommand, AVariableThatGoogleBenchmarkDoesNotReadIsNobodysConcern) {
  const Said said = run("BENCHMARK_RESULTS_DIR=/srv " + std::string(uncalibrated) +
                        "--tier=smoke --filter=rhs/n:24");
  EXPECT_EQ(said.exit, 0) << said.words;
}

TEST_F(SuiteCommand, AnAbsentFolderForGoogleBenchmarksFileIsUsage) {
  expect_usage(suite("--benchmark_out=" + (folder / "absent" / "out.json").string()));
}

TEST_F(SuiteCommand, AFileOfGoogleBenchmarkThatTakesNothingIsTold) {
  const Said said = run(
      std::string("ulimit -f 0; ") + uncalibrated +
      "--tier=smoke --filter='rhs/n:24' --benchmark_out=" + (folder / "benchmark.json").string());
  EXPECT_EQ(said.exit, 2);
  EXPECT_THAT(said.words, HasSubstr("benchmark.json: cannot be written to its end"));
}

TEST_F(SuiteCommand, WhatGoogleBenchmarkWritesIntoAFifoIsNotWaitedFor) {
  const auto fifo = folder / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const Said said = run("cat " + fifo.string() + " > /dev/null & timeout 60 env " + uncalibrated +
                        "--tier=smoke --filter='rhs/n:24' --benchmark_out=" + fifo.string());
  EXPECT_EQ(said.exit, 0) << said.words;
}

TEST_F(SuiteCommand, ACaseBehindOneThatCouldNotRunIsNamedAndNoFailure) {
  const Said said = run(std::string("ulimit -f 1; ") + uncalibrated +
                        "--tier=smoke --filter='n:24' --out=" + (folder / "out.json").string());
  EXPECT_EQ(said.exit, 2);
  EXPECT_THAT(said.words, testing::ContainsRegex("\n +failed +cubed_sphere_swe/rhs/n:24/f64\n"
                                                 " +not run +cubed_sphere_swe/[a-z0-9_]+/n:24"));
}

TEST_F(SuiteCommand, NoFileTakesThePlaceOfAStreamThatIsClosed) {
  const auto file = folder / "benchmark.json";
  const Said said =
      run(std::string("sh -c \"") + uncalibrated +
          "--tier=smoke --filter='rhs/n:24' --benchmark_out=" + file.string() + " >&-\"");
  EXPECT_EQ(said.exit, 2) << said.words;
  EXPECT_TRUE(nlohmann::json::accept(read(file))) << read(file);
}

TEST_F(SuiteCommand, NoFileTakesThePlaceOfAFifo) {
  const auto fifo = folder / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  expect_usage(suite("--out=" + fifo.string()), "name a file");
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
}

TEST_F(SuiteCommand, AFolderThatTakesNoFileIsKnownBeforeAnythingIsMeasured) {
  expect_usage(suite("--out=/proc/out.json"));
}

TEST_F(SuiteCommand, AnAbsentFolderIsUsageAndLeavesNothing) {
  expect_usage(suite("--tier=smoke --out=" + (folder / "absent" / "out.json").string()));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(SuiteCommand, AFolderAsOutputIsUsage) {
  expect_usage(suite("--tier=smoke --out=" + folder.string()));
}

TEST_F(SuiteCommand, ASizeThatTheSchemeCannotTakeIsUsage) {
  expect_usage(suite("--size=4"), "n must be >= 8");
}

TEST_F(SuiteCommand, ALoopWithoutStepsOrWithMoreThanThreadsCountIsUsage) {
  for (const char* steps : {"0", "1000001", "2000000000"})
    expect_usage(suite(std::string("--steps=") + steps), "give 1 to 1000000 steps");
}

TEST_F(SuiteCommand, ASizeThatIsNoNumberIsUsage) {
  EXPECT_EQ(suite("--size=many").exit, 2);
}

TEST_F(SuiteCommand, MoreThreadsThanAProcessHasCpusIsUsage) {
  expect_usage(run("HOLDFAST_NUM_THREADS=100000 " CUBED_SPHERE_SWE_BINARY " --filter=rhs/n:24"),
               "set it to at most 1024");
}

TEST_F(SuiteCommand, AByteOfMemoryIsASentenceEvenOfTheCeilings) {
  const Said said = run("HOLDFAST_MEMORY_LIMIT_GB=1e-9 " CUBED_SPHERE_SWE_BINARY
                        " --tier=smoke --filter=rhs/n:24");
  EXPECT_EQ(said.exit, 3) << said.words;
  EXPECT_THAT(said.words, HasSubstr("the ceiling of memory is not known"));
  EXPECT_THAT(said.words, HasSubstr("rhs/n:24/f64: failed to allocate 'metric'"));
}

TEST_F(SuiteCommand, TheListIsTheSameBytesEveryTime) {
  const Said first = suite("--list=json"), second = suite("--list=json");
  EXPECT_EQ(first.exit, 0);
  EXPECT_EQ(first.words, second.words);
  EXPECT_EQ(nlohmann::json::parse(first.words)["suite"], "cubed_sphere_swe");
}

TEST_F(SuiteCommand, TheListHoldsWhatDeviceTierAndFilterLeave) {
  const auto count = [](const std::string& options) {
    return nlohmann::json::parse(suite("--list=json " + options).words)["cases"].size();
  };
  EXPECT_LT(count("--device=host"), count(""));
  EXPECT_LT(count("--tier=gate"), count("--tier=full"));
  EXPECT_EQ(count("--tier=full"), count(""));
  const std::string smoke = suite("--list --device=cuda --tier=smoke --filter=rhs/n:").words;
  EXPECT_THAT(smoke, testing::StartsWith("smoke  cubed_sphere_swe/rhs/n:24/f64"));
  EXPECT_EQ(std::count(smoke.begin(), smoke.end(), '\n'), 1);
}

TEST_F(SuiteCommand, AListOfNonsenseIsUsage) {
  expect_usage(suite("--list --device=tpu"), "there is no device 'tpu'");
  expect_usage(suite("--device=cuda-dry:sm_75"),
               "the suites need sm_80 or later; use cuda-dry:sm_90");
  expect_usage(suite("--list=json --tier=huge"), "the tiers are smoke, gate and full");
  expect_usage(suite("--list --filter=no_such_case"), "no_such_case");
}

TEST_F(SuiteCommand, TheListForPeopleHasALinePerCase) {
  EXPECT_THAT(suite("--list").words, HasSubstr("smoke  cubed_sphere_swe/rhs/n:24/f64"));
}

TEST_F(SuiteCommand, TheListForPeopleTellsWhatIsNotCountedAndWhy) {
  const std::string words = suite("--list").words;
  EXPECT_THAT(words, HasSubstr("/rhs/n:24/f64  [host, cuda, cuda-dry]\n"));
  EXPECT_THAT(words, HasSubstr("/rhs/n:96/f64  [host, cuda, cuda-dry]  not counted\n"));
  EXPECT_THAT(words, HasSubstr("\nnot counted: the instructions of 1 case: it is not one"));
}

// One case of the smallest tier, measured once for all tests.
class OneCase : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto folder = fresh_folder("one_case");
    said = run(std::string(unwarned) + uncalibrated +
               "--tier=smoke --filter='rhs/n:24' --out=" + (folder / "out.json").string() +
               " --benchmark_out=" + (folder / "benchmark.json").string());
    ASSERT_EQ(said.exit, 0) << said.words;
    results = nlohmann::json::parse(read(folder / "out.json"));
    benchmark = nlohmann::json::parse(read(folder / "benchmark.json"));
  }

  static inline Said said = {};
  static inline nlohmann::json results = {}, benchmark = {};
};

TEST_F(OneCase, IsMeasuredAndItsRunIsPartial) {
  EXPECT_TRUE(results["partial"]);
  ASSERT_EQ(results["cases"].size(), 1);
  EXPECT_EQ(results["cases"][0]["check"]["status"], "passed");
  EXPECT_GT(results["cases"][0]["variants"]["optimized"]["metrics"]["time_s"]["median"], 0);
}

TEST_F(OneCase, LeavesGoogleBenchmarksOwnFileCleanJson) {
  EXPECT_EQ(benchmark["context"]["executable"], CUBED_SPHERE_SWE_BINARY);
  ASSERT_EQ(benchmark["benchmarks"].size(), 1);
  EXPECT_EQ(benchmark["benchmarks"][0]["label"], "cubed_sphere_swe/rhs/n:24/f64");
}

TEST_F(OneCase, HasALineInTheReportUnderDeviceTierAndCount) {
  EXPECT_THAT(said.words, testing::MatchesRegex(
                              "cubed_sphere_swe on host, tier smoke: 1 case\n"
                              " +time +speedup +peak memory +launches +case\n"
                              ".1/1. cubed_sphere_swe/rhs/n:24/f64\n"
                              " +[0-9.]+ us +[0-9.]+ +220.6 kB +cubed_sphere_swe/rhs/n:24/f64\n"));
}

TEST_F(SuiteCommand, TheReportHasThePeakThatAProtocolReadsAndNoneThatItDoesNot) {
  const Said said = suite("--tier=full --filter='/(memory|setup)/n:24/'");
  ASSERT_EQ(said.exit, 0) << said.words;
  EXPECT_THAT(said.words,
              AllOf(testing::ContainsRegex("\n +[1-9][0-9.]+ kB +cubed_sphere_swe/memory/n:24/"),
                    testing::ContainsRegex("\n +cubed_sphere_swe/setup/n:24/")));
}

TEST_F(SuiteCommand, OneOfALaterClassSaysThatItLetCpusSleep) {
  const auto out = folder / "out.json";
  const Said said = run(std::string("nice -n 1 env ") + uncalibrated +
                        "--tier=smoke --filter='rhs/n:24' --out=" + out.string());
  ASSERT_EQ(said.exit, 0) << said.words;
  EXPECT_EQ(nlohmann::json::parse(read(out))["env"]["host"]["awake"], false);
}

TEST_F(SuiteCommand, InLockStepItAnswersOneCaseALineAtATime) {
  const Said said =
      run(std::string("printf 'batch 2\\noptimized\\nreference\\n' | ") + unwarned +
          CUBED_SPHERE_SWE_BINARY " --lock-step --filter='^cubed_sphere_swe/rhs/n:24/f64$'");
  EXPECT_EQ(said.exit, 0) << said.words;
  EXPECT_THAT(said.words,
              testing::MatchesRegex("ready [0-9]+\nok\n([0-9.e-]+ [0-9.e-]+ [0-9.e-]+ 0\n){2}"));
}

TEST_F(SuiteCommand, TheLockStepNeedsExactlyOneCase) {
  expect_usage(suite("--lock-step --tier=smoke </dev/null"), "--lock-step");
}

TEST_F(SuiteCommand, TheLockStepRefusesALineThatMeansNothing) {
  const Said said =
      run("echo faster | " CUBED_SPHERE_SWE_BINARY " --lock-step --filter='/rhs/n:24/'");
  EXPECT_EQ(said.exit, 2);
  EXPECT_THAT(said.words, HasSubstr("'faster'"));
}

// A filtered run of the smallest cases of either recipe, host and dry: each metric that the list
// promises has a value.
void expect_promised(const std::string& device, const std::string& filter,
                     const std::filesystem::path& out) {
  const auto list = nlohmann::json::parse(run(CUBED_SPHERE_SWE_BINARY " --list=json").words);
  const Said said = run(CUBED_SPHERE_SWE_BINARY " --device=" + device + " --tier=gate --filter='" +
                        filter + "' --out=" + out.string());
  ASSERT_EQ(said.exit, 0) << said.words;
  const std::string kind = device.substr(0, device.find(':'));
  const auto results = nlohmann::json::parse(read(out));
  ASSERT_GE(results["cases"].size(), 6);
  for (const auto& measured : results["cases"])
    for (const auto& listed : list["cases"]) {
      if (listed["id"] != measured["id"]) continue;
      for (const auto& metric : listed["devices"][kind]["metrics"]) {
        const std::string name = metric;
        const auto& ours = measured["variants"]["optimized"]["metrics"];
        const bool there = ours.contains(name) || measured["metrics"].contains(name) ||
                           measured.value("derived", nlohmann::json::object()).contains(name);
        EXPECT_TRUE(there) << measured["id"] << " lacks " << name;
        // These need their own option.
        const bool asked_for = name != "instructions" && name != "estimated_cycles";
        EXPECT_TRUE(!asked_for || !ours.contains(name) || !ours[name].contains("value") ||
                    !ours[name]["value"].is_null())
            << measured["id"] << " has no value for " << name;
      }
    }
}

TEST_F(SuiteCommand, WhatIsPromisedOnTheHostIsMeasured) {
  expect_promised("host", "n:24/|sat/n:48|operator_apply/n:48|setup/n:48", folder / "out.json");
}

TEST_F(SuiteCommand, WhatIsPromisedOnADryDeviceIsMeasured) {
  const Said present =
      suite("--device=cuda-dry:sm_90 --filter=rhs/n:24 --out=" + (folder / "first.json").string());
  if (present.exit == 77) GTEST_SKIP() << present.words;
  EXPECT_THAT(present.words,
              testing::ContainsRegex("\n +[0-9.]+ kB +2 +cubed_sphere_swe/rhs/n:24/f64\n"))
      << "the launches of a step, which takes no time";
  expect_promised("cuda-dry:sm_90",
                  "n:24/|sat/n:48|operator_apply/n:48|compile/unit:rhs|setup/n:48|memory",
                  folder / "out.json");
}

TEST_F(SuiteCommand, AFolderOfSourcesOfWhichNoneIsCompiledIsTold) {
  const Said said =
      run("HOLDFAST_SOURCES=" + folder.string() +
          " " CUBED_SPHERE_SWE_BINARY " --device=cuda-dry:sm_90 --tier=smoke --filter=rhs/n:24");
  if (said.exit == 77) GTEST_SKIP() << said.words;
  EXPECT_EQ(said.exit, 0) << said.words;
  EXPECT_THAT(said.words, HasSubstr("which holds nothing of what was compiled ("));
}

// As after a build that failed, or was of other targets: the code is not what the folder says.
TEST_F(SuiteCommand, ThatWasLinkedFromOtherContentRefusesToMeasure) {
  const auto binary = folder / "cubed_sphere_swe", out = folder / "out.json";
  std::filesystem::copy_file(CUBED_SPHERE_SWE_BINARY, binary);
  std::ofstream(folder / "content.json")
      << R"({"content": "sha256:c0", "git": {"sha": null, "dirty": false}})";
  const Said said = run(binary.string() + " --tier=smoke --filter=rhs/n:24 --out=" + out.string());
  EXPECT_EQ(said.exit, 2);
  EXPECT_THAT(said.words, AllOf(HasSubstr("was linked from other content (sha256:"),
                                HasSubstr("(sha256:c0): the last build failed, or was of other")));
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(SuiteCommand, DeviceCodeFromAFolderIsNoContentOfItsBuild) {
  const auto binary = folder / "cubed_sphere_swe", out = folder / "out.json";
  std::filesystem::copy_file(CUBED_SPHERE_SWE_BINARY, binary);
  const auto beside = std::filesystem::path(CUBED_SPHERE_SWE_BINARY).parent_path();
  const auto built = nlohmann::json::parse(read(beside / "content.json"));
  std::ofstream(folder / "content.json") << nlohmann::json{
      {"content", built["content"]}, {"git", {{"sha", nullptr}, {"dirty", false}}}};
  const auto dirty = [&](const std::string& sources) {
    const Said said =
        run("HOLDFAST_CEILINGS=none HOLDFAST_SOURCES=" + sources + ' ' + binary.string() +
            " --tier=smoke --filter=rhs/n:24 --out=" + out.string());
    EXPECT_EQ(said.exit, 0) << said.words;
    return nlohmann::json::parse(read(out))["run"]["git"]["dirty"];
  };
  EXPECT_EQ(dirty(""), false);
  EXPECT_EQ(dirty(folder.string()), true);
}

TEST_F(SuiteCommand, EachAxisOfTheProgramIsAnOptionThatMarksTheRun) {
  const struct {
    const char* option;
    const char* id;
  } axes[] = {{"--dtype=f32", "rhs/n:12/f32"},
              {"--launch=persistent", "loop/n:12/steps:100/launch:persistent/diag:none/f64"},
              {"--diag=device", "loop/n:12/steps:100/launch:host/diag:device/f64"},
              {"--rk=classical", "rk4_step/classical/n:12/f64"},
              {"--metric=on_the_fly", "rk4_step/on_the_fly/n:12/f64"},
              {"--gemm=tile", "operator_apply/n:12/op:dvc/dir:1/f64"},
              {"--q12=upstream", "rhs/n:12/f64"}};
  for (const auto& [option, id] : axes)
    EXPECT_THAT(suite(std::string("--list=json --size=12 ") + option).words,
                HasSubstr(std::string("cubed_sphere_swe/") + id))
        << option;
}

TEST_F(SuiteCommand, AnUnknownValueOfAnAxisIsUsageAndSaysWhatThereIs) {
  expect_usage(suite("--launch=rocket"), "persistent");
}

TEST_F(SuiteCommand, AxesThatContradictEachOtherAreUsage) {
  expect_usage(suite("--launch=graph --diag=host"));
}

TEST_F(SuiteCommand, LargeGridsHaveNoReferenceOnTheHostUnlessAsked) {
  const auto speedup_of = [&](const std::string& options) {
    const auto list = nlohmann::json::parse(suite("--list=json " + options).words);
    for (const auto& listed : list["cases"])
      if (listed["id"] == "cubed_sphere_swe/rk4_step/n:384/f64")
        for (const auto& metric : listed["devices"]["host"]["metrics"])
          if (metric == "speedup") return true;
    return false;
  };
  EXPECT_FALSE(speedup_of(""));
  EXPECT_TRUE(speedup_of("--large"));
}

TEST_F(SuiteCommand, TheGateTierStaysWithinItsNumberOfCases) {
  const auto list = nlohmann::json::parse(suite("--list=json").words);
  std::map<std::string, int> cases;
  for (const auto& listed : list["cases"])
    if (listed["tier"] != "full")
      for (const auto& [device, metrics] : listed["devices"].items()) ++cases[device];
  EXPECT_LE(cases["host"], 25);
  EXPECT_LE(cases["cuda-dry"], 30);
}

// A run with the suite's own options, measured once for all tests.
class CustomRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto out = fresh_folder("custom_run") / "out.json";
    const Said said = run(std::string("HOLDFAST_NUM_THREADS=1 ") + uncalibrated +
                          "--size=12 --steps=3 --q12=upstream "
                          "--filter='rhs|memory|loop/.*launch:host/diag:none' --out=" +
                          out.string());
    ASSERT_EQ(said.exit, 0) << said.words;
    words = read(out);
  }

  static inline std::string words = {};
};

TEST_F(CustomRun, ThePublishedSignOfTheMetricIsCheckedWithoutGoldenValues) {
  EXPECT_THAT(words, testing::AllOf(HasSubstr("rhs/n:12"), HasSubstr("memory/")));
  EXPECT_THAT(words, Not(HasSubstr("golden")));
}

TEST_F(CustomRun, IsMarkedByItsOptions) {
  const auto results = nlohmann::json::parse(words);
  EXPECT_THAT(results["run"]["custom"],
              testing::UnorderedElementsAre("--size=12", "--steps=3", "--q12=upstream"));
  EXPECT_THAT(words, HasSubstr("loop/n:12/steps:3/launch:host/diag:none"));
}

}  // namespace
}  // namespace holdfast
