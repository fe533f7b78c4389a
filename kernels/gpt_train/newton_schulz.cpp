// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/newton_schulz.hpp"

#include <utility>

#include "gpt_train/data/hash.hpp"
#include "gpt_train/problem/problem.hpp"
#include "gpt_train/problem/rates.hpp"
#include "gpt_train/variants.hpp"
#include "host/isa.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/gemm.hpp"

namespace holdfast::gpt_train {
namespace {

void validate(const Matrices& what, bool device) {
  for (const auto& [field, value] :
       {std::pair{"rows", what.rows}, {"columns", what.columns}, {"batch", what.batch}})
    if (value < 1)
      throw Error(Fault::bad_input, text(field, " = ", value, ": it must be at least 1"));
  for (const auto& [field, value] : {std::pair{"rows", what.rows}, {"columns", what.columns}})
    if (device && value % 8 != 0)
      throw Error(Fault::bad_input, text(field, " = ", value,
                                         ": a device reads eight numbers at a time, so it must be "
                                         "a multiple of 8"));
  const bool narrow = what.precision == Precision::bf16;
  if (device != narrow || what.precision == Precision::tf32)
    throw Error(Fault::bad_input, text("dtype ", name(what.precision),
                                       device ? " is a host's; a device takes bf16"
                                              : " is a device's; a host takes f32 or f64"));
}

}  // namespace

std::vector<double> drawn(const Matrices& what, int input) {
  const std::uint64_t stream = matrix_stream + static_cast<std::uint64_t>(input);
  std::vector<double> all;
  for (std::int64_t k = 0; k < what.numbers(); ++k)
    all.push_back(near_normal(stream, static_cast<std::uint64_t>(k)));
  return all;
}

std::unique_ptr<Computation> make_newton_schulz(Backend& backend, Variant variant,
                                                const Matrices& what) {
  validate(what, backend.device != nullptr);
  const bool plain = variant == Variant::reference;
  if (backend.device) {
#ifdef HOLDFAST_CUDA
    return plain ? make_cuda_plain_matrices(backend, what) : make_cuda_matrices(backend, what);
#else
    refuse_device_code();
#endif
  }
  using host::choose_isa;
  const auto make_host =
      plain ? choose_isa(isa_v3::make_host_plain_matrices, isa_v4::make_host_plain_matrices)
            : choose_isa(isa_v3::make_host_matrices, isa_v4::make_host_matrices);
  return make_host(backend, what);
}

Work work_of(const Matrices& what) {
  const double m = what.least(), q = what.greatest(), value = double(stored_bytes(what.precision));
  return {.flops = double(what.batch) * newton_schulz_steps * (3 * m * m * q + m * m * m),
          .bytes = 2 * double(what.numbers()) * value,
          .phases = 1,
          .precision = what.precision};
}

// Bytes on a device: the bf16 input; f32 moments, bf16 X twice, A and its factor, sums of each
// square of 32, members and a schedule; for the reference f32 X, two matrices, three squares, sums.
std::int64_t formula_peak_bytes(Variant variant, const Matrices& what) {
  const std::int64_t all = what.numbers(), each = what.each(), square = what.square();
  const bool plain = variant == Variant::reference;
  if (what.precision == Precision::bf16) {
    const auto area = std::int64_t(planned_gemm_work_area_bytes);
    if (plain) return 2 * all + 4 * (all + 2 * each + 3 * square + 260) + area;
    const std::int64_t tiles =
        std::int64_t{(what.rows + 31) / 32} * ((what.columns + 31) / 32) * what.batch;
    return 2 * all + 4 * all + 4 * (all + what.batch * square) + 4 * tiles + 36 * what.batch + 64 +
           area;
  }
  const std::int64_t value = what.precision == Precision::f32 ? 4 : 8;
  const std::int64_t at_a_time =
      matrices_at_a_time(what.least(), what.greatest(), what.batch, value);
  return value * (2 * all + (plain ? 2 * each + 3 * square : at_a_time * 2 * (each + square)));
}

}  // namespace holdfast::gpt_train
