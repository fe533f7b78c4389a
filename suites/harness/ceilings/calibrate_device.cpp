// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "calibration/calibration.hpp"
#include "harness/ceilings/calibrate.hpp"

namespace holdfast {
namespace {

using calibration::Calibration;
using calibration::Kind;
using calibration::Size;

class Measuring {
 public:
  Measuring(Backend& backend, const DeviceEffort& effort) : backend_(backend), effort_(effort) {}

  // The best sample of a step, since a ceiling is what an undisturbed device can do.
  double least_seconds(Calibration& calibration) {
    double best = 0, spent = 0;
    for (int sample = 0; sample < fewest_samples || spent < effort_.seconds; ++sample) {
      const double seconds = backend_.device->time([&] { calibration.step(); });
      best = sample == 0 ? seconds : std::min(best, seconds);
      spent += seconds;
    }
    return best;
  }

  double rate(const Size& size, double Work::*amount) {
    const auto calibration = calibration::make_verified(backend_, size);
    return calibration->work().*amount / least_seconds(*calibration);
  }
  std::optional<double> rate_of(const char* what, const Size& size, double Work::*amount) {
    return if_it_succeeds(what, [&] { return rate(size, amount); });
  }

  // Seconds of one more launch, node or barrier: the constant cost of a step cancels in the
  // difference. Empty if noise is larger each time.
  std::optional<double> seconds_per_phase(const char* what, Kind kind) {
    const auto find = [&]() -> std::optional<double> {
      const auto few = calibration::make_verified(backend_, {.kind = kind, .repeats = effort_.few});
      const auto many =
          calibration::make_verified(backend_, {.kind = kind, .repeats = effort_.many});
      for (int attempt = 0; attempt < 5; ++attempt) {
        const double seconds = least_seconds(*many) - least_seconds(*few);
        if (seconds > 0) return seconds / (effort_.many - effort_.few);
      }
      return std::nullopt;
    };
    return if_it_succeeds(what, find).value_or(std::nullopt);
  }

  std::optional<Ceilings::Level> level(const char* name, double capacity, std::size_t bytes,
                                       int passes) {
    const auto moved = [&](Kind kind) {
      return rate({.kind = kind, .footprint_bytes = bytes, .repeats = passes}, &Work::bytes);
    };
    const auto fastest =
        if_it_succeeds(name, [&] { return std::max(moved(Kind::copy), moved(Kind::read)); });
    if (!fastest) return std::nullopt;
    return Ceilings::Level{.name = name,
                           .capacity_bytes = capacity,
                           .footprint_bytes = static_cast<double>(bytes),
                           .bytes_per_second = *fastest};
  }

  Ceilings::Peak peak(Precision precision) {
    const auto of = [&](const char* what, Kind kind, double Work::*amount, int repeats) {
      return rate_of(
          what, {.kind = kind, .precision = precision, .edge = effort_.edge, .repeats = repeats},
          amount);
    };
    const bool split = precision == Precision::f32;
    return {.flop_per_second =
                of("multiply-adds", Kind::multiply_add, &Work::flops, effort_.multiply_adds),
            .gemm_flop_per_second = of("matrix products", Kind::matrix_product, &Work::flops, 1),
            .split_flop_per_second = split ? of("split products", Kind::split_products,
                                                &Work::flops, effort_.split_products)
                                           : std::nullopt,
            .specials_per_second =
                of("exponentials", Kind::exponentials, &Work::specials, effort_.exponentials)};
  }

  Ceilings::Peak bf16_peak() {
    return {
        .gemm_flop_per_second = rate_of(
            "products in bf16",
            {.kind = Kind::matrix_product, .precision = Precision::bf16, .edge = effort_.bf16_edge},
            &Work::flops)};
  }

 private:
  Backend& backend_;
  const DeviceEffort& effort_;
};

// Larger than every cache, but only a part of a small or shared device.
std::size_t memory_footprint(const Device& device, const DeviceEffort& effort) {
  const auto available = device.memory_bytes();
  if (!available) return effort.memory_bytes;
  return std::min(effort.memory_bytes, static_cast<std::size_t>(*available) / 8);
}

}  // namespace

Ceilings calibrate_device(Backend& backend, const DeviceEffort& effort) {
  Measuring measuring(backend, effort);
  const Device& device = *backend.device;
  const auto l2 = static_cast<std::size_t>(device.architecture().l2_bytes);
  const std::size_t within = effort.cache_bytes > 0 ? effort.cache_bytes : l2 / 4;
  const std::size_t beyond = memory_footprint(device, effort);

  Ceilings ceilings;
  if (auto found = measuring.level("l2", static_cast<double>(l2), within, effort.passes))
    ceilings.levels.push_back(std::move(*found));
  ceilings.memory_copy_bytes_per_second = measuring.rate_of(
      "copies", {.kind = Kind::memory_copy, .footprint_bytes = beyond}, &Work::bytes);
  if (auto found = measuring.level("memory", 0, beyond, 1)) {
    // Memory bandwidth is at least the faster of the two.
    found->bytes_per_second =
        std::max(found->bytes_per_second, ceilings.memory_copy_bytes_per_second.value_or(0));
    ceilings.levels.push_back(std::move(*found));
  }
  ceilings.h2d_bytes_per_second = measuring.rate_of(
      "uploads", {.kind = Kind::upload, .footprint_bytes = effort.upload_bytes}, &Work::bytes);
  ceilings.f64 = measuring.peak(Precision::f64);
  ceilings.f32 = measuring.peak(Precision::f32);
  ceilings.bf16 = measuring.bf16_peak();
  ceilings.launch_seconds = measuring.seconds_per_phase("launches", Kind::launches);
  ceilings.graph_node_seconds = measuring.seconds_per_phase("graph nodes", Kind::graph_nodes);
  ceilings.grid_barrier_seconds = measuring.seconds_per_phase("grid barriers", Kind::barriers);
  return ceilings;
}

std::optional<Ceilings> calibrate(Backend& backend) {
  if (!backend.executes()) return std::nullopt;
  return backend.device ? calibrate_device(backend) : calibrate_host();
}

}  // namespace holdfast
