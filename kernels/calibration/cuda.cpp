// SPDX-License-Identifier: Apache-2.0
// The calibrations of a device: control flow over its verbs (calibration.cu).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>

#include "calibration/formulas.hpp"
#include "calibration/kernels.hpp"
#include "calibration/variants.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/pinned_bytes.hpp"

namespace holdfast::calibration {
namespace {

constexpr unsigned warp = 32;

class OnDevice : public Calibration {
 protected:
  OnDevice(Backend& backend, const Size& size)
      : backend_(backend), device_(*backend.device), size_(size), kernels_(*backend.compiler) {}

  LaunchShape everywhere() const {
    return {.grid = {blocks_per_multiprocessor * multiprocessors()}, .block = {threads_per_block}};
  }
  std::size_t thread_count() const { return std::size_t{everywhere().grid.x} * threads_per_block; }
  unsigned multiprocessors() const {
    return static_cast<unsigned>(device_.architecture().multiprocessors);
  }
  Buffer<unsigned> zeros(std::size_t count) const {
    Buffer<unsigned> words(backend_, count, "calibration");
    device_.fill_zero(words.data(), words.bytes());
    return words;
  }

  Backend& backend_;
  Device& device_;
  Size size_;
  Kernels kernels_;
};

// Number of 16-byte quads, limited so that the index of every word, even one grid stride beyond the
// end, fits into 31 bits.
int quads_in(std::size_t bytes) {
  return static_cast<int>(std::clamp<std::size_t>(bytes / 16, 1, std::size_t{1} << 28));
}

// Moves half of the footprint into the other half.
class Copy final : public OnDevice {
 public:
  Copy(Backend& backend, const Size& size)
      : OnDevice(backend, size),
        quads_(quads_in(size.footprint_bytes / 2)),
        from_(backend, 4 * static_cast<std::size_t>(quads_), "calibration"),
        to_(zeros(from_.size())) {
    kernels_.fill(everywhere(), from_.data(), quads_);
  }

  void step() override {
    if (size_.kind == Kind::copy)
      kernels_.copy(everywhere(), from_.data(), to_.data(), quads_, size_.repeats);
    else
      for (int i = 0; i < size_.repeats; ++i) device_.copy(to_.data(), from_.data(), from_.bytes());
  }
  std::vector<double> result() override {
    const auto right = zeros(1);
    kernels_.count_right(everywhere(), to_.data(), quads_, right.data());
    return {static_cast<double>(right.to_host()[0])};
  }
  std::vector<double> expected() const override { return {static_cast<double>(from_.size())}; }
  Work work() const override {
    return {.bytes = 2.0 * static_cast<double>(from_.bytes()) * size_.repeats};
  }

 private:
  int quads_;
  Buffer<unsigned> from_, to_;
};

class Read final : public OnDevice {
 public:
  Read(Backend& backend, const Size& size)
      : OnDevice(backend, size),
        quads_(quads_in(size.footprint_bytes)),
        words_(backend, 4 * static_cast<std::size_t>(quads_), "calibration"),
        sums_(zeros(thread_count())) {
    kernels_.fill(everywhere(), words_.data(), quads_);
  }

  void step() override {
    kernels_.read(everywhere(), words_.data(), sums_.data(), quads_, size_.repeats);
  }
  std::vector<double> result() override {
    const auto sums = sums_.to_host();
    return {static_cast<double>(std::accumulate(sums.begin(), sums.end(), 0u))};
  }
  std::vector<double> expected() const override {
    const auto once = sum_of_words(static_cast<unsigned>(words_.size()));
    return {static_cast<double>(static_cast<unsigned>(size_.repeats) * once)};
  }
  Work work() const override {
    return {.bytes = static_cast<double>(words_.bytes()) * size_.repeats};
  }

 private:
  int quads_;
  Buffer<unsigned> words_, sums_;
};

class Upload final : public OnDevice {
 public:
  Upload(Backend& backend, const Size& size)
      : OnDevice(backend, size),
        pinned_(*backend.device, size.footprint_bytes),
        words_(reinterpret_cast<unsigned*>(pinned_.data()),
               size.footprint_bytes / sizeof(unsigned)),
        there_(zeros(words_.size())) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = word(static_cast<unsigned>(i));
  }

  void step() override {
    for (int i = 0; i < size_.repeats; ++i) there_.upload(words_);
  }
  std::vector<double> result() override {
    const std::vector<unsigned> there = there_.to_host();
    return {static_cast<double>(std::equal(there.begin(), there.end(), words_.begin()))};
  }
  std::vector<double> expected() const override { return {1}; }
  Work work() const override {
    return {.bytes = static_cast<double>(there_.bytes()) * size_.repeats};
  }

 private:
  PinnedBytes pinned_;
  std::span<unsigned> words_;
  Buffer<unsigned> there_;
};

template <class T>
class MultiplyAdd final : public OnDevice {
 public:
  MultiplyAdd(Backend& backend, const Size& size)
      : OnDevice(backend, size), sums_(backend, thread_count(), "calibration") {}

  void step() override {
    kernels_.multiply_add.of<T>()(everywhere(), sums_.data(), size_.repeats, T(1), T(1));
  }
  std::vector<double> result() override {
    const auto sums = sums_.to_host();
    return {sums.begin(), sums.end()};
  }
  std::vector<double> expected() const override {
    std::vector<double> values;
    for (std::size_t i = 0; i < thread_count(); ++i)
      values.push_back(chain_sum(static_cast<int>(i), size_.repeats));
    return values;
  }
  Work work() const override {
    return {.flops = 2.0 * device_chains * static_cast<double>(thread_count()) * size_.repeats,
            .precision = size_.precision};
  }

 private:
  Buffer<T> sums_;
};

class SplitProducts final : public OnDevice {
 public:
  SplitProducts(Backend& backend, const Size& size)
      : OnDevice(backend, size), sums_(backend, thread_count(), "calibration") {}

  void step() override { kernels_.bf16_products(everywhere(), sums_.data(), size_.repeats); }
  std::vector<double> result() override {
    const auto sums = sums_.to_host();
    return {sums.begin(), sums.end()};
  }
  std::vector<double> expected() const override {
    std::vector<double> values;
    for (std::size_t i = 0; i < thread_count(); ++i)
      values.push_back(tile_sum(static_cast<int>(i), size_.repeats));
    return values;
  }
  Work work() const override {
    const auto warps = thread_count() / warp;
    const double products = product_tiles * static_cast<double>(warps) * size_.repeats;
    return {.flops = flops_of_product * products / products_of_a_split,
            .precision = Precision::f32};
  }

 private:
  Buffer<float> sums_;
};

template <class T>
class Exponentials final : public OnDevice {
 public:
  Exponentials(Backend& backend, const Size& size)
      : OnDevice(backend, size), sums_(backend, thread_count(), "calibration") {}

  void step() override { kernels_.exponentials.of<T>()(everywhere(), sums_.data(), size_.repeats); }
  std::vector<double> result() override {
    const auto sums = sums_.to_host();
    return {sums.begin(), sums.end()};
  }
  std::vector<double> expected() const override {
    std::vector<double> lanes(warp, 0.0), values;
    for (std::size_t lane = 0; lane < warp; ++lane)
      for (int i = 0; i < size_.repeats; ++i)
        lanes[lane] += std::exp(first_exponent(static_cast<int>(lane)) - i * exponent_step);
    for (std::size_t i = 0; i < thread_count(); ++i) values.push_back(lanes[i % warp]);
    return values;
  }
  // A sum of 1000 numbers in order, and an exponential of a few units in the last place.
  double tolerance() const override { return std::is_same_v<T, float> ? 1e-4 : 1e-12; }
  Work work() const override {
    return {.specials = static_cast<double>(thread_count()) * size_.repeats,
            .precision = size_.precision};
  }

 private:
  Buffer<T> sums_;
};

// Nearly empty kernels, launched one by one or replayed from a graph.
class Ticks final : public OnDevice {
 public:
  Ticks(Backend& backend, const Size& size) : OnDevice(backend, size), ticks_(zeros(1)) {
    if (size.kind == Kind::graph_nodes) graph_ = device_.capture([this] { launch_all(); });
  }

  void step() override {
    graph_ ? device_.replay(*graph_) : launch_all();
    expected_ += size_.repeats;
  }
  std::vector<double> result() override { return {static_cast<double>(ticks_.to_host()[0])}; }
  std::vector<double> expected() const override { return {expected_}; }
  Work work() const override { return {.phases = static_cast<double>(size_.repeats)}; }

 private:
  void launch_all() {
    for (int i = 0; i < size_.repeats; ++i) kernels_.tick({.block = {warp}}, ticks_.data());
  }

  Buffer<unsigned> ticks_;
  std::optional<Graph> graph_ = {};
  double expected_ = 0;
};

// One block per multiprocessor, the smallest grid that uses the whole device.
class Barriers final : public OnDevice {
 public:
  Barriers(Backend& backend, const Size& size)
      : OnDevice(backend, size),
        word_(zeros(1)),
        posted_(zeros(multiprocessors())),
        seen_(zeros(multiprocessors())) {}

  void step() override {
    kernels_.rounds({.grid = {multiprocessors()}, .block = {warp}, .cooperative = true},
                    word_.data(), posted_.data(), seen_.data(), rounds_so_far_, size_.repeats);
    rounds_so_far_ += static_cast<unsigned>(size_.repeats);
  }
  std::vector<double> result() override {
    const auto seen = seen_.to_host();
    return {seen.begin(), seen.end()};
  }
  std::vector<double> expected() const override {
    return std::vector<double>(multiprocessors(), rounds_so_far_);
  }
  Work work() const override { return {.phases = static_cast<double>(size_.repeats)}; }

 private:
  Buffer<unsigned> word_, posted_, seen_;
  unsigned rounds_so_far_ = 0;
};

template <class T>
std::unique_ptr<Calibration> make_arithmetic(Backend& backend, const Size& size) {
  if (size.kind == Kind::multiply_add) return std::make_unique<MultiplyAdd<T>>(backend, size);
  return std::make_unique<Exponentials<T>>(backend, size);
}

}  // namespace

std::unique_ptr<Calibration> make_on_device(Backend& backend, const Size& size) {
  switch (size.kind) {
    case Kind::copy:
    case Kind::memory_copy:
      return std::make_unique<Copy>(backend, size);
    case Kind::read:
      return std::make_unique<Read>(backend, size);
    case Kind::upload:
      return std::make_unique<Upload>(backend, size);
    case Kind::multiply_add:
    case Kind::exponentials:
      return size.precision == Precision::f32 ? make_arithmetic<float>(backend, size)
                                              : make_arithmetic<double>(backend, size);
    case Kind::split_products:
      return std::make_unique<SplitProducts>(backend, size);
    case Kind::launches:
    case Kind::graph_nodes:
      return std::make_unique<Ticks>(backend, size);
    case Kind::barriers:
      return std::make_unique<Barriers>(backend, size);
    default:
      return nullptr;
  }
}

}  // namespace holdfast::calibration
