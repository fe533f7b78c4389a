// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/clusterless_kde.hpp"

#include <utility>

#include "clusterless_kde/variants.hpp"
#include "host/isa.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::clusterless_kde {
namespace {

bool is_device_arithmetic(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::bf16x3 || arithmetic == Arithmetic::tf32;
}

std::unique_ptr<Computation> make(Unit unit, Backend& backend, Variant variant, const Input& input,
                                  const Options& options) {
  validate(backend, variant, options);
  check(input);
  Problem problem = {.unit = unit, .input = input, .options = options};
  const bool fused = variant == Variant::optimized && options.algorithm == Algorithm::fused;
  if (fused) {
    problem.plan = plan(backend, input, options);
    problem.options = problem.plan.options;
  } else if (variant == Variant::reference) {
    problem.options.algorithm = Algorithm::linear;
  }
  if (backend.device) {
#ifdef HOLDFAST_CUDA
    return fused ? make_cuda_optimized(backend, std::move(problem))
                 : make_cuda_reference(backend, std::move(problem));
#else
    refuse_device_code();
#endif
  }
  using host::choose_isa;
  const auto make_host = fused
                             ? choose_isa(isa_v3::make_host_optimized, isa_v4::make_host_optimized)
                             : choose_isa(isa_v3::make_host_reference, isa_v4::make_host_reference);
  return make_host(backend, std::move(problem));
}

}  // namespace

int given_size(std::string_view what, int size) {
  if (size >= 1) return size;
  throw Error(Fault::bad_input, text(what, " ", size,
                                     " is not a size: give 1 or more, or leave it out to have it "
                                     "chosen"));
}

void validate(const Options& options) {
  if (options.block != 0) given_size("block size", options.block);
  if (options.position_tile != 0) given_size("tile size", options.position_tile);
  if (options.encoding_tile != 0) given_size("tile size", options.encoding_tile);
  if (options.chunks < 1)
    throw Error(Fault::bad_input,
                text("a decode in ", options.chunks, " time chunks: give 1 or more"));
}

void validate(const Backend& backend, Variant variant, const Options& options) {
  validate(options);
  const bool optimized = variant == Variant::optimized;
  const bool fused = optimized && options.algorithm == Algorithm::fused;
  const bool other = optimized && !fused, recomputes = options.values == Values::recomputed;
  const auto refuse_if = [](bool refused, const auto&... why) {
    if (refused) throw Error(Fault::bad_input, text(why...));
  };
  refuse_if(!backend.device && is_device_arithmetic(options.arithmetic),
            "this arithmetic is unsupported on the backend '", backend.name,
            "': the host computes in f32 or f64");
  refuse_if(!fused && (options.consume || options.budget || options.chunks > 1),
            "only the fused algorithm decodes in time chunks, within a budget or into a consumer: "
            "use algo:fused");
  refuse_if(other && options.cut,
            "only the fused algorithm leaves out pairs: use algo:fused, or no cut");
  refuse_if(other && options.encoding_tile != 0,
            "only the fused algorithm goes through encoding spikes in tiles: use algo:fused, or no "
            "enc-tile-size");
  refuse_if(
      optimized && options.algorithm == Algorithm::linear && options.distance == Distance::expanded,
      "the linear algorithm has no expanded distances: use distance:difference, or one of "
      "algo:lse, algo:clm, algo:fused");
  refuse_if(optimized && recomputes && (other || !backend.device),
            "only the fused algorithm on a device forms Psi tile by tile: use psi:stored");
  constexpr int first_with_matrix_units = 80;  // required by tensor_core.cuh
  const int sm = backend.device ? backend.device->architecture().sm : first_with_matrix_units;
  refuse_if(fused && sm < first_with_matrix_units,
            "the fused algorithm needs the matrix units of sm_", first_with_matrix_units,
            " or later, and this device is sm_", sm, ": use algo:linear, algo:lse or algo:clm");
}

std::unique_ptr<Computation> make_encode(Backend& backend, Variant variant, const Input& input,
                                         const Options& options) {
  return make(Unit::encode, backend, variant, input, options);
}

std::unique_ptr<Computation> make_decode(Backend& backend, Variant variant, const Input& input,
                                         const Options& options) {
  return make(Unit::decode, backend, variant, input, options);
}

std::unique_ptr<Computation> make_total(Backend& backend, Variant variant, const Input& input,
                                        const Options& options) {
  return make(Unit::total, backend, variant, input, options);
}

std::unique_ptr<Computation> make_local(Backend& backend, Variant variant, const Input& input,
                                        const Options& options) {
  return make(Unit::local, backend, variant, input, options);
}

}  // namespace holdfast::clusterless_kde
