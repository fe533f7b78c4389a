// SPDX-License-Identifier: Apache-2.0
// What a policy, a baseline, an alias or a link may say so that less is judged, for the toy with
// many metrics.
#include "gate/testing/silent_pass.hpp"

namespace holdfast::gate::toy {
namespace {

using Json = nlohmann::json;

constexpr const char* reason = "so that the night is quiet";

Json policy_of(const Honest& honest) {
  return Json::parse(honest.policy);
}

Written with_member(const Honest& honest, const char* member, const Json& row) {
  Json policy = policy_of(honest);
  policy[member].push_back(row);
  return {policy_place, canonical(policy)};
}

Results blanked(const Results& whole, const std::string& metric, const std::string& why) {
  Results blank = whole;
  for (CaseResult& result : blank.cases)
    for (auto& [name, variant] : result.variants)
      if (const auto at = variant.metrics.find(metric); at != variant.metrics.end())
        at->second = {.kind = at->second.kind, .reason = why};
  return blank;
}

// Without the case of the sum, which stands last.
List shorter(const Honest& honest) {
  List list = honest.list;
  list.cases.pop_back();
  return list;
}
Results shorter(Results results) {
  results.cases.pop_back();
  return results;
}
Baseline without(Baseline baseline, const std::string& id) {
  const auto of_it = [&](const auto& one) { return one.first.starts_with(id + '|'); };
  std::erase_if(baseline.entries, of_it);
  for (auto& [processor, entries] : baseline.processors) std::erase_if(entries, of_it);
  return baseline;
}

List renamed(List list, const std::string& from, const std::string& to) {
  for (ListedCase& listed : list.cases)
    if (listed.id == from) listed.id = to;
  return list;
}
Results renamed(Results results, const std::string& from, const std::string& to) {
  for (CaseResult& result : results.cases)
    if (result.id == from) result.id = to;
  return results;
}

std::string aliases_text(const Json& names) {
  return canonical({{"schema", "holdfast-aliases/1"}, {"aliases", names}});
}

}  // namespace

// A reason is told; one that stood there before excuses nothing.
Tricks reasons_that_are_none(const Honest& honest) {
  Tricks tricks;
  const std::string known = policy_of(honest)["rules"][1]["why"];
  for (const std::string& metric : lossy_metrics())
    for (const std::string& why : {std::string(), known, std::string(reason)})
      for (const Json& lax :
           {Json{{"gate", "off"}}, Json{{"gate", "warn"}}, Json{{"tolerance", 1}}}) {
        Json rule = lax;
        rule["match"] = "toy/**";
        rule["metric"] = metric;
        // Twice as much is not enough for what was none before.
        if (lax.contains("tolerance") && metric != "host_launches" && metric != "barriers")
          continue;
        if (!why.empty()) rule["why"] = why;
        Trick trick{.name = text("a rule beside its loss, ", rule.dump()),
                    .files = {with_member(honest, "rules", rule),
                              {dry_file, dumped(with_loss(honest, metric))}},
                    .by_merge_base = true,
                    .named = metric};
        if (!why.empty()) trick.told = why;
        tricks.push_back(std::move(trick));
      }
  for (const double least : {8.9, 5., 1., 0.}) {
    Json policy = policy_of(honest);
    policy["rules"][1]["bound"]["min"] = least;
    Results slower = honest.host;
    slower.cases.front().metrics["speedup"] = timed("ratio", 5);
    const Written written{policy_place, canonical(policy)};
    tricks.push_back({.name = text("a rule with the reason of before, at least ", least),
                      .files = {written},
                      .by_merge_base = true,
                      .named = "bound of speedup"});
    tricks.push_back({.name = text("a rule with the reason of before beside a loss, ", least),
                      .files = {written, {host_file, dumped(slower)}},
                      .by_merge_base = true,
                      .named = "speedup"});
  }
  for (const char* metric : {"graph_nodes", "block_shared_bytes", "registers_max", "launches"}) {
    Json policy = policy_of(honest);
    policy["metrics"][metric].erase("fall_is_change");
    Results worse = with_loss(honest, "occupancy");
    for (CaseResult& result : worse.cases)
      for (auto& [name, variant] : result.variants) variant.metrics.at(metric).value = 3;
    const Written written{policy_place, canonical(policy)};
    tricks.push_back({.name = text("any fall of ", metric, " is a gain"),
                      .files = {written},
                      .by_merge_base = true,
                      .named = metric});
    tricks.push_back({.name = text("any fall of ", metric, " is a gain, beside one"),
                      .files = {written, {dry_file, dumped(worse)}},
                      .by_merge_base = true,
                      .named = metric});
  }
  Json policy = policy_of(honest);
  policy["kinds"]["ratio"]["drift"] = "warn";
  tricks.push_back({.name = "a drift of ratios warns",
                    .files = {{policy_place, canonical(policy)}},
                    .by_merge_base = true,
                    .named = "drift of speedup"});
  return tricks;
}

Tricks waivers(const Honest& honest) {
  Tricks tricks;
  const auto waiver = [&](const std::string& metric, const Json& more) {
    Json row = {{"match", "toy/**"}, {"metric", metric}, {"until", "9999-12-31"}, {"why", reason}};
    row.update(more);
    return with_member(honest, "waivers", row);
  };
  for (const std::string& metric : lossy_metrics()) {
    const Written worse{dry_file, dumped(with_loss(honest, metric))};
    const auto beside = [&](const std::string& name, const Json& more, bool waives) {
      Trick trick{.name = text("a waiver of ", metric, ", ", name),
                  .files = {waiver(metric, more), worse}};
      if (waives) trick.told = reason;
      add_both(tricks, std::move(trick));
    };
    beside("whole", Json::object(), true);
    for (const char* match : {"toy/step/**", "toy/sum/**", "toy/*/n:32/*", "other/**"})
      beside(text("of ", match), {{"match", match}}, false);
    for (const char* device : {"host-*", "nvidia-h200", "cuda-dry-sm_100"})
      beside(text("on ", device), {{"device", device}}, false);
    for (const char* variant : {"reference", "optimized", "case"})
      beside(text("of the ", variant), {{"variant", variant}}, false);
    for (const char* until : {"2020-01-01", "2026-11-20", "never", "", "99999-01-01", "31.12.9999"})
      beside(text("until '", until, "'"), {{"until", until}}, false);
    beside("without a reason", {{"why", ""}}, false);
    tricks.push_back({.name = text("a waiver of ", metric, " and nothing worse"),
                      .files = {waiver(metric, Json::object())},
                      .by_merge_base = true,
                      .told = reason});
  }
  return tricks;
}

// The policy may name what a device cannot give, and for which reason.
Tricks absences(const Honest& honest) {
  Tricks tricks;
  const char* told = "CUPTI may not profile";
  for (const std::string& metric : lossy_metrics()) {
    const Json known = {
        {"metric", metric}, {"device", "cuda-dry-*"}, {"reason", "CUPTI may"}, {"why", reason}};
    const auto absent = [&](const std::string& name, const Json& more, const char* blank_reason,
                            bool excused) {
      Json row = known;
      row.update(more);
      Trick trick{.name = text("absent, ", metric, ", ", name),
                  .files = {with_member(honest, "absent", row),
                            {dry_file, dumped(blanked(honest.dry, metric, blank_reason))}}};
      if (!excused) trick.named = more.contains("reason") || more.contains("why") ? "" : metric;
      if (excused) trick.told = told;
      tricks.push_back(trick);
      trick.name += ", by the merge base";
      trick.by_merge_base = true;
      if (excused) trick.told = reason;
      tricks.push_back(std::move(trick));
    };
    absent("as it says", Json::object(), told, true);
    absent("for another reason", Json::object(), "no time", false);
    absent("of another metric", {{"metric", "time_s"}}, told, false);
    absent("on another device", {{"device", "nvidia-*"}}, told, false);
    absent("for no reason", {{"reason", ""}}, told, false);
    absent("without a why", {{"why", ""}}, told, false);
  }
  return tricks;
}

// A list that promises less, or turns what a metric is.
Tricks lists_that_promise_less(const Honest& honest) {
  Tricks tricks;
  const auto listed = [&](const std::string& name, const List& list, Results results,
                          std::vector<Written> more = {}) {
    std::vector<Written> files = listed_files(list, std::move(results), honest.host);
    files.insert(files.end(), more.begin(), more.end());
    tricks.push_back({.name = "list, " + name, .files = files, .by_merge_base = true});
    if (more.empty()) tricks.push_back({.name = "list, here, " + name, .files = files});
  };
  for (const char* metric : {"launches", "peak_bytes", "registers_max"}) {
    for (const char* kind : {"advisory", "bound", "time"}) {
      List list = honest.list;
      list.metrics[metric].kind = kind;
      Baseline edited = honest.baseline;
      edited.metrics[metric].kind = kind;
      if (kind != std::string("time")) listed(text(metric, " is ", kind), list, honest.dry);
      edited.metrics.erase(metric);
      std::erase_if(edited.entries,
                    [&](const auto& one) { return metric_of(one.first) == metric; });
      listed(text(metric, " is ", kind, " and taken out"), list, honest.dry,
             {{baseline_place, baseline_text(edited)}});
    }
    List list = honest.list;
    list.metrics[metric].better = Better::higher;
    Baseline edited = honest.baseline;
    edited.metrics[metric].better = Better::higher;
    listed(text("more ", metric, " are better"), list, honest.dry,
           {{baseline_place, baseline_text(edited)}});
    list = honest.list;
    Results without = honest.dry;
    for (ListedCase& one : list.cases) std::erase(one.devices.at("cuda-dry"), metric);
    for (CaseResult& result : without.cases)
      for (auto& [variant, content] : result.variants) content.metrics.erase(metric);
    listed(text("no ", metric), list, without);
  }
  // Nothing of it shows in what was measured.
  for (const double factor : {1.5, 10., 1e6}) {
    List list = honest.list;
    for (ListedCase& one : list.cases) *one.limit *= factor;
    tricks.push_back({.name = text("list, limits times ", factor),
                      .files = listed_files(list, honest.dry, honest.host),
                      .by_merge_base = true,
                      .named = "limit of the error"});
  }
  for (const char* tier : {"full", "gone"}) {
    List list = honest.list;
    Results without = honest.dry;
    without.cases.pop_back();
    if (tier == std::string("full"))
      list.cases.back().tier = tier;
    else
      list.cases.pop_back();
    listed(text("a case is ", tier), list, without);
  }
  return tricks;
}

// Values that are gone with their case, and what the policy says of that.
Tricks removals(const Honest& honest) {
  Tricks tricks;
  std::vector<Written> gone =
      listed_files(shorter(honest), shorter(honest.dry), shorter(honest.host));
  gone.push_back({baseline_place, baseline_text(without(honest.baseline, sum_id))});
  gone.push_back({host_baseline_place, baseline_text(without(honest.host_baseline, total_id))});
  gone.push_back({aliases_place});
  const auto removed = [&](const std::string& name, const Json& more, bool says) {
    Json row = {{"match", "toy/sum/**"}, {"metric", "*"}, {"why", reason}};
    row.update(more);
    Json policy = policy_of(honest);
    policy["removed"] = {row};
    policy["rules"].erase(2);  // it speaks of the sum alone
    std::vector<Written> files = gone;
    files.push_back({policy_place, canonical(policy)});
    Trick trick{.name = "removed, " + name, .files = files, .by_merge_base = true};
    if (says) trick.told = reason;
    tricks.push_back(std::move(trick));
  };
  removed("as it says", Json::object(), true);
  for (const char* match : {"toy/step/**", "toy/sum", "toy/sum/*", "other/**", "toy/sum/n:32/*"})
    removed(text("of ", match), {{"match", match}}, false);
  for (const std::string& metric : lossy_metrics())
    removed("of " + metric, {{"metric", metric}}, false);
  for (const char* device : {"host-*", "cuda-dry-*", "nvidia-*"})
    removed(text("on ", device), {{"device", device}}, false);
  for (const char* variant : {"optimized", "reference", "case"})
    removed(text("of the ", variant), {{"variant", variant}}, false);
  for (const char* processor : {"*", processor})
    removed(text("of the processor ", processor), {{"processor", processor}}, false);
  removed("from the gate alone", {{"tier", "full"}}, false);
  removed("without a reason", {{"why", ""}}, false);
  tricks.push_back({.name = "gone without a word", .files = gone, .by_merge_base = true});
  // What is still there is not removed.
  for (const std::string& metric : lossy_metrics())
    add_both(tricks,
             {.name = "removed and there, " + metric,
              .files = {with_member(honest, "removed",
                                    {{"match", "toy/**"}, {"metric", metric}, {"why", reason}}),
                        {dry_file, dumped(with_loss(honest, metric))}},
              .named = metric});
  return tricks;
}

// The host's sum was accepted under an old name.
Tricks aliases(const Honest& honest) {
  Tricks tricks;
  const auto written = [&](const std::string& name, std::vector<Written> files) {
    tricks.push_back({.name = "aliases, " + name, .files = files});
    tricks.push_back({.name = "aliases by the merge base, " + name,
                      .files = std::move(files),
                      .by_merge_base = true,
                      .told = text("alias of ", total_id)});
  };
  written("none", {{aliases_place}});
  written("empty", {{aliases_place, aliases_text(Json::object())}});
  const std::string whole = honest.aliases;
  for (std::size_t cut = 0; cut + 2 < whole.size(); cut += 3)
    add_both(tricks, {.name = text("aliases, cut to ", cut),
                      .files = {{aliases_place, whole.substr(0, cut)}},
                      .named = "aliases.json"});
  for (const char* garbage : {"x", "{}", ",", "}", "\xff", "null"})
    add_both(tricks, {.name = text("aliases and ", garbage),
                      .files = {{aliases_place, whole + garbage}},
                      .named = "aliases.json"});
  const std::vector<std::pair<const char*, Json>> others = {
      {"to another case", {{total_id, step_id}}},
      {"to no case", {{total_id, "toy/none/n:64/f64"}}},
      {"to another suite", {{total_id, "other/sum/n:64/f64"}}},
      {"to itself", {{total_id, total_id}}},
      {"of a case that is there", {{total_id, sum_id}, {step_id, "toy/new/n:64/f64"}}},
      {"of two cases", {{total_id, sum_id}, {"toy/half/n:64/f64", sum_id}}},
      {"in a circle", {{total_id, "toy/half/n:64/f64"}, {"toy/half/n:64/f64", total_id}}},
      {"of no text", {{total_id, nullptr}}},
      {"of another old name", {{"toy/totals/n:64/f64", sum_id}}}};
  for (const auto& [name, names] : others) written(name, {{aliases_place, aliases_text(names)}});

  // A case under a new name, with and without its losses, and with a line that leads there.
  const std::string now = "toy/stride/n:64/f64";
  for (const std::string& metric : lossy_metrics())
    for (const bool told : {false, true}) {
      std::vector<Written> files = listed_files(renamed(honest.list, step_id, now),
                                                renamed(with_loss(honest, metric), step_id, now),
                                                renamed(honest.host, step_id, now));
      Json policy = policy_of(honest);
      for (Json& rule : policy["rules"])
        if (rule["match"] == "toy/step/**") rule["match"] = "toy/stride/**";
      files.push_back({policy_place, canonical(policy)});
      if (told)
        files.push_back({aliases_place, aliases_text({{total_id, sum_id}, {step_id, now}})});
      add_both(tricks, {.name = text("a new name beside a loss of ", metric,
                                     told ? ", with its alias" : ""),
                        .files = std::move(files),
                        .named = metric});
    }
  // A smaller case under the name of the larger one, whose values it keeps.
  for (const char* smaller : {"toy/step/n:8/f64", "toy/step/n:64/f32", "toy/step/n:64/k:1/f64"}) {
    std::vector<Written> files =
        listed_files(renamed(honest.list, step_id, smaller), renamed(honest.dry, step_id, smaller),
                     renamed(honest.host, step_id, smaller));
    files.push_back({aliases_place, aliases_text({{total_id, sum_id}, {step_id, smaller}})});
    tricks.push_back({.name = text("a name of another size, ", smaller),
                      .files = std::move(files),
                      .by_merge_base = true,
                      .named = text("LOOSENED  alias of ", step_id)});
  }
  // One case takes the place of another, whose values it has.
  std::vector<Written> taken =
      listed_files(shorter(honest), shorter(honest.dry), shorter(honest.host));
  taken.push_back({aliases_place, aliases_text({{total_id, step_id}})});
  written("of a case that another replaces", taken);
  return tricks;
}

// Far from what was accepted first, in steps each of which was small.
Tricks drifted_values(const Honest& honest) {
  Tricks tricks;
  for (const char* id : {step_id, total_id})
    for (const double anchor : {10.6, 11., 12., 20., 1e6}) {
      Baseline drifted = honest.host_baseline;
      for (auto& [processor, entries] : drifted.processors)
        entries.at(entry_key(id, "case", "speedup")).anchor = anchor;
      tricks.push_back({.name = text("drifted from ", anchor, ", ", id),
                        .files = {{host_baseline_place, baseline_text(drifted)}},
                        .named = "speedup"});
    }
  return tricks;
}

// Wider limits, by spreads that no run shows; each is less than chance may bring.
Tricks widened_spreads(const Honest& honest) {
  Tricks tricks;
  for (const char* id : {step_id, total_id})
    for (const double factor : {1.7, 1.8, 1.9, 3.}) {
      Baseline wider = honest.host_baseline;
      for (auto& [processor, entries] : wider.processors)
        *entries.at(entry_key(id, "case", "speedup")).mad_between *= factor;
      tricks.push_back({.name = text("a spread widened by ", factor, ", ", id),
                        .files = {{host_baseline_place, baseline_text(wider)}},
                        .by_merge_base = true,
                        .named = "limit of speedup"});
    }
  return tricks;
}

// Where a file was, something else is.
Tricks links(const Honest& honest) {
  Tricks tricks;
  for (const char* place :
       {dry_file, host_file, baseline_place, host_baseline_place, policy_place, aliases_place,
        "bin/toy.list.json", "bin/content.json", "results/cuda-dry-sm_90/toy.list.json",
        "results/host-x86_64-v4-2t/toy.list.json"}) {
    const std::string name = std::filesystem::path(place).filename();
    for (const std::string& target :
         {std::string("nowhere.json"), std::string("/nowhere/") + name, name, std::string("."),
          std::string("/dev/null"), std::string("../../../bin/toy.list.json")}) {
      if (place == std::string("bin/toy.list.json") && target.starts_with("..")) continue;
      add_both(tricks, {.name = text(place, " is a link to ", target),
                        .files = {{place, std::nullopt, target}}});
    }
  }
  for (const char* place :
       {"baselines/devices", "baselines/devices/cuda-dry-sm_90",
        "baselines/devices/host-x86_64-v4-2t", "baselines/policy", "baselines", "bin", "results"})
    for (const char* target : {"nowhere", "../elsewhere", "."})
      add_both(tricks, {.name = text(place, " is a link to ", target),
                        .files = {{place, std::nullopt, target}}});
  // With what was there behind it, which the next change would not find at its merge base.
  for (const char* place : {"baselines/devices/cuda-dry-sm_90", baseline_place})
    tricks.push_back({.name = text(place, " is a link to what it was"),
                      .files = {{"baselines/stored/toy.json", honest.baseline_text},
                                {place, std::nullopt,
                                 place == baseline_place ? "../../stored/toy.json" : "../stored"}},
                      .by_merge_base = true,
                      .named = "is a link"});
  tricks.push_back({.name = "the policy is a link to what it was",
                    .files = {{"baselines/stored/common.json", honest.policy},
                              {policy_place, std::nullopt, "../stored/common.json"}},
                    .by_merge_base = true,
                    .named = "is a link"});
  // Each class's values in the place of the other's.
  add_both(tricks, {.name = "a baseline of another class by a link",
                    .files = {{baseline_place, std::nullopt, "../host-x86_64-v4-2t/toy.json"}}});
  add_both(tricks, {.name = "results of another class by a link",
                    .files = {{host_file, std::nullopt, "../cuda-dry-sm_90/toy.json"}}});
  add_both(tricks, {.name = "a baseline from elsewhere",
                    .files = {{"elsewhere.json", honest.baseline_text},
                              {baseline_place, std::nullopt, "../../../nowhere/elsewhere.json"}}});
  return tricks;
}

}  // namespace holdfast::gate::toy
