// SPDX-License-Identifier: Apache-2.0
// Measurements other than a repeated step that every workload has: the cost of compiling, changes
// that must not recompile, memory held, and alternating inputs. Each declares the metrics that it
// reads; a suite may add `more`, which it reads itself.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/files.hpp"
#include "families/family.hpp"
#include "harness/measure/session.hpp"

namespace holdfast {

// Compares a computation's result with the oracle's after one step, and returns it; does nothing if
// nothing executes.
std::vector<double> check(Session& session, const Oracle& oracle, Computation& computation);

// A private folder where TMPDIR says.
struct TemporaryFolder : NewFolder {
  TemporaryFolder();
};

using Make = std::function<std::unique_ptr<Computation>(Backend&)>;
struct FirstCall {
  Backend& backend;
  std::unique_ptr<Computation> computation;
};

// A first call with every cache bypassed; `again`, on its backend, should compile nothing. Reads
// all of compile_metrics().
FirstCall compile(Session& session, const Make& make,
                  const std::function<void(const FirstCall&)>& again);
std::vector<MetricDeclaration> compile_metrics();

// Reads `slowest_program_s`, the seconds of the program that took longest to lower and compile.
void read_slowest_program(Session& session, const Backend& backend);

// A first call on a fresh backend, as in a new process: all programs come from a disk cache that
// another such call has filled. Reads `warm_first_call_s`, and `warm_nvrtc_runs`, the programs
// compiled nevertheless.
void warm_first_call(Session& session, const Make& make);
void declare_warm_first_call(std::vector<MetricDeclaration>& metrics,
                             const std::string& kind_of_seconds = "advisory");

// Makes, steps and checks `others` after the first on one backend. Reads all of
// shape_change_metrics(): compile_warm for the first, and compile_steady, the number of additional
// programs for the others.
void shape_change(Session& session, const Steps& first, const std::vector<Steps>& others);
std::vector<MetricDeclaration> shape_change_metrics(
    const Kinds& devices = gpu, const std::vector<MetricDeclaration>& more = {});

// Makes the optimized computation, steps it once from spoilt memory, and checks the result.
// Returns the launches of that step.
std::int64_t checked_step(Session& session, const Steps& steps);

// Two or more inputs alternate on one backend, so that results of one cannot pass for the other's,
// and each result is spoilt before it is recomputed. Reads all of turn_metrics(): `allclose`,
// whether all results were close, and compile_steady, the programs of all turns after the first,
// per variant.
struct Turn {
  Steps steps = {};
  std::function<bool(const std::vector<double>& result)> allclose = {};
};
void in_turn(Session& session, const std::vector<Turn>& turns);
std::vector<MetricDeclaration> turn_metrics(const Kinds& compiling = gpu);

// The high-water mark of a computation's whole life, including reading back the result. Reads all
// of memory_metrics(): peak_bytes and its ratios to the rule of thumb and to the estimate.
struct Memory {
  std::function<std::unique_ptr<Computation>(Backend&, Variant)> make = {};
  double rule_of_thumb_bytes = 0;
  // Steps, reads back and checks.
  std::function<void(Backend&, Variant, Computation&)> live = {};
  // Further readings once the peak is known; returns the estimate if there is one.
  std::function<std::optional<double>(Backend&, Variant, Computation&)> estimate = {};
};
void memory(Session& session, const Memory& what);
std::vector<MetricDeclaration> memory_metrics(const std::vector<MetricDeclaration>& more = {});

}  // namespace holdfast
