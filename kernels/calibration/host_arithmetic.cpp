// SPDX-License-Identifier: Apache-2.0
// Throughput of a CPU's arithmetic units and threads.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "calibration/variants.hpp"
#include "host/vectors.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::calibration::HOLDFAST_ISA {
namespace {

using host::HOLDFAST_ISA::Integers;
using host::HOLDFAST_ISA::Lanes;

// Chains of multiply-adds in registers. 12 of them more than hide a latency of 4 cycles on 2 units,
// and leave registers for the operands.
template <class T>
class MultiplyAdd final : public Calibration {
 public:
  explicit MultiplyAdd(const Size& size) : size_(size) {}

  void step() override {
    typename Lanes<T>::Vector values[chains];
    for (std::size_t c = 0; c < chains; ++c)
      for (std::size_t l = 0; l < lanes; ++l) values[c][l] = static_cast<T>(c * lanes + l);
    auto factor = typename Lanes<T>::Vector{} + T(1), shift = factor;
    asm volatile("" : "+v"(factor), "+v"(shift));  // the compiler must not know that they are one
    for (int i = 0; i < size_.repeats; ++i) {
#pragma GCC unroll 12
      for (std::size_t c = 0; c < chains; ++c) values[c] = values[c] * factor + shift;
    }
    for (std::size_t c = 0; c < chains; ++c)
      for (std::size_t l = 0; l < lanes; ++l)
        results_[c * lanes + l] = static_cast<double>(values[c][l]);
  }
  std::vector<double> result() override {
    return results_;
  }
  std::vector<double> expected() const override {
    std::vector<double> values(chains * lanes);
    std::iota(values.begin(), values.end(), static_cast<double>(size_.repeats));
    return values;
  }
  Work work() const override {
    return {.flops = 2.0 * chains * lanes * size_.repeats, .precision = size_.precision};
  }

 private:
  static constexpr std::size_t chains = 12, lanes = Lanes<T>::count;
  Size size_;
  std::vector<double> results_ = std::vector<double>(chains * lanes, 0.0);
};

// exp(x) of whole vectors, |x| < 80: x = k ln 2 + r, a Taylor polynomial in r, and k added to the
// exponent's bits. Adding `shifter` leaves k in the lowest bits. Overflow and NaN, which a workload
// must handle as well, are left out: this is a ceiling.
template <class T>
struct Exponential;
template <>
struct Exponential<double> {
  static constexpr int degree = 11, mantissa_bits = 52;  // remainder below 7e-15
  static constexpr double shifter = 0x1.8p52, ln2_high = 0x1.62e42fee00000p-1,
                          ln2_low = 0x1.a39ef35793c76p-33;
};
template <>
struct Exponential<float> {
  static constexpr int degree = 6, mantissa_bits = 23;  // remainder below 2e-7
  static constexpr float shifter = 0x1.8p23F, ln2_high = 0x1.62e400p-1F, ln2_low = 0x1.7f7d1cp-20F;
};

template <class T>
constexpr T inverse_factorial(int n) {
  T product = 1;
  for (int i = 2; i <= n; ++i) product *= static_cast<T>(i);
  return 1 / product;
}

template <class T>
[[gnu::always_inline]] inline void exponential(const typename Lanes<T>::Vector& x,
                                               typename Lanes<T>::Vector& y) {
  using E = Exponential<T>;
  const auto shifted = x * static_cast<T>(1.4426950408889634) + E::shifter;
  const auto k = shifted - E::shifter;
  const auto r = (x - k * E::ln2_high) - k * E::ln2_low;
  auto series = r * inverse_factorial<T>(E::degree) + inverse_factorial<T>(E::degree - 1);
#pragma GCC unroll 16
  for (int n = E::degree - 2; n >= 0; --n) series = series * r + inverse_factorial<T>(n);
  y = reinterpret_cast<Lanes<T>::Vector>(
      reinterpret_cast<Integers<T>>(series) +
      (reinterpret_cast<Integers<T>>(shifted) << E::mantissa_bits));
}

// Repeated exponentials of 1024 numbers that stay in the L1 cache.
template <class T>
class Exponentials final : public Calibration {
 public:
  Exponentials(Backend& backend, const Size& size)
      : size_(size), x_(backend, count, "calibration"), y_(backend, count, "calibration") {
    for (std::size_t i = 0; i < count; ++i) x_.data()[i] = static_cast<T>(argument(i));
    std::fill_n(y_.data(), count, T(0));
  }

  void step() override {
    constexpr std::size_t lanes = Lanes<T>::count;
    const auto* x = reinterpret_cast<const Lanes<T>::Vector*>(x_.data());
    auto* y = reinterpret_cast<Lanes<T>::Vector*>(y_.data());
    for (int repeat = 0; repeat < size_.repeats; ++repeat) {
#pragma GCC unroll 4
      for (std::size_t i = 0; i < count / lanes; ++i) exponential<T>(x[i], y[i]);
      asm volatile("" ::: "memory");  // keeps repeats from being merged or dropped
    }
  }
  std::vector<double> result() override {
    return {y_.data(), y_.data() + count};
  }
  std::vector<double> expected() const override {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(std::exp(argument(i)));
    return values;
  }
  double tolerance() const override {
    return std::is_same_v<T, float> ? 1e-6 : 2e-14;
  }
  Work work() const override {
    return {.specials = static_cast<double>(count) * size_.repeats, .precision = size_.precision};
  }

 private:
  static constexpr std::size_t count = 1024;
  // Exact in both precisions, from -4 to 4.
  static double argument(std::size_t i) {
    return (static_cast<double>(i) - 512) / 128;
  }

  Size size_;
  Buffer<T> x_, y_;
};

// Forks and joins the process's OpenMP team; each thread counts.
class Forks final : public Calibration {
 public:
  explicit Forks(const Size& size) : repeats_(size.repeats) {}

  void step() override {
    for (int i = 0; i < repeats_; ++i) {
#pragma omp parallel for schedule(static) num_threads(host_limits().threads)
      for (std::size_t thread = 0; thread < counts_.size(); ++thread) ++counts_[thread].value;
    }
    forks_ += repeats_;
  }
  std::vector<double> result() override {
    std::vector<double> values;
    for (const Count& count : counts_) values.push_back(count.value);
    return values;
  }
  std::vector<double> expected() const override {
    return std::vector<double>(counts_.size(), forks_);
  }
  Work work() const override {
    return {.phases = static_cast<double>(repeats_)};
  }

 private:
  struct alignas(64) Count {
    double value = 0;
  };
  int repeats_;
  double forks_ = 0;
  std::vector<Count> counts_ = std::vector<Count>(static_cast<std::size_t>(host_limits().threads));
};

template <class T>
std::unique_ptr<Calibration> make_arithmetic(Backend& backend, const Size& size) {
  if (size.kind == Kind::multiply_add) return std::make_unique<MultiplyAdd<T>>(size);
  return std::make_unique<Exponentials<T>>(backend, size);
}

}  // namespace

std::unique_ptr<Calibration> make_host_arithmetic(Backend& backend, const Size& size) {
  switch (size.kind) {
    case Kind::multiply_add:
    case Kind::exponentials:
      return size.precision == Precision::f32 ? make_arithmetic<float>(backend, size)
                                              : make_arithmetic<double>(backend, size);
    case Kind::barriers:
      return std::make_unique<Forks>(size);
    default:
      return nullptr;
  }
}

}  // namespace holdfast::calibration::HOLDFAST_ISA
