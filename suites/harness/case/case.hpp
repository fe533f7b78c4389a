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

// Who knows the right answer, and how far from it a result may be: relative to the largest expected
// magnitude of each part, or by a measure of the oracle's own.
struct Oracle {
  using Distance =
      std::function<double(const std::vector<double>& result, const std::vector<double>& expected)>;

  std::string name = {};
  double limit = 0;
  std::function<std::vector<double>(int steps)> expected = {};  // after so many step()s
  // Optional, of steps that are chained: for how many `expected` answers cheaply and within the
  // limit, where that is more than the warm-up takes. Asked where no reference is measured.
  int most_steps = 0;
  std::vector<std::size_t> parts = {};  // lengths of the result's fields; empty: one field
  // Optional; with it `expected` may be what is known of the result, in any form.
  Distance distance = {};
  // Optional: the error at a few places of a result after the warm-up, for processes that live for
  // a third of a second, where `expected` takes longer than that.
  std::function<double(const std::vector<double>& result)> few = {};
  std::function<double(Backend&, Variant)> golden = {};  // error against published values; optional
  // Optional, where a computation knows more inputs than one (Steps::inputs): the error of the
  // result of another, told cheaply. Asked where no reference is measured beside the variant.
  std::function<double(const std::vector<double>& result, int input)> other = {};
  // How far the variants' results lie from one another, as `limit` counts errors. Optional without
  // a `distance`: then each part may lie `limit` from the truth, on opposite sides.
  Distance between = {};
};

// Compares the result after the timed section with the one after the warm-up; a sentence when steps
// were skipped or wrong.
using Invariant = std::function<std::optional<std::string>(const std::vector<double>& before,
                                                           const std::vector<double>& after)>;

// A variant whose result was verified, for what can be read of it.
struct Verified {
  const Backend& backend;
  Variant variant = Variant::optimized;
  const std::vector<double>& result;  // after the warm-up; empty where nothing executes
  const std::vector<double>* reference = nullptr;  // the reference's, where that is measured too
  std::int64_t launches = 0;                       // of one step
  const std::vector<NamedReading>& own;            // what the computation itself reads
};

// The names of the holders of what each step of a variant writes anew, all of it.
using Rewritten = std::function<std::vector<std::string>(const Backend&, Variant)>;

// Those, whichever the variant.
inline Rewritten always(const std::vector<std::string>& holders) {
  return [holders](const Backend&, Variant) { return holders; };
}

// Measured by stepping: built, warmed up, checked, accounted, timed, all by the harness.
struct Steps {
  std::function<std::unique_ptr<Computation>(Backend&, Variant)> make = {};
  Oracle oracle = {};
  Invariant invariant = {};
  std::function<std::int64_t(const Backend&, Variant)> estimate_bytes =
      {};  // the peak by formula; optional
  // Optional: bytes that each step must bring to the device, by the size alone, because bringing
  // them is part of the work. Fewer mean that something was kept from an earlier step.
  std::function<double(Variant)> upload_bytes = {};
  // Optional; each is spoilt before a step whose result is looked at. A name under which nobody
  // holds anything is an error.
  Rewritten rewritten = {};
  // Optional: given the verified result, readings beside those of the computation itself.
  std::function<std::vector<NamedReading>(const Verified&)> read = {};
  int warm_up = 1;  // steps before anything is accounted; also how many the oracle is asked for
  // Whether a step goes on from where the last one ended: then the computation can start_again().
  bool chained = true;
  int inputs = 1;  // of one shape, that start_again() knows; of steps that are not chained
  int batch = 0;   // steps per timed sample; 0: enough for a sample
  // Least length of a sample, where caches and threads need longer than usual to settle after the
  // other variant; 0: what the clock of the device needs.
  double sample_seconds = 0;
};

// Measured by a function of its own: what is not one repeated step.
using Protocol = std::function<void(Session&)>;

enum class Better { lower, higher, same };

// A metric of this case alone, on these kinds of devices. Its value comes from
// Computation::readings(), Steps::read or Session::read(); or it is given here, where the size
// alone tells it. A declared metric that nobody read fails the case.
struct MetricDeclaration {
  std::string name = {};
  std::string kind = "advisory";  // exact, codegen, ratio, time, bound, advisory
  Better better = Better::lower;  // of a metric in the table of metrics what stands there holds
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
  Variant against = Variant::optimized;  // the variant of the case that is timed
  Form form = Form::other_over_case;
  std::string kind = "advisory";
  Better better = Better::lower;
  bool beside_host = false;  // `other` computes on the host of a GPU, and exists where there is one
};

// So much per step of the optimized variant over the seconds of a step: galaxies, tokens, or the
// seconds that somebody has published. Advisory; more is better.
struct Rate {
  std::string name = {};
  double per_step = 1;
  // Optional: what the backend can do at best, as which share of it the rate is told; 0 where that
  // is unknown, and then the rate is too.
  double (*peak)(const Backend&) = nullptr;
};

// What a detector of the gate (baselines/README.md has their names) sees in a case that shows it on
// purpose, so that nobody is told to mend it.
struct ExpectedFinding {
  std::string finding = {};
  std::string why = {};
  std::vector<std::string> devices = {"cuda", "cuda-dry"};  // on which every run shows it
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
  // Whether the instructions of its steps are counted on a host: valgrind takes some hundred times
  // as long, and a suite should be counted in half a minute. The list says why one is not.
  bool counted = false;
  std::string uncounted =
      "its suite counts other cases, in the half minute that a suite has for that";
  std::vector<MetricDeclaration> metrics = {};
  std::vector<Derived> derived = {};
  std::vector<Rate> rates = {};
  std::vector<ExpectedFinding> expected = {};
  // Of a protocol that checks results: the largest limit that it checks one with, which the list
  // tells and the gate judges by. What is stepped has that of its oracle.
  std::optional<double> limit = {};

  bool runs_on(std::string_view device) const;
  bool has_reference(std::string_view device) const;
  bool has(const Derived& metric, std::string_view device) const;
  // Of a case that gates on a host and whose instructions are not counted there.
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
