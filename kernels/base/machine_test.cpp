// SPDX-License-Identifier: Apache-2.0
#include "base/machine.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

namespace holdfast {
namespace {

// Sets variables while it lives, and unsets all others of its kind.
class With {
 public:
  using Settings = std::map<std::string, std::string>;
  explicit With(const Settings& settings) {
    clear();
    for (const auto& [variable, value] : settings) setenv(variable.c_str(), value.c_str(), 1);
  }
  With(const With&) = delete;
  With& operator=(const With&) = delete;
  ~With() { clear(); }

 private:
  static void clear() {
    unsetenv("HOLDFAST_NUM_THREADS");
    unsetenv("SLURM_CPUS_PER_TASK");
    unsetenv("HOLDFAST_PRECEDENCE");
    unsetenv("HOLDFAST_ISA");
    unsetenv("OMP_THREAD_LIMIT");
  }
};

TEST(HostThreads, AreTwoOrAsManyAsThereAreCpus) {
  const With none(With::Settings{});
  EXPECT_EQ(host_threads(64).count, 2);
  EXPECT_EQ(host_threads(1).count, 1);
  EXPECT_EQ(host_threads(64).complaint, "");
}

TEST(HostThreads, OwnSettingWinsOverSlurms) {
  const With both({{"HOLDFAST_NUM_THREADS", "3"}, {"SLURM_CPUS_PER_TASK", "16"}});
  EXPECT_EQ(host_threads(1).count, 3);
}

TEST(HostThreads, ASettingThatIsNoNumberIsPassedOverAndComplainedOf) {
  for (const std::string wrong : {"two", "0", "-1", "2x", "1.5"}) {
    const With both({{"HOLDFAST_NUM_THREADS", wrong}, {"SLURM_CPUS_PER_TASK", "16"}});
    EXPECT_EQ(host_threads().count, 16);
    EXPECT_EQ(host_threads().complaint,
              "HOLDFAST_NUM_THREADS is '" + wrong + "': set it to a positive number or unset it");
  }
}

TEST(HostThreads, MoreThanAProcessHasCpusArePassedOverAndComplainedOf) {
  const With all(With::Settings{{"HOLDFAST_NUM_THREADS", "1024"}});
  EXPECT_EQ(host_threads().count, 1024);
  EXPECT_EQ(host_threads().complaint, "");
  const With more({{"HOLDFAST_NUM_THREADS", "100000"}, {"SLURM_CPUS_PER_TASK", "16"}});
  EXPECT_EQ(host_threads().count, 16);
  EXPECT_EQ(host_threads().complaint,
            "HOLDFAST_NUM_THREADS is '100000': set it to at most 1024 or unset it");
}

TEST(HostThreads, MoreThanOpenMPGivesAreComplainedOf) {
  const With enough(With::Settings{{"OMP_THREAD_LIMIT", "2"}});
  EXPECT_EQ(host_threads(64).complaint, "");
  const With fewer({{"OMP_THREAD_LIMIT", "2"}, {"HOLDFAST_NUM_THREADS", "3"}});
  EXPECT_EQ(host_threads(64).complaint,
            "OMP_THREAD_LIMIT is '2', and a suite runs with 3 threads: unset it, or set "
            "HOLDFAST_NUM_THREADS to no more");
}

TEST(HostThreads, ASettingThatIsNotLookedAtIsNotComplainedOf) {
  const With both({{"HOLDFAST_NUM_THREADS", "3"}, {"SLURM_CPUS_PER_TASK", "many"}});
  EXPECT_EQ(host_threads().complaint, "");
}

TEST(PositiveSetting, ReadsTheNumberOfItsType) {
  const With half(With::Settings{{"HOLDFAST_NUM_THREADS", "1.5"}});
  EXPECT_EQ(positive_setting<double>("HOLDFAST_NUM_THREADS").value, 1.5);
  EXPECT_EQ(positive_setting<int>("HOLDFAST_NUM_THREADS").value, std::nullopt);
  EXPECT_EQ(positive_setting<int>("SLURM_CPUS_PER_TASK").complaint, "");
}

TEST(PositiveSetting, IsANumberAndNothingBesides) {
  for (const char* wrong : {"nan", "1e999", "0", "-0.5", "1.5x", " 1"}) {
    const With given(With::Settings{{"HOLDFAST_NUM_THREADS", wrong}});
    EXPECT_EQ(positive_setting<double>("HOLDFAST_NUM_THREADS").value, std::nullopt) << wrong;
    EXPECT_NE(positive_setting<double>("HOLDFAST_NUM_THREADS").complaint, "") << wrong;
  }
}

// Evaluated in a child process, after `change`.
template <class Change>
bool is_granted_after(const Change& change) {
  const pid_t child = ::fork();
  if (child == 0) {
    change();
    ::_exit(precedence().granted ? 1 : 0);
  }
  int status = -1;
  (void)::waitpid(child, &status, 0);
  return status != 0;
}

TEST(Precedence, IsDeclinedByItsSetting) {
  const With none(With::Settings{{"HOLDFAST_PRECEDENCE", "none"}});
  EXPECT_FALSE(precedence().granted);
  EXPECT_EQ(precedence().complaint, "");
}

TEST(Precedence, IsNotTakenByAProcessThatIsToBeNice) {
  const With unset(With::Settings{});
  EXPECT_FALSE(is_granted_after([] { (void)!::nice(5); }));
}

TEST(Precedence, IsNotTakenByAProcessOfAnotherPolicy) {
  const With unset(With::Settings{});
  EXPECT_FALSE(is_granted_after([] {
    const sched_param usual = {};
    (void)::sched_setscheduler(0, SCHED_BATCH, &usual);
  }));
}

TEST(Precedence, IsNotTakenWhereItEndsTheProcessAfterAWhile) {
  const With unset(With::Settings{});
  EXPECT_FALSE(is_granted_after([] {
    constexpr rlimit one_second = {.rlim_cur = 1'000'000, .rlim_max = 1'000'000};
    (void)::setrlimit(RLIMIT_RTTIME, &one_second);
  }));
}

TEST(Precedence, AsksWithoutTakingAny) {
  const With unset(With::Settings{});
  (void)precedence();
  EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER);
}

TEST(Precedence, ASettingThatMeansNothingIsComplainedOf) {
  for (const std::string word : {"always", "no", "nonesuch"}) {
    const With wrong(With::Settings{{"HOLDFAST_PRECEDENCE", word}});
    EXPECT_EQ(precedence().complaint,
              "HOLDFAST_PRECEDENCE is '" + word + "': set it to none or unset it");
  }
}

TEST(HostClass, NamesInstructionSetAndThreads) {
  EXPECT_EQ(host_class("x86-64-v4", 2), "host-x86_64-v4-2t");
  EXPECT_EQ(host_class("x86-64", 1), "host-x86_64-1t");
}

TEST(HostClass, OfThisMachineIsWhatASuiteTakes) {
  const With none(With::Settings{});
  EXPECT_EQ(host_class(), host_class(host_isa(), host_threads().count));
}

TEST(HostIsa, HasHostCodeFromTheThirdLevelOn) {
  EXPECT_TRUE(has_host_code("x86-64-v4"));
  EXPECT_TRUE(has_host_code("x86-64-v3"));
  EXPECT_FALSE(has_host_code("x86-64-v2"));
  EXPECT_FALSE(has_host_code("x86-64"));
}

TEST(HostIsa, IsTheWidestOrANarrowerOneThatIsNamed) {
  const With none(With::Settings{});
  for (const char* widest : {"x86-64-v4", "x86-64-v3", "x86-64-v2"})
    EXPECT_EQ(chosen_isa(widest).name, widest);
  const With named(With::Settings{{"HOLDFAST_ISA", "x86-64-v3"}});
  for (const char* widest : {"x86-64-v4", "x86-64-v3"}) {
    EXPECT_EQ(chosen_isa(widest).name, "x86-64-v3");
    EXPECT_EQ(chosen_isa(widest).complaint, "");
  }
  const With empty(With::Settings{{"HOLDFAST_ISA", ""}});
  EXPECT_EQ(chosen_isa("x86-64-v4").name, "x86-64-v4");
  EXPECT_EQ(chosen_isa("x86-64-v4").complaint, "");
}

TEST(HostIsa, IsNeverOneThatTheCpuLacks) {
  const With named(With::Settings{{"HOLDFAST_ISA", "x86-64-v4"}});
  EXPECT_EQ(chosen_isa("x86-64-v3").name, "x86-64-v3");
  EXPECT_EQ(chosen_isa("x86-64-v3").complaint,
            "HOLDFAST_ISA is 'x86-64-v4', and this CPU has x86-64-v3: unset it, or use another "
            "machine");
}

TEST(HostIsa, WithoutHostCodeIsComplainedOf) {
  for (const char* name : {"x86-64-v2", "avx512", "x86-64-v5"}) {
    const With named(With::Settings{{"HOLDFAST_ISA", name}});
    EXPECT_EQ(chosen_isa("x86-64-v4").name, "x86-64-v4");
    EXPECT_NE(chosen_isa("x86-64-v4").complaint, "") << name;
  }
}

TEST(HostIsa, OfThisMachineIsWhatTheSystemSaysOfIt) {
#if defined(__clang__) && __clang_major__ < 18
  GTEST_SKIP() << "this compiler knows no levels";
#endif
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpuinfo, line) && !line.starts_with("flags")) {
  }
  if (line.empty()) GTEST_SKIP() << "this system does not tell what its CPU can do";
  std::istringstream words(line);
  const std::set<std::string> flags(std::istream_iterator<std::string>(words), {});
  const auto all = [&](std::initializer_list<const char*> names) {
    return std::ranges::all_of(names, [&](const char* name) { return flags.contains(name); });
  };
  const bool v3 = all({"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"});
  const bool v4 = v3 && all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
  EXPECT_EQ(widest_isa() == "x86-64-v4", v4);
  EXPECT_EQ(has_host_code(widest_isa()), v3);
}

TEST(Processors, AreNamedByVendorFamilyAndModelOfTheFirst) {
  std::istringstream in(
      "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n"
      "model name\t: AMD EPYC\nflags\t\t:\n\nprocessor\t: 1\nvendor_id\t: Another\n");
  const Processor found = parse_processor(in);
  EXPECT_EQ(found.id, "AuthenticAMD-26-2");
  EXPECT_EQ(found.name, "AMD EPYC");
}

TEST(Processors, ThatDoNotTellTheirModelAreUnknown) {
  std::istringstream in("vendor_id\t: AuthenticAMD\ncpu family\t: 26\n");
  EXPECT_EQ(parse_processor(in).id, "unknown");
  std::istringstream second(
      "vendor_id\t: AuthenticAMD\ncpu family\t: 26\n\n"
      "vendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t: 2\n");
  EXPECT_EQ(parse_processor(second).id, "unknown");
  std::istringstream nothing("");
  EXPECT_EQ(parse_processor(nothing).id, "unknown");
  EXPECT_EQ(parse_processor(nothing).name, std::nullopt);
}

TEST(CpuTicks, AreThoseOfAllCpusTogether) {
  std::istringstream in("cpu  1 20 300 4000 50000 600000 7000000 80000000 0 0\ncpu0 1 2 3\n");
  const auto ticks = parse_cpu_ticks(in);
  ASSERT_TRUE(ticks.has_value());
  EXPECT_EQ(ticks->computed, 1 + 20 + 300 + 600000 + 7000000);
  EXPECT_EQ(ticks->idle, 4000 + 50000);
  EXPECT_EQ(ticks->stolen, 80000000);
}

TEST(CpuTicks, OfAnotherFileAreUnknown) {
  std::istringstream in("cpu  1 20 300\n");
  EXPECT_FALSE(parse_cpu_ticks(in).has_value());
}

TEST(LoadAverage, IsThatOfTheLastMinute) {
  std::istringstream in("0.42 0.38 0.30 1/345 6789\n");
  EXPECT_EQ(parse_load_average(in), 0.42);
}

TEST(LoadAverage, OfAnotherFileIsUnknown) {
  std::istringstream words("load 0.42\n"), nothing("");
  EXPECT_FALSE(parse_load_average(words).has_value());
  EXPECT_FALSE(parse_load_average(nothing).has_value());
}

}  // namespace
}  // namespace holdfast
