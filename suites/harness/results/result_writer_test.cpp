// SPDX-License-Identifier: Apache-2.0
#include "harness/results/result_writer.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <limits>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "formats/schema_check.hpp"
#include "harness/machine/kept_awake.hpp"
#include "harness/results/environment.hpp"
#include "harness/testing/toy.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const MeasureOptions quick = {.budget = {.seconds = 0, .fewest_rounds = 3, .most_rounds = 3}};

json report_of(const Case& one) {
  const auto backend = open_backend("host");
  Report report{.suite = "toy", .tier = "smoke", .list_hash = "sha256:0"};
  report.cases.push_back({&one, measure(one, "host", quick)});
  return report_json(report, *backend);
}

TEST(Results, ObeyTheirSchema) {
  const json root = schema("results.schema.json");
  validate(report_of(toy_case()), root, root, "");
}

TEST(Results, OfAFailedCaseObeyTheSchemaToo) {
  Case one = toy_case();
  std::get<Steps>(one.recipe).oracle.expected = [](int) { return std::vector{1.}; };
  const json root = schema("results.schema.json");
  const json report = report_of(one);
  validate(report, root, root, "");
  EXPECT_EQ(report["cases"][0]["check"]["status"], "failed");
}

TEST(Results, OfAHostTellWhetherItsCpusAreKeptAwake) {
  EXPECT_EQ(report_of(toy_case())["env"]["host"]["awake"], KeptAwake::may_be());
}

TEST(Results, HaveAFingerprintOfAllThatTheirEnvironmentTells) {
  json env = environment(*open_backend("host"));
  const json fingerprint = env["fingerprint"];
  env.erase("fingerprint");
  EXPECT_EQ(fingerprint, sha256(env.dump()));
}

TEST(Lists, ObeyTheirSchema) {
  const json root = schema("list.schema.json");
  validate(list_json("toy", {toy_case()}), root, root, "");
}

TEST(Lists, TellWhatACaseShowsOnPurpose) {
  Case one = toy_case();
  one.expected = {{.finding = "syncs_in_the_loop", .why = "it waits on purpose"}};
  const json list = list_json("toy", {one, toy_case()});
  const json root = schema("list.schema.json");
  validate(list, root, root, "");
  EXPECT_EQ(list["cases"][0]["expected"],
            json::parse(R"([{"finding": "syncs_in_the_loop", "why": "it waits on purpose",
                             "devices": ["cuda", "cuda-dry"]}])"));
  EXPECT_FALSE(list["cases"][1].contains("expected"));
}

TEST(Lists, TellTheLimitOfEachCheckAndWhetherAReferenceIsMeasuredEverywhere) {
  Case stepped = toy_case(), protocol = toy_case();
  protocol.recipe = Protocol([](Session&) {});
  protocol.limit = 0.25;
  const json cases = list_json("toy", {stepped, protocol})["cases"];
  EXPECT_EQ(cases[0]["limit"], 1e-15);
  EXPECT_EQ(cases[0]["reference"], true);
  EXPECT_EQ(cases[1]["limit"], 0.25);
  stepped.unreferenced = {"host"};
  EXPECT_EQ(list_json("toy", {stepped})["cases"][0]["reference"], false);
}

TEST(Results, HoldWhatTheListPromises) {
  const Case one = toy_case();
  const json measured = report_of(one)["cases"][0];
  for (const std::string& name : promised(one, "host"))
    EXPECT_TRUE(measured["metrics"].contains(name) ||
                measured["variants"]["optimized"]["metrics"].contains(name))
        << name;
}

TEST(Results, RefuseANumberThatIsNotFiniteAndNameCaseAndMetric) {
  const Case one = toy_case();
  Measured measured{&one, measure(one, "host", quick)};
  measured.measurement.speedup = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(error_of([&] { return case_json(measured, "host"); }).what(),
              HasSubstr("toy/count/n:1/f64: the metric speedup"));
}

TEST(Results, SayWhatKindOfKernelEachIs) {
  const Case one = toy_case();
  Measured measured{&one, measure(one, "host", quick)};
  measured.measurement.optimized.kernels = {{.name = "edge", .kind = KernelKind::scatter}};
  EXPECT_EQ(case_json(measured, "host")["variants"]["optimized"]["kernels"][0]["kind"], "scatter");
}

TEST(Results, TellsHowALaunchedKernelIsLaunchedAndWhatItsInstructionsAre) {
  const Case one = toy_case();
  Measured measured{&one, {}};
  measured.measurement.optimized.kernels = {{.name = "stage",
                                             .used = true,
                                             .blocks = 42,
                                             .occupancy = 0.375,
                                             .code = InstructionCounts{{"f64", 12}}},
                                            {.name = "idle"}};
  const auto kernels = case_json(measured, "host")["variants"]["optimized"]["kernels"];
  EXPECT_EQ(kernels[0]["evidence"]["blocks"], 42);
  EXPECT_EQ(kernels[0]["evidence"]["occupancy"], 0.375);
  EXPECT_EQ(kernels[0]["evidence"]["f64"], 12);
  EXPECT_FALSE(kernels[1].contains("evidence"));
}

TEST(Results, SaysWhyMachineCodeIsNotKnown) {
  Case one = toy_case();
  one.devices = {"cuda"};
  Measured measured{&one, {}};
  measured.measurement.optimized.no_code = "this machine has no nvdisasm";
  const auto told = case_json(measured, "cuda")["variants"]["optimized"]["metrics"];
  EXPECT_TRUE(told["barriers"]["value"].is_null());
  EXPECT_EQ(told["barriers"]["reason"], "this machine has no nvdisasm");
  EXPECT_EQ(told["time_s"]["reason"], "there is no such reading on this device or in this run");
}

TEST(Results, TellsTheSeedWithWhichItWasVerifiedAgain) {
  const Case one = toy_case();
  Measured measured{&one, {}};
  EXPECT_FALSE(case_json(measured, "host")["check"].contains("again"));
  measured.measurement.again = Again{.seed = 7, .steps = 41};
  EXPECT_EQ(case_json(measured, "host")["check"]["again"]["seed"], 7);
  EXPECT_EQ(case_json(measured, "host")["check"]["again"]["steps"], 41);
}

TEST(Results, WriteADerivedRatioAsOneProcessOfIt) {
  Case one = toy_case();
  one.derived = {{.name = "diag_ratio",
                  .other = [](Backend& b) { return std::make_unique<Toy>(b); },
                  .kind = "ratio"}};
  const json derived = report_of(one)["cases"][0]["derived"]["diag_ratio"];
  EXPECT_EQ(derived["kind"], "ratio");
  EXPECT_EQ(derived["processes"].size(), 1);
}

TEST(Results, WriteEachVariantsNumbersAsItsOwn) {
  const Case one = toy_case();
  Measured measured{&one, {}};
  measured.measurement.optimized.peak_bytes = 10;
  measured.measurement.reference = VariantMeasurement{.peak_bytes = 35};
  const json variants = case_json(measured, "host")["variants"];
  EXPECT_EQ(variants["optimized"]["metrics"]["peak_bytes"]["value"], 10);
  EXPECT_EQ(variants["reference"]["metrics"]["peak_bytes"]["value"], 35);
}

TEST(Results, WriteAReadingAsTheKindThatItsCaseDeclares) {
  Case one = toy_case();
  one.metrics = {{.name = "rows", .kind = "exact"}};
  Measured measured{&one, {}};
  measured.measurement.optimized.readings = {{"rows", 3}, {"seen", 4}};
  const json metrics = case_json(measured, "host")["variants"]["optimized"]["metrics"];
  EXPECT_EQ(metrics["rows"], (json{{"kind", "exact"}, {"value", 3}}));
  EXPECT_EQ(metrics["seen"], (json{{"kind", "advisory"}, {"value", 4}}));
}

TEST(Results, OfAFailedCaseSayWhyAndHowFarItIsFromWhichLimit) {
  const Case one = toy_case();
  Measured measured{&one,
                    {.status = Measurement::Status::failed,
                     .reason = "it is wrong",
                     .check = CheckStatus::failed,
                     .oracle = "arithmetic",
                     .check_error = 0.5,
                     .check_limit = 0.25}};
  const json told = case_json(measured, "host");
  EXPECT_EQ(told["status"], "failed");
  EXPECT_EQ(told["reason"], "it is wrong");
  EXPECT_EQ(
      told["check"],
      (json{{"status", "failed"}, {"error", 0.5}, {"limit", 0.25}, {"oracle", "arithmetic"}}));
  EXPECT_TRUE(told["variants"]["optimized"]["metrics"].contains("peak_bytes")) << "was accounted";
}

TEST(Results, AShareOfAnUnknownPeakIsThereWithTheReasonAndNoValue) {
  Case one = toy_case();
  one.rates = {{.name = "tokens_per_s"},
               {.name = "mfu", .peak = [](const Backend&) { return 0.; }}};
  Measured measured{&one, {}};
  const json unknown = {
      {"kind", "advisory"}, {"value", nullptr}, {"reason", "no peak of this device is known"}};
  const auto told = [&] { return case_json(measured, "cuda")["variants"]["optimized"]["metrics"]; };
  EXPECT_FALSE(told().contains("mfu")) << "nothing was timed";
  measured.measurement.optimized.seconds = 1;
  EXPECT_EQ(told()["mfu"], unknown);
  EXPECT_FALSE(told().contains("tokens_per_s"));
  measured.measurement.optimized.readings = {{"mfu", 0.5}};
  EXPECT_EQ(told()["mfu"]["value"], 0.5);
}

TEST(Results, OfACaseThatBrokeOffSayThatItCrashedAndNotThatItIsWrong) {
  const Case one = toy_case();
  const json told = case_json({&one,
                               {.status = Measurement::Status::failed,
                                .reason = "failed to allocate 8 bytes",
                                .broke_off = true}},
                              "host");
  EXPECT_EQ(told["status"], "crashed");
  EXPECT_EQ(told["reason"], "failed to allocate 8 bytes");
  EXPECT_EQ(told["check"]["status"], "not_executed");
  EXPECT_TRUE(told["variants"].empty()) << "its account is incomplete";
}

TEST(Quality, IsInvalidForEachReasonAndTellsWhatWasSeen) {
  const json sound = holdfast::quality({.throttled = false});
  EXPECT_EQ(sound["valid"], true);
  EXPECT_EQ(sound["throttled"], false);
  const json unsound = holdfast::quality({.reasons = {"it was hot"},
                                          .sm_clock_hz = 1e9,
                                          .mem_clock_hz = 2e9,
                                          .throttled = true,
                                          .temperature_c = 90,
                                          .other_processes = 1,
                                          .ecc_errors = 2});
  EXPECT_EQ(unsound["valid"], false);
  EXPECT_EQ(unsound["reasons"], json::array({"it was hot"}));
  EXPECT_EQ(unsound["sm_clock_hz"], 1e9);
  EXPECT_EQ(unsound["mem_clock_hz"], 2e9);
  EXPECT_EQ(unsound["throttled"], true);
  EXPECT_EQ(unsound["temperature_c"], 90);
  EXPECT_EQ(unsound["other_processes"], 1);
  EXPECT_EQ(unsound["ecc_errors"], 2);
}

TEST(Results, WriteCountsAsWholeNumbers) {
  const json measured = report_of(toy_case())["cases"][0];
  EXPECT_TRUE(
      measured["variants"]["optimized"]["metrics"]["peak_bytes"]["value"].is_number_integer());
}

TEST(Document, HasSortedKeysAndOneNewlineAtTheEnd) {
  EXPECT_EQ(document({{"b", 1}, {"a", 2}}), "{\n \"a\": 2,\n \"b\": 1\n}\n");
}

class InAFolder : public testing::Test {
 protected:
  const NewFolder own_folder{testing::TempDir() + "results-"};
  const std::filesystem::path& folder = own_folder.path();
};

TEST_F(InAFolder, AWrittenDocumentLeavesNothingBeside) {
  write_document(folder / "out.json", "{}\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(InAFolder, ADocumentThatCannotTakeItsPlaceIsAnErrorAndGoes) {
  const std::filesystem::path place = folder / "out.json";
  std::filesystem::create_directory(place);
  EXPECT_THAT(error_of([&] { write_document(place, "{}\n"); }).what(),
              HasSubstr("out.json: cannot be written ("));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(InAFolder, AFolderThatIsNotThereIsNamed) {
  EXPECT_THAT(error_of([&] { check_writable(folder / "absent" / "out.json"); }).what(),
              HasSubstr("create it first"));
}

TEST_F(InAFolder, AFolderThatMayNotBeLookedIntoIsNamed) {
  std::filesystem::permissions(folder, std::filesystem::perms::none);
  const bool is_root = ::geteuid() == 0 && ::seteuid(65534) == 0;
  EXPECT_THAT(error_of([&] { check_writable(folder / "out.json"); }).what(),
              HasSubstr(folder.string() + " cannot be written to"));
  EXPECT_THAT(error_of([&] { check_writable(folder / "inside" / "out.json"); }).what(),
              HasSubstr("inside cannot be written to"));
  if (is_root && ::seteuid(0) != 0) ADD_FAILURE() << "cannot become root again";
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
}

TEST_F(InAFolder, AFolderIsNoFile) {
  EXPECT_THROW(check_writable(folder), Error);
}

}  // namespace
}  // namespace holdfast
