// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/row.hpp"

#include <algorithm>
#include <map>

#include "clusterless_kde/problem/words.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::clusterless_kde {
namespace {

const std::string suite_name = "clusterless_kde/";

std::string binary_bytes(std::int64_t bytes) {
  constexpr std::int64_t mebi = 1 << 20;
  if (bytes % mebi != 0) return text(bytes / 1024, "kib");
  return bytes % (1024 * mebi) == 0 ? text(bytes / (1024 * mebi), "gib")
                                    : text(bytes / mebi, "mib");
}

Axis knob_axis(const Row& row) {
  switch (row.knob) {
    case Knob::block:
      return {"block", row.options.block};
    case Knob::position_tile:
      return {"pos_tile", row.options.position_tile};
    case Knob::encoding_tile:
      return {"enc_tile", row.options.encoding_tile};
  }
  return {"block", row.options.block};
}

bool on_device_only(const Row& row) {
  const Arithmetic arithmetic = row.options.arithmetic;
  return arithmetic == Arithmetic::bf16x3 || arithmetic == Arithmetic::tf32 ||
         row.family == Family::first_call || row.family == Family::shape_change ||
         row.family == Family::matrix;
}

}  // namespace

std::string id_of(const Row& row) {
  const Recipe& recipe = row.recipe;
  const Options& options = row.options;
  const std::string_view dtype = holdfast::name(precision_of(options.arithmetic));
  const Axis size = {"size", size_words.of(recipe.size)},
             marks = {"data", marks_words.of(recipe.marks)}, scale = {"scale", recipe.scale};
  const auto family = [&](std::string_view word, const std::vector<Axis>& axes) {
    return id(suite_name + std::string(word), axes, dtype);
  };
  switch (row.family) {
    case Family::encode:
      return family("encode", {size, marks});
    case Family::decode:
      return family("decode", {size, marks});
    case Family::total:
      return family("total", {size, marks});
    case Family::local:
      return family("local", {size, marks});
    case Family::strategy:
      return family("strategy", {{"algo", algorithm_words.of(options.algorithm)},
                                 {"tile", options.position_tile},
                                 size,
                                 {"electrodes", shape(recipe).electrodes}});
    case Family::features:
      return family("features", {{"features", recipe.features},
                                 {"distance", distance_words.of(options.distance)}});
    case Family::tune:
      return family("tune", {knob_axis(row), size, {"bins", recipe.bins}});
    case Family::grid:
      return family("grid", {size, {"bins", recipe.bins}});
    case Family::precision:
      return family("precision",
                    {{"arithmetic", arithmetic_words.of(options.arithmetic)}, size, marks});
    case Family::production:
      return family("production", {size, scale, {"cut", options.cut ? 1 : 0}});
    case Family::budget:
      return family("budget", {{"limit", binary_bytes(*options.budget)}, size, scale});
    case Family::sparse:
      return family("sparse", {size});
    case Family::first_call:
      return family("compile/first_call", {size});
    case Family::shape_change:
      return family("compile/shape_change", {size});
    case Family::in_turn:
      return family("in_turn", {size, marks});
    case Family::matrix:
      return family("compile/matrix", {size});
    case Family::memory:
      return family("memory", {size, marks});
    case Family::micro:
      return family("memory/micro", {{"encoding", recipe.encoding_spikes},
                                     {"decoding", recipe.decoding_spikes},
                                     {"bins", recipe.bins}});
  }
  return {};
}

std::vector<std::string> devices_of(const Row& row) {
  std::vector<std::string> devices = {"host", "cuda", "cuda-dry"};
  if (on_device_only(row)) devices.erase(devices.begin());
  if (!row.only.empty())
    std::erase_if(devices, [&](const std::string& device) {
      return std::find(row.only.begin(), row.only.end(), device) == row.only.end();
    });
  return devices;
}

// Knobs, arithmetics and budgets are the optimized variant's own; each is put beside its default.
bool has_reference(const Row& row) {
  switch (row.family) {
    case Family::encode:
    case Family::decode:
    case Family::total:
    case Family::local:
    case Family::strategy:
    case Family::features:
    case Family::grid:
    case Family::sparse:
    case Family::in_turn:
    case Family::memory:
    case Family::micro:
      return true;
    case Family::production:
      return !row.options.cut;
    default:
      return false;
  }
}

const Input& input_of(const Recipe& recipe) {
  static std::map<Recipe, Input> known;
  const auto found = known.find(recipe);
  return found != known.end() ? found->second
                              : known.emplace(recipe, make_input(recipe)).first->second;
}

std::unique_ptr<Computation> make(const Row& row, Backend& backend, Variant variant) {
  const Input& input = input_of(row.recipe);
  if (row.family == Family::encode) return make_encode(backend, variant, input, row.options);
  if (row.family == Family::total) return make_total(backend, variant, input, row.options);
  if (row.family == Family::local) return make_local(backend, variant, input, row.options);
  return make_decode(backend, variant, input, row.options);
}

bool is_protocol(const Row& row) {
  switch (row.family) {
    case Family::first_call:
    case Family::shape_change:
    case Family::in_turn:
    case Family::matrix:
    case Family::memory:
    case Family::micro:
      return true;
    default:
      return false;
  }
}

}  // namespace holdfast::clusterless_kde
