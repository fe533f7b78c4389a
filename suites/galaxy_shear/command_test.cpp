// SPDX-License-Identifier: Apache-2.0
// The real binary as a user types it: its options, its answers to nonsense, and the flags that
// report compilations and transfers.
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <utility>

#include "harness/testing/pprof.hpp"
#include "harness/testing/told.hpp"

namespace holdfast {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Said suite(const std::string& options, const std::string& flags = "") {
  return run(flags + " " GALAXY_SHEAR_BINARY " " + options);
}

std::set<std::string> listed(const std::string& options = "") {
  return listed_ids(GALAXY_SHEAR_BINARY " " + options);
}

TEST(GalaxyShearCommand, OptionsChangeTheRowsThatTheySpeakOf) {
  const auto ids = listed("--num-steps=7 --fft-size=64 --image-size=33");
  EXPECT_THAT(ids, Contains("render/fft:64/image:33/batch:1/psf:gaussian/f64"));
  EXPECT_THAT(ids, Contains("map/fft:64/image:33/batch:1/psf:gaussian/latents:4/steps:7/"
                            "launch:persistent/f64"));
  const std::string changes = "compile/shape_change/fft:128/image:48/f64";
  EXPECT_THAT(listed(), Contains(changes));
  EXPECT_THAT(listed("--skip-recompilation-check"), Not(Contains(changes)));
  EXPECT_EQ(listed("--light=exponential"), listed());
}

// Every pull request waits for this tier.
TEST(GalaxyShearCommand, TheGatesTierStaysSmall) {
  for (const auto& [kind, most] : {std::pair{"host", 22}, {"cuda-dry", 25}}) {
    EXPECT_GT(gating_cases(GALAXY_SHEAR_BINARY, kind), 0);
    EXPECT_LE(gating_cases(GALAXY_SHEAR_BINARY, kind), most);
  }
}

TEST(GalaxyShearCommand, TwoFitsByTurnsAreEachItsOwn) {
  const auto out = fresh_folder("galaxy_shear_turns") / "result.json";
  // Each run on a host first measures the host's limits, which takes as long for each thread.
  const Said said =
      suite("--tier=full --filter=/in_turn/ --out=" + out.string(), "HOLDFAST_NUM_THREADS=1");
  ASSERT_EQ(said.exit, 0) << said.words;
  for (const std::string variant : {"optimized", "reference"})
    EXPECT_EQ(metric_of(out, "allclose", variant), 1);
}

TEST(GalaxyShearCommand, NonsenseIsRefusedWithFieldValueAndLimit) {
  expect_nonsense(GALAXY_SHEAR_BINARY,
                  {{"--fft-size=96", "fft = 96: it must be a power of two from 16 to 1024"},
                   {"--image-size=0", "image = 0: a stamp has at least one pixel"},
                   {"--image-size=129", "image 129 does not fit in fft 128"},
                   {"--num-steps=0", "num-steps = 0: a fit has at least one step"},
                   {"--lr=0", "learning rate = 0: it must be positive"},
                   {"--lr=-0.1", "learning rate = -0.1: it must be positive"},
                   {"--lr=fast", "--lr=fast is no number"},
                   {"--light=sersic", "light = sersic: a galaxy is an exponential disc; Sersic"},
                   {"--trace=/proc/none --filter=steps:5/", "--trace=/proc/none: cannot be made"}});
}

#ifdef HOLDFAST_CUDA
const std::string dry = "--device=cuda-dry:sm_90 ";

TEST(GalaxyShearCommand, ACompilationsReasonNamesTheConstantThatChanged) {
  const Said said = suite(dry + "--filter=shape_change", "HOLDFAST_LOG_COMPILES=1");
  EXPECT_EQ(said.exit, 0) << said.words;
  EXPECT_THAT(said.words,
              AllOf(HasSubstr("optimized.cu"), HasSubstr("constant FFT: 128 -> 64"),
                    HasSubstr("constant IMAGE: 48 -> 33"), HasSubstr("constant PSF_TABLE: 0 -> 1"),
                    HasSubstr("-> fit<float, 128, 48, false>")));
}

TEST(GalaxyShearCommand, AStampTooLargeForAFitInOneLaunchIsRefused) {
  const Said said =
      suite(dry + "--fft-size=512 --image-size=256 --filter=batch:1/.*launch:persistent/f64");
  EXPECT_EQ(said.exit, 2);
  EXPECT_THAT(said.words, HasSubstr("image 256 with fft 512 does not fit there; use a smaller"));
}

TEST(GalaxyShearCommand, TransfersAreForbiddenWhereTheFitIsWatchedAndAbsentElsewhere) {
  const std::string flag = "HOLDFAST_TRANSFER_GUARD=error";
  const Said watched = suite(dry + "--filter=steps:5/launch:host", flag);
  EXPECT_EQ(watched.exit, 1);
  EXPECT_THAT(watched.words, HasSubstr("downloads 8 bytes in a steady step"));
  const Said resident = suite(dry + "--filter='launch:(graph|persistent)/f64'", flag);
  EXPECT_EQ(resident.exit, 0) << resident.words;
}

// Every byte of the peak has a site, and a site says what it holds.
TEST(GalaxyShearCommand, TheMemoryProfileAddsUpToThePeak) {
  const auto folder = fresh_folder("galaxy_shear_memory");
  const auto out = folder / "result.json";
  const std::string filter =
      dry + "--filter=svi_step/fft:128/image:48/batch:64/psf:gaussian/latents:4/f64 ";
  ASSERT_EQ(suite(filter + "--out=" + out.string()).exit, 0);
  ASSERT_EQ(suite(filter + "--variant=both --memory-profile=" + folder.string()).exit, 0);
  const auto sites = [&](const std::string& variant) {
    return pprof::sites_of_peak(folder, variant, metric_of(out, "peak_bytes", variant));
  };
  (void)sites("reference");
  EXPECT_THAT(sites("optimized"), testing::ElementsAre("inputs", "inputs: starts", "optics",
                                                       "result", "roots", "state"));
}

TEST(GalaxyShearCommand, ASecondProcessFindsItsProgramsInTheCacheFolder) {
  const auto folder = fresh_folder("galaxy_shear_cache");
  const auto runs = [&] {
    const auto out = folder / "result.json";
    const Said said = suite(dry + "--filter=fft:64 --out=" + out.string(),
                            "HOLDFAST_CACHE_DIR=" + (folder / "programs").string());
    EXPECT_EQ(said.exit, 0) << said.words;
    return metric_of(out, "nvrtc_runs");
  };
  EXPECT_EQ(runs(), 1);
  EXPECT_EQ(runs(), 0);
}
#endif

}  // namespace
}  // namespace holdfast
