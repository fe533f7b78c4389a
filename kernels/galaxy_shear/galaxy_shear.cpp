// SPDX-License-Identifier: Apache-2.0
#include "galaxy_shear/galaxy_shear.hpp"

#include <cmath>
#include <utility>

#include "galaxy_shear/data/data.hpp"
#include "galaxy_shear/problem/words.hpp"
#include "galaxy_shear/variants.hpp"
#include "host/isa.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::galaxy_shear {
namespace {

void check_counts(int batch, int steps, int objects) {
  if (objects < 0)
    throw Error(Fault::bad_input, text("objects = ", objects, ": a scene has at least one galaxy"));
  if (objects > 0 && batch > 1)
    throw Error(Fault::bad_input, text("objects = ", objects, " and batch = ", batch,
                                       ": the galaxies of a scene are in one image; make one 1"));
  if (batch < 1)
    throw Error(Fault::bad_input, text("batch = ", batch, ": at least one galaxy is drawn"));
  if (steps < 1)
    throw Error(Fault::bad_input, text("num-steps = ", steps, ": a fit has at least one step"));
}

void validate(const Backend& backend, const Problem& problem) {
  validate(problem.scene);
  check_counts(problem.batch, problem.steps, problem.objects);
  if ((problem.unit == Unit::scene_step) != (problem.objects > 0))
    throw Error(Fault::bad_input, text("objects = ", problem.objects,
                                       ": a scene_step has at least one, nothing else has any"));
  if (!backend.device && problem.launch != Launch::host)
    throw Error(Fault::bad_input,
                text("launch:", launch_words.of(problem.launch), " is unsupported on the backend '",
                     backend.name, "'; the host has launch:host alone"));
  const std::size_t pixels = std::size_t(problem.scene.image) * problem.scene.image;
  const auto check = [](std::string_view field, std::size_t size, std::size_t wanted) {
    if (size != wanted)
      throw Error(Fault::bad_input, text(field, " has ", size, " numbers, ", wanted, " expected"));
  };
  if (problem.unit == Unit::psf_table) return;
  if (problem.unit == Unit::scene_step) {
    check("starts", problem.starts.size(), 2 + 6 * std::size_t(problem.objects));
    check("data", problem.data.size(), pixels);
    return;
  }
  if (!problem.fits()) {
    check("truths", problem.truths.size(), std::size_t(problem.batch) * parameters);
    if (problem.unit == Unit::render_grad) check("cotangent", problem.cotangent.size(), pixels);
    return;
  }
  check("starts", problem.starts.size(), std::size_t(problem.batch) * problem.scene.latents.size());
  check("data", problem.data.size(), problem.batch * pixels);
}

}  // namespace

void validate(const Options& options) {
  validate(scene_of(options));
  check_counts(options.batch, options.steps, options.objects);
}

Problem problem_of(Unit unit, const Options& options, bool executes) {
  Problem problem = {.unit = unit,
                     .scene = scene_of(options),
                     .batch = options.batch,
                     .objects = options.objects,
                     .steps = unit == Unit::map ? options.steps : 1,
                     .sample = options.sample,
                     .launch = options.launch,
                     .precision = options.precision};
  validate(options);
  const std::size_t pixels = std::size_t(options.image) * options.image;
  if (unit == Unit::psf_table) return problem;
  if (unit == Unit::scene_step) {
    problem.starts = start_of_objects(problem.scene, options.objects);
    problem.data = executes ? scene_data_of(problem.scene, Noise::philox, options.objects)
                            : std::vector<double>(pixels);
    return problem;
  }
  for (int b = 0; b < options.batch && !problem.fits(); ++b)
    for (const double value : truth_of(problem.scene, b)) problem.truths.push_back(value);
  if (unit == Unit::render_grad) problem.cotangent.assign(pixels, 1);
  if (!problem.fits()) return problem;
  for (int b = 0; b < options.batch; ++b)
    for (const double value : unit == Unit::hmc_sample
                                  ? latents_of(problem.scene, truth_of(problem.scene, b))
                                  : start_of(problem.scene))
      problem.starts.push_back(value);
  if (executes)
    problem.data = data_of(problem.scene, Noise::philox, options.batch);
  else
    problem.data.assign(options.batch * pixels, 0);
  return problem;
}

std::unique_ptr<Computation> make(Unit unit, Backend& backend, Variant variant,
                                  const Options& options) {
  return make(backend, variant, problem_of(unit, options, backend.executes()));
}

std::unique_ptr<Computation> make(Backend& backend, Variant variant, Problem problem) {
  validate(backend, problem);
  const bool reference = variant == Variant::reference;
  if (reference && walks(problem.unit))
    throw Error(Fault::bad_input,
                "the reference is the published fit; vi_step and hmc_sample have none");
  if (backend.device) {
#ifdef HOLDFAST_CUDA
    return reference ? make_cuda_reference(backend, std::move(problem))
                     : make_cuda_optimized(backend, std::move(problem));
#else
    refuse_device_code();
#endif
  }
  using host::choose_isa;
  const auto make_host = reference
                             ? choose_isa(isa_v3::make_host_reference, isa_v4::make_host_reference)
                             : choose_isa(isa_v3::make_host_optimized, isa_v4::make_host_optimized);
  return make_host(backend, std::move(problem));
}

std::vector<std::size_t> fields_of(Unit unit, const Options& options) {
  const std::size_t batch = options.batch, latents = batch * options.latents;
  const std::size_t image = options.image;
  switch (unit) {
    case Unit::render:
      return {batch * image * image};
    case Unit::psf_table: {
      const std::size_t columns = options.fft / 2 + 1;
      return {columns * columns};
    }
    case Unit::render_grad:
      return {batch, batch * parameters};
    case Unit::forward:
      return options.sample ? std::vector{latents, batch} : std::vector{batch};
    case Unit::scene_step: {
      const std::size_t all = 2 + 6 * options.objects;
      return {all, all, all, 1, 1, 1};
    }
    case Unit::svi_step:
      return {latents, latents, latents, batch, batch, batch};
    case Unit::vi_step:
      return {latents, latents, latents, latents, batch, batch, batch};
    case Unit::hmc_sample:
      return {latents, latents, latents, batch, batch, batch, batch};
    case Unit::map:
      break;
  }
  return {latents, batch * options.steps, batch};
}

}  // namespace holdfast::galaxy_shear
