// SPDX-License-Identifier: Apache-2.0
// The real binary as a user types it: the contents of its list.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/files.hpp"
#include "harness/testing/told.hpp"

namespace holdfast {
namespace {

using testing::IsSupersetOf;

std::set<std::string> listed(const std::string& options = "") {
  return listed_ids(XPCS_FIT_BINARY " " + options);
}

// The suite on one thread, for claims that do not depend on it: each run first measures the host's
// limits, which takes as long for each thread.
const std::string alone = "HOLDFAST_NUM_THREADS=1 " XPCS_FIT_BINARY " ";

TEST(XpcsCases, AreThoseOfTheSpecification) {
  EXPECT_THAT(listed(),
              IsSupersetOf(std::set<std::string>{
                  "g2/mode:static/size:c/f64",
                  "g2/mode:laminar/size:l/f32",
                  "residual/mode:laminar/size:s/f64",
                  "normal_eq/mode:laminar/scaling:shared/loss:soft_l1/weights:array/size:t/f64",
                  "normal_eq/mode:static/scaling:per_angle/loss:linear/weights:unit/size:c/f64",
                  "fit/strategy:standard/source:resident/mode:laminar/size:s/f64",
                  "fit/converged/strategy:standard/source:resident/mode:static/size:t/f64",
                  "angle_loop/angles:72/frames:200/f64",
                  "batch_chi2/vectors:64/size:s/f64",
                  "chunk_gather/chunks:16/size:s0/f64",
                  "roundtrip/iterations:1000/size:s0/f64",
                  "stream/faults/probability:0.3/permanent:none/f64",
                  "fit/strategy:streaming/source:host/mode:laminar/size:s/f64",
                  "fit/strategy:streaming/source:resident/mode:static/size:c/f64",
                  "fit/strategy:large/source:resident/mode:laminar/size:l/f64",
                  "fit/strategy:chunked/source:host/mode:laminar/size:t/f64",
                  "fit/strategy:chunked/source:resident/mode:static/size:c/f64",
                  "fit/converged/strategy:streaming/source:host/mode:laminar/size:s/f64",
                  "fit/strategy:streaming/source:gen/mode:laminar/size:x/f64",
                  "fit/strategy:streaming/source:gen/mode:static/size:xx/f64",
                  "fit/strategy:streaming/source:gen/mode:laminar/size:s/f64",
                  "fit/converged/strategy:streaming/source:gen/mode:laminar/size:s/f64",
                  "fit/strategy:streaming/source:host/mode:laminar/size:xx/f64",
                  "fit/strategy:streaming/source:host/mode:laminar/size:x/f64",
                  "fit/ladder/size:s/f64",
                  "memory/budget/limit:8mib/mode:laminar/size:l/f64",
                  "memory/oom/mode:laminar/size:s/f64",
                  "progress/chunks:24/f64",
                  "progress/silent/chunks:24/size:t/f64",
                  "compile/shape_change/over:tail/f64",
                  "compile/shape_change/over:constants/f64",
                  "stream/checkpoint/parameters:135/batches:30000/f64",
                  "compile/first_call/mode:laminar/f64",
                  "stream/memory/batches:64/batch:65536/f64",
                  "stream/overhead/mode:fast/size:s/f64",
                  "stream/resume/size:t/f64",
                  "compile/clear/f64",
                  "in_turn/mode:laminar/size:t/f64",
                  "fit/converged/strategy:chunked/source:resident/mode:laminar/size:c/f64",
                  "device/fft/n:1024/f64",
                  "device/fft/n:5000/f64",
                  "device/guard/f64",
                  "device/status/f64",
                  "threads/threads:2/size:s/f64",
                  "compile/shape_change/over:shape/f64",
                  "memory/model/mode:laminar/size:s/f64"}));
}

TEST(XpcsCases, GateInFewCases) {
  for (const std::string kind : {"host", "cuda-dry", "cuda"}) {
    const int gating = gating_cases(XPCS_FIT_BINARY, kind);
    EXPECT_GT(gating, 15) << kind;
    EXPECT_LE(gating, 25) << kind;
  }
}

// For a kind of device, the cases that have the metric and whose name begins with `begin`: the rest
// of their names.
std::set<std::string> cases_with(const std::string& metric, const std::string& kind,
                                 const std::string& begin) {
  std::set<std::string> ids;
  for (const auto& one : listed_cases(XPCS_FIT_BINARY)) {
    const std::string id = one.at("id");
    if (!id.starts_with("xpcs_fit/" + begin) || !one.at("devices").contains(kind)) continue;
    const auto& metrics = one.at("devices").at(kind).at("metrics");
    if (std::find(metrics.begin(), metrics.end(), metric) != metrics.end())
      ids.insert(id.substr(9 + begin.size()));
  }
  return ids;
}

// Elsewhere all data are one batch.
TEST(XpcsCases, CountTheBatchesOfFitsThatGoInParts) {
  for (const std::string kind : {"host", "cuda"}) {
    EXPECT_THAT(cases_with("n_batches", kind, "fit/strategy:"),
                testing::Each(testing::AnyOf(testing::StartsWith("chunked/"),
                                             testing::StartsWith("streaming/"))));
    EXPECT_TRUE(cases_with("n_batches", kind, "fit/strategy:")
                    .contains("streaming/source:host/mode:laminar/size:s/f64"))
        << kind;
  }
}

// The calm stream has nothing to compare with, and the one in the gate is not compared.
TEST(XpcsCases, CompareFaultedStreamsWithACalmOneAtNight) {
  const std::set<std::string> at_night = {"0/permanent:3/f64", "0.05/permanent:3/f64",
                                          "0.3/permanent:3/f64", "0.3/permanent:none/f64"};
  for (const std::string kind : {"host", "cuda"})
    EXPECT_EQ(cases_with("faulted_over_calm", kind, "stream/faults/probability:"), at_night)
        << kind;
}

TEST(XpcsCases, CompareTransformsWithAHostThatCanPlanThem) {
  const std::set<std::string> planned = {"256/f64", "1024/f64"};
  for (const std::string metric : {"gpu_over_host", "gpu_over_host_reference"})
    EXPECT_EQ(cases_with(metric, "cuda", "device/fft/n:"), planned) << metric;
}

TEST(XpcsOptions, SendFitsTheWayThatIsAskedFor) {
  const auto streaming = listed("--strategy=streaming"), by_size = listed("--strategy=auto");
  const std::string large = "source:resident/mode:laminar/size:l/f64";
  EXPECT_TRUE(streaming.contains("fit/strategy:streaming/source:host/mode:laminar/size:l/f64"));
  EXPECT_FALSE(streaming.contains("fit/strategy:standard/" + large));
  EXPECT_TRUE(by_size.contains("fit/strategy:large/" + large));
  EXPECT_FALSE(by_size.contains("fit/strategy:standard/" + large));
}

// Beside the list's own, which is the same on every machine.
TEST(XpcsOptions, PutAsManyThreadsBesideOneAsAreAskedFor) {
  const auto efficient = [](const std::string& options) {
    std::set<std::string> ids = listed(options);
    std::erase_if(ids, [](const std::string& id) { return !id.starts_with("threads/"); });
    return ids;
  };
  const std::set<std::string> usual = {"threads/threads:1/size:s/f64",
                                       "threads/threads:2/size:s/f64"};
  EXPECT_EQ(efficient(""), usual);
  EXPECT_EQ(efficient("--threads=2"), usual);
  std::set<std::string> more = usual;
  more.insert("threads/threads:16/size:s/f64");
  EXPECT_EQ(efficient("--threads=16"), more);
}

TEST(XpcsOptions, SaveStreamsWhereTheyAreTold) {
  const NewFolder folder(testing::TempDir() + "xpcs_options_");
  const Said said =
      run(alone +
          "--device=host --tier=full --filter=stream/faults/probability:0.3/permanent:none "
          "--checkpoint-frequency=50 --checkpoint-dir=" +
          folder.path().string());
  EXPECT_EQ(said.exit, 0) << said.words;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    files += entry.path().extension() == ".ckpt";
  EXPECT_EQ(files, 3);
}

// Before any case begins, even if the filter leaves no case that uses the option.
void expect_refusal(const std::string& option, const std::string& sentence) {
  const Said said = run(XPCS_FIT_BINARY " --tier=smoke --filter=g2 " + option);
  EXPECT_EQ(said.exit, 2) << said.words;
  EXPECT_TRUE(one_sentence(said, "xpcs_fit")) << said.words;
  EXPECT_THAT(said.words, testing::HasSubstr(sentence));
}

TEST(XpcsOptions, RefuseWhatIsNoFrequency) {
  for (const std::string number : {"0", "-1"})
    expect_refusal("--checkpoint-frequency=" + number,
                   "a checkpoint every " + number + " batches; give 1 or more");
}

TEST(XpcsOptions, RefuseWhatIsNoShareOfBatches) {
  for (const std::string number : {"2", "-1", "nan"})
    expect_refusal("--min-success-rate=" + number,
                   "a least success rate of " + number + "; give 0 to 1");
  expect_refusal("--min-success-rate=most", "--min-success-rate=most is no number");
}

TEST(XpcsOptions, RefuseWhatIsNoNumberOfThreads) {
  for (const std::string number : {"0", "-1", "1025"})
    expect_refusal("--threads=" + number, "--threads=" + number + ": give 1 to 1024");
}

TEST(XpcsOptions, RefuseAFolderThatIsAFileOrLiesInOne) {
  const auto file = fresh_folder("xpcs_no_folder") / "file";
  std::ofstream(file) << "a file";
  for (const auto& path : {file, file / "within" / "it"})
    expect_refusal("--checkpoint-dir=" + path.string(), file.string() + " is no folder");
}

TEST(XpcsStatusCase, TellsWhatFitsRunOnWhereOneAsks) {
  const std::string status = alone + "--device=host --tier=full --filter=device/status";
  const Said silent = run(status), asked = run("HOLDFAST_LOG=info " + status);
  ASSERT_EQ(asked.exit, 0) << asked.words;
  EXPECT_THAT(asked.words, testing::HasSubstr(": fits go to "));
  EXPECT_THAT(asked.words, testing::HasSubstr(", performance "));
  EXPECT_THAT(silent.words, testing::Not(testing::HasSubstr(": fits go to ")));
}

// A dry device, too, reports every chunk when it is done, and transfers nothing for it.
TEST(XpcsProgressCase, CountsTheChunksOfEightPasses) {
  const auto file = fresh_folder("xpcs_progress") / "results.json";
  for (const std::string device : {"host", "cuda-dry:sm_90"}) {
    const Said said =
        run(alone + "--tier=full --filter=progress/chunks:24/size:t/f64 --device=" + device +
            " --out=" + file.string());
    if (said.exit == 77) continue;  // no CUDA was built
    ASSERT_EQ(said.exit, 0) << said.words;
    EXPECT_EQ(metric_of(file, "chunks"), 8 * 24) << device;
    if (device == "host") continue;
    for (const std::string none : {"syncs", "h2d_bytes", "d2h_bytes"})
      EXPECT_EQ(metric_of(file, none), 0) << none;
  }
}

// Vectors of four pad less than vectors of eight.
TEST(XpcsMemoryCase, OfAStreamIsItsFormulaWithEitherWidthOfVectors) {
  const auto file = fresh_folder("xpcs_widths") / "results.json";
  for (const std::string isa : {"HOLDFAST_ISA=x86-64-v3 ", ""}) {
    const Said said =
        run(isa + XPCS_FIT_BINARY " --device=host --filter=stream/memory/batches:8 --out=" +
            file.string());
    ASSERT_EQ(said.exit, 0) << said.words;
    EXPECT_EQ(metric_of(file, "estimate_ratio"), 1) << isa;
    EXPECT_LT(metric_of(file, "heap_growth_bytes"), 4096 * 8) << isa << " keeps batches";
  }
}

// Failures of a run, not bad input: they report what was reached.
TEST(XpcsFailures, OfTooFewBatchesTellTheBestParameters) {
  const Said said =
      run(alone +
          "--device=host --tier=full --filter=stream/faults/probability:0/permanent:3 "
          "--min-success-rate=0.95");
  EXPECT_EQ(said.exit, 1) << said.words;
  EXPECT_THAT(said.words, testing::HasSubstr(
                              "success_rate_too_low: 0.944444 of the batches are left in pass 0, "
                              "less than 0.95; the best parameters so far are 0.5, 1.05, 1500"));
}

TEST(XpcsFailures, OfMemoryTellWhatWasHeldAndAllowed) {
  const Said said = run("HOLDFAST_MEMORY_LIMIT_GB=0.005 " + alone +
                        "--device=host --tier=full "
                        "--filter=fit/strategy:standard/source:resident/mode:laminar/size:s/");
  EXPECT_EQ(said.exit, 3) << said.words;
  EXPECT_THAT(said.words, testing::HasSubstr(
                              "failed to allocate 'inputs': it asks for 7200000 bytes where 0 are "
                              "held and 5000000 allowed; choose a smaller size or raise "
                              "HOLDFAST_MEMORY_LIMIT_GB"));
}

}  // namespace
}  // namespace holdfast
