// SPDX-License-Identifier: Apache-2.0
#include "harness/case/case.hpp"

#include <algorithm>

#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

void check_word(std::string_view word, std::string_view allowed_besides, std::string_view what) {
  const bool good = !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           allowed_besides.find(c) != allowed_besides.npos;
  });
  if (!good)
    throw Error(Fault::bad_input,
                text("'", word, "' cannot be ", what, " of a case id: use a-z, 0-9 and _"));
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string_view name(Tier tier) {
  return tiers[static_cast<std::size_t>(tier)];
}

Tier tier(std::string_view name) {
  if (!is_tier(name))
    throw Error(Fault::bad_input, text("--tier=", name, ": the tiers are smoke, gate and full"));
  return static_cast<Tier>(std::find(tiers.begin(), tiers.end(), name) - tiers.begin());
}

std::string id(std::string_view family, const std::vector<Axis>& axes, std::string_view dtype) {
  check_word(family, "/", "the family");
  std::string out(family);
  for (const Axis& axis : axes) {
    check_word(axis.key, "", "an axis");
    check_word(axis.value, ".-", "an axis value");
    out += text("/", axis.key, ":", axis.value);
  }
  check_word(dtype, "", "the dtype");
  return text(out, "/", dtype);
}

bool MetricDeclaration::exists_on(std::string_view device) const {
  return contains(devices, device_kind(device));
}

bool Case::runs_on(std::string_view device) const {
  return contains(devices, device_kind(device));
}

bool Case::has_reference(std::string_view device) const {
  return reference && !contains(unreferenced, device_kind(device));
}

// It is a ratio of times.
bool Case::has(const Derived& metric, std::string_view device) const {
  if (metric.beside_host && device_kind(device) != "cuda") return false;
  return device_kind(device) != "cuda-dry" &&
         (metric.against == Variant::optimized || has_reference(device));
}

std::optional<std::string> Case::why_uncounted() const {
  const bool stepped = std::holds_alternative<Steps>(recipe);
  if (tier > Tier::gate || !runs_on("host") || (stepped && counted)) return std::nullopt;
  return stepped ? uncounted : "it is not one repeated step";
}

}  // namespace holdfast
