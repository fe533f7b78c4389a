// SPDX-License-Identifier: Apache-2.0
// A suite is a name and a list of cases. A case is a name, a size and a recipe; adding one is one
// row.
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

#include "base/names.hpp"
#include "computation.hpp"
#include "harness/case/options.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast {

class Session;

// A run of a tier includes the tiers before it; in the order of base/names.hpp.
enum class Tier { smoke, gate, full };
std::string_view name(Tier tier);
Tier tier(std::string_view name);  // Error{bad_input} for an unknown one

struct Axis {
  std::string key = {};
  std::string value = {};

  Axis(std::string_view k, std::string_view v) : key(k), value(v) {}
  Axis(std::string_view k, int v) : key(k), value(std::to_string(v)) {}
};

// "suite/family/key:value.../dtype", the only way to name a case. Throws Error{bad_input} for
// characters an id must not have.
std::string id(std::string_view family, const std::vector<Axis>& axes, std::string_view dtype);

// The right answer, and the allowed error of a result: relative to the largest expected magnitude
// of each part, or by the oracle's own measure.
struct Oracle {
  using Distance =
      std::function<double(const std::vector<double>& result, const std::vector<double>& expected)>;

  std::string name = {};
  double limit = 0;
  std::function<std::vector<double>(int steps)> expected = {};  // after so many step()s
  // Optional, for chained steps: up to how many of them `expected` is cheap and within the limit,
  // if more than the warm-up takes. Used if no reference is measured.
  int most_steps = 0;
  std::vector<std::size_t> parts = {};  // lengths of the result's fields; empty: one field
  // Optional; with it `expected` may be known facts about the result in any form.
  Distance distance = {};
  // Optional: the error of a result after the warm-up at a few places, for processes that live for
  // a third of a second, if `expected` takes longer.
  std::function<double(const std::vector<double>& result)> few = {};
  std::function<double(Backend&, Variant)> golden = {};  // error against published values; optional
  // Optional, if a computation has more inputs than one (Steps::inputs): the error of the result
  // for another one, computed cheaply. Used if no reference is measured beside the variant.
  std::function<double(const std::vector<double>& result, int input)> other = {};
  // The distance between the variants' results, on the scale of `limit`. Optional without a
  // `distance`: then each part may lie `limit` from the truth, on opposite sides.
  Distance between = {};
};

// Compares the results after the timed section and after the warm-up; returns a sentence if steps
// were skipped or wrong.
using Invariant = std::function<std::optional<std::string>(const std::vector<double>& before,
                                                           const std::vector<double>& after)>;

// A variant with a verified result, from which readings are taken.
struct Verified {
  const Backend& backend;
  Variant variant = Variant::optimized;
  const std::vector<double>& result;  // after the warm-up; empty where nothing executes
  const std::vector<double>* reference = nullptr;  // the reference's, if that is measured too
  std::int64_t launches = 0;                       // of one step
  const std::vector<NamedReading>& own;            // the computation's own readings
};

// The sites whose contents each step of a variant rewrites completely.
using Rewritten = std::function<std::vector<std::string>(const Backend&, Variant)>;

// The same sites for either variant.
inline Rewritten always(const std::vector<std::string>& holders) {
  return [holders](const Backend&, Variant) { return holders; };
}

// A case measured by stepping: the harness builds, warms up, checks, accounts and times it.
struct Steps {
  std::function<std::unique_ptr<Computation>(Backend&, Variant)> make = {};
  Oracle oracle = {};
  Invariant invariant = {};
  std::function<std::int64_t(const Backend&, Variant)> estimate_bytes =
      {};  // the predicted peak; optional
  // Optional: bytes that each step must upload to the device, from the size alone, because
  // uploading is part of the work. Fewer mean that something was kept from an earlier step.
  std::function<double(Variant)> upload_bytes = {};
  // Optional; each is spoilt before a step whose result is checked. A name without holdings is an
  // error.
  Rewritten rewritten = {};
  // Optional: readings of the verified result, in addition to the computation's own.
  std::function<std::vector<NamedReading>(const Verified&)> read = {};
  int warm_up = 1;  // steps before accounting; also how many the oracle is asked for
  // Whether a step continues from the last one; then the computation can start_again().
  bool chained = true;
  int inputs = 1;  // of one shape, known to start_again(); for unchained steps
  int batch = 0;   // steps per timed sample; 0: enough for a sample
  // Minimum length of a sample, if caches and threads need longer than usual to settle after the
  // other variant; 0: that of the device's clock.
  double sample_seconds = 0;
};

// A case that is not one repeated step, measured by its own function.
using Protocol = std::function<void(Session&)>;

enum class Better { lower, higher, same };

// A metric of this case alone, on these kinds of devices. Its value comes from
// Computation::readings(), Steps::read or Session::read(); or it is given here, if it follows from
// the size. A declared metric that was not read fails the case.
struct MetricDeclaration {
  std::string name = {};
  std::string kind = "advisory";  // exact, codegen, ratio, time, bound, advisory
  Better better = Better::lower;  // for a metric in the table of metrics, the table's value applies
  std::vector<std::string> devices = {"host", "cuda", "cuda-dry"};
  std::optional<double> value = {};

  bool exists_on(std::string_view device) const;
};

// A metric of the case as a whole: factor * seconds per step of `other` / seconds per step of the
// case's own variant, or the inverse of that quotient; both are timed interleaved in one process,
// on one device, or on a GPU and its host.
struct Derived {
  enum class Form { other_over_case, case_over_other };
  std::string name = {};
  double factor = 1;
  std::function<std::unique_ptr<Computation>(Backend&)> other = {};
  Variant against = Variant::optimized;  // the timed variant of the case
  Form form = Form::other_over_case;
  std::string kind = "advisory";
  Better better = Better::lower;
  bool beside_host = false;  // `other` runs on the host of a GPU, and exists on GPUs alone
};

// An amount per step of the optimized variant over the seconds of a step: galaxies, tokens, or
// published seconds. Advisory; more is better.
struct Rate {
  std::string name = {};
  double per_step = 1;
  // Optional: the backend's peak, of which the rate is reported as a fraction; 0 if unknown, and
  // then the rate is unknown, too.
  double (*peak)(const Backend&) = nullptr;
};

// A finding of the gate's detectors (baselines/README.md has their names) in a case that shows it
// on purpose, so that nobody is asked to fix it.
struct ExpectedFinding {
  std::string finding = {};
  std::string why = {};
  std::vector<std::string> devices = {"cuda", "cuda-dry"};  // where every run shows it
};

struct Case {
  std::string id = {};
  Tier tier = Tier::gate;
  std::vector<std::string> devices = {"host", "cuda", "cuda-dry"};
  Work work = {};
  std::variant<Steps, Protocol> recipe = {};
  // Whether Variant::reference is measured too; without it no speedup is expected.
  bool reference = true;
  std::vector<std::string> unreferenced = {};  // kinds of devices on which it would take too long
  // Whether the instructions of its steps are counted on a host: valgrind is some hundred times
  // slower, and counting a suite should take half a minute at most. If not, the list says why.
  bool counted = false;
  std::string uncounted =
      "its suite counts other cases, in the half minute that a suite has for that";
  std::vector<MetricDeclaration> metrics = {};
  std::vector<Derived> derived = {};
  std::vector<Rate> rates = {};
  std::vector<ExpectedFinding> expected = {};
  // For a protocol that checks results: the largest limit it uses, which the list shows and the
  // gate applies. A stepped case has its oracle's.
  std::optional<double> limit = {};

  bool runs_on(std::string_view device) const;
  bool has_reference(std::string_view device) const;
  bool has(const Derived& metric, std::string_view device) const;
  // The reason why a case that gates on a host has no instructions counted there.
  std::optional<std::string> why_uncounted() const;
};

// Defined once per suite binary, by suites/<suite>/cases.cpp; called by main.
struct Suite {
  std::string name = {};
  std::vector<OptionRow> options = {};  // its own; using one makes a custom run
  std::function<std::vector<Case>(const SuiteOptions&)> cases = {};
};
Suite suite();

}  // namespace holdfast
