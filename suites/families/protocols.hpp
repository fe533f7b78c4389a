// SPDX-License-Identifier: Apache-2.0
// The measurements that are no repeated step and that every workload has: what compiling costs,
// what changes must not compile again, what memory is held, and inputs that take turns. Each tells
// the metrics that it reads, to which a suite may add `more` that it reads itself.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "families/family.hpp"
#include "harness/measure/session.hpp"

namespace holdfast {

// Holds a computation's result to what the oracle expects after one step, and returns it; nothing
// happens where nothing executes.
std::vector<double> check(Session& session, const Oracle& oracle, Computation& computation);

using Make = std::function<std::unique_ptr<Computation>(Backend&)>;
struct FirstCall {
  Backend& backend;
  std::unique_ptr<Computation> computation;
};

// A first call with every cache bypassed; what is done `again` on its backend should compile
// nothing. Reads all of compile_metrics().
FirstCall compile(Session& session, const Make& make,
                  const std::function<void(const FirstCall&)>& again);
std::vector<MetricDeclaration> compile_metrics();

// A first call on a fresh backend, as a new process makes it: all programs come from a cache on
// disk, which another such call has filled. Reads `warm_first_call_s`, and `warm_nvrtc_runs`, the
// programs that were compiled all the same.
void warm_first_call(Session& session, const Make& make);
void declare_warm_first_call(std::vector<MetricDeclaration>& metrics,
                             const std::string& kind_of_seconds = "advisory");

// Makes, steps and checks `others` after the first on one backend. Reads all of
// shape_change_metrics(): compile_warm of the first, and compile_steady, the programs that the
// others needed besides.
void shape_change(Session& session, const Steps& first, const std::vector<Steps>& others);
std::vector<MetricDeclaration> shape_change_metrics(
    const Kinds& devices = gpu, const std::vector<MetricDeclaration>& more = {});

// Makes the optimized computation, steps it once from memory that was spoilt, and checks the
// result. Returns the launches of that step.
std::int64_t checked_step(Session& session, const Steps& steps);

// Two inputs or more take turns on one backend, so that nothing of one may be taken for the
// other's, and each result is spoilt before it is computed anew. Reads all of turn_metrics():
// `allclose`, whether all results were, and compile_steady, the programs of all turns after the
// first, of both variants.
struct Turn {
  Steps steps = {};
  std::function<bool(const std::vector<double>& result)> allclose = {};
};
void in_turn(Session& session, const std::vector<Turn>& turns);
std::vector<MetricDeclaration> turn_metrics(const Kinds& compiling = gpu);

// The high-water mark of a computation's whole life, result read back. Reads all of
// memory_metrics(): peak_bytes and what it is of the rule of thumb and of the estimate.
struct Memory {
  std::function<std::unique_ptr<Computation>(Backend&, Variant)> make = {};
  double rule_of_thumb_bytes = 0;
  // Steps, reads back and checks.
  std::function<void(Backend&, Variant, Computation&)> live = {};
  // What is read besides, when the peak is taken; returns the estimate where there is one.
  std::function<std::optional<double>(Backend&, Variant, Computation&)> estimate = {};
};
void memory(Session& session, const Memory& what);
std::vector<MetricDeclaration> memory_metrics(const std::vector<MetricDeclaration>& more = {});

}  // namespace holdfast
