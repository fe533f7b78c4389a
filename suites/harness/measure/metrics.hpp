// SPDX-License-Identifier: Apache-2.0
// The table of metrics: what each is called, where it exists and how it is read from a measurement.
// Adding one is a row here; the list of a suite tells it to the gate.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/measure.hpp"

namespace holdfast {

using Reading = std::optional<double>;  // empty where the device cannot know

enum class Of { variant, whole_case };  // one value per variant, or one for the case
// Of the case: nothing, not even that it is stepped; that it is measured by Steps; besides that a
// reference, or a peak or an upload by formula, or that it is counted under callgrind, or that its
// arithmetic is of single precision or less.
enum class Needs { nothing, steps, reference, estimate, upload, counted_steps, single };

// Devices a metric exists on, as a set.
enum : unsigned { on_host = 1, on_cuda = 2, on_dry = 4, everywhere = on_host | on_cuda | on_dry };

struct Metric {
  const char* name = "";
  const char* unit = "";
  const char* kind = "";  // exact, codegen, ratio, time, bound, advisory
  Better better = Better::lower;
  unsigned devices = everywhere;
  Of of = Of::variant;
  Needs needs = Needs::steps;
  // `variant` is the optimized one for metrics of the whole case.
  Reading (*read)(const Measurement& whole, const VariantMeasurement& variant) = nullptr;
};

// The canonical metrics, in the order in which they are listed.
std::span<const Metric> metrics();

// Whether `one` has this metric on `device`.
bool applies(const Metric& metric, const Case& one, std::string_view device);

// Everything that a case promises on a device: the names for the list.
std::vector<std::string> promised(const Case& one, std::string_view device);

// What a metric is, for the list.
struct Meaning {
  std::string kind = {};
  Better better = Better::lower;
  std::string unit = {};
  bool operator==(const Meaning&) const = default;
};
// Of all metrics of the table and of the cases. Throws Error{broken_rule} for one of an unknown
// kind, and for a name that is not the same metric everywhere.
std::map<std::string, Meaning> meanings(const std::vector<Case>& cases);

}  // namespace holdfast
