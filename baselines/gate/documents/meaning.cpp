// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/meaning.hpp"

#include <algorithm>

#include "base/names.hpp"
#include "gate/documents/names.hpp"

namespace holdfast::gate {
namespace {

const std::vector<std::string_view> directions = {"lower", "higher", "same"};

}  // namespace

std::string text_of(const Meaning& meaning) {
  const bool same = meaning.better == Better::same;
  return text(meaning.kind, " in ", meaning.unit, ", ",
              same ? "neither way" : directions[static_cast<std::size_t>(meaning.better)],
              " is better");
}

std::string unit_of(const Meanings& metrics, const std::string& metric) {
  const auto at = metrics.find(metric);
  return at == metrics.end() ? unit_of_name(metric) : at->second.unit;
}

Meanings parse_meanings(const Reader& reader) {
  Meanings metrics;
  for (const auto& [name, held] : reader.object().rest()) {
    require_name(held, name);
    Object object = held.object();
    Meaning& meaning = metrics[name];
    meaning.kind = object.take("kind").one_of(metric_kinds);
    const std::string& better = object.take("better").one_of(directions);
    meaning.better = static_cast<Better>(std::find(directions.begin(), directions.end(), better) -
                                         directions.begin());
    const Reader unit = object.take("unit");
    meaning.unit = unit.string();
    if (meaning.unit.empty())
      throw unit.wrong("a metric has a unit; of a plain number it is \"1\"");
    object.close();
  }
  return metrics;
}

nlohmann::json to_json(const Meaning& meaning) {
  return {{"kind", meaning.kind},
          {"better", directions[static_cast<std::size_t>(meaning.better)]},
          {"unit", meaning.unit}};
}

}  // namespace holdfast::gate
