// SPDX-License-Identifier: Apache-2.0
// The real binary as a user types it: its list, and its answers to invalid input.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "families/known.hpp"
#include "harness/testing/told.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;

// With one thread: each run on a host first calibrates, which takes as long for each thread.
Said suite(const std::string& options) {
  return run("HOLDFAST_NUM_THREADS=1 " CLUSTERLESS_KDE_BINARY " " + options);
}

// Runs the binary once for each set of options.
const std::set<std::string>& listed(const std::string& options = "") {
  static Known<std::string, std::set<std::string>> known;
  return known.of(options, [&] { return listed_ids(CLUSTERLESS_KDE_BINARY " " + options); });
}

using Words = std::vector<std::string>;

// Every combination of the words in place of the %s of a name.
Words names(const std::string& pattern, const std::vector<Words>& words) {
  Words all = {""};
  std::size_t begin = 0;
  for (const Words& some : words) {
    const std::size_t end = pattern.find('%', begin);
    Words longer;
    for (const std::string& name : all)
      for (const std::string& word : some)
        longer.push_back(name + pattern.substr(begin, end - begin) + word);
    all = std::move(longer);
    begin = end + 1;
  }
  for (std::string& name : all) name += pattern.substr(begin);
  return all;
}

TEST(Cases, AreAllThatTheSpecificationNames) {
  const Words sizes = {"tiny", "small", "medium", "large", "realistic"},
              cells = {"tiny", "small", "medium", "large"}, types = {"f32", "f64"};
  const std::set<std::string> ids = listed();
  for (const Words& family :
       {names("encode/size:%/data:profile/f32", {sizes}),
        names("decode/size:%/data:profile/f32", {sizes}),
        names("total/size:%/data:profile/f32", {sizes}),
        names("decode/size:%/data:cells/%", {cells, types}),
        names("local/size:%/data:profile/f32", {sizes}),
        names("strategy/algo:%/tile:%/size:medium/electrodes:1/f32",
              {{"linear", "lse", "clm", "fused"}, {"0", "100"}}),
        names("strategy/algo:%/tile:0/size:%/electrodes:%/f32", {{"fused"}, {"medium"}, {"16"}}),
        names("features/features:%/distance:%/f32",
              {{"2", "4", "6", "8", "10"}, {"difference", "expanded"}}),
        names("tune/block:%/size:medium/bins:500/f32", {{"10", "25", "50", "100", "200", "500"}}),
        names("tune/block:%/size:realistic/bins:2000/f32",
              {{"10", "25", "50", "100", "200", "500"}}),
        names("tune/pos_tile:%/size:realistic/bins:%/f32",
              {{"64", "128", "200", "256", "500", "1000", "2000"}, {"2000", "4000"}}),
        names("tune/enc_tile:%/size:realistic/bins:2000/f32", {{"128", "512", "2048"}}),
        names("grid/size:medium/bins:%/f32", {{"250", "500", "1000", "2000"}}),
        names("precision/arithmetic:%/size:medium/data:%/f32",
              {{"f32", "bf16x3", "tf32"}, {"profile", "cells"}}),
        names("precision/arithmetic:f64/size:medium/data:%/f64", {{"profile", "cells"}}),
        names("compile/%/size:medium/f32", {{"first_call", "shape_change"}}),
        names("compile/matrix/size:%/f32", {{"hpc1d", "hpc2d", "tet64"}}),
        names("memory/size:%/data:profile/f32", {sizes}),
        names("memory/micro/encoding:%/decoding:25/bins:100/f32", {{"50"}}),
        names("memory/micro/encoding:%/decoding:100/bins:500/f32", {{"200"}}),
        names("memory/micro/encoding:%/decoding:250/bins:1000/f32", {{"500"}}),
        names("production/size:%/scale:%/cut:0/%",
              {{"tet64", "hpc1d", "hpc2d"}, {"1", "16", "64"}, types}),
        names("production/size:%/scale:%/cut:1/%", {{"hpc1d", "hpc2d"}, {"1", "16", "64"}, types}),
        names("budget/limit:%/size:hpc2d/scale:%/f32", {{"8gib", "2gib", "512mib"}, {"1", "16"}}),
        names("budget/limit:%/size:hpc2d/scale:16/f32", {{"128mib", "16mib", "2400kib"}}),
        names("budget/limit:30mib/size:%/scale:1/f32", {{"realistic"}}),
        names("sparse/size:%/f32", {{"small", "medium"}}),
        names("in_turn/size:medium/data:profile/f32", {})})
    for (const std::string& id : family) EXPECT_TRUE(ids.contains(id)) << id;
}

struct Invalid {
  const char* name;
  const char* options;
  std::vector<const char*> words;
};
void PrintTo(const Invalid& given, std::ostream* out) {
  *out << given.options;
}

struct Refused : testing::TestWithParam<Invalid> {};

TEST_P(Refused, IsOneSentenceAndUsage) {
  const Said said = suite(GetParam().options);
  EXPECT_EQ(said.exit, 2);
  for (const char* words : GetParam().words) EXPECT_THAT(said.words, HasSubstr(words));
}

INSTANTIATE_TEST_SUITE_P(
    Options, Refused,
    testing::Values(
        Invalid{"size", "--size=giant", {"unknown size", "giant", "realistic", "hpc2d"}},
        Invalid{"data", "--data=noise", {"noise", "profile", "cells", "whiten"}},
        Invalid{"arithmetic", "--arithmetic=f16", {"f16", "f32", "bf16x3", "f64"}},
        Invalid{"algorithm", "--algo=fast", {"unknown algo", "linear", "lse", "clm", "fused"}},
        Invalid{"distance", "--distance=far", {"far", "difference", "expanded"}},
        Invalid{"device", "--device=tpu", {"tpu", "host", "cuda-dry"}},
        Invalid{"block", "--block-size=0", {"block size 0"}},
        Invalid{"places", "--pos-tile-size=-1", {"tile size -1"}},
        Invalid{"spikes", "--enc-tile-size=0", {"tile size 0"}},
        Invalid{"scale", "--scale=0", {"scale"}},
        Invalid{"bins", "--bins=0", {"no place bins", "0"}},
        Invalid{"fewer_bins", "--bins=-3", {"no place bins", "-3"}},
        Invalid{"bins_of_the_maze", "--size=hpc2d --bins=5", {"719 place bins", "5 asked for"}},
        Invalid{"features", "--features=0", {"feature count 0"}},
        Invalid{"budget", "--budget-mib=0", {"budget 0"}},
        Invalid{"psi", "--psi=kept", {"kept", "stored", "recomputed"}},
        Invalid{"psi_in_the_maze", "--psi=recomputed --size=hpc2d", {"nodes", "psi:stored"}},
        Invalid{"floor", "--floor=2", {"floor 2", "neither 1", "nor 0"}},
        Invalid{"floor_of_a_cut", "--floor=0 --cut", {"floor 0", "local"}},
        Invalid{"linear_expanded",
                "--algo=linear --distance=expanded --filter=decode/size:tiny",
                {"linear", "expanded"}}),
    [](const auto& one) { return one.param.name; });

TEST(Options, LeaveOutTheRowsThatHaveNoRoomForThem) {
  const auto some = [](const std::set<std::string>& ids, const char* words) {
    return std::any_of(ids.begin(), ids.end(),
                       [&](const std::string& id) { return id.find(words) != std::string::npos; });
  };
  EXPECT_TRUE(some(listed("--size=tiny"), "decode/size:tiny"));
  EXPECT_FALSE(some(listed("--size=tiny"), "production"));
  EXPECT_TRUE(some(listed("--algo=clm"), "production"));
  EXPECT_FALSE(some(listed("--algo=clm"), "cut:1"));
  // The maze has its own places.
  EXPECT_TRUE(some(listed("--size=hpc2d"), "decode/size:hpc2d"));
  EXPECT_FALSE(some(listed("--size=hpc2d"), "grid"));
  EXPECT_TRUE(some(listed("--bins=300"), "production/size:hpc1d"));
  EXPECT_FALSE(some(listed("--bins=300"), "size:hpc2d"));
  // Only a decode computes mark distances, in tiles or with a cut.
  for (const char* option :
       {"--cut", "--distance=expanded", "--pos-tile-size=64", "--enc-tile-size=64"}) {
    EXPECT_TRUE(some(listed(option), "decode/")) << option;
    EXPECT_FALSE(some(listed(option), "encode/")) << option;
    EXPECT_FALSE(some(listed(option), "local/")) << option;
  }
  EXPECT_TRUE(some(listed("--block-size=50"), "encode/"));  // of the reference
  // Psi exists only where there are nodes, and a host always keeps it.
  EXPECT_TRUE(some(listed("--psi=recomputed"), "decode/size:medium"));
  EXPECT_FALSE(some(listed("--psi=recomputed"), "decode/size:small"));
  EXPECT_FALSE(some(listed("--psi=recomputed"), "local/"));
  // Only the local likelihood can do without its floor.
  EXPECT_TRUE(some(listed("--floor=0"), "local/size:medium"));
  EXPECT_FALSE(some(listed("--floor=0"), "decode/"));
  // A decode through nodes has no cut.
  EXPECT_TRUE(some(listed("--cut"), "production/size:hpc1d/scale:64/cut:1/f32"));
  EXPECT_FALSE(some(listed("--cut"), "production/size:tet64/scale:64/cut:1/f32"));
  EXPECT_TRUE(some(listed("--size=tet64"), "production/size:tet64/scale:64/cut:0/f32"));
  EXPECT_FALSE(some(listed("--size=tet64"), "production/size:tet64/scale:64/cut:1/f32"));
}

TEST(Production, IsPutBesidePublishedSecondsWhereTheyAreOfTheSameDecode) {
  const auto told = [](const char* decode) {
    return suite(text("--list=json --filter=production/size:tet64/", decode)).words;
  };
  EXPECT_THAT(told("scale:1/cut:0/f32"),
              testing::AllOf(HasSubstr("vs_seed_decode"), HasSubstr("vs_seed_rewrite")));
  for (const char* other : {"scale:1/cut:0/f64", "scale:16/cut:0/f32"})
    EXPECT_THAT(told(other), testing::Not(HasSubstr("vs_seed"))) << other;
}

// Peaks of a decode of the smallest size: of the optimized variant, of the reference.
std::pair<double, double> peaks(const std::string& option = "") {
  const auto out = fresh_folder("clusterless_kde_options") / "out.json";
  const Said said = run("HOLDFAST_CEILINGS=none HOLDFAST_NUM_THREADS=1 " CLUSTERLESS_KDE_BINARY
                        " --tier=full --filter=memory/size:tiny --out=" +
                        out.string() + " " + option);
  EXPECT_EQ(said.exit, 0) << said.words;
  return {metric_of(out, "peak_bytes"), metric_of(out, "peak_bytes", "reference")};
}

TEST(Options, ChangeWhatIsComputed) {
  const auto usual = peaks();
  for (const char* option : {"--seed=7", "--features=3", "--scale=2", "--bins=60"}) {
    EXPECT_NE(peaks(option).first, usual.first) << option;
    EXPECT_NE(peaks(option).second, usual.second) << option;
  }
  EXPECT_LT(peaks("--block-size=3").second, usual.second);  // the reference's, too
  EXPECT_TRUE(listed("--arithmetic=f64").contains("decode/size:tiny/data:profile/f64"));
}

#ifdef HOLDFAST_CUDA
TEST(Budget, ThatIsTooSmallSaysHowMuchADecodeNeeds) {
  const Said said =
      suite("--device=cuda-dry:sm_90 --filter=budget/limit:.*/scale:16 --budget-mib=1");
  EXPECT_EQ(said.exit, 2);
  EXPECT_THAT(said.words, testing::ContainsRegex("needs at least [0-9]+ bytes"));
}
#endif

}  // namespace
}  // namespace holdfast
