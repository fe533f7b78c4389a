// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/gpt_train.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "gpt_train/data/data.hpp"
#include "gpt_train/peak.hpp"
#include "gpt_train/variants.hpp"
#include "host/isa.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::gpt_train {
namespace {

void check_least(std::string_view field, int value, int least) {
  if (value < least)
    throw Error(Fault::bad_input, text(field, " = ", value, ": it must be at least ", least));
}

// The requirements of a device's formats, products and matrix units.
void check_for_device(const Options& o) {
  const Shape& s = o.shape;
  if (o.precision != Precision::bf16)
    throw Error(Fault::bad_input,
                text("dtype ", name(o.precision), " is a host's; a device takes bf16"));
  if (s.head != 32 && s.head != 64 && s.head != 128)
    throw Error(Fault::bad_input,
                text("unsupported head width ", s.head, ": a device takes 32, 64 or 128"));
  for (const auto& [field, value] :
       {std::pair{"width", s.width}, {"inner", s.inner}, {"vocabulary", s.vocabulary}})
    if (value % 8 != 0)
      throw Error(Fault::bad_input, text(field, " = ", value,
                                         ": a device reads eight numbers at a time, so it must be "
                                         "a multiple of 8"));
}

// The smaller of the ledger's limit and the device's free memory; empty if neither is limited.
std::optional<std::int64_t> free_bytes(const Backend& backend) {
  auto free = backend.device ? backend.device->free_bytes() : std::nullopt;
  const auto limit = backend.ledger.limit_bytes();
  if (!limit) return free;
  const std::int64_t allowed = *limit - backend.ledger.live_bytes;
  return std::min(free.value_or(allowed), allowed);
}

// Called before anything is allocated.
void check_memory(const Backend& backend, Variant variant, const Problem& problem) {
  const auto free = free_bytes(backend);
  const PeakParts parts = peak_parts(variant, problem);
  if (!free || parts.all() <= *free) return;
  throw Error(Fault::out_of_memory,
              text("it would hold ", parts.all(), " bytes (parameters and gradients ",
                   parts.tensors, ", moments ", parts.moments, ", activations ", parts.activations,
                   ", logits ", parts.logits, ", others ", parts.others, "), and ", *free,
                   " are free; choose a smaller batch, seq or model"));
}

// A device's batch is made on its host: tokens, documents, segments, targets, and whether each
// counts.
void check_host_memory(const Shape& s) {
  const std::int64_t held = s.tokens() * std::int64_t{4 * sizeof(int) + 1};
  const auto allowed = host_limits().memory_bytes;
  if (!allowed || held <= *allowed) return;
  throw Error(Fault::out_of_memory,
              text("its host would hold ", held, " bytes (a batch of ", s.tokens(),
                   " tokens), and ", *allowed, " are allowed; choose a smaller batch or seq"));
}

}  // namespace

void validate(const Options& o) {
  const Shape& s = o.shape;
  check_least("batch", s.batch, 1);
  check_least("seq", s.columns, 2);
  check_least("vocabulary", s.vocabulary, 3);
  check_least("layers", s.layers, 1);
  for (const auto& [field, value] : {std::pair{"width", s.width},
                                     {"key heads", s.groups},
                                     {"query heads of a key head", s.repeats},
                                     {"inner", s.inner}})
    check_least(field, value, 1);
  if (s.head < 2 || s.head % 2 != 0)
    throw Error(Fault::bad_input, text("unsupported head width ", s.head,
                                       ": halves of a head are rotated, so it must be even"));
  if (o.documents) check_least("mean document", s.document, 1);
  if (o.pad_tail < 0 || o.pad_tail >= s.columns)
    throw Error(Fault::bad_input, text("pad tail = ", o.pad_tail, ": it must be 0 to ",
                                       s.columns - 1, ", less than a row"));
  check_least("fetch rounds", o.fetching.rounds, 0);
  if (!std::isfinite(o.learning_rate))
    throw Error(Fault::bad_input, text("lr = ", o.learning_rate, ": it must be a finite number"));
  if (!(o.warm >= 0 && o.warm <= 1))
    throw Error(Fault::bad_input, text("w0 = ", o.warm, ": warm-up is a share from 0 to 1"));
  if (!(o.warm_tokens >= 0 && std::isfinite(o.warm_tokens)))
    throw Error(Fault::bad_input,
                text("warm tokens = ", o.warm_tokens, ": it must be finite and not negative"));
}

std::unique_ptr<Computation> make(Unit unit, Backend& backend, Variant variant,
                                  const Options& options) {
  validate(options);
  if (backend.device) {
#ifdef HOLDFAST_CUDA
    check_for_device(options);
    check_memory(backend, variant, {unit, options});
    if (unit != Unit::update) check_host_memory(options.shape);
    return variant == Variant::reference ? make_cuda_reference(backend, {unit, options})
                                         : make_cuda_optimized(backend, {unit, options});
#else
    refuse_device_code();
#endif
  }
  if (options.precision != Precision::f32 && options.precision != Precision::f64)
    throw Error(Fault::bad_input,
                text("dtype ", name(options.precision), " is a device's; a host takes f32 or f64"));
  if (options.launch == Launch::graph)
    throw Error(Fault::bad_input, "launch = graph: a host has no graphs; it must be host");
  check_memory(backend, variant, {unit, options});
  using host::choose_isa;
  const auto make_host = variant == Variant::reference
                             ? choose_isa(isa_v3::make_host_reference, isa_v4::make_host_reference)
                             : choose_isa(isa_v3::make_host_optimized, isa_v4::make_host_optimized);
  return make_host(backend, {unit, options});
}

std::vector<std::size_t> fields_of(Unit unit, const Options& options) {
  const Shape& s = options.shape;
  const auto n = static_cast<std::size_t>(s.tokens());
  const std::size_t d = s.width, da = s.query_width(), dk = s.key_width();
  std::vector<std::size_t> fields;
  switch (unit) {
    case Unit::forward:
      return {1, 1, 1, n};
    case Unit::layer_forward:
      return {n * d};
    case Unit::attention_forward:
      return {n * da};
    case Unit::attention_backward:
      return {n * da, n * dk, n * dk};
    case Unit::forward_backward:
      fields = {1, 1, 1};
      break;
    case Unit::layer_backward:
      fields = {n * d};
      break;
    case Unit::lm_head:
      fields = {1, 1, 1, n * d};
      break;
    case Unit::update:
      fields = {1};
      break;
    case Unit::train_step:
      fields = {1, 1, 1, 1, 1};
      break;
  }
  for (const Tensor& tensor : tensors_of(unit, s)) fields.push_back(tensor.size());
  return fields;
}

}  // namespace holdfast::gpt_train
