// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/account.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "base/time.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/base/error.hpp"
#include "runtime/compile/compiler.hpp"

namespace holdfast {
namespace {

constexpr Source device_code = {"toy/fill.cu", R"(
__global__ void fill(double* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i;
}
)"};

class Fill : public Computation {
 public:
  Fill(Backend& backend, std::vector<LaunchShape> shapes, KernelKind kind = KernelKind::fused)
      : fill_(backend.compiler->compile({.code = device_code, .entries = {{"fill", kind}}})
                  .kernel<double*, int>("fill")),
        x_(backend, 64, "x"),
        shapes_(std::move(shapes)) {}
  void step() override {
    for (const LaunchShape& shape : shapes_) fill_(shape, x_.data(), 64);
  }
  std::vector<double> result() override { return x_.to_host(); }

 private:
  Kernel<double*, int> fill_;
  Buffer<double> x_;
  std::vector<LaunchShape> shapes_;
};

std::string identity(const std::vector<LaunchShape>& shapes) {
  const Steps steps = {
      .make = [=](Backend& backend, Variant) { return std::make_unique<Fill>(backend, shapes); }};
  return account(steps, Variant::optimized, "cuda-dry:sm_90").measured.identity.value();
}

const LaunchShape base = {.grid = {4}, .block = {64}};

TEST(Identity, ChangesWithTheBlockAlone) {
  EXPECT_NE(identity({base}), identity({{.grid = {4}, .block = {128}}}));
}

TEST(Identity, ChangesWithTheGridAlone) {
  EXPECT_NE(identity({base}), identity({{.grid = {1, 4}, .block = {64}}}));
}

TEST(Identity, ChangesWithTheSharedMemoryAlone) {
  EXPECT_NE(identity({base}), identity({{.grid = {4}, .block = {64}, .shared_bytes = 1024}}));
}

TEST(Identity, DoesNotDependOnTheOrderOfLaunches) {
  const LaunchShape other = {.grid = {2}, .block = {128}};
  EXPECT_EQ(identity({base, other, base}), identity({other, base, base}));
}

TEST(Kernels, KeepTheirKindAndTheirLaunchesPerStep) {
  struct Scatter : Fill {
    explicit Scatter(Backend& backend) : Fill(backend, {base, base}, KernelKind::scatter) {}
  };
  const Steps steps = {
      .make = [](Backend& backend, Variant) { return std::make_unique<Scatter>(backend); }};
  const auto kernels = account(steps, Variant::optimized, "cuda-dry:sm_90").measured.kernels;
  ASSERT_EQ(kernels.size(), 1);
  EXPECT_EQ(kernels[0].kind, KernelKind::scatter);
  EXPECT_EQ(kernels[0].launches, 2);
}

// Each step launches once more, or once less, than the one before.
class Drifting : public Fill {
 public:
  Drifting(Backend& backend, int by)
      : Fill(backend, std::vector<LaunchShape>(64, base)), backend_(&backend), by_(by) {}
  void step() override {
    Fill::step();
    backend_->ledger.counts.launches += by_ * steps_++;
  }

 private:
  Backend* backend_;
  int by_, steps_ = 0;
};

std::string refusal(int by) {
  try {
    (void)account({.make = [=](Backend& backend,
                               Variant) { return std::make_unique<Drifting>(backend, by); }},
                  Variant::optimized, "cuda-dry:sm_90");
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Steps, ThatCountMoreEachTimeAreNotSteady) {
  EXPECT_NE(refusal(1).find("launches is not steady"), std::string::npos);
}

TEST(Steps, ThatCountLessEachTimeAreNotSteady) {
  EXPECT_NE(refusal(-1).find("launches is not steady"), std::string::npos);
}

TEST(Uploads, AreHeldAgainstWhatTheCaseSaysThatAStepMustBring) {
  struct Uploading : Fill {
    explicit Uploading(Backend& backend) : Fill(backend, {base}), in_(backend, 8, "in") {}
    void step() override { in_.upload(std::vector<double>(8)); }
    Buffer<double> in_;
  };
  const Steps steps = {
      .make = [](Backend& backend, Variant) { return std::make_unique<Uploading>(backend); },
      .upload_bytes = [](Variant) { return 48; }};
  const auto measured = account(steps, Variant::optimized, "cuda-dry:sm_90").measured;
  EXPECT_EQ(measured.step.h2d_bytes, 64);
  EXPECT_EQ(measured.least_upload_bytes, 48);
}

TEST(Stages, AreOfAllProgramsOfABackend) {
  const auto backend = open_backend("cuda-dry:sm_90");
  backend->compiler->bypass_caches();
  const Fill fill(*backend, {base});
  EXPECT_GT(stage_seconds(*backend).lower, 0);
  EXPECT_GT(stage_seconds(*backend).compile, 0);
  EXPECT_EQ(stage_seconds(*open_backend("host")).lower, 0);
}

TEST(Seconds, OfADryDeviceAreThoseOfTheThreadThatWorks) {
  const auto other_computes = [&] {
    std::thread([&] {
      while (thread_cpu_seconds() < 0.05) continue;
    }).join();
  };
  const auto dry = open_backend("cuda-dry:sm_90"), host = open_backend("host");
  EXPECT_LT(seconds_until_done(*dry, other_computes), 0.04);
  EXPECT_GE(seconds_until_done(*host, other_computes), 0.05);
}

TEST(Steps, ThatMustCountTheSameAreEight) {
  for (const char* device : {"cuda-dry:sm_90", "host"}) {
    int made = 0;
    const auto backend = open_backend(device);
    struct Quick : Computation {
      int* made;
      explicit Quick(int& of) : made(&of) {}
      void step() override { ++*made; }
      std::vector<double> result() override { return {}; }
    } quick(made);
    (void)steady_step(*backend, quick);
    EXPECT_EQ(made, 8) << device;
  }
}

TEST(Waiting, ForTheDeviceIsNotCounted) {
  const auto backend = open_backend("cuda-dry:sm_90");
  (void)seconds_until_done(*backend, [] {});
  EXPECT_EQ(backend->ledger.counts.syncs, 0);
}

TEST(Accounting, ANameThatNobodyHoldsShowsThoughNothingExecutes) {
  Steps steps = {.make = [](Backend& backend, Variant) {
    return std::make_unique<Fill>(backend, std::vector{base});
  }};
  steps.rewritten = always({"x"});
  EXPECT_NO_THROW(account(steps, Variant::optimized, "cuda-dry:sm_90"));
  steps.rewritten = always({"x", "result"});
  EXPECT_THROW(account(steps, Variant::optimized, "cuda-dry:sm_90"), Error);
}

}  // namespace
}  // namespace holdfast
