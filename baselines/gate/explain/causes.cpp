// SPDX-License-Identifier: Apache-2.0
// The causes that the differences between two sides of a case support.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <initializer_list>

#include "gate/base/numbers.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/explain/explain.hpp"

namespace holdfast::gate {
namespace {

// A time that moved by less has not changed (other work moves it further on a host than on a GPU),
// as in the common policy. The control moved if the reference moved by at least half as much and
// leaves no more than this tolerance unexplained.
constexpr double host_time_tolerance = 0.05;
constexpr double time_tolerance = 0.03;
constexpr double control_share = 0.5;
// Every edit of host code moves its instructions and cycles a little: the common policy's
// tolerances.
constexpr double instruction_tolerance = 0.005, cycle_tolerance = 0.1;

// Whether the gate has judged the case and found nothing against it.
bool is_judged_well(const Evidence& c) {
  constexpr std::array<std::string_view, 5> well = {verdict::pass, verdict::fresh, verdict::skipped,
                                                    verdict::improved, verdict::accepted};
  return !c.rows.empty() && std::all_of(c.rows.begin(), c.rows.end(), [&](const Row& row) {
    return !row.blocking && std::find(well.begin(), well.end(), row.verdict) != well.end();
  });
}

void add_status(const Evidence& c, std::vector<Cause>& found) {
  const CaseResult& result = c.result;
  if (result.check.status == "failed" || result.status == "failed") {
    std::string why = result.reason.value_or("no reason was given");
    if (result.check.error && result.check.limit) {
      const auto [error, limit] = told_apart(*result.check.error, *result.check.limit, "1");
      why = text("its error is ", error, " and may be at most ", limit);
    }
    found.push_back({text("the result is wrong, so its speed says nothing: ", why), c.run_again});
  } else if (result.status != "ok") {
    found.push_back({text("the case gave no result (", result.status,
                          "): ", result.reason.value_or("no reason was given")),
                     c.run_again});
  }
}

std::string changed_of(const Evidence& c, std::initializer_list<const char*> tools) {
  std::string out;
  for (const std::string& change : environment_changes(c))
    for (const char* tool : tools)
      if (change.starts_with(tool)) add_to(out, change);
  return out;
}

// The changed tools that explain other machine code; else empty.
std::string tools_changed(const Evidence& c) {
  return changed_of(c, {"nvrtc ", "nvjitlink ", "compiler "});
}

// The changed tool that may count the same machine code otherwise; else empty.
std::string disassembler_changed(const Evidence& c) {
  return changed_of(c, {"nvdisasm "});
}

// "48 B of it instead of 0 B"
std::string instead_of(std::int64_t before, std::int64_t now, const std::string& unit,
                       const std::string& of_it = "") {
  const auto [old, young] = told_apart(static_cast<double>(before), static_cast<double>(now), unit);
  return text(young, of_it, " instead of ", old);
}

// What a kernel needs more of than before, and what that does; empty where nothing rose.
std::string resources_rose(const KernelChange& change) {
  const KernelFacts& before = *change.before;
  const KernelFacts& now = *change.now;
  const bool registers = before.registers && now.registers && *now.registers > *before.registers;
  const bool spills =
      before.spill_bytes && now.spill_bytes && *now.spill_bytes > *before.spill_bytes;
  const bool shared =
      before.shared_bytes && now.shared_bytes && *now.shared_bytes > *before.shared_bytes;
  if (!registers && !spills && !shared) return "";
  std::string sentence = change.kernel;
  if (registers)
    sentence += text(" uses ", instead_of(*before.registers, *now.registers, "", " registers"));
  if (spills)
    sentence += text(registers ? " and spills " : " spills ",
                     instead_of(*before.spill_bytes, *now.spill_bytes, "B"));
  if (shared)
    sentence += text(registers || spills ? ", with " : " holds ",
                     instead_of(*before.shared_bytes, *now.shared_bytes, "B", " of shared memory"));
  if (now.launches == 0) return sentence + ", and is not launched in this case";
  return sentence + (spills ? ": spilled values go through memory in every thread"
                            : ": fewer blocks may fit on a multiprocessor");
}

void add_resources(const Evidence& c, std::vector<Cause>& found) {
  std::vector<Cause> beside;  // kernels of the same program that this case does not launch
  const std::string tools = tools_changed(c);
  for (const KernelChange& change : kernel_changes(c)) {
    if (!change.before || !change.now || change.variant == "reference") continue;
    std::string sentence = resources_rose(change);
    if (sentence.empty()) continue;
    if (!tools.empty()) sentence += text("; other tools compiled it (", tools, ")");
    (change.now->launches == 0 ? beside : found).push_back({sentence, c.profile});
  }
  found.insert(found.end(), beside.begin(), beside.end());
}

// Of loads and stores of global and shared memory: their number, their bytes and their mean bytes.
constexpr const char* accesses = "accesses";
constexpr const char* accessed_bytes = "accessed bytes";
constexpr const char* access_width = "access width";

// The evidence of a kernel as numbers, with those of its accesses: "global_load_16" moves 16 bytes.
std::map<std::string, double> numbers_of(const KernelEvidence& kernel) {
  std::map<std::string, double> all;
  for (const auto& [name, number] : kernel) {
    const double value = all[name] = std::strtod(number.c_str(), nullptr);
    if (!name.starts_with("global_") && !name.starts_with("shared_")) continue;
    all[accessed_bytes] += value * std::strtod(name.c_str() + name.rfind('_') + 1, nullptr);
    all[accesses] += value;
  }
  all[access_width] = all[accesses] > 0 ? all[accessed_bytes] / all[accesses] : 0;
  return all;
}

bool is_single(const std::string& case_id) {
  return case_id.ends_with("/f32") || case_id.find("/f32/") != std::string::npos;
}

// What the machine code of a kernel does that costs more than before, by class of instruction.
struct CodeClass {
  const char* name;  // in numbers_of()
  Better better;
  const char* unit;
  const char* verb;
  const char* noun;
  const char* effect;
  bool counted = false;  // by the disassembler
  bool single = false;   // only for a case in single precision
};
constexpr CodeClass code_classes[] = {
    {"local_bytes", Better::lower, "B", " keeps ", " of each thread in local memory",
     "arrays that are indexed at run time go through memory"},
    {"dynamic_shared_bytes", Better::lower, "B", " asks for ", " of dynamic shared memory",
     "fewer blocks may fit on a multiprocessor"},
    {"barrier", Better::lower, "", " holds ", " barriers",
     "the threads of a block wait for each other more often", true},
    {"f64", Better::lower, "", " holds ", " instructions in f64",
     "double precision in a kernel of single precision", true, true},
    {"tensor", Better::higher, "", " holds ", " tensor instructions",
     "products go through slower units", true},
    {"atomic", Better::lower, "", " holds ", " atomic instructions",
     "threads that update one place take turns", true},
    {accesses, Better::lower, "", " holds ", " loads and stores",
     "more data is moved, or the same once more", true},
    {access_width, Better::higher, "B", " moves ", " in a load or store",
     "narrower accesses take more of them", true},
    {"occupancy", Better::higher, "", " has an occupancy of ", "",
     "less other work hides what a warp waits for"}};

// Returns what only another disassembler sees, in the same machine code.
std::string add_code_classes(const Evidence& c, std::vector<Cause>& found) {
  std::string recounted;
  const std::string tools = tools_changed(c), disassembler = disassembler_changed(c);
  for (const KernelChange& change : kernel_changes(c)) {
    if (!change.before || !change.now || change.variant == "reference") continue;
    if (change.before->evidence.empty() || change.now->evidence.empty()) continue;
    auto before = numbers_of(change.before->evidence), now = numbers_of(change.now->evidence);
    for (const CodeClass& one : code_classes) {
      if (one.single && !is_single(c.case_id)) continue;
      const double old = before[one.name], young = now[one.name];
      if (one.better == Better::lower ? young <= old : young >= old) continue;
      // The mean also falls where wide ones were left out, which narrows none; and more of them may
      // move the same bytes, which the mean tells.
      const std::string_view name = one.name;
      if (name == access_width && now[accesses] < before[accesses]) continue;
      if (name == accesses && now[accessed_bytes] <= before[accessed_bytes]) continue;
      const auto [was, is] = told_apart(old, young, one.unit);
      std::string sentence = text(change.kernel, one.verb, is, one.noun, " instead of ", was);
      const bool otherwise = one.counted && !disassembler.empty();
      if (otherwise && change.has_same_cubin()) {
        add_to(recounted, sentence);
        continue;
      }
      sentence += text(": ", one.effect);
      if (!tools.empty()) sentence += text("; other tools compiled it (", tools, ")");
      if (otherwise) sentence += text("; another disassembler counted it (", disassembler, ")");
      found.push_back({std::move(sentence), c.profile});
    }
  }
  return recounted;
}

// What a kernel has of a metric of its step.
std::optional<std::int64_t> of_kernel(const KernelFacts& kernel, std::string_view metric) {
  if (metric == "launches") return kernel.launches;
  const auto given = kernel.evidence.find(argument_sum);
  if (metric != argument_sum || given == kernel.evidence.end()) return std::nullopt;
  return number_of<std::int64_t>(given->second);
}

void add_counts(const Evidence& c, std::vector<Cause>& found) {
  struct Meaning {
    const char* metric;
    const char* words;
    double tolerance = 0;
    bool either_way = false;  // a fall is told as well
  };
  constexpr Meaning meanings[] = {
      {instructions_metric, "a step executes more instructions", instruction_tolerance},
      {"launches", "a step makes more launches"},
      {"host_launches", "the host makes more launches itself, outside graphs"},
      {"threads", "a step's kernels are launched in other numbers of threads", 0, true},
      {argument_sum, "a step's kernels are given other arguments", 0, true},
      {"argument_magnitudes", "a step's kernels are given numbers of other magnitude", 0, true},
      {"library_calls", "a step makes more library calls"},
      {"library_flops", "a step asks libraries for more arithmetic"},
      {"library_bytes", "the products and transforms of a step read and write more"},
      {"transfers", "a step copies more often between host and device"},
      {"h2d_bytes", "a step copies more to the device"},
      {"d2h_bytes", "a step copies more back to the host"},
      {"exposed_bytes", "less of what a step copies to the device and back may run beside kernels"},
      {"polls", "the host asks more often whether the device has come to an event"},
      {"lone_launches", "more kernels run before a copy that could run beside them"},
      {"pageable_bytes", "a step copies more from or to memory that is not page-locked"},
      {"syncs", "the host waits more often for the device"},
      {"copies", "a step copies more often within the device"},
      {"moved_bytes", "a step copies or fills more bytes within the device"},
      {"compile_steady", "programs are compiled after warm-up"},
      {"plans", "plans are made after warm-up"},
      {"peak_bytes", "more memory is held at the peak"},
      {"compile_warm", "more programs are compiled before the first step"}};
  const auto launches = change_of(c, "optimized", "launches");
  const bool more_launches = launches && launches->now > launches->before;
  for (const Meaning& meaning : meanings) {
    const auto change = change_of(c, "optimized", meaning.metric);
    if (!change || change->now == change->before) continue;
    if (!meaning.either_way && change->now <= change->before * (1 + meaning.tolerance)) continue;
    // One more launch outside a graph also raises these, and is reported once.
    const std::string_view metric = meaning.metric;
    if (more_launches && (metric == "host_launches" || metric == "threads")) continue;
    std::string sentence = text(meaning.words, ": ", change->words());
    for (const KernelChange& kernel : kernel_changes(c)) {
      if (kernel.variant != "optimized" || !kernel.before || !kernel.now) continue;
      const auto old = of_kernel(*kernel.before, meaning.metric);
      const auto young = of_kernel(*kernel.now, meaning.metric);
      if (old && young && (*young > *old || (meaning.either_way && *young < *old)))
        sentence += text("; ", kernel.kernel, " ", *old, " -> ", *young);
    }
    if (same_kernels(c, "optimized"))
      sentence += text("; the kernels are the same, so it is ", metric.starts_with("argument_")
                                                                    ? "what the host tells them"
                                                                    : "the host's control flow");
    found.push_back({sentence, c.profile});
  }
}

// A host's step whose data miss in the simulated caches more often.
void add_misses(const Evidence& c, std::vector<Cause>& found) {
  const auto cycles = change_of(c, "optimized", cycles_metric);
  const auto instructions = change_of(c, "optimized", instructions_metric);
  if (!cycles || !instructions) return;
  const double before = cycles->before - instructions->before;
  const double now = cycles->now - instructions->now;
  if (now - before <= cycle_tolerance * cycles->before) return;
  const auto [was, is] = told_apart(before, now, "1");
  found.push_back(
      {text("a step waits longer for its data: simulated caches cost it ", is,
            " cycles instead of ", was,
            instructions->now == instructions->before ? ", by the same instructions" : "",
            "; arrays are larger, lie or are walked in another order, or blocks no longer fit"),
       c.profile});
}

// Which kernel took most of what the step lost, where both sides were profiled with times.
std::string slowest_kernel(const Evidence& c, const std::string& variant) {
  const auto before = c.before->profiles.find(variant);
  const auto now = c.now.profiles.find(variant);
  if (before == c.before->profiles.end() || now == c.now.profiles.end()) return "";
  std::map<std::string, double> lost;
  for (const auto* side : {&before->second, &now->second})
    for (const ProfileOp& op : side->ops)
      if (!op.total_s) return "";
  for (const ProfileOp& op : now->second.ops)
    lost[op.name] += *op.total_s / static_cast<double>(now->second.steps);
  for (const ProfileOp& op : before->second.ops)
    lost[op.name] -= *op.total_s / static_cast<double>(before->second.steps);
  const auto most = std::max_element(
      lost.begin(), lost.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == lost.end() || most->second <= 0) return "";
  return text("; most of it in ", most->first, " (", readable(most->second, "s"), " per step)");
}

void add_time(const Evidence& c, std::vector<Cause>& found) {
  const auto time = change_of(c, "optimized", "time_s");
  const auto speedup = change_of(c, case_variant, "speedup");
  const auto control = change_of(c, "reference", "time_s");
  const double slower = time ? std::log(time->now / time->before) : 0;
  const double lost = speedup ? std::log(speedup->before / speedup->now) : 0;
  const double tolerance = is_host_class(c.device_class) ? host_time_tolerance : time_tolerance;
  if (is_judged_well(c) || (slower <= tolerance && lost <= tolerance)) return;
  const auto same = same_code(c, "optimized");
  const double moved = control ? std::log(control->now / control->before) : 0;
  // The speedup is of variants in turn; either time is of another moment on the other side.
  const double unshared = speedup ? lost : slower - moved;
  const std::string step =
      time ? text("a step takes ", readable(time->now, "s"), " instead of ",
                  readable(time->before, "s"), " (", percent(std::expm1(slower)), ")")
           : text("the speedup fell: ", speedup->words());
  const std::string code = !same ? "" : *same ? "the compiled code is identical and " : "";
  if (control && slower > tolerance && moved >= control_share * slower && unshared <= tolerance &&
      same.value_or(true)) {
    // For host code nothing says whether it is the same, and shared code moves both variants.
    found.push_back({text(same ? "the machine, not the code: "
                               : "the machine, or code that both variants share: ",
                          code, "the reference variant moved by ", percent(std::expm1(moved)),
                          " as well (", step, ")"),
                     same ? c.run_again : c.compare});
  } else if (time && slower <= tolerance) {
    if (!found.empty()) return;  // what the optimized variant does more of
    if ((control ? -moved : lost - slower) >= control_share * lost)
      found.push_back({text("the reference became faster, not the optimized variant slower: ",
                            control ? control->words() : speedup->words()),
                       c.run_again});
    else
      found.push_back(
          {text("the speedup fell: ", speedup->words(), "; ", code, step,
                control ? text(", and the reference moved by ", percent(std::expm1(moved)))
                        : std::string(", and no control tells what the reference did")),
           same.value_or(false) ? c.run_again : c.compare});
  } else if (same && !*same && !same_kernels(c, "optimized")) {
    std::string kernels;
    for (const KernelChange& change : kernel_changes(c))
      if (change.variant == "optimized" && !change.is_identical()) add_to(kernels, change.kernel);
    found.push_back(
        {text("other machine code", kernels.empty() ? "" : " in " + kernels, ": ", step,
              control ? text(", and the reference moved by ", percent(std::expm1(moved))) : "",
              slowest_kernel(c, "optimized")),
         c.profile});
  } else {
    found.push_back(
        {text(step,
              control
                  ? text(" while the reference moved by ",
                         moved < control_share * slower ? "only " : "", percent(std::expm1(moved)))
                  : std::string(", and no control tells whether the machine did it"),
              same && !*same ? ": the same machine code, launched otherwise"
              : same         ? ": the same machine code on other data or in other shapes, or chance"
              : control      ? ": the code of this variant, by what the control did not share"
                             : ": the code of this variant, or the machine",
              slowest_kernel(c, "optimized")),
         c.profile});
  }
}

// Whether the case was timed, and nothing on the other side was.
bool is_untimed_before(const Evidence& c) {
  return c.before && c.now.number("optimized", "time_s") && !change_of(c, "optimized", "time_s") &&
         !change_of(c, case_variant, "speedup");
}

// "stage: f64 200 -> 214; project: integer 61 -> 70" of a variant's kernels.
std::string code_changes(const Evidence& c, const std::string& variant) {
  std::string all;
  for (const KernelChange& change : kernel_changes(c)) {
    if (change.variant != variant || !change.before || !change.now) continue;
    std::string own;
    for (const std::string& one : evidence_changes(change.before->evidence, change.now->evidence))
      add_to(own, one);
    if (!own.empty()) add_to(all, text(change.kernel, ": ", own), "; ");
  }
  return all;
}

void add_other_code(const Evidence& c, std::vector<Cause>& found) {
  for (const auto& [variant, content] : c.result.variants) {
    if (same_code(c, variant).value_or(true)) continue;
    const bool same = same_kernels(c, variant);
    const std::string tools = tools_changed(c), changes = code_changes(c, variant);
    found.push_back(
        {tools.empty() || same
             ? text(same ? "the same machine code, launched otherwise, in the "
                         : "other machine code in the ",
                    variant, " variant", changes.empty() ? "" : text(" (", changes, ")"),
                    is_untimed_before(c) ? "" : ", which no metric calls a loss")
             : text("the tools, not our code: ", tools, " compiled other machine code"),
         c.accept});
    return;
  }
}

}  // namespace

std::vector<Cause> causes(const Evidence& c) {
  std::vector<Cause> found;
  add_status(c, found);
  if (!found.empty()) return found;
  add_resources(c, found);
  const std::string recounted = add_code_classes(c, found);
  add_counts(c, found);
  add_misses(c, found);
  add_time(c, found);
  if (!found.empty()) return found;
  // What fails the gate comes before other machine code, which may be harmless.
  for (const Row& row : c.rows)
    if (row.blocking && row.metric != "identity")
      return {{row.sentence, row.next.value_or(c.profile)}};
  add_other_code(c, found);
  if (found.empty() && !recounted.empty())
    found.push_back({text("the disassembler, not our code: ", disassembler_changed(c),
                          " counts the same machine code otherwise: ", recounted),
                     c.accept});
  if (is_untimed_before(c))
    found.push_back({text(c.untimed, ": ",
                          count_changes(c).empty() ? "counts are the same" : "some counts changed",
                          ", whether it is slower is unknown"),
                     c.compare});
  if (!found.empty()) return found;
  if (!c.before)
    return {{text("nothing is known from before: ", c.against, ", ", c.absent), c.accept}};
  return {{text("nothing got worse against ", c.against), c.profile}};
}

}  // namespace holdfast::gate
