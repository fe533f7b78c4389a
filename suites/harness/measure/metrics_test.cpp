// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/metrics.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "harness/testing/toy.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Metrics, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Metric& metric : metrics())
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
}

TEST(Metrics, StandInThePageOfFormats) {
  std::ifstream file(std::filesystem::path(HOLDFAST_SCHEMAS) / "README.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  for (const Metric& metric : metrics())
    EXPECT_NE(page.find(text("`", metric.name, "`")), std::string::npos) << metric.name;
}

TEST(Metrics, AreToldToTheGateWithKindDirectionAndUnit) {
  const auto told = meanings({});
  for (const Metric& metric : metrics())
    EXPECT_EQ(told.at(metric.name), (Meaning{metric.kind, metric.better, metric.unit}));
  EXPECT_EQ(told.at("identity"), (Meaning{"codegen", Better::same, "1"}));
  EXPECT_EQ(told.size(), metrics().size() + 1);
}

TEST(Metrics, OfTheCaseAloneAreToldAsTheyAreDeclared) {
  Case one = toy_case();
  one.metrics = {{.name = "setup_s"},
                 {.name = "tokens_per_s", .better = Better::higher},
                 {.name = "bytes_in_use", .kind = "exact"},
                 {.name = "read_bytes_per_s", .better = Better::higher},
                 {.name = "launches", .kind = "exact"},
                 {.name = "compile_warm", .kind = "exact"}};
  one.derived = {{.name = "loop_speedup", .kind = "bound", .better = Better::higher}};
  const auto told = meanings({one});
  EXPECT_EQ(told.at("setup_s"), (Meaning{"advisory", Better::lower, "s"}));
  EXPECT_EQ(told.at("tokens_per_s"), (Meaning{"advisory", Better::higher, "1/s"}));
  EXPECT_EQ(told.at("bytes_in_use"), (Meaning{"exact", Better::lower, "B"}));
  EXPECT_EQ(told.at("read_bytes_per_s"), (Meaning{"advisory", Better::higher, "B/s"}));
  for (const char* name : {"launches", "compile_warm"})
    EXPECT_EQ(told.at(name), meanings({}).at(name)) << "as the table has it";
  EXPECT_EQ(told.at("loop_speedup"), (Meaning{"bound", Better::higher, "1"}));
}

// The sentence with which a suite of these cases refuses to describe its metrics.
std::string complaint(const std::vector<Case>& cases) {
  return error_of([&] { return meanings(cases); }).what();
}

TEST(Metrics, WithoutAKnownKindAreAnErrorOfTheSuite) {
  Case one = toy_case();
  for (const char* kind : {"", "exactly"}) {
    one.metrics = {{.name = "rows", .kind = kind}};
    EXPECT_THAT(complaint({one}), HasSubstr(one.id + ": the metric rows is of the kind '" + kind));
  }
  one.metrics = {{.name = "launches"}};
  EXPECT_THAT(complaint({one}), HasSubstr("the metric launches is declared as 'advisory', and the "
                                          "table of metrics has it as 'exact'"));
}

TEST(Metrics, OfOneNameAreTheSameInEveryCase) {
  Case one = toy_case(), other = toy_case();
  one.metrics = {{.name = "rows", .kind = "exact"}};
  other.metrics = {{.name = "rows", .kind = "bound"}};
  EXPECT_EQ(complaint({one, one}), "accepted");
  EXPECT_THAT(complaint({one, other}), HasSubstr("the metric rows is of another kind"));
}

TEST(Metrics, OfADryDeviceHoldNoTime) {
  const auto names = promised(toy_case(), "cuda-dry:sm_90");
  for (const char* name : {"time_s", "speedup", "floor_s", "check_error"})
    EXPECT_THAT(names, Not(Contains(name)));
  EXPECT_THAT(names, Contains("launches"));
}

TEST(Metrics, OfTheHostHoldNoLaunches) {
  EXPECT_THAT(promised(toy_case(), "host"), Not(Contains("launches")));
  EXPECT_THAT(promised(toy_case(), "host"), Contains("speedup"));
}

TEST(Metrics, InstructionsAreCountedOfMarkedCasesOnTheHost) {
  Case one = toy_case();
  one.counted = true;
  EXPECT_THAT(promised(one, "host"), Contains("instructions"));
  EXPECT_THAT(promised(one, "host"), Contains("estimated_cycles"));
  EXPECT_THAT(promised(one, "cuda-dry:sm_90"), Not(Contains("instructions")));
  one.counted = false;
  EXPECT_THAT(promised(one, "host"), Not(Contains("instructions")));
}

TEST(Metrics, WithoutAReferencePromiseNoRatioToIt) {
  Case one = toy_case();
  one.reference = false;
  EXPECT_THAT(promised(one, "host"), Not(Contains("speedup")));
  EXPECT_THAT(promised(one, "host"), Not(Contains("peak_ratio")));
  one.reference = true;
  one.unreferenced = {"host"};
  EXPECT_THAT(promised(one, "host"), Not(Contains("speedup")));
  EXPECT_THAT(promised(one, "cuda"), Contains("speedup"));
}

TEST(Metrics, OfTheCaseAloneArePromisedToo) {
  Case one = toy_case();
  one.metrics = {{.name = "tokens_per_s"}};
  one.derived = {{.name = "share"}};
  EXPECT_THAT(promised(one, "host"), Contains("tokens_per_s"));
  EXPECT_THAT(promised(one, "host"), Contains("share"));
}

TEST(Metrics, ThatAreDeclaredArePromisedOnTheirDevicesAlone) {
  Case one = toy_case();
  one.metrics = {{.name = "dense_waste"}, {.name = "mass_drift", .devices = {"host", "cuda"}}};
  EXPECT_THAT(promised(one, "cuda-dry:sm_90"), Contains("dense_waste"));
  EXPECT_THAT(promised(one, "cuda-dry:sm_90"), Not(Contains("mass_drift")));
  EXPECT_THAT(promised(one, "host"), Contains("mass_drift"));
}

TEST(Metrics, DerivedFromTimesExistWhereTimesDo) {
  Case one = toy_case();
  one.derived = {{.name = "share"}};
  EXPECT_THAT(promised(one, "cuda-dry:sm_90"), Not(Contains("share")));
}

TEST(Metrics, RatesExistWhereTimesDoAndMoreIsBetter) {
  Case one = toy_case();
  one.rates = {{.name = "points_per_s"}};
  EXPECT_THAT(promised(one, "host"), Contains("points_per_s"));
  EXPECT_THAT(promised(one, "cuda-dry:sm_90"), Not(Contains("points_per_s")));
  EXPECT_EQ(meanings({one}).at("points_per_s").better, Better::higher);
}

TEST(Metrics, DerivedBesideAHostExistWhereThereIsAGpu) {
  Case one = toy_case();
  one.derived = {{.name = "gpu_over_host", .beside_host = true}};
  EXPECT_THAT(promised(one, "cuda"), Contains("gpu_over_host"));
  EXPECT_THAT(promised(one, "host"), Not(Contains("gpu_over_host")));
  EXPECT_THAT(promised(one, "cuda-dry:sm_90"), Not(Contains("gpu_over_host")));
}

TEST(Metrics, DerivedFromAReferenceThatIsNotMeasuredAreNotPromised) {
  Case one = toy_case();
  one.derived = {{.name = "share", .against = Variant::reference}};
  EXPECT_THAT(promised(one, "host"), Contains("share"));
  one.unreferenced = {"host"};
  EXPECT_THAT(promised(one, "host"), Not(Contains("share")));
}

TEST(Metrics, OfAProtocolAreTheDeclaredOnesAndTheMemoryOfTheProcess) {
  Case one = toy_case();
  one.recipe = Protocol([](Session&) {});
  one.metrics = {{.name = "setup_s"}};
  EXPECT_THAT(promised(one, "host"),
              testing::ElementsAre("host_rss_bytes_after", "host_rss_bytes_before",
                                   "host_rss_bytes_peak", "setup_s"));
}

TEST(Metrics, CountTheLaunchesOfScatterKernelsAlone) {
  VariantMeasurement variant;
  variant.kernels = {{.name = "edge", .kind = KernelKind::scatter, .launches = 24},
                     {.name = "corner", .kind = KernelKind::scatter, .launches = 8},
                     {.name = "stage", .kind = KernelKind::fused, .launches = 4}};
  const auto row = std::find_if(metrics().begin(), metrics().end(), [](const Metric& metric) {
    return metric.name == std::string_view("scatter_launches");
  });
  EXPECT_EQ(row->read({}, variant), 32);
}

TEST(Metrics, OfCodeSpeakOfTheKernelsThatWereLaunched) {
  VariantMeasurement variant;
  variant.kernels = {
      {.name = "stage", .registers = 64, .spill_bytes = 8, .shared_bytes = 48, .used = true},
      {.name = "last", .registers = 32, .spill_bytes = 4, .shared_bytes = 16, .used = true},
      {.name = "loop", .registers = 96, .spill_bytes = 16, .shared_bytes = 64, .used = false}};
  const auto read = [&](const std::string& name) {
    const auto row = std::find_if(metrics().begin(), metrics().end(),
                                  [&](const Metric& metric) { return metric.name == name; });
    return row->read({}, variant);
  };
  EXPECT_EQ(read("registers_max"), 64);
  EXPECT_EQ(read("spill_bytes"), 12);
  EXPECT_EQ(read("shared_bytes"), 48);
}

const Metric& row(std::string_view name) {
  return *std::find_if(metrics().begin(), metrics().end(),
                       [&](const Metric& metric) { return metric.name == name; });
}

TEST(Metrics, OfLaunchesAddUpOverTheKernelsThatAreLaunched) {
  const KernelUse one = {.shared_bytes = 8,
                         .local_bytes = 256,
                         .used = true,
                         .blocks = 16,
                         .threads = 2048,
                         .dynamic_shared_bytes = 1024,
                         .occupancy = 0.5};
  KernelUse other = one, idle = one;
  other.occupancy = 1;
  idle.used = false;
  const VariantMeasurement variant = {.kernels = {one, other, idle}};
  EXPECT_EQ(row("local_bytes").read({}, variant), 512);
  EXPECT_EQ(row("block_shared_bytes").read({}, variant), 2 * (8 + 1024));
  EXPECT_EQ(row("launched_blocks").read({}, variant), 32);
  EXPECT_EQ(row("launched_threads").read({}, variant), 4096);
  EXPECT_EQ(row("occupancy").read({}, variant), 0.75);
  EXPECT_EQ(row("occupancy").read({}, {}), 1) << "no kernel wastes any";
}

TEST(Metrics, OfMachineCodeAddUpOrAreAbsentForAReason) {
  VariantMeasurement variant;
  variant.kernels = {
      {.used = true, .code = InstructionCounts{{"barrier", 2}, {"global_load_16", 1}}},
      {.used = true, .code = InstructionCounts{{"barrier", 1}, {"shared_store_4", 2}, {"f64", 5}}},
      {.used = false, .code = InstructionCounts{{"barrier", 9}}}};
  EXPECT_EQ(row("barriers").read({}, variant), 3);
  EXPECT_EQ(row("f64_instructions").read({}, variant), 5);
  EXPECT_EQ(row("tensor_instructions").read({}, variant), 0);
  EXPECT_EQ(row("access_bytes").read({}, variant), (16 + 2 * 4) / 3.);
  variant.no_code = "there is no disassembler";
  EXPECT_FALSE(row("barriers").read({}, variant));
  EXPECT_FALSE(row("access_bytes").read({}, variant));
}

TEST(Metrics, TellDoubleArithmeticWhereACaseIsOfSinglePrecision) {
  Case one = toy_case();
  EXPECT_THAT(promised(one, "cuda-dry:sm_90"), Not(Contains("f64_instructions")));
  for (const Precision precision : {Precision::f32, Precision::tf32, Precision::bf16}) {
    one.work.precision = precision;
    EXPECT_THAT(promised(one, "cuda-dry:sm_90"), Contains("f64_instructions"));
    EXPECT_THAT(promised(one, "cuda-dry:sm_90"), Contains("tensor_instructions"));
  }
}

TEST(Metrics, HoldAnUploadAgainstTheLeastWhereTheCaseSaysWhatThatIs) {
  Case one = toy_case();
  EXPECT_THAT(promised(one, "cuda-dry:sm_90"), Not(Contains("upload_ratio")));
  std::get<Steps>(one.recipe).upload_bytes = [](Variant) { return 512; };
  EXPECT_THAT(promised(one, "cuda-dry:sm_90"), Contains("upload_ratio"));
  EXPECT_THAT(promised(one, "host"), Not(Contains("upload_ratio")));
  const VariantMeasurement variant = {.step = {.h2d_bytes = 768}, .least_upload_bytes = 512};
  const auto row = std::find_if(metrics().begin(), metrics().end(), [](const Metric& metric) {
    return metric.name == std::string_view("upload_ratio");
  });
  EXPECT_EQ(row->read({}, variant), 1.5);
}

TEST(Metrics, TakeThePeakRatioFromBothPeaks) {
  Measurement whole;
  whole.optimized.peak_bytes = 10;
  whole.reference = VariantMeasurement{.peak_bytes = 35};
  const auto row = std::find_if(metrics().begin(), metrics().end(), [](const Metric& metric) {
    return metric.name == std::string_view("peak_ratio");
  });
  EXPECT_EQ(row->read(whole, whole.optimized), 3.5);
}

TEST(Metrics, HaveNoRatioToNothing) {
  const Measurement whole = {.reference = VariantMeasurement{.peak_bytes = 35}};
  EXPECT_FALSE(row("peak_ratio").read(whole, {}));
}

// All fields differ, so that a row that reads the wrong one shows.
TEST(Metrics, ReadTheNumbersThatTheirNamesSay) {
  const VariantMeasurement ours = {
      .warm = {.launches = 1, .h2d_bytes = 2, .programs = 3, .nvrtc_runs = 4, .plans = 5},
      .step = {.launches = 11,
               .threads = 25,
               .argument_sum = 9,
               .argument_magnitudes = 26,
               .library_calls = 12,
               .library_flops = 6,
               .library_bytes = 22,
               .host_launches = 13,
               .graph_nodes = 14,
               .copies = 20,
               .moved_bytes = 7,
               .transfers = 8,
               .h2d_bytes = 15,
               .d2h_bytes = 16,
               .hidden_bytes = 21,
               .lone_launches = 22,
               .pageable_bytes = 23,
               .syncs = 17,
               .polls = 24,
               .programs = 18,
               .plans = 19},
      .peak_bytes_warm = 21,
      .peak_bytes = 44,
      .estimated_bytes = 22,
      .least_upload_bytes = 5,
      .first_call_seconds = 35,
      .warm_up_seconds = 36,
      .stages = {.trace = 31, .lower = 32, .compile = 33, .load = 34},
      .check_error = 0.01,
      .seconds = 0.5};
  const Measurement whole = {.work = {.flops = 100, .bytes = 300},
                             .reference = VariantMeasurement{.peak_bytes = 88},
                             .speedup = 7,
                             .handover_seconds = 4e-6,
                             .waited_fraction = 0.1,
                             .shared_fraction = 0.2,
                             .floor_seconds = 0.25,
                             .host_memory = HostMemory{.before = 51, .peak = 53, .after = 52}};
  const std::map<std::string, double> expected = {{"time_s", 0.5},
                                                  {"speedup", 7},
                                                  {"handover_s", 4e-6},
                                                  {"waited_fraction", 0.1},
                                                  {"shared_fraction", 0.2},
                                                  {"peak_bytes", 44},
                                                  {"peak_bytes_warm", 21},
                                                  {"peak_ratio", 2},
                                                  {"estimate_ratio", 2},
                                                  {"upload_ratio", 3},
                                                  {"compile_warm", 3},
                                                  {"compile_steady", 18},
                                                  {"nvrtc_runs", 4},
                                                  {"plans_warm", 5},
                                                  {"plans", 19},
                                                  {"launches_warm", 1},
                                                  {"launches", 11},
                                                  {"library_calls", 12},
                                                  {"host_launches", 13},
                                                  {"graph_nodes", 14},
                                                  {"threads", 25},
                                                  {"argument_sum", 9},
                                                  {"argument_magnitudes", 26},
                                                  {"copies", 20},
                                                  {"moved_bytes", 7},
                                                  {"exposed_bytes", 10},
                                                  {"lone_launches", 22},
                                                  {"polls", 24},
                                                  {"pageable_bytes", 23},
                                                  {"transfers", 8},
                                                  {"library_flops", 6},
                                                  {"library_bytes", 22},
                                                  {"h2d_bytes_warm", 2},
                                                  {"h2d_bytes", 15},
                                                  {"d2h_bytes", 16},
                                                  {"syncs", 17},
                                                  {"trace_s", 31},
                                                  {"lower_s", 32},
                                                  {"compile_s", 33},
                                                  {"load_s", 34},
                                                  {"first_call_s", 35},
                                                  {"warm_up_s", 36},
                                                  {"floor_s", 0.25},
                                                  {"floor_fraction", 0.5},
                                                  {"flop_per_s", 200},
                                                  {"bytes_per_s", 600},
                                                  {"check_error", 0.01},
                                                  {"host_rss_bytes_before", 51},
                                                  {"host_rss_bytes_peak", 53},
                                                  {"host_rss_bytes_after", 52}};
  for (const auto& [name, value] : expected) EXPECT_EQ(row(name).read(whole, ours), value) << name;
  // Others are of kernels, or of a run beside this one.
  for (const Metric& metric : metrics()) {
    const bool other = metric.kind == std::string_view("codegen") ||
                       metric.name == std::string_view("scatter_launches");
    EXPECT_TRUE(other || expected.contains(metric.name) || !metric.read(whole, ours))
        << metric.name;
  }
}

}  // namespace
}  // namespace holdfast
