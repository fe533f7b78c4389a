// SPDX-License-Identifier: Apache-2.0
// What a suite is: a name and a list of cases. A case is a name, a size and a recipe; adding one is
// one row.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "computation.hpp"
#include "harness/options.hpp"
#include "runtime/backend.hpp"

namespace holdfast {

class Session;

// A run of a tier includes the tiers before it.
enum class Tier { smoke, gate, full };
std::string_view name(Tier tier);
Tier tier(std::string_view name);  // Error{bad_input} for an unknown one

// "host", "cuda" or "cuda-dry": the part of a device's name that decides which cases and metrics it
// has.
std::string device_kind(std::string_view device);

struct Axis {
  std::string key = {};
  std::string value = {};

  Axis(std::string_view k, std::string_view v) : key(k), value(v) {}
  Axis(std::string_view k, int v) : key(k), value(std::to_string(v)) {}
};

// "suite/family/key:value.../dtype", the only way to name a case. Throws Error{bad_input} for
// characters an id must not have.
std::string id(std::string_view family, const std::vector<Axis>& axes, std::string_view dtype);

// Who knows the right answer, and how far from it a result may be, relative to the largest expected
// magnitude of each part.
struct Oracle {
  std::string name = {};
  double limit = 0;
  std::function<std::vector<double>(int steps)> expected = {};  // the result after so many step()s
  std::vector<std::size_t> parts = {};  // lengths of the result's fields; empty: one field
  std::function<double(Backend&, Variant)> golden = {};  // error against published values; optional
};

// Compares the state after the timed section with the one before it; a sentence when steps were
// skipped or wrong.
using Invariant = std::function<std::optional<std::string>(const std::vector<double>& before,
                                                           const std::vector<double>& after)>;

// Measured by stepping: built, warmed up, checked, accounted, timed, all by the harness.
struct Steps {
  std::function<std::unique_ptr<Computation>(Backend&, Variant)> make = {};
  Oracle oracle = {};
  Invariant invariant = {};
  std::function<std::int64_t(const Backend&, Variant)> estimate_bytes =
      {};           // the peak by formula; optional
  int warm_up = 1;  // steps before anything is accounted; also how many the oracle is asked for
  int batch = 0;    // steps per timed sample; 0: enough for a sample
};

// Measured by a function of its own: what is not one repeated step.
using Protocol = std::function<void(Session&)>;

// A metric of this case alone. Its value comes from Computation::readings() or Session::read().
struct MetricDeclaration {
  std::string name = {};
  std::string kind = "advisory";
};

// value = factor * seconds per step of `other` / seconds per step of the case's optimized variant,
// both timed interleaved on the same device.
struct Derived {
  std::string name = {};
  double factor = 1;
  std::function<std::unique_ptr<Computation>(Backend&)> other = {};
};

struct Case {
  std::string id = {};
  Tier tier = Tier::gate;
  std::vector<std::string> devices = {"host", "cuda", "cuda-dry"};
  Work work = {};
  std::variant<Steps, Protocol> recipe = {};
  bool reference =
      true;  // whether Variant::reference is measured too; without it no speedup is expected
  std::vector<MetricDeclaration> metrics = {};
  std::vector<Derived> derived = {};

  bool runs_on(std::string_view device) const;
};

// Defined once per suite binary, by suites/<suite>.cpp; called by main.
struct Suite {
  std::string name = {};
  std::vector<OptionRow> options = {};  // its own; using one makes a custom run
  std::function<std::vector<Case>(const SuiteOptions&)> cases = {};
};
Suite suite();

}  // namespace holdfast
