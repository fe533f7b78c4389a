// SPDX-License-Identifier: Apache-2.0
// A program's identity: everything that its machine code depends on. A cache whose key omits a part
// of it returns another program's code.
#include <gmock/gmock.h>

#include "base/sha256.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/testing/empty_caches.hpp"

namespace holdfast {
namespace {

constexpr Source code{"test/use.cu",
                      "#include \"formulas.hpp\"\n"
                      "__global__ void use(double* y) { y[threadIdx.x] = factor(); }\n"
                      "__global__ void more(double* y) { y[threadIdx.x] = 2 * factor(); }\n"};

Program with_factor(std::string_view header) {
  return {.code = code, .headers = {{"test/formulas.hpp", header}}, .entries = {"use"}};
}

struct ProgramIdentity : EmptyCaches {
  // In a process that finds in its caches whatever was compiled before.
  static std::int64_t nvrtc_runs(const Program& program, std::string_view device) {
    forget_cached_programs();
    const auto backend = open_backend(device);
    backend->compiler->compile(program);
    return backend->ledger.counts.nvrtc_runs;
  }
  static std::int64_t nvrtc_runs(const Program& program) {
    return nvrtc_runs(program, "cuda-dry:sm_90");
  }
};

TEST_F(ProgramIdentity, AHeadersTextMakesAnother) {
  EXPECT_EQ(nvrtc_runs(with_factor("inline double factor() { return 2; }")), 1);
  EXPECT_EQ(nvrtc_runs(with_factor("inline double factor() { return 2; }")), 0);
  EXPECT_EQ(nvrtc_runs(with_factor("inline double factor() { return 3; }")), 1);
}

TEST_F(ProgramIdentity, TheArchitectureMakesAnother) {
  for (const char* device : {"cuda-dry:sm_80", "cuda-dry:sm_90"})
    EXPECT_EQ(nvrtc_runs(scaled_by(2), device), 1) << device;
}

TEST_F(ProgramIdentity, AnEntryMakesAnother) {
  Program one = with_factor("inline double factor() { return 2; }");
  EXPECT_EQ(nvrtc_runs(one), 1);
  one.entries = {"more"};
  EXPECT_EQ(nvrtc_runs(one), 1);
}

// FACTOR is 2, or FACTOR is 2L.
TEST_F(ProgramIdentity, DefinitionsThatReadAlikeInARowMakeAnother) {
  Program two = scaled_by(2);
  two.definitions = {"FACTOR=2", "LM"};
  EXPECT_EQ(nvrtc_runs(two), 1);
  two.definitions = {"FACTOR=2L", "M"};
  EXPECT_EQ(nvrtc_runs(two), 1);
}

TEST_F(ProgramIdentity, IsTheHashOfTheMachineCode) {
  const auto backend = fresh();
  const Compiled& compiled = backend->compiler->compile(scaled_by(2)).compiled();
  EXPECT_EQ(compiled.cubin_hash, sha256(compiled.cubin));
  EXPECT_EQ(compiled.functions.at(0).cubin_hash, compiled.cubin_hash);
}

TEST_F(ProgramIdentity, AChangedHeaderIsTheReason) {
  const auto backend = fresh();
  backend->compiler->compile(with_factor("inline double factor() { return 2; }"));
  EXPECT_EQ(backend->compiler->compile(with_factor("inline double factor() { return 3; }"))
                .compiled()
                .reason,
            "source changed");
}

TEST_F(ProgramIdentity, TheReasonIsWhatChangedSinceTheLastProgramOfItsSource) {
  const auto backend = fresh();
  for (const int factor : {2, 3}) backend->compiler->compile(scaled_by(factor));
  EXPECT_EQ(backend->compiler->compile(scaled_by(4)).compiled().reason, "constant FACTOR: 3 -> 4");
}

TEST_F(ProgramIdentity, AHeaderFromDiskReplacesTheEmbeddedOne) {
  const Program two = with_factor("inline double factor() { return 2; }");
  EXPECT_EQ(nvrtc_runs(two), 1);
  write(folder() / "sources/test/formulas.hpp", "inline double factor() { return 7; }");
  const Variable sources("HOLDFAST_SOURCES", folder() / "sources");
  EXPECT_EQ(nvrtc_runs(two), 1);
}

}  // namespace
}  // namespace holdfast
