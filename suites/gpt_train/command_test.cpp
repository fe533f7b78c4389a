// SPDX-License-Identifier: Apache-2.0
// The real binary as a user types it: its list, its options, its answers to nonsense.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "harness/testing/pprof.hpp"
#include "harness/testing/told.hpp"

namespace holdfast {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

std::set<std::string> listed(const std::string& options = "", const std::string& kind = "host") {
  return listed_ids(GPT_TRAIN_BINARY " " + options, kind);
}

// The suite on one thread, for claims that are not about speed: each run first measures the host's
// limits, which takes as long for each thread.
const std::string alone = "HOLDFAST_NUM_THREADS=1 " GPT_TRAIN_BINARY " ";

TEST(GptCases, AreThoseOfTheSpecificationOnAHost) {
  EXPECT_THAT(listed(),
              IsSupersetOf(std::set<std::string>{
                  "forward/model:tiny/docs:0/f32", "forward_backward/model:tiny/docs:0/f32",
                  "forward_backward/model:micro/docs:1/f64", "layer/pass:fwd/model:tiny/docs:0/f32",
                  "attention/pass:bwd/model:tiny/docs:1/f32", "lm_head/model:tiny/f32",
                  "optimizer/opt:muon/model:tiny/f32",
                  "train_step/model:tiny/opt:multiscale/docs:0/launch:host/f32",
                  "train_step/model:small/opt:adamw/docs:1/launch:host/f32",
                  "memory/model:tiny/opt:adamw/f32", "in_turn/model:tiny/f32",
                  "data_pipeline/overlap:1/model:tiny/f32",
                  "newton_schulz/rows:128/columns:384/batch:6/f32",
                  "newton_schulz/rows:384/columns:128/batch:6/f32"}));
}

TEST(GptCases, AreThoseOfTheSpecificationOnADevice) {
  for (const std::string kind : {"cuda", "cuda-dry"})
    EXPECT_THAT(
        listed("", kind),
        IsSupersetOf(std::set<std::string>{
            "forward_backward/model:llama3-150m/docs:0/bf16",
            "layer/pass:bwd/model:tiny/docs:0/bf16", "attention/pass:fwd/model:tiny/docs:1/bf16",
            "lm_head/model:gpt2-124m/bf16", "optimizer/opt:multiscale/model:tiny/bf16",
            "train_step/model:tiny/opt:muon/docs:0/launch:host/bf16",
            "train_step/model:tiny/opt:muon/docs:0/launch:graph/bf16",
            "train_step/model:llama3-150m/opt:multiscale/docs:0/launch:graph/bf16",
            "train_step/model:gpt2-124m/opt:adamw/docs:0/launch:graph/bf16",
            "memory/model:llama3-150m/opt:adamw/bf16", "data_pipeline/overlap:1/model:tiny/bf16",
            "newton_schulz/rows:1024/columns:3584/batch:24/bf16",
            "compile/first_call/model:tiny/opt:adamw/bf16",
            "compile/shape_change/model:tiny/bf16"}));
}

TEST(GptCases, GateInAtMostTwelveOnAHostAndTwentyFiveOnADevice) {
  EXPECT_LE(gating_cases(GPT_TRAIN_BINARY, "host"), 12);
  EXPECT_LE(gating_cases(GPT_TRAIN_BINARY, "cuda-dry"), 25);
}

TEST(GptCommand, OptionsChangeTheRowsThatTheySpeakOf) {
  EXPECT_THAT(listed("--opt=muon"),
              Contains("train_step/model:tiny/opt:muon/docs:0/launch:host/f32"));
  EXPECT_THAT(listed("--opt=muon"),
              Not(Contains("train_step/model:tiny/opt:adamw/docs:0/launch:host/f32")));
  EXPECT_THAT(listed("--batch=4 --seq=64"),
              Contains("train_step/model:tiny/opt:adamw/docs:0/launch:host/batch:4/seq:64/f32"));
}

// Also for the case whose rows end in padding.
TEST(GptCommand, RowsMayBeOfTwoTokens) {
  EXPECT_THAT(listed("--seq=2"), Contains("forward_backward/model:micro/docs:1/seq:2/f64"));
  const Said said = run(alone + "--filter=forward_backward/model:micro --seq=2 --batch=9");
  EXPECT_EQ(said.exit, 0) << said.words;
}

// Nothing is published for such a size, so plain loops answer.
TEST(GptCommand, MemoryIsVerifiedAtASizeOfOnesOwn) {
  const Said said = run(alone + "--filter=memory/model:tiny --batch=3 --seq=20");
  EXPECT_EQ(said.exit, 0) << said.words;
}

TEST(GptCommand, NonsenseIsRefusedWithFieldValueAndLimit) {
  expect_nonsense(GPT_TRAIN_BINARY,
                  {{"--batch=0", "batch = 0: it must be at least 1"},
                   {"--seq=1", "seq = 1: it must be at least 2"},
                   {"--w0=1.5", "w0 = 1.5: warm-up is a share from 0 to 1"},
                   {"--lr=nan", "lr = nan: it must be a finite number"},
                   {"--lr=fast", "--lr=fast is no number"},
                   {"--fetch=never", "unknown fetch 'never'; use one of step, ahead"},
                   {"--opt=sgd", "unknown optimizer 'sgd'; use one of adamw, muon, multiscale"}});
}

// The sentences are those of suites/README.md.
TEST(GptCommand, AProfileThatCannotBeSaysWhyAndWhatToDo) {
  const std::string in_folder = fresh_folder("gpt_no_profile").string();
  expect_nonsense(
      GPT_TRAIN_BINARY,
      {{"--profile-steps=1", "nothing is to be profiled; add --profile=DIR or --trace=DIR"},
       {"--filter=memory/model:tiny --trace=" + in_folder,
        "none of the chosen cases is made of steps, so nothing was profiled"},
       {"--filter=lm_head --profile=/proc/profiles",
        "--profile=/proc/profiles: cannot be made a folder ("},
       {"--filter=lm_head --out=/proc/results.json",
        "the folder /proc cannot be written to; choose another or change its permissions"},
       {"--assert-mean=0", "--assert-mean=0: give seconds above zero"}});
}

// A rate that overflows: the training stops, both measured and profiled, and its result is wrong.
TEST(GptCommand, ALossThatIsNoNumberStopsTheTrainingWithItsStep) {
  for (const std::string& how : {std::string(), " --profile=" + fresh_folder("gpt_nan").string()}) {
    const Said said =
        run(alone + "--filter=train_step/model:tiny/opt:adamw/docs:0 --lr=1e308" + how);
    EXPECT_EQ(said.exit, 1) << said.words;
    EXPECT_THAT(said.words, HasSubstr("Loss is NaN, stopping training at step 1"));
  }
}

TEST(GptCommand, WhatDoesNotFitIsToldBeforeItIsAllocated) {
  const Said said = run("HOLDFAST_MEMORY_LIMIT_GB=0.001 " + alone +
                        "--filter=forward_backward/model:tiny/docs:0");
  EXPECT_EQ(said.exit, 3) << said.words;
  EXPECT_THAT(said.words, HasSubstr("bytes (parameters and gradients 5248000, moments 0, "));
  EXPECT_THAT(said.words, HasSubstr("and 1000000 are free; choose a smaller batch, seq or model"));
}

TEST(GptCommand, ABatchThatNoMachineHoldsIsListedAndToldTheSame) {
  const std::string huge = alone + "--batch=1000000000 ";
  EXPECT_EQ(run(huge + "--list").exit, 0);
  const Said said = run(huge + "--filter=forward_backward/model:tiny/docs:1 --tier=full");
  EXPECT_EQ(said.exit, 3) << said.words;
  EXPECT_THAT(said.words, HasSubstr("it would hold "));
  EXPECT_THAT(said.words, HasSubstr("are free; choose a smaller batch, seq or model"));
}

// The command for `steps` steps of the published benchmark.
std::string mean_of(int steps) {
  return text(GPT_TRAIN_BINARY, " --filter=train_step/model:tiny/opt:adamw/docs:0 --profile=",
              fresh_folder(text("gpt_mean_", steps)).string(), " --profile-steps=", steps);
}

TEST(GptCommand, AMeanStepIsHeldToItsAssertion) {
  const Said said = run("HOLDFAST_NUM_THREADS=1 " + mean_of(3) + " --assert-mean=1e-9");
  EXPECT_EQ(said.exit, 1);
  EXPECT_THAT(said.words, HasSubstr("over 3 steps, --assert-mean=1e-09 allows less"));
}

TEST(NightlyGptCommand, AMeanStepIsBelowThePublishedOne) {
  const Said said = run(mean_of(100) + " --assert-mean=0.15");
  EXPECT_EQ(said.exit, 0) << said.words;
}

TEST(GptCommand, ATraceShowsWhoFetchesAheadOfAStep) {
  const auto folder = fresh_folder("gpt_fetch");
  const Said said = run(GPT_TRAIN_BINARY
                        " --filter=train_step/model:tiny/opt:adamw/docs:0 --fetch=ahead"
                        " --profile-steps=2 --trace=" +
                        folder.string());
  ASSERT_EQ(said.exit, 0) << said.words;
  const std::string trace = read(std::filesystem::directory_iterator(folder)->path());
  EXPECT_THAT(trace, HasSubstr("worker: fetch ahead"));
  EXPECT_THAT(trace, HasSubstr("\"fetch_batch\""));
}

TEST(GptCommand, WindowsOfAProfileBeginAtMultiplesOfWhatIsAsked) {
  const auto folder = fresh_folder("gpt_windows");
  const Said said =
      run(GPT_TRAIN_BINARY " --filter=forward_backward/model:micro --profile=" + folder.string() +
          " --profile-every=3 --profile-steps=2 --profile-windows=3");
  ASSERT_EQ(said.exit, 0) << said.words;
  std::vector<int> begins;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto profile = nlohmann::json::parse(read(entry.path()));
    for (const auto& window : profile.at("windows")) {
      begins.push_back(window.at("first_step").get<int>());
      EXPECT_EQ(window.at("steps"), 2);
    }
  }
  EXPECT_EQ(begins, (std::vector{3, 6, 9}));
}

#ifdef HOLDFAST_CUDA
const std::string dry = GPT_TRAIN_BINARY " --device=cuda-dry:sm_90 ";

TEST(GptCommand, ABatchThatNoHostHoldsIsToldOfADryDeviceToo) {
  const Said said = run(dry + "--batch=1000000000 --filter=forward_backward/model:tiny/docs:0");
  EXPECT_EQ(said.exit, 3) << said.words;
  EXPECT_THAT(said.words, HasSubstr("its host would hold 2176000000000 bytes (a batch of"));
}

TEST(GptCommand, ACompilationsReasonNamesTheWidthOfAHead) {
  const Said said = run("HOLDFAST_LOG_COMPILES=1 " + dry + "--filter=shape_change");
  EXPECT_EQ(said.exit, 0) << said.words;
  EXPECT_THAT(said.words, HasSubstr("entries changed: attend<32> -> attend<64>"));
}

TEST(GptCommand, ATraceThatIsTooLargeIsCutAndSaysWhatFits) {
  const auto folder = fresh_folder("gpt_large_trace");
  const Said said = run(dry +
                        "--filter=train_step/model:tiny/opt:multiscale/docs:0/launch:host/bf16 "
                        "--variant=reference --profile-steps=100 --trace=" +
                        folder.string());
  EXPECT_EQ(said.exit, 0) << said.words;
  EXPECT_THAT(said.words, HasSubstr("of 100 profiled steps whole; take a smaller one with "
                                    "--profile-steps="));
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_LE(entry.file_size(), 5'000'000u);
    EXPECT_TRUE(nlohmann::json::accept(read(entry.path())));
  }
}

// Every byte of the peak has a site, and a site says what it holds.
TEST(GptCommand, TheMemoryProfileAddsUpToThePeak) {
  const auto folder = fresh_folder("gpt_memory");
  const auto out = folder / "result.json";
  const std::string step =
      dry + "--filter=train_step/model:tiny/opt:muon/docs:0/launch:graph/bf16 ";
  ASSERT_EQ(run(step + "--out=" + out.string()).exit, 0);
  ASSERT_EQ(run(step + "--memory-profile=" + folder.string()).exit, 0);
  EXPECT_THAT(
      pprof::sites_of_peak(folder, "optimized", metric_of(out, "peak_bytes")),
      IsSupersetOf({"parameters: copy", "state: parameters", "state: moments", "result: gradients",
                    "result: losses", "activations", "logits", "inputs", "blas work area"}));
}

// A step transfers only a batch and a loss; a pass transfers nothing.
TEST(GptCommand, TransfersAreForbiddenWhereAskedForAndAbsentInAPass) {
  const std::string guarded = "HOLDFAST_TRANSFER_GUARD=error " + dry;
  EXPECT_EQ(run(guarded + "--filter='(forward_backward|lm_head)/model:tiny'").exit, 0);
  const Said step = run(guarded + "--filter=train_step/model:tiny/opt:adamw/docs:0/launch:graph");
  EXPECT_EQ(step.exit, 1) << step.words;
  EXPECT_THAT(step.words, HasSubstr("3136 bytes"));
}
#endif

}  // namespace
}  // namespace holdfast
