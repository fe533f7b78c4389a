// SPDX-License-Identifier: Apache-2.0
// Every verb on the host and on the emulated device, at sizes around a warp.
#define HOLDFAST_ISA isa_test
#include "arrays/arrays.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arrays/device_verbs.hpp"
#include "arrays/host_verbs.hpp"
#include "arrays/testing/arrays_on_cpu.hpp"
#include "runtime/device_code/random.hpp"

namespace holdfast::arrays {
namespace {

using Results = std::map<std::string, std::vector<double>>;

struct Sizes {
  std::int64_t rows = 1, columns = 1;
};
// Extents below and above a warp; more rows than a block of a sum has lines.
constexpr Sizes all_sizes[] = {{1, 1}, {31, 33}, {32, 32}, {33, 31}, {2, 300}, {150, 33}};

std::unique_ptr<Backend> emulated(emulation::Order order = emulation::Order::forward) {
  EmulatedKernels kernels;
  add_kernels(kernels);
  return make_emulated_backend(std::move(kernels), {.order = order});
}

// The output of every verb of the table, by name.
template <class Verbs>
class Everything {
  using T = Verbs::Value;

 public:
  Everything(Backend& backend, Sizes sizes)
      : backend_(backend), verbs_(backend, true), rows_(sizes.rows), columns_(sizes.columns) {}

  Results results() {
    lines();
    planes();
    reductions();
    return std::move(results_);
  }

 private:
  void lines() {
    const std::int64_t size = rows_ * columns_, first = size / 3, end = size - size / 4;
    const T* by = a_.data() + size / 2;
    const auto line = [&](const char* name, const auto& verb, auto... arguments) {
      keep<T>(name, size, [&](T* out) { verb(arguments..., out, size); });
    };
    line("fill", verbs_.fill, T(0.5));
    line("add", verbs_.add, a_.data(), b_.data());
    line("subtract", verbs_.subtract, a_.data(), b_.data());
    line("multiply", verbs_.multiply, a_.data(), b_.data());
    line("exponential", verbs_.exponential, a_.data());
    line("logarithm", verbs_.logarithm, positive_.data());
    line("shift", verbs_.shift, a_.data(), T(0.25));
    line("scale", verbs_.scale, a_.data(), T(3));
    line("divide", verbs_.divide, a_.data(), T(3));
    line("clip", verbs_.clip, a_.data(), T(-0.125));
    line("masked_ratio", verbs_.masked_ratio, a_.data(), b_.data(), T(7));
    line("select", verbs_.select, mask_.data(), T(9), a_.data());
    line("half_exp", verbs_.half_exp, a_.data(), by);
    line("shifted_log", verbs_.shifted_log, positive_.data(), by);
    keep<unsigned char>("below", size,
                        [&](unsigned char* out) { verbs_.below(a_.data(), T(0.5), out, size); });
    keep<T>("place", size,
            [&](T* out) { verbs_.place(a_.data(), b_.data(), first, end, out, size); });
  }
  void planes() {
    const auto plane = [&](const char* name, const auto& verb, auto... arguments) {
      keep<T>(name, rows_ * columns_, [&](T* out) { verb(arguments..., out, rows_, columns_); });
    };
    plane("divide_columns", verbs_.divide_columns, a_.data(), positive_.data());
    plane("subtract_columns", verbs_.subtract_columns, a_.data(), b_.data());
    plane("keep_columns", verbs_.keep_columns, a_.data(), b_.data(), T(7));
    plane("negated_rows", verbs_.negated_rows, a_.data());
    plane("scale_rows", verbs_.scale_rows, a_.data(), columns_, b_.data());
    plane("shifted_exp", verbs_.shifted_exp, a_.data(), b_.data(), positive_.data());
  }
  void reductions() {
    keep<T>("weighted_sum", columns_,
            [&](T* out) { verbs_.weighted_sum(b_.data(), a_.data(), out, rows_, columns_); });
    keep<T>("log_sum", columns_, [&](T* out) { verbs_.log_sum(a_.data(), out, rows_, columns_); });
    keep<T>("row_maximum", rows_,
            [&](T* out) { verbs_.row_maximum(a_.data(), out, rows_, columns_); });
    keep<T>("segment_sum", rows_ * columns_, [&](T* out) {
      verbs_.copy(b_.data(), out, rows_ * columns_);
      verbs_.segment_sum(a_.data(), segments_.data(), out, rows_, columns_);
    });
    keep<T>("square_sum", columns_,
            [&](T* out) { verbs_.square_sum(a_.data(), out, rows_, columns_); });
  }

  template <class Value, class Write>
  void keep(const char* name, std::int64_t size, const Write& write) {
    const Buffer<Value> out(backend_, size, name);
    write(out.data());
    const std::vector<Value> values = out.to_host();
    results_[name] = {values.begin(), values.end()};
  }
  template <class Value, class Make>
  Buffer<Value> input(const Make& make) {
    std::vector<Value> values(rows_ * columns_);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Value>(make(i));
    return {backend_, values, "input"};
  }

  Backend& backend_;
  Verbs verbs_;
  std::int64_t rows_, columns_;
  Buffer<T> a_ = input<T>([](std::size_t i) { return value(1, i); });
  Buffer<T> b_ = input<T>([](std::size_t i) { return value(2, i); });
  Buffer<T> positive_ = input<T>([](std::size_t i) { return value(3, i) + 1.5; });
  Buffer<unsigned char> mask_ = input<unsigned char>([](std::size_t i) { return i % 3 == 0; });
  Buffer<int> segments_ = input<int>([](std::size_t j) { return j / 5 * 3; });  // of up to five
  Results results_ = {};
};

template <class T>
Results on_host(Sizes sizes) {
  const auto backend = open_backend("host");
  return Everything<HOLDFAST_ISA::HostVerbs<T>>(*backend, sizes).results();
}
template <class T>
Results on_device(Backend& backend, Sizes sizes) {
  return Everything<DeviceVerbs<T>>(backend, sizes).results();
}

void expect_near(const Results& these, const Results& those, double relative) {
  ASSERT_EQ(these.size(), those.size());
  for (const auto& [name, values] : these) {
    const std::vector<double>& others = those.at(name);
    ASSERT_EQ(values.size(), others.size()) << name;
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(values[i], others[i], relative * (1 + std::abs(values[i])))
          << name << " at " << i;
  }
}

struct ArrayVerbs : testing::TestWithParam<emulation::Order> {};
INSTANTIATE_TEST_SUITE_P(InBothOrdersOfThreads, ArrayVerbs,
                         testing::Values(emulation::Order::forward, emulation::Order::backward));

TEST_P(ArrayVerbs, WriteOnTheEmulatedDeviceWhatTheyWriteOnTheHost) {
  const auto backend = emulated(GetParam());
  for (const Sizes sizes : all_sizes) {
    SCOPED_TRACE(text(sizes.rows, " rows, ", sizes.columns, " columns"));
    expect_near(on_device<float>(*backend, sizes), on_host<float>(sizes), 1e-5);
    expect_near(on_device<double>(*backend, sizes), on_host<double>(sizes), 1e-13);
  }
}

TEST(Table, NamesTheVerbsThatAreTestedHere) {
#define NAME(kind, shape, name, ...) #name,
  const std::set<std::string> names = {HOLDFAST_ARRAY_VERBS(NAME, NAME)};
  std::set<std::string> tested;
  for (const auto& [name, values] : on_host<float>({3, 5})) tested.insert(name);
  EXPECT_EQ(tested, names);
}

TEST(DeviceVerbs, AreOneLaunchEachOfOneProgram) {
  const auto backend = open_backend("cuda-dry:sm_90");
  const auto verbs = on_device<float>(*backend, {33, 31}).size();
  EXPECT_EQ(backend->ledger.counts.launches, verbs);
  EXPECT_EQ(backend->ledger.counts.programs, 1);
}

TEST(DeviceVerbs, LaunchForAnEmptyArrayToo) {
  const auto backend = emulated();
  const DeviceVerbs<float> verbs(*backend, false);
  verbs.fill(1, nullptr, 0);
  EXPECT_EQ(backend->ledger.counts.launches, 1);
}

// README.md's example: each column's exponentials, divided by their sum.
template <class Verbs>
std::vector<double> example(Backend& backend) {
  using T = Verbs::Value;
  constexpr std::int64_t rows = 33, columns = 31;
  const Buffer<T> ones(backend, std::vector<T>(rows, T(1)), "ones");
  Buffer<T> shares(backend, rows * columns, "shares");
  Verbs verbs(backend, false);
  Arena arena(backend);
  Arrays<Verbs> on(verbs, arena);
  const auto step = [&] {
    const auto powers = on.exp(on.shift(on.filled(rows * columns, 0.5), -0.25));
    const auto sums = on.weighted_sum(ones.data(), powers, rows, columns);
    const auto result = on.divide_columns(powers, sums.data(), columns);
    if (!arena.rehearsing()) verbs.copy(result.data(), shares.data(), result.size());
  };
  step();  // the rehearsal
  arena.open();
  step();
  const std::vector<T> values = shares.to_host();
  return {values.begin(), values.end()};
}

TEST(Arrays, GiveTheSameOnHostAndDevice) {
  const std::vector<double> expected(33 * 31, 1. / 33);
  const auto host = open_backend("host");
  const auto device = emulated();
  expect_near({{"host", example<HOLDFAST_ISA::HostVerbs<double>>(*host)}}, {{"host", expected}},
              1e-14);
  expect_near({{"device", example<DeviceVerbs<double>>(*device)}}, {{"device", expected}}, 1e-14);
}

}  // namespace
}  // namespace holdfast::arrays
