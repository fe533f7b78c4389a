// SPDX-License-Identifier: Apache-2.0
// Each symptom is planted alone into a healthy profile or result and must be named, alone; on the
// healthy one, and on the good side of each threshold, all detectors are silent.
#include "gate/explain/detectors.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "gate/testing/test_findings.hpp"
#include "gate/testing/test_profile.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using toy::advisory;
using toy::gpu_results;
using toy::json;
using toy::names;
using toy::seen_in;

Sighting sighting(const Profile& profile) {
  return {.case_id = profile.case_id,
          .variant = profile.variant,
          .device_class = profile.device_class,
          .profile = &profile};
}

Metrics& optimized(CaseResult& result) {
  return result.variants["optimized"].metrics;
}

std::vector<Detection> seen_in(const json& document) {
  const Profile profile = toy::parsed(document);
  return examine(sighting(profile));
}

// ---- in profiles ----

TEST(Detectors, AreSilentOnHealthyProfiles) {
  EXPECT_THAT(names(seen_in(toy::gpu_profile())), IsEmpty());
  EXPECT_THAT(names(seen_in(toy::dry_profile())), IsEmpty());
}

TEST(Detectors, LongCompilationsAreNoSymptomOfACaseAboutCompiling) {
  json profile = toy::gpu_profile();
  profile["compiles"][0]["compile_s"] = 3.0;
  profile["first_call_s"] = 3.5;
  Profile slow = toy::parsed(profile);
  EXPECT_THAT(names(examine(sighting(slow))), ElementsAre("compile_dominates"));
  slow.case_id = "toy/compile/unit:step/f64";
  EXPECT_THAT(names(examine(sighting(slow))), IsEmpty());
}

TEST(Detectors, CompilationsBelowHalfOfTheFirstCallDoNotDominateIt) {
  json profile = toy::gpu_profile();
  profile["compiles"][0]["compile_s"] = 3.0;
  profile["first_call_s"] = 10.0;
  EXPECT_THAT(names(seen_in(profile)), IsEmpty());
}

// A symptom: what is spoilt, on the bad side of the threshold and on the good one.
struct Planted {
  const char* detector;
  std::function<void(json& profile, bool bad)> spoil;
  std::vector<const char*> words;  // of the sentence
};

// One number of the profile.
auto number_at(const char* place, double bad_one, double good_one) {
  return [=](json& profile, bool bad) {
    profile[json::json_pointer(place)] = bad ? bad_one : good_one;
  };
}

void PrintTo(const Planted& planted, std::ostream* out) {
  *out << planted.detector;
}

class PlantedSymptom : public testing::TestWithParam<Planted> {};

TEST_P(PlantedSymptom, IsNamedAndAlone) {
  json profile = toy::gpu_profile();
  GetParam().spoil(profile, true);
  const std::vector<Detection> found = seen_in(profile);
  ASSERT_THAT(names(found), ElementsAre(GetParam().detector));
  EXPECT_EQ(found[0].source, "profile");
  EXPECT_FALSE(found[0].fix.empty());
  for (const char* words : GetParam().words) EXPECT_THAT(found[0].sentence, HasSubstr(words));
}

TEST_P(PlantedSymptom, IsNotSeenOnTheGoodSideOfItsThreshold) {
  json profile = toy::gpu_profile();
  GetParam().spoil(profile, false);
  EXPECT_THAT(names(seen_in(profile)), IsEmpty());
}

TEST_P(PlantedSymptom, IsARowOfTheTable) {
  const auto& table = detectors();
  EXPECT_TRUE(std::any_of(table.begin(), table.end(), [](const Detector& detector) {
    return std::string(detector.name) == GetParam().detector;
  }));
}

INSTANTIATE_TEST_SUITE_P(
    OfAProfile, PlantedSymptom,
    testing::Values(
        Planted{"idle_gaps",
                [](json& p, bool bad) {
                  p["overview"]["idle_fraction"] = bad ? 0.31 : 0.2;
                  p["overview"]["busy_fraction"] = bad ? 0.69 : 0.8;
                  p["overview"]["max_gap_s"] = 2e-5;
                },
                {"idles 31 % of a step", "the longest gap, 20 us, lies between stage and edge"}},
        Planted{"low_utilisation",
                number_at("/floor_s", 5.9e-5, 6.05e-5),
                {"9.75 % of its floor's speed", "serial dependencies", "idle_fraction 5 %",
                 "occupancy of 50 %"}},
        Planted{"transfers_in_the_loop",
                [](json& p, bool bad) {
                  p["overview"]["d2h_bytes"] = bad ? 8 : 0;
                  if (!bad) return;
                  p["transfers"]["d2h"] = {
                      {"count", 10}, {"bytes", 80}, {"total_s", 2e-5}, {"bytes_per_s", 4e6}};
                },
                {"copies 0 B to the device and 8 B back", "which takes 2 us"}},
        Planted{"syncs_in_the_loop",
                number_at("/overview/syncs", 1, 0),
                {"waits for the device 1 time in each step"}},
        Planted{"compilations_after_warmup",
                [](json& p, bool bad) {
                  p["compiles"].push_back(toy::compilation("constant n: 384 -> 192", bad));
                },
                {"toy/optimized.cu (constant n: 384 -> 192)", "1 time in 10 steps"}},
        Planted{"compile_dominates",
                [](json& p, bool bad) {
                  p["compiles"][0]["compile_s"] = bad ? 3.0 : 1.6;
                  p["first_call_s"] = 3.5;
                },
                {"compiling takes 3.4 s, 97.1 % of the first call"}},
        Planted{"peak_over_work",
                [](json& p, bool bad) {
                  p["memory"]["peak_bytes"] = bad ? 7000001 : 7000000;
                  p["memory"]["peak_by_site"]["spectra"] = 5800000;
                },
                {"10 times what a step must read and write", "most of it is spectra 5.8 MB"}},
        Planted{"one_kernel_dominates",
                number_at("/overview/top_op_fraction", 0.61, 0.6),
                {"stage takes 61 % of the device time, of 3 operations"}},
        Planted{"slow_operation",
                [](json& p, bool bad) {
                  p["ops"].push_back(toy::operation("attend", "gemm", 10, bad ? 8.4e-3 : 8.3e-3));
                },
                {"a call of attend takes 10.08 ms"}},
        Planted{"many_tiny_kernels",
                [](json& p, bool bad) {
                  p["ops"].push_back(
                      toy::operation("project_edge", "fused", bad ? 650 : 640, 4e-6));
                },
                {"launches 65 tiny kernels", "below 5 us each", "project_edge 65"}},
        Planted{"many_scatters",
                [](json& p, bool bad) {
                  p["ops"].push_back(toy::operation("scatter", "scatter", bad ? 290 : 280, 2e-5));
                },
                {"launches 33 scatters"}}),
    [](const auto& one) { return std::string(one.param.detector); });

TEST(Detectors, NameTheHostsDispatchWhereTheIdleFractionFailed) {
  json profile = toy::gpu_profile();
  profile["overview"]["idle_fraction"] = 0.5;
  profile["floor_s"] = 3e-5;
  const auto found = seen_in(profile);
  ASSERT_THAT(names(found), ElementsAre("idle_gaps", "low_utilisation"));
  EXPECT_THAT(found[1].sentence, HasSubstr("host dispatch: idle_fraction is 50 %"));
}

TEST(Detectors, LetAFusedKernelBeTheOnlyOne) {
  json profile = toy::gpu_profile();
  profile["ops"] = json::array({toy::operation("stage", "fused", 40, 1.5e-4)});
  profile["overview"]["top_op_fraction"] = 1;
  EXPECT_THAT(names(seen_in(profile)), IsEmpty());
}

TEST(Detectors, LetOneCallOfManyStepsTakeLong) {
  json profile = toy::gpu_profile("toy/loop/n:64/steps:100/f64");
  profile["work"]["bytes"] = 7.0e8;
  profile["ops"].push_back(toy::operation("persistent", "loop", 10, 0.8));
  EXPECT_THAT(names(seen_in(profile)), IsEmpty());
}

TEST(Detectors, LetAKernelNearItsFloorDominate) {
  json profile = toy::gpu_profile();
  profile["overview"]["top_op_fraction"] = 0.9;
  profile["floor_s"] = 4e-4;
  EXPECT_THAT(names(seen_in(profile)), IsEmpty());
}

TEST(Detectors, JudgeTinyKernelsBySizeWhereNothingWasExecuted) {
  json profile = toy::dry_profile();
  json op = toy::operation("project_edge", "scatter", 960, 1e-6, 0.01);
  for (const char* name : {"total_s", "mean_s", "min_s", "max_s", "fraction"}) op[name] = nullptr;
  profile["ops"].push_back(op);
  const auto found = seen_in(profile);
  ASSERT_THAT(names(found), ElementsAre("many_tiny_kernels", "many_scatters"));
  EXPECT_THAT(found[0].sentence, HasSubstr("fills less than half of the device"));
}

TEST(Detectors, CountStepsOfTheWorkloadNotOfTheLoop) {
  json profile = toy::dry_profile("toy/loop/n:64/steps:100/f64");
  for (json& op : profile["ops"]) op["count"] = 4000;  // four launches in each of 1000 steps
  profile["work"]["bytes"] = 7.0e7;
  for (json& op : profile["ops"]) op["waves"] = 0.01;
  EXPECT_THAT(names(seen_in(profile)), IsEmpty());
}

TEST(Detectors, LetALoopReadItsResultBackAtItsEnd) {
  json profile = toy::dry_profile("toy/loop/n:64/steps:100/f64");
  profile["work"]["bytes"] = 7.0e7;
  profile["overview"]["syncs"] = 1;
  profile["overview"]["d2h_bytes"] = 8;
  EXPECT_THAT(names(seen_in(profile)), IsEmpty());
  profile["overview"]["syncs"] = 100;
  profile["overview"]["d2h_bytes"] = 800;
  const auto found = seen_in(profile);
  ASSERT_THAT(names(found), ElementsAre("transfers_in_the_loop", "syncs_in_the_loop"));
  EXPECT_THAT(found[0].sentence, HasSubstr("and 8 B back"));
  EXPECT_THAT(found[1].sentence, HasSubstr("1 time in each step"));
}

TEST(Detectors, HoldThePeakOfAStepOnEdgesAgainstAllThatItKeeps) {
  json profile = toy::gpu_profile();
  profile["work"]["bytes"] = 1000;
  EXPECT_THAT(names(seen_in(profile)), IsEmpty());
  profile["memory"]["peak_bytes"] = 6819841;  // ten times the state
  ASSERT_THAT(names(seen_in(profile)), ElementsAre("peak_over_work"));
  EXPECT_THAT(seen_in(profile)[0].sentence, HasSubstr("10 times the data that the case keeps"));
  // A word that describes it may follow; another word that begins so is another site.
  profile["memory"]["peak_by_site"]["state: moments"] = 1;
  EXPECT_THAT(names(seen_in(profile)), IsEmpty());
  profile["memory"]["peak_by_site"].erase("state: moments");
  profile["memory"]["peak_by_site"]["states"] = 1;
  EXPECT_THAT(names(seen_in(profile)), ElementsAre("peak_over_work"));
}

TEST(Detectors, LeaveTheWorkAreaOfProductsOut) {
  json profile = toy::gpu_profile();
  profile["memory"]["peak_bytes"] = 7000001;
  profile["memory"]["peak_by_site"]["blas work area"] = 1;
  EXPECT_THAT(names(seen_in(profile)), IsEmpty());
}

TEST(Detectors, TellTheSecondsOfTheUploadsThatTheyTellAlone) {
  json document = toy::gpu_profile();
  document["overview"]["h2d_bytes"] = 4096;
  document["overview"]["declared_h2d_bytes"] = 4000;
  EXPECT_THAT(names(seen_in(document)), IsEmpty());
  document["overview"]["declared_h2d_bytes"] = 1024;
  document["transfers"]["h2d"] = {
      {"count", 10}, {"bytes", 40960}, {"total_s", 4e-5}, {"bytes_per_s", 1e9}};
  const auto found = seen_in(document);
  ASSERT_THAT(names(found), ElementsAre("transfers_in_the_loop"));
  EXPECT_THAT(found[0].sentence, AllOf(HasSubstr("copies 3072 B to the device beside"),
                                       HasSubstr("which takes 3 us")));
}

TEST(Detectors, CallCopiesOnTheHostNoTransfers) {
  json profile = toy::gpu_profile();
  profile["device"] = "host";
  profile["clock"] = "host";
  profile["overview"]["h2d_bytes"] = 8;
  EXPECT_THAT(names(seen_in(profile)), IsEmpty());
}

// ---- in results alone ----

TEST(Detectors, AreSilentOnHealthyResults) {
  EXPECT_THAT(names(examine(gpu_results(), {})), IsEmpty());
  EXPECT_THAT(names(examine(toy::host(), {})), IsEmpty());
}

struct PlantedResult {
  const char* detector;
  std::function<void(CaseResult& result, bool bad)> spoil;
  const char* words;
};

// One reading, or one count, of the optimized variant.
auto reading(const char* metric, double bad_one, double good_one) {
  return [=](CaseResult& result, bool bad) {
    optimized(result)[metric] = advisory(bad ? bad_one : good_one);
  };
}
auto count(const char* metric, double bad_one, double good_one) {
  return [=](CaseResult& result, bool bad) {
    optimized(result)[metric] = toy::exact(bad ? bad_one : good_one);
  };
}

void PrintTo(const PlantedResult& planted, std::ostream* out) {
  *out << planted.detector;
}

class PlantedInResult : public testing::TestWithParam<PlantedResult> {};

TEST_P(PlantedInResult, IsNamedAndAlone) {
  Results results = gpu_results();
  GetParam().spoil(results.cases.front(), true);
  const std::vector<Detection> found = seen_in(results);
  ASSERT_THAT(names(found), ElementsAre(GetParam().detector));
  EXPECT_EQ(found[0].source, "result");
  EXPECT_THAT(found[0].sentence, HasSubstr(GetParam().words));
}

TEST_P(PlantedInResult, IsNotSeenOnTheGoodSideOfItsThreshold) {
  Results results = gpu_results();
  GetParam().spoil(results.cases.front(), false);
  EXPECT_THAT(names(seen_in(results)), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    OfAResult, PlantedInResult,
    testing::Values(
        PlantedResult{"idle_gaps", reading("idle_fraction", 0.21, 0.2), "idles 21 % of a step"},
        PlantedResult{"low_utilisation", reading("floor_fraction", 0.05, 0.1),
                      "a step runs at 5 % of its floor's speed"},
        PlantedResult{"transfers_in_the_loop", count("h2d_bytes", 4096, 0),
                      "copies 4096 B to the device"},
        PlantedResult{"syncs_in_the_loop", count("syncs", 2, 0), "2 times in each step"},
        PlantedResult{"compilations_after_warmup", count("compile_steady", 1, 0),
                      "compiled in each step after warm-up"},
        PlantedResult{
            "compile_dominates",
            [](CaseResult& r, bool bad) {
              optimized(r)["lower_s"] = advisory(1.5);
              optimized(r)["compile_s"] = advisory(bad ? 1.9 : 0.5);
              optimized(r)["first_call_s"] = advisory(3.5);
            },
            "compiling takes 3.4 s, 97.1 % of the first call (3.5 s); a step takes 600 us"},
        PlantedResult{"slow_gradient",
                      [](CaseResult& r, bool bad) {
                        r.derived["grad_over_forward"] = advisory(bad ? 40 : 3);
                      },
                      "takes 40 times the forward pass"},
        PlantedResult{"slow_loop",
                      [](CaseResult& r, bool bad) {
                        r.derived["loop_speedup"] = advisory(bad ? 0.0625 : 1 / 1.5);
                      },
                      "takes 16 times the isolated step"},
        PlantedResult{"peak_over_estimate", reading("estimate_ratio", 1.6, 1.5),
                      "the peak is 1.6 times its estimate"},
        PlantedResult{
            "peak_over_reference",
            [](CaseResult& r, bool bad) { r.metrics["peak_ratio"] = toy::exact(bad ? 0.25 : 0.5); },
            "the peak is 4 times that of the reference"},
        PlantedResult{"one_kernel_dominates",
                      [](CaseResult& r, bool bad) {
                        optimized(r)["top_kernel_fraction"] = advisory(bad ? 0.7 : 0.6);
                        r.variants["optimized"].kernels.push_back({.name = "third", .launches = 1});
                      },
                      "one kernel takes 70 % of the device time"},
        PlantedResult{"many_scatters",
                      [](CaseResult& r, bool bad) {
                        r.variants["optimized"].kernels[0].kind = "scatter";
                        r.variants["optimized"].kernels[0].launches = bad ? 96 : 32;
                      },
                      "launches 96 scatters"},
        PlantedResult{"many_launches", count("launches", 888, 200),
                      "each step makes 888 launches"}),
    [](const auto& one) { return std::string(one.param.detector); });

TEST(Detectors, TellOnlyOfUploadsBesideThoseThatAStepIsMadeOf) {
  Results results = gpu_results();
  optimized(results.cases.front())["h2d_bytes"] = toy::exact(2304);
  optimized(results.cases.front())["upload_ratio"] = advisory(1.125);
  EXPECT_THAT(names(seen_in(results)), IsEmpty());
  optimized(results.cases.front())["h2d_bytes"] = toy::exact(6144);
  optimized(results.cases.front())["upload_ratio"] = advisory(3);
  const auto found = seen_in(results);
  ASSERT_THAT(names(found), ElementsAre("transfers_in_the_loop"));
  EXPECT_THAT(found[0].sentence,
              HasSubstr("copies 4096 B to the device beside what it must bring and 0 B back"));
}

TEST(Detectors, TellOfUploadsThatAreTwiceWhatAStepMustBring) {
  Results results = gpu_results();
  optimized(results.cases.front())["h2d_bytes"] = toy::exact(4096);
  optimized(results.cases.front())["upload_ratio"] = advisory(2);
  const auto found = seen_in(results);
  ASSERT_THAT(names(found), ElementsAre("transfers_in_the_loop"));
  EXPECT_EQ(found[0].value, 2048);
}

TEST(Detectors, LetTheUploadThatAStepMustBringWait) {
  Results results = gpu_results();
  optimized(results.cases.front())["syncs"] = toy::exact(1);
  optimized(results.cases.front())["h2d_bytes"] = toy::exact(2048);
  optimized(results.cases.front())["upload_ratio"] = advisory(1);
  EXPECT_THAT(names(seen_in(results)), IsEmpty());
  optimized(results.cases.front())["d2h_bytes"] = toy::exact(8);
  EXPECT_THAT(names(seen_in(results)), testing::Contains("syncs_in_the_loop"));
}

TEST(Detectors, ReadTheProfileThatBelongsToTheCase) {
  json document = toy::gpu_profile();
  document["overview"]["syncs"] = 1;
  const std::vector<Profile> profiles = {toy::parsed(document)};
  const auto found = examine(gpu_results(), profiles);
  ASSERT_THAT(names(found), ElementsAre("syncs_in_the_loop"));
  EXPECT_EQ(found[0].case_id, toy::step_id);
  EXPECT_EQ(found[0].device_class, "nvidia-h200");
}

TEST(Detectors, ReadNoProfileOfAnotherDeviceClass) {
  json document = toy::gpu_profile();
  document["overview"]["syncs"] = 1;
  document["device_class"] = "nvidia-h100";
  EXPECT_THAT(names(examine(gpu_results(), {toy::parsed(document)})), IsEmpty());
}

TEST(Detectors, TellTheWorstFirstAndReferencesLast) {
  Results results = gpu_results();
  results.cases[0].variants["reference"].metrics["launches"] = toy::exact(8880);
  results.cases[0].variants["optimized"].metrics["launches"] = toy::exact(210);
  results.cases[1].derived["grad_over_forward"] = advisory(40);
  EXPECT_THAT(names(examine(results, {})),
              ElementsAre("slow_gradient", "many_launches", "many_launches"));
  EXPECT_EQ(examine(results, {}).back().variant, "reference");
}

// The toy's list, whose first case shows on purpose that the host waits in its loop.
List expecting(const std::string& finding, const std::vector<std::string>& devices) {
  List list = toy::list();
  list.cases[0].expected = {{.finding = finding, .why = "it shows it", .devices = devices}};
  return list;
}

Results waiting() {
  Results results = gpu_results();
  for (CaseResult& result : results.cases) optimized(result)["syncs"] = toy::exact(1);
  return results;
}

TEST(ExpectedFindings, AreThoseThatACaseIsListedWithAndStandBehindTheOthers) {
  const auto found = examine(waiting(), {}, expecting("syncs_in_the_loop", {"cuda"}));
  ASSERT_THAT(names(found), ElementsAre("syncs_in_the_loop", "syncs_in_the_loop"));
  EXPECT_EQ(found[0].case_id, toy::sum_id);
  EXPECT_EQ(found[0].expected, std::nullopt);
  EXPECT_EQ(found[1].case_id, toy::step_id);
  EXPECT_EQ(found[1].expected, "it shows it");
  for (const Detection& one :
       examine(waiting(), {}, expecting("syncs_in_the_loop", {"cuda-dry", "host"})))
    EXPECT_EQ(one.expected, std::nullopt) << one.case_id;
}

TEST(ExpectedFindings, AreNoneOfTheReference) {
  Results results = gpu_results();
  results.cases[0].variants["reference"].metrics["syncs"] = toy::exact(1);
  const auto found = examine(results, {}, expecting("syncs_in_the_loop", {"cuda"}));
  ASSERT_THAT(names(found), ElementsAre("syncs_in_the_loop"));
  EXPECT_EQ(found[0].variant, "reference");
  EXPECT_EQ(found[0].expected, std::nullopt);
}

TEST(ExpectedFindings, ThatNoDetectorSeesAnyMoreAreTold) {
  const auto told = [](const Results& results, const List& list) {
    return unseen(results, list, examine(results, {}, list));
  };
  const List list = expecting("syncs_in_the_loop", {"cuda"});
  EXPECT_THAT(told(waiting(), list), IsEmpty());
  EXPECT_THAT(told(gpu_results(), list),
              ElementsAre(AllOf(HasSubstr(toy::step_id), HasSubstr("nvidia-h200"),
                                HasSubstr("showing syncs_in_the_loop on purpose, and no longer"))));
  EXPECT_THAT(told(gpu_results(), expecting("syncs_in_the_loop", {"cuda-dry"})), IsEmpty());
  EXPECT_THAT(told(waiting(), expecting("sync", {"cuda"})),
              ElementsAre(HasSubstr("which no detector is called")));
  // A profile says more about launches, so the detector that counts them is silent then.
  Results launching = gpu_results();
  optimized(launching.cases[0])["launches"] = toy::exact(888);
  const List many = expecting("many_launches", {"cuda"});
  const std::vector<Profile> profiles = {toy::parsed(toy::gpu_profile())};
  EXPECT_THAT(names(examine(launching, profiles, many)), IsEmpty());
  EXPECT_THAT(unseen(launching, many, examine(launching, profiles, many)), IsEmpty());
  Results unmeasured = gpu_results();
  unmeasured.cases[0].status = "failed";
  EXPECT_THAT(told(unmeasured, list), IsEmpty());
}

TEST(Detectors, TellManyBytesBeforeFewWhereNoneShouldBe) {
  std::vector<Detection> found(4);
  found[0].value = 8;  // bytes, of which there should be none
  found[1].value = 1e6;
  found[2].value = 300;
  found[2].threshold = 3;
  found[3].value = 0;  // of the floor's speed
  found[3].threshold = 0.1;
  sort_by_severity(found);
  std::vector<double> values;
  for (const Detection& one : found) values.push_back(one.value);
  EXPECT_THAT(values, ElementsAre(0, 1e6, 300, 8));
}

TEST(Detectors, HaveNamesOfTheirOwn) {
  std::set<std::string> seen;
  for (const Detector& detector : detectors()) {
    EXPECT_TRUE(seen.insert(detector.name).second) << detector.name;
    EXPECT_STRNE(detector.symptom, "");
    EXPECT_STRNE(detector.fix, "");
    EXPECT_STRNE(detector.unit, "");
  }
}

}  // namespace
}  // namespace holdfast::gate
