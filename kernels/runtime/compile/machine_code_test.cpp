// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/machine_code.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "base/testing/variable.hpp"
#include "base/text.hpp"
#include "runtime/base/error.hpp"
#include "runtime/compile/nvrtc.hpp"
#include "runtime/compile/program_cache.hpp"

namespace holdfast {
namespace {

constexpr const char* printed = R"(	.target	sm_90

//--------------------- .text._Z4stepPf --------------------------
	.section	.text._Z4stepPf,"ax",@progbits
.text._Z4stepPf:
        .other          _Z4stepPf,@"STO_CUDA_ENTRY STV_DEFAULT"
_Z4stepPf:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   HFMA2.MMA R9, -RZ, RZ, 0, 0 ;
        /*0020*/              @!P0 LDG.E.128.CONSTANT R4, desc[UR6][R2.64] ;
        /*0030*/                   LDG.E.LTC128B.U16 R4, desc[UR6][R2.64] ;
        /*0040*/                   LDGSTS.E.BYPASS.128 [R5], desc[UR6][R2.64] ;
        /*0050*/                   LDSM.16.M88.4 R4, [R8] ;
        /*0060*/                   STS.64 [R5], R6 ;
        /*0070*/                   STL [R1], R6 ;
        /*0080*/                   HMMA.16816.F32.BF16 R4, R8, R12, R4 ;
        /*0090*/                   DFMA R4, R8, R12, R4 ;
        /*00a0*/                   F2F.F64.F32 R4, R8 ;
        /*00b0*/                   MUFU.RCP64H R5, R9 ;
        /*00c0*/                   MUFU.EX2 R5, R9 ;
        /*00d0*/                   FFMA.FTZ R5, R9, R9, R5 ;
        /*00e0*/                   UIADD3 UR4, UR4, 0x1, URZ ;
        /*00f0*/                   IMAD.WIDE R5, R9, 0x4, R5 ;
        /*0100*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0110*/                   RED.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR6][R2.64], R5 ;
        /*0120*/                   REDG.E.ADD.F64.RN.STRONG.GPU desc[UR6][R2.64], R4 ;
        /*0130*/               @P1 BRA `(.L_x_4) ;
        /*0140*/                   EXIT ;

//--------------------- .text._Z5otherPf --------------------------
	.section	.text._Z5otherPf,"ax",@progbits
        .other          _Z5otherPf,@"STO_CUDA_ENTRY STV_DEFAULT"
        /*0000*/                   FADD R5, R9, R9 ;

//--------------------- .text._Z6helperf --------------------------
	.section	.text._Z6helperf,"ax",@progbits
        /*0000*/                   FMUL R5, R9, R9 ;
)";

TEST(Disassembly, IsCountedByWhatAnInstructionDoes) {
  const InstructionCounts expected = {{"f16", 1},
                                      {"global_load_16", 2},
                                      {"global_load_2", 1},
                                      {"shared_load_16", 1},
                                      {"shared_store_8", 1},
                                      {"local_store_4", 1},
                                      {"tensor", 1},
                                      {"f64", 3},
                                      {"special", 1},
                                      {"f32", 2},
                                      {"integer", 2},
                                      {"barrier", 1},
                                      {"atomic", 2},
                                      {"branch", 1}};
  EXPECT_EQ(read_disassembly(printed).at("_Z4stepPf"), expected);
}

TEST(Disassembly, AFunctionThatWasNotInlinedCountsAgainstEveryKernel) {
  const auto kernels = read_disassembly(printed);
  EXPECT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels.at("_Z5otherPf"), (InstructionCounts{{"f32", 2}}));
}

TEST(Disassembly, TellsBytesOfGlobalAndSharedAccesses) {
  const Accesses all = accesses(read_disassembly(printed).at("_Z4stepPf"));
  EXPECT_EQ(all.count, 5);
  EXPECT_EQ(all.bytes, 16 + 2 + 16 + 16 + 8);
}

TEST(Disassembly, OfNothingIsNothing) {
  EXPECT_TRUE(read_disassembly("").empty());
  EXPECT_TRUE(read_disassembly("not what a disassembler prints\n.section .text.").empty());
}

// A compiled kernel, and its cached counts the second time.
class MachineCode : public testing::Test {
 protected:
  void SetUp() override {
    if (pinned_disassembler().path.empty()) GTEST_SKIP() << pinned_disassembler().why_uncounted();
  }
  static Artifact compiled(const char* text) {
    const Lowering lowering{.name = "sample.cu", .text = text, .entries = {"sample"}, .sm = 90};
    Artifact artifact;
    lower(lowering, artifact);
    link(lowering, artifact);
    return artifact;
  }
  static InstructionCounts code_of(const Artifact& artifact) {
    return machine_code(artifact.cubin, sha256(artifact.cubin))->at(artifact.entries[0].name);
  }
};

// Another process without a disassembler reads what one process counted and cached.
TEST_F(MachineCode, IsKnownWithoutDisassemblerWhereTheCacheHasIt) {
  const NewFolder folder(testing::TempDir() + "machine-code-");
  const Variable cache("HOLDFAST_CACHE_DIR", folder.path());
  const Artifact artifact = compiled("__global__ void sample(double* x) { x[7] *= 3.25; }");
  const std::string hash = sha256(artifact.cubin);
  const Disassembler none{.version = pinned_disassembler().version, .absent = "there is none"};
  EXPECT_FALSE(machine_code(artifact.cubin, hash, none).has_value());
  EXPECT_EXIT(std::exit(count(code_of(artifact), "f64") == 1 ? 0 : 1), testing::ExitedWithCode(0),
              "");
  const auto kept = machine_code(artifact.cubin, hash, none);
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(count(kept->at(artifact.entries[0].name), "f64"), 1);
  EXPECT_FALSE(machine_code("another", sha256("another"), none).has_value());
}

TEST_F(MachineCode, OfARealKernelIsWhatItsSourceSays) {
  const InstructionCounts code = code_of(compiled(
      "__global__ void sample(double* x, const float4* y) { __shared__ double a[64]; "
      "a[threadIdx.x] = x[threadIdx.x]; __syncthreads(); const float4 v = y[threadIdx.x]; "
      "x[threadIdx.x] = fma(a[63 - threadIdx.x], x[0], double(v.x + v.y + v.z + v.w)); }"));
  EXPECT_EQ(count(code, "barrier"), 1);
  EXPECT_EQ(count(code, "tensor"), 0);
  EXPECT_GE(count(code, "f64"), 1);
  EXPECT_EQ(count(code, "global_load_16"), 1);
  EXPECT_EQ(count(code, "shared_store_8"), 1);
}

// The cached counts are from another version, whose way of counting may differ.
TEST_F(MachineCode, IsNotTakenFromAnotherDisassemblersCounts) {
  const std::string hash = text("sha256:of no cubin but that of process ", getpid());
  cache_text(sha256_digits(text("holdfast-machine-code/2\n13.0.1\n", hash)), "kernel f64 1\n");
  EXPECT_FALSE(machine_code("", hash, {.version = "13.0.2"}));
  EXPECT_TRUE(machine_code("", hash, {.version = "13.0.1"}));
}

TEST(Disassembly, ThatFindsNoPlaceForItsFileIsAnErrorOfCompiling) {
  const Variable nowhere("TMPDIR", "/nonexistent");
  const std::string hash = text("sha256:of no cubin that process ", getpid(), " can write");
  try {
    (void)machine_code("", hash, {.path = "/bin/false", .version = "1"});
    ADD_FAILURE() << "it was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::compile);
    EXPECT_NE(std::string(error.what()).find("into /nonexistent"), std::string::npos)
        << error.what();
  }
}

TEST(Linking, TellsTheLocalMemoryOfAnArrayThatIsIndexed) {
  const Lowering lowering{.name = "local.cu",
                          .text =
                              "__global__ void sample(float* x, int n) { float kept[64]; "
                              "for (int i = 0; i < 64; ++i) kept[i] = x[i]; "
                              "for (int i = 0; i < n; ++i) kept[(i * 7) % 64] += kept[i % 64]; "
                              "x[n] = kept[n % 64]; }",
                          .entries = {"sample"},
                          .sm = 90};
  Artifact artifact;
  lower(lowering, artifact);
  link(lowering, artifact);
  EXPECT_EQ(artifact.entries[0].local_bytes, 256);
}

}  // namespace
}  // namespace holdfast
