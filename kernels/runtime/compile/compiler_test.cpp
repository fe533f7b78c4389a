// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/compiler.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "base/names.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "runtime/backend/backend.hpp"
#include "runtime/compile/program_cache.hpp"
#include "runtime/testing/empty_caches.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CompilerTest : public EmptyCaches {};

TEST(Entry, NamesTheTypeOfItsNumbers) {
  EXPECT_EQ(entry<float>("scale"), "scale<float>");
  EXPECT_EQ(entry<double>("scale"), "scale<double>");
}

TEST_F(CompilerTest, CompilesAProgramOnce) {
  const auto backend = fresh();
  for (int i = 0; i < 3; ++i) backend->compiler->compile(scaled_by(2));
  EXPECT_EQ(backend->ledger.counts.programs, 1);
  EXPECT_EQ(backend->ledger.counts.nvrtc_runs, 1);
}

TEST_F(CompilerTest, AFreshBackendCountsItsOwnRequestButSparesTheCompiler) {
  fresh()->compiler->compile(scaled_by(2));
  const auto second = fresh();
  const auto module = second->compiler->compile(scaled_by(2));
  EXPECT_EQ(second->ledger.counts.programs, 1);
  EXPECT_EQ(second->ledger.counts.nvrtc_runs, 0);
  EXPECT_TRUE(module.compiled().from_cache);
}

TEST_F(CompilerTest, TheDiskCacheServesANewProcess) {
  fresh()->compiler->compile(scaled_by(2));
  forget_cached_programs();
  const auto second = fresh();
  second->compiler->compile(scaled_by(2));
  EXPECT_EQ(second->ledger.counts.nvrtc_runs, 0);
}

TEST_F(CompilerTest, WhatACacheReturnsIsWhatWasCompiled) {
  const auto first = fresh();
  const auto& compiled = first->compiler->compile(scaled_by(2)).compiled();
  forget_cached_programs();
  const auto second = fresh();
  const auto& cached = second->compiler->compile(scaled_by(2)).compiled();
  EXPECT_EQ(cached.cubin, compiled.cubin);
  EXPECT_EQ(cached.ptx, compiled.ptx);
  EXPECT_EQ(cached.cubin_hash, compiled.cubin_hash);
  EXPECT_EQ(cached.functions.at(0).registers, compiled.functions.at(0).registers);
  EXPECT_EQ(cached.functions.at(0).name, compiled.functions.at(0).name);
}

TEST_F(CompilerTest, ADamagedCacheEntryIsCompiledAnew) {
  fresh()->compiler->compile(scaled_by(2));
  ASSERT_EQ(entries().size(), 1u);
  fs::resize_file(entries().at(0), fs::file_size(entries().at(0)) / 2);
  forget_cached_programs();
  const auto second = fresh();
  second->compiler->compile(scaled_by(2));
  EXPECT_EQ(second->ledger.counts.nvrtc_runs, 1);
}

TEST_F(CompilerTest, ACacheThatCannotBeWrittenIsNoError) {
  write(cache(), "a file where the folder should be");
  const auto backend = fresh();
  EXPECT_NO_THROW(backend->compiler->compile(scaled_by(2)));
}

TEST_F(CompilerTest, BypassingCachesRunsTheCompilerAndKeepsNothing) {
  const auto backend = fresh();
  backend->compiler->bypass_caches();
  backend->compiler->compile(scaled_by(2));
  EXPECT_FALSE(fs::exists(cache()));
  const auto second = fresh();
  second->compiler->compile(scaled_by(2));
  EXPECT_EQ(second->ledger.counts.nvrtc_runs, 1);
}

TEST_F(CompilerTest, MemoryThatAProgramHoldsByItselfIsRefusedBeyondConstants) {
  const auto compiled_with = [](int numbers) {
    const auto backend = fresh();
    const std::string code = text(
        "__device__ double scratch[", numbers,
        "];\n__global__ void keep(double* x) { scratch[threadIdx.x] += *x; *x = scratch[0]; }");
    (void)backend->compiler->compile({.code = {"test/keep.cu", code}, .entries = {"keep"}});
  };
  EXPECT_NO_THROW(compiled_with(512));
  for (const int numbers : {1 << 20, 1 << 28})  // the bytes of the latter exceed an int
    EXPECT_THAT(refusal_of([&] { compiled_with(numbers); }, Fault::broken_rule),
                HasSubstr(text("keep.cu holds ", 8LL * numbers,
                               " bytes of device memory in variables of its own")));
}

TEST_F(CompilerTest, SaysThatAProgramIsNew) {
  EXPECT_EQ(fresh()->compiler->compile(scaled_by(2)).compiled().reason, "first use");
}

TEST_F(CompilerTest, NamesTheConstantThatChanged) {
  const auto backend = fresh();
  backend->compiler->compile(scaled_by(2));
  EXPECT_EQ(backend->compiler->compile(scaled_by(3)).compiled().reason, "constant FACTOR: 2 -> 3");
}

TEST_F(CompilerTest, SaysThatEntriesChanged) {
  const auto backend = fresh();
  backend->compiler->compile(scaled_by(2));
  auto wider = scaled_by(2);
  wider.entries.push_back("scale<double>");
  EXPECT_EQ(backend->compiler->compile(wider).compiled().reason, "entries changed");
}

TEST_F(CompilerTest, NamesTheEntryThatIsAnotherOne) {
  const auto backend = fresh();
  backend->compiler->compile(scaled_by(2));
  auto wide = scaled_by(2);
  wide.entries = {"scale<double>"};
  EXPECT_EQ(backend->compiler->compile(wide).compiled().reason,
            "entries changed: scale<float> -> scale<double>");
}

TEST_F(CompilerTest, SaysThatTheSourceChanged) {
  const auto backend = fresh();
  backend->compiler->compile(scaled_by(2));
  auto edited = scaled_by(2);
  const auto longer = text(scale.text, "// more\n");
  edited.code.text = longer;
  EXPECT_EQ(backend->compiler->compile(edited).compiled().reason, "source changed");
}

TEST_F(CompilerTest, ACommentDoesNotChangeTheIdentity) {
  const auto backend = fresh();
  const auto commented_text = text("// A comment.\n\n", scale.text);
  auto commented = scaled_by(2);
  commented.code.text = commented_text;
  EXPECT_EQ(backend->compiler->compile(commented).compiled().cubin_hash,
            backend->compiler->compile(scaled_by(2)).compiled().cubin_hash);
}

TEST_F(CompilerTest, AConstantChangesTheIdentity) {
  const auto backend = fresh();
  EXPECT_NE(backend->compiler->compile(scaled_by(2)).compiled().cubin_hash,
            backend->compiler->compile(scaled_by(3)).compiled().cubin_hash);
}

TEST_F(CompilerTest, TimesEachStage) {
  const auto backend = fresh();
  const auto& seconds = backend->compiler->compile(scaled_by(2)).compiled().seconds;
  EXPECT_GT(seconds.trace, 0);
  EXPECT_GT(seconds.lower, 0);
  EXPECT_GT(seconds.compile, 0);
  EXPECT_GT(seconds.load, 0);
}

// In a process without earlier compilations.
TEST_F(CompilerTest, WhatAProcessAsksOnceIsNoCostOfItsFirstProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto compiles = [&] {
    const auto backend = fresh();
    const auto& seconds = backend->compiler->compile(scaled_by(2)).compiled().seconds;
    remove_all(folder());  // std::exit() destroys no test
    std::exit(seconds.trace < seconds.lower ? 0 : 1);
  };
  EXPECT_EXIT(compiles(), ::testing::ExitedWithCode(0), "");
}

TEST_F(CompilerTest, WhatElseTheMachineComputesIsNoCostOfAProgram) {
  std::atomic<bool> busy = true;
  std::vector<std::thread> others;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i)
    others.emplace_back([&] {
      while (busy) {
      }
    });
  const auto backend = fresh();
  const double before = thread_cpu_seconds();
  const auto& seconds = backend->compiler->compile(scaled_by(2)).compiled().seconds;
  const double spent = thread_cpu_seconds() - before;
  busy = false;
  for (std::thread& other : others) other.join();
  EXPECT_LE(seconds.trace + seconds.lower + seconds.compile + seconds.load, spent);
}

// A long secret makes writing slow and nothing else: only what is written is bound to it.
TEST_F(CompilerTest, WritingTheCacheIsNoCostOfAProgram) {
  const Variable secret("HOLDFAST_CACHE_SECRET", std::string(1 << 25, 'x'));
  const double start = thread_cpu_seconds();
  cache_program("other", std::make_shared<const Artifact>());
  const double written = thread_cpu_seconds();
  const auto backend = fresh();
  const auto& seconds = backend->compiler->compile(scaled_by(2)).compiled().seconds;
  const double spent = thread_cpu_seconds() - written;
  EXPECT_LT(seconds.trace + seconds.lower + seconds.compile + seconds.load,
            spent - (written - start) / 2);
}

TEST_F(CompilerTest, ACachedProgramSpentNoTimeCompiling) {
  fresh()->compiler->compile(scaled_by(2));
  const auto second = fresh();
  const auto& seconds = second->compiler->compile(scaled_by(2)).compiled().seconds;
  EXPECT_EQ(seconds.lower + seconds.compile, 0);
}

TEST_F(CompilerTest, SourcesFromDiskReplaceTheEmbeddedText) {
  write(folder() / "sources/test/scale.cu", text("#define FACTOR 7\n", scale.text));
  const Variable sources("HOLDFAST_SOURCES", folder() / "sources");
  const auto backend = fresh();
  const auto module = backend->compiler->compile({.code = scale, .entries = {"scale<float>"}});
  EXPECT_THAT(module.compiled().source, HasSubstr("#define FACTOR 7"));
}

TEST_F(CompilerTest, AHeaderIsFoundUnderItsLastName) {
  const Source code{"test/use.cu",
                    "#include \"formulas.hpp\"\n"
                    "__global__ void use(double* y) { y[threadIdx.x] = twice(threadIdx.x); }"};
  const Source header{"test/formulas.hpp", "inline double twice(double x) { return 2 * x; }\n"};
  const auto backend = fresh();
  EXPECT_NO_THROW(
      backend->compiler->compile({.code = code, .headers = {header}, .entries = {"use"}}));
}

TEST_F(CompilerTest, AWrongProgramIsRefusedWithTheCompilersLog) {
  const auto backend = fresh();
  const auto error =
      error_of([&] { backend->compiler->compile({.code = scale, .entries = {"scale<float>"}}); });
  EXPECT_EQ(error.fault(), Fault::compile);
  EXPECT_THAT(error.what(), HasSubstr("failed to compile test/scale.cu"));
  EXPECT_THAT(error.what(), HasSubstr("test/scale.cu(3): error: identifier \"FACTOR\""));
}

TEST_F(CompilerTest, ARefusedProgramIsCompiledAgainWhenAskedAgain) {
  const auto backend = fresh();
  const Program wrong{.code = scale, .entries = {"scale<float>"}};
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(error_of([&] { backend->compiler->compile(wrong); }).fault(), Fault::compile);
}

TEST_F(CompilerTest, RefusesASignatureTheKernelDoesNotHave) {
  const auto backend = fresh();
  const auto module = backend->compiler->compile(scaled_by(2));
  const auto error = error_of([&] { module.kernel<const double*, float*, int>("scale<float>"); });
  EXPECT_EQ(error.fault(), Fault::compile);
  EXPECT_STREQ(error.what(),
               "kernel scale<float> of test/scale.cu takes (float const*, float*, int), the host "
               "passes (double const*, float*, int)");
}

TEST_F(CompilerTest, ChecksTheSignatureOfACachedProgramToo) {
  fresh()->compiler->compile(scaled_by(2));
  const auto second = fresh();
  const auto module = second->compiler->compile(scaled_by(2));
  EXPECT_EQ(error_of([&] { module.kernel<int>("scale<float>"); }).fault(), Fault::compile);
}

TEST_F(CompilerTest, AcceptsTheKernelsOwnSignature) {
  const auto backend = fresh();
  const auto module = backend->compiler->compile(scaled_by(2));
  EXPECT_NO_THROW((module.kernel<const float*, float*, int>("scale<float>")));
}

TEST_F(CompilerTest, SignaturesMayHoldRestrictedPointersAndStructures) {
  const Source code{"test/structure.cu",
                    "namespace outer { struct Sizes { int n; }; }\n"
                    "__global__ void f(const double* __restrict__ x, outer::Sizes s, double* y) {\n"
                    "  if (threadIdx.x < s.n) y[threadIdx.x] = x[threadIdx.x];\n}"};
  const auto backend = fresh();
  EXPECT_EQ(backend->compiler->compile({.code = code, .entries = {"f"}})
                .compiled()
                .functions.at(0)
                .parameters,
            "(double const*, outer::Sizes, double*)");
}

TEST_F(CompilerTest, AKernelThatTheProgramDoesNotNameIsAnError) {
  const auto backend = fresh();
  const auto module = backend->compiler->compile(scaled_by(2));
  EXPECT_THAT(error_of([&] { module.kernel<int>("absent"); }).what(),
              HasSubstr("has no kernel absent"));
}

TEST_F(CompilerTest, RefusesKernelsWithoutACppSignature) {
  const Source code{"test/c.cu", "extern \"C\" __global__ void f() {}"};
  const auto backend = fresh();
  EXPECT_THAT(
      error_of([&] { backend->compiler->compile({.code = code, .entries = {"f"}}); }).what(),
      HasSubstr("do not declare it extern \"C\""));
}

// 64 live doubles in 64 registers (1024 threads) cannot but spill; the shared array is 100 floats.
constexpr Source resources{
    "test/resources.cu",
    "__global__ void __launch_bounds__(1024) spill(double* x, int n) {\n"
    "  double a[64];\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 64; ++i) a[i] = x[i * n];\n"
    "  for (int k = 0; k < n; ++k)\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 64; ++i) a[i] = a[(i * 7 + 3) % 64] * a[i] + x[k];\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 64; ++i) x[i * n] = a[i];\n"
    "}\n"
    "__global__ void share(float* x) {\n"
    "  __shared__ float s[100];\n"
    "  s[threadIdx.x] = x[threadIdx.x];\n"
    "  __syncthreads();\n"
    "  x[threadIdx.x] = s[99 - threadIdx.x];\n"
    "}\n"};

TEST_F(CompilerTest, KnowsRegistersSpillsAndSharedMemoryOfEachKernel) {
  const auto backend = fresh();
  const auto module =
      backend->compiler->compile({.code = resources, .entries = {"share", "spill"}});
  const auto& functions = module.compiled().functions;
  EXPECT_EQ(functions[0].shared_bytes, 400);
  EXPECT_EQ(functions[0].spill_bytes, 0);
  EXPECT_GT(functions[0].registers, 0);
  EXPECT_EQ(functions[1].shared_bytes, 0);
  EXPECT_GT(functions[1].spill_bytes, 0);
  EXPECT_EQ(functions[1].registers, 64);
}

TEST_F(CompilerTest, KnowsTheLaunchBoundsOfEachKernelOfACachedProgramToo) {
  for (int i = 0; i < 2; ++i) {
    const auto backend = fresh();
    const auto module =
        backend->compiler->compile({.code = resources, .entries = {"share", "spill"}});
    EXPECT_EQ(module.compiled().functions[0].most_threads, 0);
    EXPECT_EQ(module.compiled().functions[1].most_threads, 1024);
    forget_cached_programs();
  }
}

TEST_F(CompilerTest, KnowsTheLocalMemoryOfEachKernel) {
  const Source code{"test/local.cu",
                    "__global__ void none(float* x) { x[0] = 1; }\n"
                    "__global__ void kept(float* x, int n) {\n"
                    "  float a[64];\n"
                    "  for (int i = 0; i < 64; ++i) a[i] = x[i];\n"
                    "  for (int i = 0; i < n; ++i) a[(i * 7) % 64] += a[i % 64];\n"
                    "  x[n] = a[n % 64];\n"
                    "}\n"};
  const auto backend = fresh();
  const auto module = backend->compiler->compile({.code = code, .entries = {"none", "kept"}});
  EXPECT_EQ(module.compiled().functions[0].local_bytes, 0);
  EXPECT_EQ(module.compiled().functions[1].local_bytes, 256);
}

// 1024 threads leave 64 registers: `deep` spills in them, `call` alone needs less than half.
constexpr Source calls{"test/calls.cu",
                       "__device__ __noinline__ double deep(const double* x, int n) {\n"
                       "  double a[64], sum = 0;\n"
                       "  for (int i = 0; i < 64; ++i) a[i] = x[i * n];\n"
                       "  for (int i = 0; i < 64; ++i) sum += a[(i * n) & 63] * x[i];\n"
                       "  return sum;\n"
                       "}\n"
                       "__global__ void __launch_bounds__(1024) call(double* x, int n) {\n"
                       "  x[n] = deep(x, n);\n"
                       "}\n"};

TEST_F(CompilerTest, AKernelsRegistersAndSpillsIncludeTheFunctionsThatItCalls) {
  const auto backend = fresh();
  const auto module = backend->compiler->compile({.code = calls, .entries = {"call"}});
  EXPECT_GT(module.compiled().functions[0].registers, 32);
  EXPECT_GT(module.compiled().functions[0].spill_bytes, 0);
}

constexpr Source callers{"test/callers.cu",
                         "__device__ __noinline__ double turned(double x) {\n"
                         "  __shared__ double s[32];\n"
                         "  s[threadIdx.x] = x;\n"
                         "  __syncthreads();\n"
                         "  return s[31 - threadIdx.x];\n"
                         "}\n"
                         "__global__ void twice(double* x) {\n"
                         "  x[threadIdx.x] = turned(x[0]) + turned(x[1]);\n"
                         "}\n"
                         "__global__ void more(double* x) {\n"
                         "  extern __shared__ double s[];\n"
                         "  s[threadIdx.x] = x[threadIdx.x];\n"
                         "  __syncthreads();\n"
                         "  x[threadIdx.x] = s[threadIdx.x ^ 1];\n"
                         "}\n"};

TEST_F(CompilerTest, AKernelsSharedMemoryIncludesWhatItsFunctionsHoldAndNotTheSystems) {
  for (const int sm : architectures) {
    const auto backend = open_backend(text("cuda-dry:sm_", sm));
    const auto module = backend->compiler->compile({.code = callers, .entries = {"twice", "more"}});
    EXPECT_EQ(module.compiled().functions[0].shared_bytes, 256) << sm;
    EXPECT_EQ(module.compiled().functions[1].shared_bytes, 0) << sm;
  }
}

TEST_F(CompilerTest, CompilingInASteadyStepBreaksARule) {
  const auto backend = fresh();
  backend->ledger.enter(Ledger::Phase::steady);
  EXPECT_EQ(error_of([&] { backend->compiler->compile(scaled_by(2)); }).fault(),
            Fault::broken_rule);
}

TEST_F(CompilerTest, AskingAgainInASteadyStepBreaksNone) {
  const auto backend = fresh();
  backend->compiler->compile(scaled_by(2));
  backend->ledger.enter(Ledger::Phase::steady);
  EXPECT_NO_THROW(backend->compiler->compile(scaled_by(2)));
}

TEST_F(CompilerTest, LogsEachCompilationWithItsReason) {
  const Variable log_compiles("HOLDFAST_LOG_COMPILES", "1");
  testing::internal::CaptureStderr();
  fresh()->compiler->compile(scaled_by(2));
  fresh()->compiler->compile(scaled_by(2));
  const auto backend = fresh();
  backend->ledger.enter(Ledger::Phase::steady, {.may_compile = true});
  backend->compiler->compile(scaled_by(2));
  backend->compiler->compile(scaled_by(2));  // known: nothing to report
  std::istringstream log(testing::internal::GetCapturedStderr());
  std::vector<std::string> lines;
  for (std::string line; std::getline(log, line);) lines.push_back(line);
  EXPECT_THAT(
      lines,
      testing::ElementsAre(
          HasSubstr("holdfast: compiled test/scale.cu (first use) while building: trace "),
          HasSubstr("holdfast: took test/scale.cu from the cache (first use) while building: "),
          HasSubstr("holdfast: took test/scale.cu from the cache (first use) in a steady step: ")));
}

}  // namespace
}  // namespace holdfast
