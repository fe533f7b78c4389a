// SPDX-License-Identifier: Apache-2.0
// The guarantees of every device that executes, as bodies of tests: for a real GPU, and for the
// emulated device, where each is shown to detect a planted fault. A body reports all differences
// and continues.
#pragma once

#include <gmock/gmock.h>

#include <complex>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "promises/sources.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/fft.hpp"
#include "runtime/backend/host_library.hpp"
#include "runtime/backend/pinned_bytes.hpp"
#include "runtime/compile/kernel_list.hpp"
#include "runtime/sources.hpp"
#include "testing/error_of.hpp"
#include "testing/expect_values.hpp"

namespace holdfast::promises {

struct Kernels : KernelList {
  Kernels() = default;  // names alone
  explicit Kernels(Compiler& compiler) {
    compile(compiler, {.code = sources::promises_cu,
                       .headers = {holdfast::runtime::sources::grid_barrier_cuh}});
  }
  template <class T>
  const Listed<T*, int>& ramp() const {
    if constexpr (std::is_same_v<T, float>)
      return ramp_f32;
    else
      return ramp_f64;
  }

  Listed<float*, int> ramp_f32{*this, "ramp<float>"};
  Listed<double*, int> ramp_f64{*this, "ramp<double>"};
  Listed<double*, int> step{*this, "step"};
  Listed<double*, const double*, int> add{*this, "add"};
  Listed<unsigned*, unsigned*, unsigned*, int> meet{*this, "meet"};
};

inline LaunchShape over(int size) {
  return {.grid = {blocks(size, 128)}, .block = {128}};
}
template <class T>
T ramp_at(int i) {
  return T((i * 37) % 129 - 64) / T(64);
}

// ---- graphs, replayed and recorded again ----

inline void graphs(Backend& backend) {
  constexpr int size = 1000, half = size / 2;
  const Kernels kernels(*backend.compiler);
  Device& device = *backend.device;
  std::vector<double> x_is(size), y_is(size);
  for (int i = 0; i < size; ++i) x_is[i] = i;
  Buffer<double> x(backend, x_is, "x"), y(backend, size, "y");
  const auto act = [&] {
    kernels.step(over(size), x.data(), size);
    device.copy(y.data(), x.data(), y.bytes());
    device.fill_zero(y.data() + half, y.bytes() / 2);
    kernels.step(over(size), y.data(), size);
  };
  const auto acted = [&] {
    for (int i = 0; i < size; ++i) {
      x_is[i] = 2 * x_is[i] + 1;
      y_is[i] = i < half ? 2 * x_is[i] + 1 : 1;
    }
  };
  const Graph graph = device.capture(act);
  expect_values("x after recording, which executes nothing", x.to_host(), x_is);
  const Counts before = backend.ledger.counts;
  for (int replays = 1; replays <= 4; ++replays) {
    device.replay(graph);
    acted();
    expect_values(text("x after ", replays, " replays"), x.to_host(), x_is);
    expect_values(text("y after ", replays, " replays"), y.to_host(), y_is);
  }
  const Counts counted = backend.ledger.counts - before;
  EXPECT_EQ(counted.launches, 8) << "two launches in each replay";
  EXPECT_EQ(counted.graph_nodes, 16) << "four nodes in each replay";

  for (int i = 0; i < size; ++i) x_is[i] = -i;
  x.upload(x_is);
  device.replay(graph);
  acted();
  expect_values("x after a replay on what was uploaded since", x.to_host(), x_is);
  const Graph second = device.capture([&] { kernels.step(over(half), x.data(), half); });
  device.replay(second);
  device.replay(graph);
  for (int i = 0; i < half; ++i) x_is[i] = 2 * x_is[i] + 1;
  acted();
  expect_values("x after two graphs in turn", x.to_host(), x_is);
}

// ---- Fourier transforms, beside the host's; 64 ulps of the largest value apart at most ----

template <class T>
double allowed(const std::vector<std::complex<T>>& values) {
  double largest = 0;
  for (const auto& value : values) largest = std::max(largest, double(std::abs(value)));
  return 64 * std::numeric_limits<T>::epsilon() * largest;
}

template <class T>
void transforms_of(Backend& backend, Backend& host, int rows, int columns) {
  using Complex = std::complex<T>;
  constexpr int batch = 3;
  const Kernels kernels(*backend.compiler);
  const int each = rows * columns, all = batch * each;
  Fft problem{.precision = precision_of<T>, .rows = rows, .columns = columns, .batch = batch};
  std::vector<T> numbers(2 * all);  // real, or interleaved complex
  for (int i = 0; i < 2 * all; ++i) numbers[i] = ramp_at<T>(i);

  for (const bool real : {false, true}) {
    problem.kind = real ? Fft::Kind::real_forward : Fft::Kind::complex_forward;
    const int frequencies = real ? batch * rows * (columns / 2 + 1) : all;
    const int parts = real ? all : 2 * all;
    const std::vector<T> input(numbers.begin(), numbers.begin() + parts);
    Buffer<T> x(backend, parts, "x"), back(backend, parts, "back");
    Buffer<Complex> spectrum(backend, frequencies, "spectrum"), by_host(host, frequencies, "host");
    kernels.ramp<T>()(over(parts), x.data(), parts);
    Transform forward(backend, problem);
    forward(x.data(), spectrum.data());
    Transform(host, problem)(Buffer<T>(host, input, "x").data(), by_host.data());
    const std::vector<Complex> expected = by_host.to_host();
    expect_values(shown(problem), spectrum.to_host(), expected, allowed(expected));

    problem.kind = real ? Fft::Kind::real_backward : Fft::Kind::complex_backward;
    Transform backward(backend, problem);
    backward(spectrum.data(), back.data());
    std::vector<T> returned = back.to_host();
    for (T& value : returned) value /= T(each);
    expect_values(shown(problem), returned, input, 64 * std::numeric_limits<T>::epsilon());
  }
}

inline void transforms(Backend& backend) {
  const auto host = open_backend("host");
  plan_ffts_without_measuring();
  for (const auto& [rows, columns] : {std::pair(1, 1000), {30, 21}, {64, 64}, {48, 128}}) {
    transforms_of<double>(backend, *host, rows, columns);
    transforms_of<float>(backend, *host, rows, columns);
  }
}

// ---- page-locked copies beside the work; `waits`: as it must be ----

inline void copies(Backend& backend, bool waits = true) {
  constexpr int size = 100'000, rounds = 10;
  constexpr std::size_t bytes = size * sizeof(double);
  const Kernels kernels(*backend.compiler);
  Device& device = *backend.device;
  std::vector<double> expected(size, 0.);
  Buffer<double> total(backend, expected, "total");
  struct Slot {
    Slot(Backend& on, const std::string& name)
        : pinned(*on.device, bytes),
          there(on, size, name),
          uploaded(on.device->make_event(name + " uploaded")),
          taken(on.device->make_event(name + " taken")) {}
    PinnedBytes pinned;
    Buffer<double> there;
    std::unique_ptr<LaneEvent> uploaded, taken;
  } slots[] = {{backend, "even"}, {backend, "odd"}};
  for (int round = 0; round < rounds; ++round) {
    Slot& slot = slots[round % 2];
    if (round >= 2) device.await(*slot.taken);
    auto* values = reinterpret_cast<double*>(slot.pinned.data());
    for (int i = 0; i < size; ++i) expected[i] += values[i] = 1000. * round + i;
    device.upload_later(slot.there.data(), values, bytes);
    device.record(*slot.uploaded, Lane::copies);
    if (waits) device.wait(Lane::main, *slot.uploaded);
    kernels.add(over(size), total.data(), slot.there.data(), size);
    device.record(*slot.taken, Lane::main);
  }
  PinnedBytes back(device, bytes);
  const auto arrived = device.make_event("arrived");
  device.wait(Lane::copies, *slots[(rounds - 1) % 2].taken);
  device.download_later(back.data(), total.data(), bytes);
  device.record(*arrived, Lane::copies);
  device.await(*arrived);
  EXPECT_TRUE(device.reached(*arrived));
  const auto* values = reinterpret_cast<const double*>(back.data());
  expect_values("the sum of ten uploads", std::vector<double>(values, values + size), expected);
}

// ---- more memory than there is: `room` bytes ----

inline void no_more_memory_than_there_is(Backend& backend, std::size_t room) {
  constexpr int size = 1000;
  const Kernels kernels(*backend.compiler);
  const std::int64_t held = backend.ledger.live_bytes;
  std::vector<double> expected(size);
  for (int i = 0; i < size; ++i) expected[i] = ramp_at<double>(i);
  Buffer<double> kept(backend, size, "kept");
  const Counts before = backend.ledger.counts;
  const auto sites = backend.ledger.peak_by_site();
  for (int again = 0; again < 2; ++again) {
    const Error refused = error_of([&] { Buffer<char>(backend, 2 * room, "too much"); });
    EXPECT_EQ(refused.fault(), Fault::out_of_memory) << refused.what();
    EXPECT_THAT(refused.what(), testing::HasSubstr("failed to allocate 'too much'"));
    EXPECT_THAT(refused.what(), testing::HasSubstr(text("asks for ", 2 * room, " bytes")));
  }
  EXPECT_EQ(backend.ledger.live_bytes - held, std::int64_t{size} * 8)
      << "what is refused is not held";
  EXPECT_EQ((backend.ledger.counts - before).allocations, 0) << "nor counted";
  EXPECT_EQ(backend.ledger.peak_bytes, backend.ledger.live_bytes) << "nor part of the peak";
  EXPECT_EQ(backend.ledger.peak_by_site(), sites);
  kernels.ramp_f64(over(size), kept.data(), size);
  expect_values("what was held before, after a refusal", kept.to_host(), expected);
  EXPECT_NO_THROW(Buffer<char>(backend, room / 16, "a part of it"));
}

// ---- all blocks of a cooperative launch meet ----

inline void meetings(Backend& backend) {
  constexpr int rounds = 20;
  const Kernels kernels(*backend.compiler);
  const auto count = static_cast<unsigned>(backend.device->architecture().multiprocessors);
  std::vector<unsigned> expected(count, 1);
  const Buffer<unsigned> word(backend, std::vector<unsigned>{0}, "word");
  const Buffer<unsigned> given(backend, count, "given"), taken(backend, expected, "taken");
  const auto launch = [&](unsigned grid) {
    kernels.meet({.grid = {grid}, .block = {72}, .cooperative = true}, word.data(), given.data(),
                 taken.data(), rounds);
  };
  for (int launches = 1; launches <= 2; ++launches) {
    launch(count);
    for (int round = 0; round < rounds; ++round) {
      const auto before = expected;
      for (unsigned i = 0; i < count; ++i)
        expected[i] = 3 * before[(i + 1) % count] + (i + 1) % count;
    }
    expect_values(text("what blocks took in ", launches, " launches"), taken.to_host(), expected);
  }
  EXPECT_THAT(refusal_of([&] { launch(1'000'000); }, Fault::broken_rule),
              testing::HasSubstr("a cooperative grid of 1000000 blocks"));
}

}  // namespace holdfast::promises
