// SPDX-License-Identifier: Apache-2.0
// The bytes that a computation holds, from the sizes of its arrays. README.md has the terms.
#include <algorithm>

#include "galaxy_shear/device/sizes.hpp"
#include "galaxy_shear/galaxy_shear.hpp"
#include "galaxy_shear/problem/objects.hpp"
#include "galaxy_shear/problem/walks.hpp"
#include "galaxy_shear/reference/reference_formulas.hpp"
#include "runtime/base/fourier.hpp"

namespace holdfast::galaxy_shear {
namespace {

bool fits(Unit unit) {
  return unit == Unit::forward || unit == Unit::svi_step || unit == Unit::map;
}

// Inputs and results of either variant; `spare`: padding, in numbers, of arrays that are read in
// whole vectors.
std::int64_t data_bytes(Unit unit, const Options& options, std::int64_t value, std::int64_t spare) {
  const std::int64_t batch = options.batch;
  const std::int64_t pixels = std::int64_t{options.image} * options.image;
  const std::int64_t steps = unit == Unit::map ? options.steps : 1;
  if (walks(unit)) {
    const std::size_t state =
        unit == Unit::vi_step ? sizeof(Variational::State) : sizeof(Hamiltonian::State);
    return value * (batch * pixels + spare) + batch * (std::int64_t(state) + 8);
  }
  if (unit == Unit::render) return 64 * batch + value * batch * pixels;
  if (unit == Unit::render_grad) return 136 * batch + value * (pixels + spare);
  const auto state = static_cast<std::int64_t>(sizeof(FitState));
  // The starts of restarting fits; on a device one kernel takes them for chained steps as well.
  const std::int64_t starts = unit == Unit::map || (!spare && unit == Unit::svi_step) ? 64 : 0;
  return value * (batch * pixels + spare) + batch * (starts + state + 8 * steps);
}

std::int64_t optics_count(const Options& options) {
  const std::int64_t columns = options.fft / 2 + 1;
  return options.psf == Psf::gaussian ? columns : columns * columns;
}

// Sizes of the arrays of host/plan.hpp, in numbers.
struct HostSizes {
  HostSizes(const Options& options, std::int64_t value)
      : lanes((host_limits().isa == "x86-64-v4" ? 64 : 32) / value) {
    const std::int64_t n = options.fft, half = n / 2, line = 64 / value;
    const auto up = [](std::int64_t count, std::int64_t to) { return (count + to - 1) / to * to; };
    groups = up(half, lanes) / lanes;
    teams = up((std::int64_t{options.image} + 1) / 2, lanes) / lanes;
    plane = up((up(half, lanes) + lanes) * 2 * lanes * teams, line);
    signal = up((n + 3) * lanes, line);
    border = up(half + 1 + lanes, line);
  }
  std::int64_t lanes, groups, teams, plane, signal, border;
};

// Workspaces of all threads: two planes of rows, four signals, eight borders.
std::int64_t host_bytes(Unit unit, const Options& options, std::int64_t value) {
  const HostSizes size(options, value);
  const std::int64_t workspace = 2 * size.plane + 4 * size.signal + 8 * size.border;
  const double flops = work_of(unit, options).flops;
  const std::int64_t threads =
      flops < flops_worth_sharing ? 1 : std::min(host_limits().threads, options.batch);
  return value * (optics_count(options) + size.lanes + threads * workspace) +
         data_bytes(unit, options, value, size.lanes);
}

// Planes between launches, and sums per part of each galaxy.
std::int64_t split_bytes(Unit unit, const Options& options, std::int64_t value) {
  const Scene scene = {.fft = options.fft, .image = options.image};
  const std::int64_t batch = options.batch;
  const std::int64_t sums = unit == Unit::render ? 0 : 8 * 7 * split_parts * batch;
  const std::int64_t starts = unit == Unit::svi_step ? 64 * batch : 0;  // only in the fused kernel
  return 2 * value * split_galaxies(scene, value, options.batch) * split_plane(scene) + sums -
         starts;
}

// Bytes of a scene without its optics: data, states and loss, and the additions of each variant.
std::int64_t scene_bytes(const Options& options, std::int64_t value, std::int64_t spare) {
  const std::int64_t pixels = std::int64_t{options.image} * options.image;
  return value * (pixels + spare) + (1 + options.objects) * std::int64_t(sizeof(FitState)) + 8;
}
std::int64_t host_scene_bytes(const Options& options, std::int64_t value) {
  const HostSizes size(options, value);
  const std::int64_t objects = options.objects;
  return scene_bytes(options, value, size.lanes) +
         value * (optics_count(options) + size.lanes + objects * 4 * size.border + 2 * size.plane +
                  host_limits().threads * (4 * size.signal + 4 * size.border)) +
         8 * size.teams +
         objects * (size.groups * std::int64_t(sizeof(Sums)) + std::int64_t(sizeof(Share)));
}
std::int64_t device_scene_bytes(const Options& options, std::int64_t value) {
  const Scene scene = {.fft = options.fft, .image = options.image};
  const std::int64_t n = options.fft, objects = options.objects;
  const SceneBlocks blocks = scene_blocks(scene, options.objects);
  return scene_bytes(options, value, 0) +
         value * (objects * (2 * (n + 2) + 4) + 2 * split_plane(scene)) +
         8 * (std::int64_t{blocks.rows} + 6 * objects * blocks.pieces) +
         (1 + objects) * std::int64_t(sizeof(Point)) + objects * std::int64_t(sizeof(Share));
}

// Bytes of the published graph of operations, plus two work areas of transforms on a device.
std::int64_t reference_bytes(Unit unit, const Options& options, std::int64_t value, bool device) {
  const bool scene = unit == Unit::scene_step;
  const std::int64_t n = options.fft, s = options.image;
  const std::int64_t batch = scene ? options.objects : options.batch;
  const std::int64_t half_plane = (n + 1) * (n / 2 + 1), whole = (n + 1) * (n + 1);
  const bool back = unit != Unit::render && unit != Unit::forward;
  const auto placed = static_cast<std::int64_t>(sizeof(Placed));
  const auto area = [&](Fft::Kind kind) {
    const Fft transform = {options.precision, kind, options.fft, options.fft,
                           static_cast<int>(batch)};
    return device ? static_cast<std::int64_t>(transform.work_area_bytes()) : 0;
  };
  std::int64_t numbers =
      batch * (13 * half_plane + 2 * whole + 10 * n * n + n * (n + 2) + s * s) + 4 * half_plane;
  std::int64_t bytes = batch * placed + area(Fft::Kind::real_backward);
  if (back) {
    numbers += batch * (9 * half_plane + 2 * whole + 10 * n * n + n * (n + 2));
    bytes += batch * std::int64_t(sizeof(Slopes) + 64) + area(Fft::Kind::real_forward);
  }
  if (unit == Unit::render_grad) {
    numbers += s * s;
    bytes += 8 * batch;
  }
  if (scene) {
    numbers += 3 * s * s;  // the image, residual, cotangent
    bytes += scene_bytes(options, value, 0) + 8 + batch * std::int64_t(sizeof(Share)) +
             std::int64_t(sizeof(Together));
  } else if (fits(unit)) {
    const std::int64_t steps = unit == Unit::map ? options.steps : 1;
    numbers += batch * s * s * (back ? 3 : 2);  // data, residual, cotangent
    bytes += batch * std::int64_t(sizeof(FitState) + 8 + 8 * steps);
  } else {
    bytes += 64 * batch;
  }
  return value * numbers + bytes;
}

}  // namespace

std::int64_t formula_peak_bytes(const Backend& backend, Variant variant, Unit unit,
                                const Options& options) {
  const std::int64_t value = options.precision == Precision::f32 ? 4 : 8;
  if (unit == Unit::psf_table) {
    const std::int64_t columns = options.fft / 2 + 1;
    const bool reference = variant == Variant::reference;  // three planes of complex numbers
    return value * columns * (reference ? 6 * (2 * columns - 1) : columns);
  }
  if (variant == Variant::reference)
    return reference_bytes(unit, options, value, backend.device != nullptr);
  if (!backend.device)
    return unit == Unit::scene_step ? host_scene_bytes(options, value)
                                    : host_bytes(unit, options, value);
  if (unit == Unit::scene_step)
    return value * (optics_count(options) + 2 * std::int64_t{options.fft}) +
           device_scene_bytes(options, value);
  const std::int64_t most = backend.device->architecture().shared_bytes_per_block;
  const bool split = !fused({.fft = options.fft, .image = options.image}, value, most);
  return value * (optics_count(options) + 2 * std::int64_t{options.fft}) +
         data_bytes(unit, options, value, 0) + (split ? split_bytes(unit, options, value) : 0);
}

}  // namespace holdfast::galaxy_shear
