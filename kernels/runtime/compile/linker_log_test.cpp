// SPDX-License-Identifier: Apache-2.0
// nvJitLink's report on a program, read number by number: all numbers differ, so that one read from
// the wrong place shows. And what the PTX says of launches.
#include <gmock/gmock.h>

#include "runtime/compile/nvrtc.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

constexpr std::string_view log =
    "ptxas info    : 28 bytes gmem, 24 bytes cmem[4]\n"
    "ptxas info    : Function properties for _Z4deepPKdi\n"
    "ptxas         .     552 bytes stack frame, 33 bytes spill stores, 34 bytes spill loads\n"
    "ptxas info    : Compile time = 16.515 ms\n"
    "ptxas info    : Compiling entry function '_Z5sharePf' for 'sm_90'\n"
    "ptxas info    : Function properties for _Z5sharePf\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 11 registers, used 1 barriers, 400 bytes smem\n"
    "ptxas info    : Compile time = 1.574 ms\n"
    "ptxas info    : Compiling entry function '_Z5spillPdi' for 'sm_90'\n"
    "ptxas info    : Function properties for _Z5spillPdi\n"
    "ptxas         .     1015 bytes stack frame, 1696 bytes spill stores, 1920 bytes spill loads\n"
    "ptxas info    : Used 63 registers, used 0 barriers\n"
    "ptxas info    : Compile time = 18.304 ms\n"
    "info    : 28 bytes gmem\n"
    "info    : Function properties for '_Z5spillPdi':\n"
    "info    : used 64 registers, used 0 barriers, 1016 stack, 0 bytes smem, 540 bytes cmem[0], "
    "3 bytes lmem\n"
    "info    : Function properties for '_Z5sharePf':\n"
    "info    : used 12 registers, used 1 barriers, 8 stack, 1424 bytes smem, 536 bytes cmem[0], "
    "5 bytes lmem\n";

struct LinkerLog : testing::Test {
  LinkerLog() { read_resources(log, 1024, kernels); }

  std::vector<Artifact::Entry> kernels = {{.name = "_Z5sharePf"}, {.name = "_Z5spillPdi"}};
  const Artifact::Entry &share = kernels[0], &spill = kernels[1];
};

TEST_F(LinkerLog, RegistersAreTheLinkers) {
  EXPECT_EQ(share.registers, 12);
  EXPECT_EQ(spill.registers, 64);
}

TEST_F(LinkerLog, SpillsAreStoresAndLoadsAndThoseOfTheFunctionsOfItsProgram) {
  EXPECT_EQ(share.spill_bytes, 33 + 34);
  EXPECT_EQ(spill.spill_bytes, 1696 + 1920 + 33 + 34);
}

TEST_F(LinkerLog, SharedMemoryIsWithoutTheSystems) {
  EXPECT_EQ(share.shared_bytes, 400);
  EXPECT_EQ(spill.shared_bytes, 0);
}

TEST_F(LinkerLog, LocalMemoryIsTheLinkersStack) {
  EXPECT_EQ(share.local_bytes, 8);
  EXPECT_EQ(spill.local_bytes, 1016);
}

TEST_F(LinkerLog, ItSaysWhatDeviceMemoryAProgramHoldsByItself) {
  EXPECT_EQ(static_bytes(log), 28);
  EXPECT_THAT(refusal_of([] { (void)static_bytes("no such words"); }, Fault::compile),
              testing::HasSubstr("nvJitLink does not report it"));
}

TEST_F(LinkerLog, AKernelThatItDoesNotNameIsAnError) {
  std::vector<Artifact::Entry> other = {{.name = "_Z5otherPf"}};
  EXPECT_THAT(refusal_of([&] { read_resources(log, 1024, other); }, Fault::compile),
              testing::HasSubstr("failed to read the resources of kernel _Z5otherPf"));
}

TEST_F(LinkerLog, NumbersThatItSaysInOtherWordsAreAnErrorAndNotNone) {
  for (const std::string_view words : {" bytes spill stores", " bytes spill loads",
                                       " registers, used 0", " stack", " bytes smem"}) {
    std::string other(log);
    for (auto at = other.find(words); at != other.npos; at = other.find(words, at))
      other.replace(at, words.size(), " octets");
    EXPECT_THAT(refusal_of([&] { read_resources(other, 1024, kernels); }, Fault::compile),
                testing::HasSubstr("nvJitLink does not report them"))
        << words;
  }
}

TEST(LaunchBounds, AreThoseOfTheKernelOfThatNameAndTheirProduct) {
  constexpr std::string_view ptx =
      ".visible .entry _Z5sharePf(\n\t.param .u64 _Z5sharePf_param_0\n)\n.maxntid 32, 4, 2\n"
      ".minnctapersm 2\n{\n\tret;\n}\n.entry _Z5share(\n)\n{\n}\n"
      ".entry _Z5exactv()\n.reqntid 96\n{\n}\n";
  EXPECT_EQ(most_threads(ptx, "_Z5sharePf"), 256);
  EXPECT_EQ(most_threads(ptx, "_Z5share"), 0);
  EXPECT_EQ(most_threads(ptx, "_Z5exactv"), 96);
  EXPECT_THAT(refusal_of([&] { (void)most_threads(ptx, "_Z5other"); }, Fault::compile),
              testing::HasSubstr("the launch bounds of kernel _Z5other"));
}

}  // namespace
}  // namespace holdfast
