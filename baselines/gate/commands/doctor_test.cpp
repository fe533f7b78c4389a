// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/doctor.hpp"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/names.hpp"
#include "gate/base/json.hpp"
#include "gate/base/process.hpp"
#include "gate/documents/baseline_files.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(Doctor, EachGpuIsOneSlotOfTheResourceFile) {
  const nlohmann::json json = nlohmann::json::parse(ctest_resources(2));
  EXPECT_EQ(json.at("version").at("major"), 1);
  EXPECT_EQ(json.at("local").at(0).at("gpus").at(1), (nlohmann::json{{"id", "1"}, {"slots", 1}}));
}

// The owner's group is whichever the test's folder has.
TEST(Doctor, AGpuThatMayNotBeOpenedNamesTheGroupToJoin) {
  const TemporaryFolder folder("doctor_test");
  const std::filesystem::path& devices = folder.path();
  const auto nobody = [](const std::filesystem::path&) { return false; };
  EXPECT_FALSE(gpu_permission(devices, nobody));  // no GPU, no finding
  std::ofstream(devices / "nvidia0") << "a device";
  EXPECT_FALSE(gpu_permission(devices, [](const std::filesystem::path&) { return true; }));
  const auto denied = gpu_permission(devices, nobody);
  ASSERT_TRUE(denied);
  EXPECT_EQ(denied->health, Health::absent);
  EXPECT_EQ(denied->detail, "you may not open " + (devices / "nvidia0").string());
  struct stat status = {};
  ASSERT_EQ(::stat((devices / "nvidia0").c_str(), &status), 0);
  const group* owner = ::getgrgid(status.st_gid);
  ASSERT_NE(owner, nullptr);
  EXPECT_EQ(denied->fix, "join its group and log in again: sudo usermod -aG " +
                             std::string(owner->gr_name) + " $USER");
}

TEST(Doctor, ALoadOfWhatHasEndedIsNoNoise) {
  EXPECT_EQ(load({}, 0, 2).health, Health::ok);
  EXPECT_EQ(load(0.4, 0.5, 2).detail, "load average 0.4");
  EXPECT_EQ(load(4.15, 0.01, 2).health, Health::ok);
  EXPECT_EQ(load(4.15, 0.01, 2).detail, "load average 4.15, of what has ended");
  EXPECT_EQ(load(4.15, 0.5, 2).health, Health::noisy);
  EXPECT_EQ(load(4.15, 0.5, 2).detail, "load average 4.15, and 50 % of the CPUs are in use now");
}

TEST(Doctor, ANumberOfThreadsThatNoSuiteTakesIsTold) {
  const Finding refused = threads({.count = 2, .complaint = "HOLDFAST_NUM_THREADS is '-3': .."}, 2);
  EXPECT_EQ(refused.health, Health::absent);
  EXPECT_EQ(refused.detail, "HOLDFAST_NUM_THREADS is '-3': ..");
  EXPECT_EQ(threads({.count = 2}, 2).health, Health::ok);
  EXPECT_EQ(threads({.count = 3}, 2).health, Health::noisy);
}

Outcome doctor(const std::string& precedence, std::vector<std::string> options = {}) {
  options.insert(options.begin(), "doctor");
  return run_task({.program = HOLDFAST_BINARY,
                   .arguments = options,
                   .environment = {{"HOLDFAST_PRECEDENCE", precedence}, {"HOLDFAST_REQUIRE", ""}},
                   .timeout_seconds = 60});
}

// Stores a baseline of one host's class with this content.
void keep_baseline(const std::filesystem::path& baselines, bool counts,
                   const std::vector<std::string>& timed) {
  const Entry entry{.value = 7., .accepted = {.utc = "u", .content = "c", .why = "w"}};
  Baseline made{.device_class = "host-x86_64-v4-2t",
                .metrics = {{"peak_bytes", {"exact"}}, {"speedup", {"ratio", Better::higher}}}};
  if (counts) made.entries[entry_key("toy/step/f64", "optimized", "peak_bytes")] = entry;
  for (const std::string& processor : timed) {
    Entry& ratio = made.processors[processor][entry_key("toy/step/f64", "case", "speedup")];
    ratio = entry;
    ratio.medians = {7};
    ratio.mad_between = 0;
    ratio.anchor = 7;
  }
  const auto file = baselines / baseline_file(made.device_class, "toy");
  std::filesystem::create_directories(file.parent_path());
  write_file(file, baseline_text(made));
}

TEST(Doctor, TellsWhatIsAcceptedOfThisHostAndOfItsProcessor) {
  const TemporaryFolder folder("doctor_test");
  const std::string held = "host-x86_64-v4-2t, for which " + folder.path().string() + " holds ";
  const auto told = [&] {
    return accepted_of_host(folder.path(), "host-x86_64-v4-2t", "AuthenticAMD-26-2");
  };
  EXPECT_EQ(told(), held + "nothing");
  keep_baseline(folder.path(), true, {});
  EXPECT_EQ(told(), held + "counts, and for AuthenticAMD-26-2 no times");
  keep_baseline(folder.path(), true, {"GenuineIntel-6-167"});
  EXPECT_EQ(told(), held + "counts, and for AuthenticAMD-26-2 no times");
  keep_baseline(folder.path(), true, {"AuthenticAMD-26-2"});
  EXPECT_THAT(told(), EndsWith(" times only of runs that keep no CPUs awake"));
  keep_baseline(folder.path(), true, {"AuthenticAMD-26-2 kept awake"});
  EXPECT_THAT(told(), EndsWith(" times only of runs that keep CPUs awake"));
  keep_baseline(folder.path(), false, {"AuthenticAMD-26-2", "AuthenticAMD-26-2 kept awake"});
  EXPECT_EQ(
      told(),
      held +
          "no counts, and for AuthenticAMD-26-2 times of runs that keep CPUs awake and of others");
}

TEST(Doctor, NamesTheArchitecturesThatSuitesRunOn) {
  const std::string told = doctor("none").output;
  if (told.find("cuda-dry:") == std::string::npos) GTEST_SKIP() << "there is no toolkit here";
  for (const int sm : architectures)
    EXPECT_EQ(told.find(text(" cuda-dry:sm_", sm)) != told.npos, sm >= oldest_of_suites) << sm;
}

TEST(Doctor, AnAbsentFolderOfBaselinesIsNamed) {
  const TemporaryFolder folder("doctor_test");
  const std::string absent = (folder.path() / "no").string();
  EXPECT_THAT(doctor("none", {"--baselines=" + absent}).output,
              AllOf(HasSubstr("a run here is compared with host-"),
                    HasSubstr("there is no folder " + absent + "; name it with --baselines\n")));
}

TEST(Doctor, TellsThatASuiteGoesBeforeNobodyAndHowItWould) {
  const Outcome outcome = doctor("none");
  EXPECT_EQ(outcome.code, 0) << outcome.complaints;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("noisy   precedence          none: "),
                                    HasSubstr("-> real-time scheduling: ulimit -r 1")));
}

TEST(Doctor, TellsOfAPrecedenceThatNobodyKnows) {
  EXPECT_THAT(doctor("yes").output,
              AllOf(HasSubstr("absent  precedence "), HasSubstr("-> unset HOLDFAST_PRECEDENCE")));
}

TEST(Doctor, TellsWhetherMachineCodeIsCounted) {
  EXPECT_THAT(doctor("none").output,
              ContainsRegex("(ok     |absent ) nvdisasm +counts the instructions of GPU code"));
}

TEST(Doctor, ColorsHowWellItIsAndQuietLeavesOutWhatIs) {
  EXPECT_THAT(doctor("none", {"--color=always"}).output,
              AllOf(HasSubstr("\033[32mok      \033[0mcpu"),
                    HasSubstr("\033[33mnoisy   \033[0mprecedence")));
  EXPECT_THAT(doctor("none", {"--quiet"}).output,
              AllOf(Not(HasSubstr("ok      ")), HasSubstr("noisy   precedence"),
                    HasSubstr("\ndevices: "), Not(HasSubstr("\033["))));
}

}  // namespace
}  // namespace holdfast::gate
