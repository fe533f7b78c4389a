// SPDX-License-Identifier: Apache-2.0
// The toy with many metrics, and results of it that must not pass without a word.
#include "gate/documents/measured_part.hpp"
#include "gate/testing/silent_pass.hpp"

namespace holdfast::gate::toy {
namespace {

using Json = nlohmann::json;

struct Counted {
  const char* name;
  Meaning meaning;
  double value;
};

// What the toy of toy_root.hpp lacks, as the suites have it on the dry device.
const std::vector<Counted>& more_counts() {
  static const std::vector<Counted> all = {
      {"access_bytes", {"codegen", Better::higher, "B"}, 16},
      {"barriers", {"codegen"}, 2},
      {"block_shared_bytes", {"codegen", Better::lower, "B"}, 49152},
      {"f64_instructions", {"codegen"}, 0},
      {"graph_nodes", {"exact"}, 400},
      {"host_launches", {"exact"}, 1},
      {"launched_blocks", {"codegen", Better::same}, 16},
      {"local_bytes", {"codegen", Better::lower, "B"}, 0},
      {"occupancy", {"codegen", Better::higher}, 0.5},
      {"tensor_instructions", {"codegen", Better::higher}, 64}};
  return all;
}

Trick of(const std::string& name, const char* file, const Results& results,
         const std::string& named) {
  return {.name = name, .files = {{file, dumped(results)}}, .named = named};
}

std::string with(std::string content, const std::string& from, const std::string& to) {
  const std::size_t at = content.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return content.replace(at, from.size(), to);
}

Metric of_processes(const std::string& kind, const std::vector<double>& values) {
  return {.kind = kind,
          .processes = values,
          .median = median(values),
          .mad_between = median_absolute_deviation(values),
          .samples = 400};
}

}  // namespace

void add_both(Tricks& tricks, Trick trick) {
  tricks.push_back(trick);
  trick.name += ", by the merge base";
  trick.by_merge_base = true;
  tricks.push_back(std::move(trick));
}

List wide_list() {
  List made = list();
  for (const Counted& one : more_counts()) made.metrics[one.name] = one.meaning;
  made.metrics["instructions"] = {"exact"};
  made.metrics["idle_fraction"] = {"advisory"};
  for (ListedCase& listed : made.cases) {
    for (const Counted& one : more_counts()) listed.devices["cuda-dry"].push_back(one.name);
    for (const char* name : {"floor_fraction", "idle_fraction", "instructions"})
      listed.devices["host"].push_back(name);
    for (auto& [device, names] : listed.devices) std::sort(names.begin(), names.end());
  }
  return made;
}

Results wide_dry() {
  Results made = dry();
  made.list_hash = sha256(canonical(to_json(wide_list())));
  for (CaseResult& result : made.cases)
    for (auto& [name, variant] : result.variants)
      for (const Counted& one : more_counts())
        variant.metrics[one.name] = {.kind = one.meaning.kind, .value = one.value};
  return made;
}

Results wide_host() {
  Results made = host();
  made.list_hash = sha256(canonical(to_json(wide_list())));
  for (CaseResult& result : made.cases)
    for (auto& [name, variant] : result.variants) {
      variant.metrics["instructions"] = exact(name == "optimized" ? 2e6 : 3e7);
      variant.metrics["floor_fraction"] = {.kind = "advisory", .value = 0.5};
      variant.metrics["idle_fraction"] = {.kind = "advisory", .value = 0.25};
    }
  return made;
}

std::string wide_policy() {
  Json plain = Json::parse(policy_text, nullptr, true, true);
  plain["most_suspects"] = 12;
  plain["kinds"]["ratio"]["drift"] = "block";
  Json& rows = plain["metrics"];
  for (const char* metric : {"launches", "graph_nodes", "block_shared_bytes"})
    rows[metric] = {{"fall_is_change", {"*"}}};
  rows["registers_max"] = {{"fall_is_change", {"occupancy", "launches", "host_launches"}}};
  rows["instructions"] = {{"tolerance", 0.005},
                          {"patch_tolerance", 0.02},
                          {"same", {"compiler"}},
                          {"on_request", "--count-instructions"}};
  rows["idle_fraction"] = {{"on_request", "--profile"}};
  plain["rules"].push_back({{"match", "toy/step/**"},
                            {"device", "host-*"},
                            {"variant", "case"},
                            {"metric", "speedup"},
                            {"bound", {{"min", 9}, {"source", "a toy's bound"}}},
                            {"why", "the slower of two machines"}});
  plain["rules"].push_back({{"match", "toy/sum/**"},
                            {"device", "host-*"},
                            {"variant", "optimized"},
                            {"metric", "time_s"},
                            {"bound", {{"max", 1e-3}, {"source", "a toy's bound"}}}});
  return canonical(plain);
}

std::string dumped(const Results& results) {
  return canonical(to_json(results));
}

std::vector<Written> listed_files(const List& list, Results dry, Results host) {
  const std::string printed = canonical(to_json(list));
  dry.list_hash = host.list_hash = sha256(printed);
  return {{dry_file, dumped(dry)},
          {host_file, dumped(host)},
          {"bin/toy.list.json", printed},
          {"results/cuda-dry-sm_90/toy.list.json", printed},
          {"results/host-x86_64-v4-2t/toy.list.json", printed}};
}

const std::vector<Loss>& losses() {
  static const std::vector<Loss> all = {{"launches", {889, 890, 1776}},
                                        {"peak_bytes", {1177857, 2e6, 1e9}},
                                        {"registers_max", {41, 64, 255}},
                                        {"host_launches", {2, 3, 400, 401}},
                                        {"graph_nodes", {401, 800}},
                                        {"graph_nodes", {0, 1, 8, 200, 399}},
                                        {"block_shared_bytes", {49153, 98304}},
                                        {"block_shared_bytes", {0, 24576, 49151}},
                                        {"launched_blocks", {15, 32}},
                                        {"local_bytes", {1, 8, 256}},
                                        {"barriers", {3, 4, 40}},
                                        {"access_bytes", {8, 4, 2, 1}},
                                        {"f64_instructions", {1, 2, 40}},
                                        {"occupancy", {0.49, 0.375, 0.25, 0.125}},
                                        {"tensor_instructions", {63, 32, 0}}};
  return all;
}

std::vector<std::string> lossy_metrics() {
  std::vector<std::string> names;
  for (const Loss& loss : losses())
    if (names.empty() || names.back() != loss.metric) names.push_back(loss.metric);
  return names;
}

Results with_loss(const Honest& honest, const std::string& metric) {
  const auto loss = std::find_if(losses().begin(), losses().end(),
                                 [&](const Loss& one) { return one.metric == metric; });
  Results worse = honest.dry;
  for (CaseResult& result : worse.cases)
    for (auto& [name, variant] : result.variants)
      variant.metrics.at(metric).value = loss->values.front();
  return worse;
}

Tricks worse_counts(const Honest& honest) {
  Tricks tricks;
  for (const Loss& loss : losses())
    for (const double value : loss.values)
      for (const char* variant : {"optimized", "reference"}) {
        for (std::size_t i = 0; i < honest.dry.cases.size(); ++i) {
          Results worse = honest.dry;
          worse.cases[i].variants[variant].metrics.at(loss.metric).value = value;
          add_both(tricks, of(text("worse, ", loss.metric, ' ', value, ' ', variant, ' ', i),
                              dry_file, worse, loss.metric));
        }
        // Beside gains, which make up for nothing.
        Results worse = honest.dry;
        for (CaseResult& result : worse.cases) {
          result.variants[variant].metrics["peak_bytes"] = exact(1e6);
          result.variants[variant].metrics.at(loss.metric).value = value;
        }
        add_both(tricks, of(text("worse beside gains, ", loss.metric, ' ', value, ' ', variant),
                            dry_file, worse, loss.metric));
      }
  // Fewer registers, and what they may have cost.
  for (const char* cost : {"occupancy", "launches", "host_launches"})
    for (const double registers : {0, 8, 32, 39}) {
      Results worse = with_loss(honest, cost);
      for (CaseResult& result : worse.cases)
        for (auto& [name, variant] : result.variants)
          variant.metrics["registers_max"] = codegen(registers);
      add_both(tricks,
               of(text(registers, " registers beside ", cost), dry_file, worse, "registers_max"));
    }
  return tricks;
}

Tricks wrong_results(const Honest& honest) {
  Tricks tricks;
  for (std::size_t i = 0; i < honest.host.cases.size(); ++i) {
    const std::string id = honest.host.cases[i].id;
    const auto spoilt = [&](const std::string& name, const auto& spoil) {
      Results wrong = honest.host;
      spoil(wrong.cases[i]);
      add_both(tricks, of(text("wrong, ", name, ", ", i), host_file, wrong, id));
    };
    for (const double times : {1.0001, 2., 10., 1e6, 1e17})
      spoilt(text("an error of ", times, " limits"),
             [&](CaseResult& result) { result.check.error = times * 1e-12; });
    for (const char* status : {"failed", "crashed", "timeout", "missing", "skipped"})
      for (const char* reason : {"", "no number: nan at 7", "no permission"})
        spoilt(text("a case that is ", status, ' ', reason), [&](CaseResult& result) {
          result.status = status;
          if (*reason) result.reason = reason;
        });
    for (const char* status : {"failed", "not_executed"})
      for (const double error : {0., 1e-15, 1.})
        spoilt(text("a check that is ", status, " of ", error), [&](CaseResult& result) {
          result.check.status = status;
          result.check.error = error;
        });
    spoilt("nothing executed", [](CaseResult& result) { result.executed = false; });
    for (const char* gone : {"optimized", "reference"})
      spoilt(text("no ", gone), [&](CaseResult& result) { result.variants.erase(gone); });
    for (const double limit : {1e-11, 1e-6, 1., 1e9})
      spoilt(text("a limit of ", limit), [&](CaseResult& result) {
        result.check.limit = limit;
        result.check.error = limit / 2;
      });
    // What no number is.
    for (const char* no_number :
         {"NaN", "nan", "Infinity", "1e999", "-1", "null", "\"0\"", "1.8e308"}) {
      Results wrong = honest.host;
      wrong.cases[i].check.error = 0.4321;
      add_both(tricks, {.name = text("wrong, an error of ", no_number, ", ", i),
                        .files = {{host_file, with(dumped(wrong), "0.4321", no_number)}}});
      wrong = honest.host;
      wrong.cases[i].variants["optimized"].metrics["peak_bytes"] = exact(0.4321);
      add_both(tricks, {.name = text("wrong, bytes of ", no_number, ", ", i),
                        .files = {{host_file, with(dumped(wrong), "0.4321", no_number)}}});
    }
  }
  return tricks;
}

// Of five processes some, all or too few say that a bound is broken.
Tricks disputed_bounds(const Honest& honest) {
  Tricks tricks;
  struct Bounded {
    const char *variant, *metric, *kind;
    std::size_t i;
    double good;
    std::vector<double> bad;
  };
  const Bounded all[] = {{"case", "speedup", "ratio", 0, 10, {8.99, 8, 5, 1}},
                         {"optimized", "time_s", "time", 1, 6e-4, {1.01e-3, 2e-3, 1.}}};
  for (const Bounded& one : all)
    for (const double bad : one.bad)
      for (std::size_t processes = 1; processes <= 5; ++processes)
        for (std::size_t beyond = processes < 5 ? 0 : 1; beyond <= processes; ++beyond) {
          if (beyond == 0 && bad != one.bad.front()) continue;
          std::vector<double> values(processes, one.good);
          std::fill_n(values.begin(), beyond, bad);
          Results now = honest.host;
          CaseResult& result = now.cases[one.i];
          (one.variant == std::string("case") ? result.metrics
                                              : result.variants[one.variant].metrics)[one.metric] =
              of_processes(one.kind, values);
          add_both(tricks, of(text("a bound, ", beyond, " of ", processes, " processes have a ",
                                   one.metric, " of ", bad),
                              host_file, now, one.metric));
        }
  return tricks;
}

// A loss beside the word that others shared the cores.
Tricks losses_on_shared_cores(const Honest& honest) {
  Tricks tricks;
  for (const double share : {1e-9, 0.1, 0.5, 1., 2., 1e17})
    for (const double speedup : {9.4, 9.1, 8.9, 8., 5.1, 4.9, 1.}) {
      Results now = honest.host;
      CaseResult& result = now.cases.front();
      result.metrics["speedup"] = of_processes("ratio", std::vector<double>(5, speedup));
      result.metrics[shared_metric] = {.kind = "advisory", .value = share};
      add_both(tricks,
               of(text("shared cores, a share of ", share, " beside a speedup of ", speedup),
                  host_file, now, "speedup"));
    }
  return tricks;
}

Tricks impossible_speeds(const Honest& honest) {
  Tricks tricks;
  const auto fast = [&](std::size_t i, double value) {
    Results now = honest.host;
    now.cases[i].variants["optimized"].metrics["floor_fraction"].value = value;
    return now;
  };
  for (std::size_t i = 0; i < honest.host.cases.size(); ++i)
    for (const double value : {1.11, 1.5, 2., 10., 1e6, 1e17})
      add_both(tricks, of(text("faster than possible, ", value, ", ", i), host_file, fast(i, value),
                          "floor_fraction"));
  const auto laxer = [&](const std::string& name, const Json& row) {
    Json policy = Json::parse(honest.policy);
    policy["metrics"]["floor_fraction"] = row;
    if (row.empty()) policy["metrics"].erase("floor_fraction");
    const Written written{policy_place, canonical(policy)};
    tricks.push_back({.name = "policy, possible " + name,
                      .files = {written},
                      .by_merge_base = true,
                      .named = "floor_fraction"});
    tricks.push_back({.name = "policy beside such a speed, possible " + name,
                      .files = {written, {host_file, dumped(fast(0, 1.5))}},
                      .by_merge_base = true,
                      .named = "floor_fraction"});
  };
  laxer("without a limit", Json::object());
  for (const double limit : {1.11, 1.51, 2., 10., 1e17})
    laxer(text("below ", limit), {{"impossible_above", limit}});
  return tricks;
}

// What is measured on request alone, and blank: for want of the request, which is told, or for
// another reason, which is none.
Tricks unrequested_values(const Honest& honest) {
  Tricks tricks;
  const auto blank = [&](const std::string& why, bool told) {
    Results now = honest.host;
    for (CaseResult& result : now.cases)
      for (auto& [name, variant] : result.variants)
        variant.metrics["instructions"] = {.kind = "exact", .reason = why};
    Trick trick = of("on request, blank: " + why, host_file, now, "instructions");
    if (told) trick.told = "instructions";
    add_both(tricks, std::move(trick));
  };
  blank("this run was not asked for it", true);
  blank("--count-instructions needs valgrind, and there is none in PATH", true);
  for (const char* why : {"no permission", "not available here", "no", "--profile", "-", " "})
    blank(why, false);
  return tricks;
}

// Not there, not whole, or not what was asked for.
Tricks results_that_lack(const Honest& honest) {
  Tricks tricks;
  const auto lacking = [&](const std::string& name, const std::vector<Written>& files,
                           const std::string& told) {
    Trick trick{.name = name, .files = files, .told = told};
    add_both(tricks, trick);
    trick.name += ", expected";
    trick.told.reset();
    trick.flags = {"--expect=toy:host", "--expect=toy:cuda-dry:sm_90"};
    trick.named = "expected, and ";
    add_both(tricks, std::move(trick));
  };
  for (const Results& whole : {honest.dry, honest.host}) {
    const bool is_host = whole.env.device_name == "host";
    const char* file = is_host ? host_file : dry_file;
    lacking(text("no results, ", file), {{file}},
            text("toy on ", is_host ? "host" : "cuda-dry", ": there are no results"));
    Results now = whole;
    now.tier = "smoke";
    lacking(text("a smoke run, ", file), {{file, dumped(now)}}, "the rest of the gate tier");
    now.cases.clear();
    lacking(text("a smoke run of nothing, ", file), {{file, dumped(now)}},
            "the rest of the gate tier");
    now = whole;
    now.partial = true;
    lacking(text("filtered, ", file), {{file, dumped(now)}}, "not all of the gate tier");
    now.cases.pop_back();
    lacking(text("filtered to a case, ", file), {{file, dumped(now)}}, "not all of the gate tier");
    now.cases.clear();
    lacking(text("filtered to none, ", file), {{file, dumped(now)}}, "not all of the gate tier");
    now = whole;
    now.status = "no_device";
    lacking(text("no device, ", file), {{file, dumped(now)}}, "no such device");
    now.reason = "not today";
    now.cases.clear();
    lacking(text("no device and no case, ", file), {{file, dumped(now)}}, "no such device");
    now = whole;
    now.cases.clear();
    add_both(tricks, of(text("no cases, ", file), file, now, step_id));
  }
  for (const char* expected :
       {"toy:cuda", "toy:cuda-dry:sm_100", "toys:host", "toy", ":host", "toy:"})
    tricks.push_back({.name = text("expected: ", expected),
                      .flags = {text("--expect=", expected)},
                      .named = "expect"});
  return tricks;
}

}  // namespace holdfast::gate::toy
