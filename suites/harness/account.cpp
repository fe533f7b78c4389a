// SPDX-License-Identifier: Apache-2.0
#include "harness/account.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "runtime/error.hpp"
#include "runtime/sha256.hpp"

namespace holdfast {
namespace {

struct Counter {
  const char* name;
  std::int64_t Counts::*member;
};
constexpr Counter counters[] = {
    {"launches", &Counts::launches},
    {"library_calls", &Counts::library_calls},
    {"graph_nodes", &Counts::graph_nodes},
    {"copies", &Counts::copies},
    {"h2d_bytes", &Counts::h2d_bytes},
    {"d2h_bytes", &Counts::d2h_bytes},
    {"syncs", &Counts::syncs},
    {"allocations", &Counts::allocations},
    {"programs", &Counts::programs},
    {"nvrtc_runs", &Counts::nvrtc_runs},
    {"plans", &Counts::plans},
};

// What one step counts, which must be the same for each of them. nvrtc_runs may differ: caches
// fill.
Counts per_step(const std::vector<Counts>& steps) {
  for (const auto& [name, member] : counters) {
    if (member == &Counts::nvrtc_runs) continue;
    for (const Counts& step : steps)
      if (step.*member != steps.front().*member)
        throw Error(Fault::broken_rule,
                    text(name, " is not steady: one step counts ", steps.front().*member,
                         ", another ", step.*member, "; every step must do the same work after ",
                         accounted_steps, " or fewer to warm up"));
  }
  return steps.back();
}

std::map<const Function*, std::int64_t> launches_so_far(const Backend& backend) {
  std::map<const Function*, std::int64_t> launches;
  for (const auto& program : backend.compiler->programs())
    for (const Function& function : program->functions) launches[&function] = function.launches;
  return launches;
}

std::string shown(const std::set<LaunchShape>& shapes) {
  std::string all;
  for (const LaunchShape& shape : shapes) {
    for (const Dim3& extent : {shape.grid, shape.block})
      all += text(" ", extent.x, "x", extent.y, "x", extent.z);
    all += text(" ", shape.shared_bytes, shape.cooperative ? " cooperative" : "");
  }
  return all;
}

// Kernels that steps never launch are part of the program's identity all the same.
void read_programs(const Backend& backend, const std::map<const Function*, std::int64_t>& before,
                   int steps, VariantMeasurement& measured) {
  std::string identity;
  for (const auto& program : backend.compiler->programs()) {
    measured.stages.trace += program->seconds.trace;
    measured.stages.lower += program->seconds.lower;
    measured.stages.compile += program->seconds.compile;
    measured.stages.load += program->seconds.load;
    for (const Function& function : program->functions) {
      const auto known = before.find(&function);
      const auto earlier = known == before.end() ? 0 : known->second;
      measured.kernels.push_back({.name = function.expression,
                                  .cubin = function.cubin_hash,
                                  .shapes = shown(function.shapes),
                                  .registers = function.registers,
                                  .spill_bytes = function.spill_bytes,
                                  .shared_bytes = function.shared_bytes,
                                  .launches = (function.launches - earlier) / steps});
    }
  }
  std::sort(measured.kernels.begin(), measured.kernels.end(),
            [](const KernelUse& a, const KernelUse& b) {
              return std::tie(a.name, a.cubin) < std::tie(b.name, b.cubin);
            });
  for (const KernelUse& kernel : measured.kernels)
    identity += text(kernel.name, " ", kernel.cubin, " ", kernel.launches, kernel.shapes, "\n");
  measured.identity = "sha256:" + sha256(identity);
}

}  // namespace

Subject account(const Steps& steps, Variant variant, const std::string& device) {
  Subject subject{.variant = variant, .backend = open_backend(device)};
  Backend& backend = *subject.backend;
  Ledger& ledger = backend.ledger;
  VariantMeasurement& measured = subject.measured;

  const auto start = std::chrono::steady_clock::now();
  subject.computation = steps.make(backend, variant);
  Computation& computation = *subject.computation;
  for (int i = 0; i < steps.warm_up; ++i) {
    computation.step();
    if (i > 0) continue;
    const Counts counted = ledger.counts;
    if (backend.device) backend.device->synchronize();
    ledger.counts.syncs = counted.syncs;  // that wait was the harness's
    measured.first_call_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  measured.warm = ledger.counts;
  measured.peak_bytes_warm = ledger.peak_bytes;
  subject.warm_result = computation.result();

  std::map<const Function*, std::int64_t> launches;
  if (backend.compiler) launches = launches_so_far(backend);
  std::vector<Counts> counted;
  ledger.enter(Ledger::Phase::steady, computation.permissions());
  for (int i = 0; i < accounted_steps; ++i) {
    const Counts before = ledger.counts;
    computation.step();
    counted.push_back(ledger.counts - before);
  }
  ledger.enter(Ledger::Phase::building);
  measured.step = per_step(counted);
  if (backend.compiler) read_programs(backend, launches, accounted_steps, measured);
  measured.peak_bytes = ledger.peak_bytes;
  if (steps.estimate_bytes) measured.estimated_bytes = steps.estimate_bytes(backend, variant);
  return subject;
}

}  // namespace holdfast
