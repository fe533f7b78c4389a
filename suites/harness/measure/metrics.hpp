// SPDX-License-Identifier: Apache-2.0
// The table of metrics: each one's name, where it exists and how it is read from a measurement.
// Adding one takes a row here; a suite's list reports it to the gate.
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
// What a case needs to have the metric: nothing, not even steps; Steps; Steps with a reference,
// with an estimated peak, a declared upload, with counting under callgrind, or with arithmetic in
// single precision or less.
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
  // For metrics of the whole case `variant` is the optimized one.
  Reading (*read)(const Measurement& whole, const VariantMeasurement& variant) = nullptr;
};

// The canonical metrics, in the order of the list.
std::span<const Metric> metrics();

// Whether `one` has this metric on `device`.
bool applies(const Metric& metric, const Case& one, std::string_view device);

// Names of all metrics that a case promises on a device, for the list.
std::vector<std::string> promised(const Case& one, std::string_view device);

// A metric's description for the list.
struct Meaning {
  std::string kind = {};
  Better better = Better::lower;
  std::string unit = {};
  bool operator==(const Meaning&) const = default;
};
// For all metrics of the table and of the cases. Throws Error{broken_rule} for an unknown kind, and
// for a name with different meanings.
std::map<std::string, Meaning> meanings(const std::vector<Case>& cases);

}  // namespace holdfast
