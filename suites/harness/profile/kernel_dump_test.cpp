// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/kernel_dump.hpp"

#include <gmock/gmock.h>

#include "base/testing/variable.hpp"
#include "harness/testing/shell.hpp"
#include "harness/testing/synthetic.hpp"

namespace holdfast {
namespace {

using nlohmann::json;
using Kind = Activity::Kind;

// Two steps, each with three launches of two kernels, a library call and a copy.
struct Dumped {
  Dumped() {
    program.functions.push_back({.expression = "stage<double>",
                                 .name = "_Z5stage",
                                 .registers = 70,
                                 .shared_bytes = 26624,
                                 .shapes = {{.grid = {2, 4, 6}, .block = {512}}}});
    program.functions.push_back({.expression = "edges", .kind = KernelKind::scatter});
    device.function("edges").kind = KernelKind::scatter;
    device.kernel("edges", 0, 0);  // in the warm-up
    for (int i = 0; i < 2; ++i)
      device.step([&] {
        device.kernel("stage<double>", 0, 0);
        device.kernel("edges", 0, 0);
        device.kernel("edges", 0, 0);
        device.slice(Kind::library, "gemm [1, 2, 3, 4] f64", 0, 0);
        device.slice(Kind::copy, "copy", 0, 0);
      });
    device.data.programs = {&program};
  }

  Compiled program = {.source_name = "toy/optimized.cu",
                      .reason = "first use",
                      .source = "__global__ void edges() {}",
                      .ptx = ".version 9.0",
                      .cubin = std::string("\x7f"
                                           "ELF\0x",
                                           6)};
  Synthetic device{false};
};

TEST(Launches, AreThoseOfOneStepByNameAndClass) {
  const Dumped dumped;
  const json expected = {{{"name", "copy"}, {"class", "copy"}, {"count", 1}},
                         {{"name", "edges"}, {"class", "scatter"}, {"count", 2}},
                         {{"name", "gemm [1, 2, 3, 4] f64"}, {"class", "gemm"}, {"count", 1}},
                         {{"name", "stage<double>"}, {"class", "fused"}, {"count", 1}}};
  EXPECT_EQ(launches_json(dumped.device.data), expected);
}

TEST(Resources, AreThoseOfEachKernelWithItsOccupancy) {
  const Dumped dumped;
  const json rows = resources_json(dumped.device.data);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0]["name"], "stage<double>");
  EXPECT_EQ(rows[0]["mangled"], "_Z5stage");
  EXPECT_EQ(rows[0]["registers"], 70);
  EXPECT_EQ(rows[0]["shapes"][0]["grid"], json({2, 4, 6}));
  EXPECT_EQ(rows[0]["shapes"][0]["occupancy"], 0.25);
  EXPECT_TRUE(rows[1]["shapes"].empty());
}

TEST(Dump, HoldsSourcePtxAndCubinAsTheyAre) {
  const Dumped dumped;
  const auto folder = fresh_folder("dump") / "case";
  dump_kernels(dumped.device.data, folder);
  EXPECT_EQ(read(folder / "toy.optimized.cu"), dumped.program.source);
  EXPECT_EQ(read(folder / "toy.optimized.ptx"), dumped.program.ptx);
  EXPECT_EQ(read(folder / "toy.optimized.cubin"), dumped.program.cubin);
  EXPECT_EQ(json::parse(read(folder / "launches.json")).size(), 4);
  EXPECT_EQ(json::parse(read(folder / "resources.json")).size(), 2);
}

TEST(Dump, NumbersTheProgramsOfOneSource) {
  Dumped dumped;
  dumped.device.data.programs.push_back(&dumped.program);
  const auto folder = fresh_folder("dump_twice");
  dump_kernels(dumped.device.data, folder);
  EXPECT_TRUE(std::filesystem::exists(folder / "toy.optimized.cu"));
  EXPECT_TRUE(std::filesystem::exists(folder / "toy.optimized.2.cu"));
}

class Disassembly : public testing::Test {
 protected:
  // A program that prints its arguments and the length of the file named last, and adds a line to
  // `runs`.
  std::filesystem::path install(const std::string& name, int status) {
    const auto file = programs / name;
    std::ofstream(file) << "#!/bin/sh\necho \"$0 $1\"; /usr/bin/wc -c < \"$2\"; echo >> '"
                        << runs.string() << "'; exit " << status << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }
  void pin(int status) { pinned = {.path = install("nvdisasm", status)}; }
  std::string sass() {
    const Variable path("PATH", programs);
    dump_kernels(Dumped().device.data, folder, pinned);
    return read(folder / "toy.optimized.sass");
  }
  Disassembler pinned = {};
  // Of each test another: what a program printed of a cubin is remembered.
  std::filesystem::path programs = fresh_folder(
      std::string("it's of ") + testing::UnitTest::GetInstance()->current_test_info()->name());
  std::filesystem::path folder = fresh_folder("disassembled");
  std::filesystem::path runs = fresh_folder("runs") / "of_programs";
};

TEST_F(Disassembly, IsThePinnedDisassemblersWhereThatIs) {
  pin(0);
  install("cuobjdump", 0);
  EXPECT_EQ(sass(), pinned.path + " --print-code\n6\n");
}

TEST_F(Disassembly, IsCuobjdumpsWhereThePinnedDisassemblerIsAbsent) {
  install("nvdisasm", 0);
  install("cuobjdump", 0);
  EXPECT_EQ(sass(), (programs / "cuobjdump").string() + " --dump-sass\n6\n");
}

TEST_F(Disassembly, IsPrintedOnceForAllCasesOfAProgram) {
  pin(0);
  Dumped first, other;
  first.program.cubin = "that of two cases", other.program.cubin = "another";
  const Variable path("PATH", programs);
  for (const auto* const dumped : {&first, &other, &first})
    dump_kernels(dumped->device.data, folder = fresh_folder("disassembled"), pinned);
  EXPECT_EQ(read(folder / "toy.optimized.sass"), pinned.path + " --print-code\n17\n");
  EXPECT_EQ(read(runs), "\n\n");
}

TEST_F(Disassembly, OfADisassemblerThatFailsIsLeftOut) {
  pin(1);
  std::ofstream(folder / "toy.optimized.sass") << "of an earlier run";
  EXPECT_EQ(sass(), "");
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    EXPECT_NE(entry.path().extension(), ".new");
}

}  // namespace
}  // namespace holdfast
