// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/metrics.hpp"

#include <algorithm>
#include <set>

#include "base/names.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using M = Measurement;
using V = VariantMeasurement;

template <std::int64_t Counts::*member>
Reading warm(const M&, const V& v) {
  return static_cast<double>(v.warm.*member);
}

template <std::int64_t Counts::*member>
Reading per_step(const M&, const V& v) {
  return static_cast<double>(v.step.*member);
}

template <double StageSeconds::*member>
Reading stage(const M&, const V& v) {
  return v.stages.*member;
}

Reading ratio(Reading above, Reading below) {
  if (!above || !below || *below == 0) return std::nullopt;
  return *above / *below;
}

// The maximum of registers or static shared memory over the kernels that the variant launched: a
// program may hold others, which cost this case nothing and have their own cases.
template <int KernelUse::*member>
Reading most(const M&, const V& v) {
  int value = 0;
  for (const KernelUse& kernel : v.kernels)
    if (kernel.used) value = std::max(value, kernel.*member);
  return value;
}
// Over the kernels that the variant launched.
template <class Value>
double sum_over_used(const V& v, const Value& value) {
  double sum = 0;
  for (const KernelUse& kernel : v.kernels)
    if (kernel.used) sum += static_cast<double>(value(kernel));
  return sum;
}
template <auto KernelUse::*member>
Reading sum_of(const M&, const V& v) {
  return sum_over_used(v, [](const KernelUse& kernel) { return kernel.*member; });
}
Reading block_shared_bytes(const M&, const V& v) {
  return sum_over_used(
      v, [](const KernelUse& kernel) { return kernel.shared_bytes + kernel.dynamic_shared_bytes; });
}
// The mean, so that the loss of any kernel shows.
Reading mean_occupancy(const M&, const V& v) {
  const double kernels = sum_over_used(v, [](const KernelUse&) { return 1; });
  if (kernels == 0) return 1;
  return sum_over_used(v, [](const KernelUse& kernel) { return kernel.occupancy; }) / kernels;
}
Reading instructions_of(const V& v, const char* instruction_class) {
  if (!v.no_code.empty()) return std::nullopt;
  return sum_over_used(v, [&](const KernelUse& kernel) {
    return kernel.code ? count(*kernel.code, instruction_class) : 0;
  });
}
// Bytes of a load or store of global and shared memory.
Reading access_bytes(const M&, const V& v) {
  if (!v.no_code.empty()) return std::nullopt;
  const auto over = [&](std::int64_t Accesses::*member) {
    return sum_over_used(v, [&](const KernelUse& kernel) {
      return kernel.code ? accesses(*kernel.code).*member : 0;
    });
  };
  const double moves = over(&Accesses::count);
  return moves > 0 ? over(&Accesses::bytes) / moves : 0;
}
Reading scatter_launches(const M&, const V& v) {
  std::int64_t sum = 0;
  for (const KernelUse& kernel : v.kernels)
    if (kernel.kind == KernelKind::scatter) sum += kernel.launches;
  return static_cast<double>(sum);
}

template <std::int64_t HostMemory::*member>
Reading host_rss(const M& m, const V&) {
  if (!m.host_memory) return std::nullopt;
  return static_cast<double>((*m.host_memory).*member);
}

Reading peak_ratio(const M& m, const V& v) {
  if (!m.reference) return std::nullopt;
  return ratio(static_cast<double>(m.reference->peak_bytes), static_cast<double>(v.peak_bytes));
}

// Taken by the gate from a profile of the case, if one was requested.
Reading of_a_profile(const M&, const V&) {
  return std::nullopt;
}

constexpr unsigned executing = on_host | on_cuda;
constexpr unsigned gpu = on_cuda | on_dry;
using enum Better;
using enum Of;
using enum Needs;

const Metric table[] = {
    {"time_s", "s", "time", lower, executing, variant, steps,
     [](const M&, const V& v) { return v.seconds; }},
    {"speedup", "1", "ratio", higher, executing, whole_case, reference,
     [](const M& m, const V&) { return m.speedup; }},
    {"handover_s", "s", "time", lower, on_host, whole_case, steps,
     [](const M& m, const V&) { return m.handover_seconds; }},
    {"waited_fraction", "1", "advisory", lower, on_host, whole_case, steps,
     [](const M& m, const V&) { return m.waited_fraction; }},
    {"shared_fraction", "1", "advisory", lower, on_host, whole_case, steps,
     [](const M& m, const V&) { return m.shared_fraction; }},
    {"peak_bytes", "B", "exact", lower, everywhere, variant, steps,
     [](const M&, const V& v) -> Reading { return static_cast<double>(v.peak_bytes); }},
    {"peak_bytes_warm", "B", "exact", lower, everywhere, variant, steps,
     [](const M&, const V& v) -> Reading { return static_cast<double>(v.peak_bytes_warm); }},
    {"peak_ratio", "1", "exact", higher, everywhere, whole_case, reference, peak_ratio},
    {"estimate_ratio", "1", "bound", lower, everywhere, variant, estimate,
     [](const M&, const V& v) -> Reading {
       if (!v.estimated_bytes) return std::nullopt;
       return static_cast<double>(v.peak_bytes) / static_cast<double>(*v.estimated_bytes);
     }},
    {"upload_ratio", "1", "bound", lower, gpu, variant, upload,
     [](const M&, const V& v) {
       return ratio(static_cast<double>(v.step.h2d_bytes), v.least_upload_bytes);
     }},
    // Both counted by separate processes (instruction_count.hpp); `holdfast run` adds them.
    {"instructions", "1", "exact", lower, on_host, variant, counted_steps,
     [](const M&, const V&) -> Reading { return std::nullopt; }},
    {"estimated_cycles", "1", "exact", lower, on_host, variant, counted_steps,
     [](const M&, const V&) -> Reading { return std::nullopt; }},
    {"compile_warm", "programs", "exact", lower, gpu, variant, steps, warm<&Counts::programs>},
    {"compile_steady", "programs", "exact", lower, gpu, variant, steps,
     per_step<&Counts::programs>},
    {"nvrtc_runs", "programs", "advisory", lower, gpu, variant, steps, warm<&Counts::nvrtc_runs>},
    {"plans_warm", "plans", "exact", lower, everywhere, variant, steps, warm<&Counts::plans>},
    {"plans", "plans", "exact", lower, everywhere, variant, steps, per_step<&Counts::plans>},
    {"launches_warm", "1", "exact", lower, gpu, variant, steps, warm<&Counts::launches>},
    {"launches", "1", "exact", lower, gpu, variant, steps, per_step<&Counts::launches>},
    {"scatter_launches", "1", "exact", lower, gpu, variant, steps, scatter_launches},
    {"library_calls", "1", "exact", lower, gpu, variant, steps, per_step<&Counts::library_calls>},
    {"host_launches", "1", "exact", lower, gpu, variant, steps, per_step<&Counts::host_launches>},
    {"graph_nodes", "1", "exact", lower, gpu, variant, steps, per_step<&Counts::graph_nodes>},
    {"h2d_bytes_warm", "B", "exact", lower, gpu, variant, steps, warm<&Counts::h2d_bytes>},
    {"h2d_bytes", "B", "exact", lower, gpu, variant, steps, per_step<&Counts::h2d_bytes>},
    {"d2h_bytes", "B", "exact", lower, gpu, variant, steps, per_step<&Counts::d2h_bytes>},
    {"syncs", "1", "exact", lower, gpu, variant, steps, per_step<&Counts::syncs>},
    // Held where nothing executes: timed steps on a GPU must count as much as the accounted one.
    {"threads", "1", "exact", same, on_dry, variant, steps, per_step<&Counts::threads>},
    {"argument_sum", "1", "exact", same, on_dry, variant, steps, per_step<&Counts::argument_sum>},
    {"argument_magnitudes", "1", "exact", same, on_dry, variant, steps,
     per_step<&Counts::argument_magnitudes>},
    {"copies", "1", "exact", lower, on_dry, variant, steps, per_step<&Counts::copies>},
    {"transfers", "1", "exact", lower, on_dry, variant, steps, per_step<&Counts::transfers>},
    {"exposed_bytes", "B", "exact", lower, on_dry, variant, steps,
     [](const M&, const V& v) -> Reading {
       return static_cast<double>(v.step.h2d_bytes + v.step.d2h_bytes - v.step.hidden_bytes);
     }},
    {"polls", "1", "exact", lower, on_dry, variant, steps, per_step<&Counts::polls>},
    {"lone_launches", "1", "exact", lower, on_dry, variant, steps,
     per_step<&Counts::lone_launches>},
    {"pageable_bytes", "B", "exact", lower, on_dry, variant, steps,
     per_step<&Counts::pageable_bytes>},
    {"moved_bytes", "B", "exact", lower, on_dry, variant, steps, per_step<&Counts::moved_bytes>},
    {"library_flops", "flop", "exact", lower, on_dry, variant, steps,
     per_step<&Counts::library_flops>},
    {"library_bytes", "B", "exact", lower, on_dry, variant, steps,
     per_step<&Counts::library_bytes>},
    {"registers_max", "1", "codegen", lower, gpu, variant, steps, most<&KernelUse::registers>},
    {"spill_bytes", "B", "codegen", lower, gpu, variant, steps, sum_of<&KernelUse::spill_bytes>},
    {"shared_bytes", "B", "codegen", lower, gpu, variant, steps, most<&KernelUse::shared_bytes>},
    // Metrics that follow from cubins and launches alone, over the launched kernels.
    {"local_bytes", "B", "codegen", lower, gpu, variant, steps, sum_of<&KernelUse::local_bytes>},
    {"block_shared_bytes", "B", "codegen", lower, gpu, variant, steps, block_shared_bytes},
    {"launched_blocks", "1", "codegen", same, gpu, variant, steps, sum_of<&KernelUse::blocks>},
    {"launched_threads", "1", "codegen", same, gpu, variant, steps, sum_of<&KernelUse::threads>},
    {"occupancy", "1", "codegen", higher, gpu, variant, steps, mean_occupancy},
    {"barriers", "1", "codegen", lower, gpu, variant, steps,
     [](const M&, const V& v) { return instructions_of(v, "barrier"); }},
    {"access_bytes", "B", "codegen", higher, gpu, variant, steps, access_bytes},
    {"f64_instructions", "1", "codegen", lower, gpu, variant, single,
     [](const M&, const V& v) { return instructions_of(v, "f64"); }},
    {"tensor_instructions", "1", "codegen", higher, gpu, variant, single,
     [](const M&, const V& v) { return instructions_of(v, "tensor"); }},
    {"trace_s", "s", "advisory", lower, gpu, variant, steps, stage<&StageSeconds::trace>},
    {"lower_s", "s", "advisory", lower, gpu, variant, steps, stage<&StageSeconds::lower>},
    {"compile_s", "s", "advisory", lower, gpu, variant, steps, stage<&StageSeconds::compile>},
    {"load_s", "s", "advisory", lower, gpu, variant, steps, stage<&StageSeconds::load>},
    {"first_call_s", "s", "advisory", lower, gpu, variant, steps,
     [](const M&, const V& v) -> Reading { return v.first_call_seconds; }},
    {"warm_up_s", "s", "advisory", lower, everywhere, variant, steps,
     [](const M&, const V& v) -> Reading { return v.warm_up_seconds; }},
    {"floor_s", "s", "advisory", higher, executing, whole_case, steps,
     [](const M& m, const V&) { return m.floor_seconds; }},
    {"floor_fraction", "1", "advisory", higher, executing, variant, steps,
     [](const M& m, const V& v) { return ratio(m.floor_seconds, v.seconds); }},
    {"flop_per_s", "1/s", "advisory", higher, executing, variant, steps,
     [](const M& m, const V& v) { return ratio(m.work.flops, v.seconds); }},
    {"bytes_per_s", "B/s", "advisory", higher, executing, variant, steps,
     [](const M& m, const V& v) { return ratio(m.work.bytes, v.seconds); }},
    // From a profile beside the timed processes; `holdfast run --profile` adds them.
    {"kernels_s", "s", "advisory", lower, on_cuda, variant, steps, of_a_profile},
    {"kernels_floor_fraction", "1", "advisory", higher, on_cuda, variant, steps, of_a_profile},
    {"idle_fraction", "1", "advisory", lower, on_cuda, variant, steps, of_a_profile},
    {"max_gap_s", "s", "advisory", lower, on_cuda, variant, steps, of_a_profile},
    {"top_kernel_fraction", "1", "advisory", lower, on_cuda, variant, steps, of_a_profile},
    {"top5_time_fraction", "1", "advisory", lower, on_cuda, variant, steps, of_a_profile},
    {"small_kernel_time_fraction", "1", "advisory", lower, on_cuda, variant, steps, of_a_profile},
    {"transfer_time_fraction", "1", "advisory", lower, on_cuda, variant, steps, of_a_profile},
    {"ops_over_10ms", "1", "advisory", lower, on_cuda, variant, steps, of_a_profile},
    {"check_error", "1", "bound", lower, executing, variant, steps,
     [](const M&, const V& v) { return v.check_error; }},
    {"host_rss_bytes_before", "B", "advisory", lower, everywhere, whole_case, nothing,
     host_rss<&HostMemory::before>},
    {"host_rss_bytes_peak", "B", "advisory", lower, everywhere, whole_case, nothing,
     host_rss<&HostMemory::peak>},
    {"host_rss_bytes_after", "B", "advisory", lower, everywhere, whole_case, nothing,
     host_rss<&HostMemory::after>},
};

constexpr std::string_view kinds[] = {"exact", "codegen", "ratio", "time", "bound", "advisory"};

}  // namespace

std::span<const Metric> metrics() {
  return table;
}

bool applies(const Metric& metric, const Case& one, std::string_view device) {
  const auto* repeated = std::get_if<Steps>(&one.recipe);
  const std::string kind = device_kind(device);
  if (!(metric.devices & (kind == "host" ? on_host : kind == "cuda" ? on_cuda : on_dry)))
    return false;
  switch (metric.needs) {
    case nothing:
      return true;
    case steps:
      return repeated != nullptr;
    case single:
      return repeated && one.work.precision != Precision::f64;
    case reference:
      return repeated && one.has_reference(device);
    case estimate:
      return repeated && repeated->estimate_bytes;
    case upload:
      return repeated && repeated->upload_bytes;
    case counted_steps:
      return repeated && one.counted;
  }
  return false;
}

std::vector<std::string> promised(const Case& one, std::string_view device) {
  std::set<std::string> names;
  for (const Metric& metric : table)
    if (applies(metric, one, device)) names.insert(metric.name);
  for (const MetricDeclaration& declared : one.metrics)
    if (declared.exists_on(device)) names.insert(declared.name);
  for (const Derived& derived : one.derived)
    if (one.has(derived, device)) names.insert(derived.name);
  if (device_kind(device) != "cuda-dry")
    for (const Rate& rate : one.rates) names.insert(rate.name);
  return {names.begin(), names.end()};
}

std::map<std::string, Meaning> meanings(const std::vector<Case>& cases) {
  // The hash of all kernels: no case declares it, but each has it on a device; a changed one is
  // neither better nor worse.
  std::map<std::string, Meaning> all = {{"identity", {"codegen", Better::same, "1"}}};
  for (const Metric& metric : table) all[metric.name] = {metric.kind, metric.better, metric.unit};
  const auto canonical = all;
  const auto declare = [&](const Case& one, const auto& metric) {
    const auto refuse = [&](const auto&... why) {
      throw Error(Fault::broken_rule, text(one.id, ": the metric ", metric.name, ' ', why...));
    };
    const auto known = canonical.find(metric.name);
    Meaning meaning{metric.kind, metric.better, unit_of_name(metric.name)};
    if (known != canonical.end()) {
      if (metric.kind != known->second.kind)
        refuse("is declared as '", metric.kind, "', and the table of metrics has it as '",
               known->second.kind, "'");
      meaning = known->second;
    }
    if (std::find(std::begin(kinds), std::end(kinds), meaning.kind) == std::end(kinds))
      refuse("is of the kind '", meaning.kind,
             "'; the kinds are exact, codegen, ratio, time, bound and advisory");
    if (!(all.try_emplace(metric.name, meaning).first->second == meaning))
      refuse("is of another kind or direction in another case; give one of them another name");
  };
  for (const Case& one : cases) {
    for (const MetricDeclaration& metric : one.metrics) declare(one, metric);
    for (const Derived& metric : one.derived) declare(one, metric);
    for (const Rate& rate : one.rates)
      declare(one, MetricDeclaration{.name = rate.name, .better = Better::higher});
  }
  return all;
}

}  // namespace holdfast
