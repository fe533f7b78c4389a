// SPDX-License-Identifier: Apache-2.0
// Bandwidth of a CPU's memory and caches.
#include <immintrin.h>

#include <algorithm>

#include "calibration/formulas.hpp"
#include "calibration/variants.hpp"
#include "host/vectors.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::calibration::HOLDFAST_ISA {
namespace {

using host::HOLDFAST_ISA::Lanes;
using Vector = Lanes<double>::Vector;
constexpr std::size_t unroll = 8;  // vectors per loop iteration

Vector* vectors(const Buffer<double>& buffer) {
  return reinterpret_cast<Vector*>(buffer.data());
}

// Element i of the data that is copied and read: a positive whole number.
double element(std::size_t i) {
  return word(static_cast<unsigned>(i)) % 4096 + 1;
}

// Memory traffic. The footprint is divided into `parts` arrays of `count()` elements; if there are
// several, the first is written to.
class Stream : public Calibration {
 public:
  Stream(Backend& backend, const Size& size, std::size_t parts) : repeats_(size.repeats) {
    constexpr std::size_t multiple = unroll * Lanes<double>::count;
    const std::size_t wanted = size.footprint_bytes / parts / sizeof(double);
    const std::size_t count = std::max(wanted / multiple, std::size_t{1}) * multiple;
    for (std::size_t part = 0; part < parts; ++part) {
      double* data = parts_.emplace_back(backend, count, "calibration").data();
      if (part == 0 && parts > 1)
        std::fill_n(data, count, 0.0);
      else
        for (std::size_t i = 0; i < count; ++i) data[i] = element(i);
    }
  }

  void step() override {
    for (int i = 0; i < repeats_; ++i) {
      pass();
      asm volatile("" ::: "memory");  // keeps passes from being merged or dropped
    }
  }
  Work work() const override {
    return {.bytes = static_cast<double>(repeats_) * static_cast<double>(parts_.size()) *
                     static_cast<double>(parts_[0].bytes())};
  }

 protected:
  virtual void pass() = 0;
  std::size_t count() const { return parts_[0].size(); }
  std::size_t vector_count() const { return count() / Lanes<double>::count; }
  const Buffer<double>& part(std::size_t i) const { return parts_[i]; }

  int repeats_;

 private:
  std::vector<Buffer<double>> parts_ = {};
};

// A stream that writes: result() is the number of correct elements.
class Writing : public Stream {
 public:
  using Stream::Stream;

  std::vector<double> result() override {
    std::size_t right = 0;
    for (std::size_t i = 0; i < count(); ++i) right += part(0).data()[i] == wanted(i);
    return {static_cast<double>(right)};
  }
  std::vector<double> expected() const override { return {static_cast<double>(count())}; }

 private:
  virtual double wanted(std::size_t i) const = 0;
};

class Copy final : public Writing {
 public:
  Copy(Backend& backend, const Size& size) : Writing(backend, size, 2), streams_(size.streams) {}

 private:
  void pass() override { streams_ ? past_the_caches() : through_the_caches(); }
  double wanted(std::size_t i) const override { return element(i); }

  void through_the_caches() const {
    Vector* to = vectors(part(0));
    const Vector* from = vectors(part(1));
    const std::size_t n = vector_count();
    for (std::size_t i = 0; i < n; i += unroll)
#pragma GCC unroll 8
      for (std::size_t k = 0; k < unroll; ++k) {
        Vector value = from[i + k];
        asm volatile("" : "+v"(value));  // keeps this from becoming a memcpy call
        to[i + k] = value;
      }
  }

  // A store that does not read the line first: a third less traffic for the same copy.
  void past_the_caches() const {
    double* to = part(0).data();
    const double* from = part(1).data();
    const std::size_t n = count();
    for (std::size_t i = 0; i < n; i += Lanes<double>::count) {
#ifdef __AVX512F__
      _mm512_stream_pd(to + i, _mm512_load_pd(from + i));
#else
      _mm256_stream_pd(to + i, _mm256_load_pd(from + i));
#endif
    }
    _mm_sfence();
  }

  bool streams_;
};

class Triad final : public Writing {
 public:
  Triad(Backend& backend, const Size& size) : Writing(backend, size, 3) {}

 private:
  void pass() override {
    Vector* a = vectors(part(0));
    const Vector* b = vectors(part(1));
    const Vector* c = vectors(part(2));
    const Vector three = Vector{} + 3.0;
    const std::size_t n = vector_count();
    for (std::size_t i = 0; i < n; i += unroll)
#pragma GCC unroll 8
      for (std::size_t k = 0; k < unroll; ++k) a[i + k] = b[i + k] + three * c[i + k];
  }
  double wanted(std::size_t i) const override {
    return 4 * element(i);
  }
};

class Read final : public Stream {
 public:
  Read(Backend& backend, const Size& size) : Stream(backend, size, 1) {}

  void step() override {
    total_ = 0;
    Stream::step();
  }
  std::vector<double> result() override { return {total_}; }
  std::vector<double> expected() const override {
    double sum = 0;
    for (std::size_t i = 0; i < count(); ++i) sum += element(i);
    return {repeats_ * sum};
  }

 private:
  void pass() override {
    const Vector* values = vectors(part(0));
    Vector sums[unroll] = {};
    const std::size_t n = vector_count();
    for (std::size_t i = 0; i < n; i += unroll)
#pragma GCC unroll 8
      for (std::size_t k = 0; k < unroll; ++k) sums[k] += values[i + k];
    for (const Vector& sum : sums)
      for (std::size_t lane = 0; lane < Lanes<double>::count; ++lane) total_ += sum[lane];
  }

  double total_ = 0;
};

}  // namespace

std::unique_ptr<Calibration> make_host_memory(Backend& backend, const Size& size) {
  switch (size.kind) {
    case Kind::copy:
      return std::make_unique<Copy>(backend, size);
    case Kind::triad:
      return std::make_unique<Triad>(backend, size);
    case Kind::read:
      return std::make_unique<Read>(backend, size);
    default:
      return nullptr;
  }
}

}  // namespace holdfast::calibration::HOLDFAST_ISA
