// SPDX-License-Identifier: Apache-2.0
// Every verb on the host against its definition, written here once more, and on the emulated device
// against the host, whose formulas it shares.
#define HOLDFAST_ISA isa_test
#include "arrays/arrays.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
// Threads share loops of this size. Neither extent is a multiple of a tile, and the middle row lies
// within a segment.
constexpr Sizes shared_size = {703, 400};

// Element i of the inputs.
double a_at(std::int64_t i) {
  return value(1, i);
}
double b_at(std::int64_t i) {
  return value(2, i);
}
double positive_at(std::int64_t i) {
  return value(3, i) + 1.5;
}
bool mask_at(std::int64_t i) {
  return i % 3 == 0;
}
int segment_at(std::int64_t j) {
  return static_cast<int>(j / 5 * 3);
}  // of up to five
constexpr std::int64_t beyond = 3;  // columns of `wide` between two rows of scale_rows
double wide_at(std::int64_t i) {
  return value(4, i);
}
constexpr double low = -800;  // its exponential is zero
double low_at(std::int64_t i) {
  return low + a_at(i);
}

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
    plane("scale_rows", verbs_.scale_rows, wide_.data(), columns_ + beyond, b_.data());
    plane("shifted_exp", verbs_.shifted_exp, a_.data(), b_.data(), positive_.data());
  }
  void reductions() {
    keep<T>("weighted_sum", columns_,
            [&](T* out) { verbs_.weighted_sum(b_.data(), a_.data(), out, rows_, columns_); });
    keep<T>("log_sum", columns_,
            [&](T* out) { verbs_.log_sum(low_.data(), out, rows_, columns_); });
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
  Buffer<Value> input(const Make& make, std::int64_t more_columns = 0) {
    std::vector<Value> values(rows_ * (columns_ + more_columns));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Value>(make(i));
    return {backend_, values, "input"};
  }

  Backend& backend_;
  Verbs verbs_;
  std::int64_t rows_, columns_;
  Buffer<T> a_ = input<T>(a_at), b_ = input<T>(b_at), positive_ = input<T>(positive_at);
  Buffer<T> low_ = input<T>(low_at), wide_ = input<T>(wide_at, beyond);
  Buffer<unsigned char> mask_ = input<unsigned char>(mask_at);
  Buffer<int> segments_ = input<int>(segment_at);
  Results results_ = {};
};

// What every verb of the table must write, in double.
class ByDefinition {
 public:
  explicit ByDefinition(Sizes sizes) : rows_(sizes.rows), columns_(sizes.columns) {}

  Results results() {
    lines();
    planes();
    reductions();
    return std::move(results_);
  }

 private:
  template <class Element>
  void each(const char* name, std::int64_t size, const Element& element) {
    std::vector<double>& values = results_[name];
    for (std::int64_t i = 0; i < size; ++i) values.push_back(element(i));
  }
  void lines() {
    const std::int64_t size = rows_ * columns_, first = size / 3, end = size - size / 4;
    const double by = a_at(size / 2);
    const auto line = [&](const char* name, const auto& element) { each(name, size, element); };
    line("fill", [](std::int64_t) { return 0.5; });
    line("add", [](std::int64_t i) { return a_at(i) + b_at(i); });
    line("subtract", [](std::int64_t i) { return a_at(i) - b_at(i); });
    line("multiply", [](std::int64_t i) { return a_at(i) * b_at(i); });
    line("exponential", [](std::int64_t i) { return std::exp(a_at(i)); });
    line("logarithm", [](std::int64_t i) { return std::log(positive_at(i)); });
    line("shift", [](std::int64_t i) { return a_at(i) + 0.25; });
    line("scale", [](std::int64_t i) { return 3 * a_at(i); });
    line("divide", [](std::int64_t i) { return a_at(i) / 3; });
    line("clip", [](std::int64_t i) { return std::max(a_at(i), -0.125); });
    line("masked_ratio", [](std::int64_t i) { return b_at(i) > 0 ? a_at(i) / b_at(i) : 7; });
    line("select", [](std::int64_t i) { return mask_at(i) ? 9 : a_at(i); });
    line("half_exp", [=](std::int64_t i) { return std::exp((a_at(i) - by) / 2); });
    line("shifted_log", [=](std::int64_t i) { return std::log(positive_at(i)) + by; });
    line("below", [](std::int64_t i) { return std::abs(a_at(i)) < 0.5; });
    line("place",
         [=](std::int64_t i) { return i < first || i >= end ? a_at(i) : b_at(i - first); });
  }
  void planes() {
    const auto plane = [&](const char* name, const auto& element) {
      each(name, rows_ * columns_,
           [&](std::int64_t i) { return element(i, i / columns_, i % columns_); });
    };
    using Index = std::int64_t;
    plane("divide_columns", [](Index i, Index, Index c) { return a_at(i) / positive_at(c); });
    plane("subtract_columns", [](Index i, Index, Index c) { return a_at(i) - b_at(c); });
    plane("keep_columns", [](Index i, Index, Index c) { return b_at(c) > 0 ? a_at(i) : 7; });
    plane("negated_rows", [](Index, Index, Index c) { return -a_at(c); });
    plane("scale_rows", [this](Index, Index r, Index c) {
      return wide_at(r * (columns_ + beyond) + c) * b_at(r);
    });
    plane("shifted_exp",
          [](Index i, Index r, Index) { return std::exp(a_at(i) - b_at(r)) * positive_at(r); });
  }
  // The sum of term(r, i) over the rows of each column; i is the element.
  template <class Term>
  void sums(const char* name, const Term& term) {
    each(name, columns_, [&](std::int64_t c) {
      double sum = 0;
      for (std::int64_t r = 0; r < rows_; ++r) sum += term(r, r * columns_ + c);
      return sum;
    });
  }
  void reductions() {
    sums("weighted_sum", [](std::int64_t r, std::int64_t i) { return b_at(r) * a_at(i); });
    sums("square_sum", [](std::int64_t, std::int64_t i) { return a_at(i) * a_at(i); });
    sums("log_sum", [](std::int64_t, std::int64_t i) { return std::exp(a_at(i)); });
    for (double& sum : results_["log_sum"]) sum = low + std::log(sum);
    each("row_maximum", rows_, [this](std::int64_t r) {
      double most = a_at(r * columns_);
      for (std::int64_t c = 1; c < columns_; ++c) most = std::max(most, a_at(r * columns_ + c));
      return most;
    });
    each("segment_sum", rows_ * columns_, b_at);
    std::vector<double>& segments = results_["segment_sum"];
    for (std::int64_t i = 0; i < rows_ * columns_; ++i)
      segments[segment_at(i / columns_) * columns_ + i % columns_] += a_at(i);
  }

  std::int64_t rows_, columns_;
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

void expect_by_definition(Sizes sizes) {
  SCOPED_TRACE(text(sizes.rows, " rows, ", sizes.columns, " columns"));
  const Results expected = ByDefinition(sizes).results();
  expect_near(on_host<double>(sizes), expected, 1e-13);
}

TEST(HostVerbs, WriteWhatTheirDefinitionsSay) {
  for (const Sizes sizes : all_sizes) expect_by_definition(sizes);
}

TEST(HostVerbs, WriteWhatTheirDefinitionsSayWhereThreadsShareThem) {
  ASSERT_GE(shared_size.rows * shared_size.columns, HOLDFAST_ISA::worth_sharing);
  expect_by_definition(shared_size);
}

// Partial sums keep the rounding errors of 2^16 equal terms small.
TEST(HostVerbs, AddUpLongColumnsInSinglePrecisionToItsRounding) {
  constexpr std::int64_t rows = 1 << 16;
  const auto backend = open_backend("host");
  HOLDFAST_ISA::HostVerbs<float> verbs(*backend, false);
  const std::vector<float> weights(rows, 1.f), values(rows, 0.1f);
  float sum = 0;
  verbs.weighted_sum(weights.data(), values.data(), &sum, rows, 1);
  EXPECT_NEAR(sum / (rows * double{0.1f}), 1, 1e-5);
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
