// SPDX-License-Identifier: Apache-2.0
// Loosened, blanked, stale, foreign and broken inputs by the real `holdfast check`: none passes
// without a word. A deterministic sample in the normal tests; HOLDFAST_CORPUS=all takes all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "gate/testing/gate_command.hpp"
#include "gate/testing/silent_pass.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using toy::Trick;
using toy::Written;

constexpr std::size_t sampled = 260;  // of all classes together

std::string dumped(const Results& results) {
  return canonical(to_json(results));
}

class SilentPass : public GateCommand {
 protected:
  toy::Honest honest_;
  std::vector<Trick> corpus_;
  std::vector<Trick> silent_;

  void SetUp() override {
    GateCommand::SetUp();
    Json plain = Json::parse(toy::policy_text, nullptr, true, true);
    plain["most_suspects"] = 12;
    plain["metrics"]["launches"] = {{"fall_is_change", {"*"}}};
    honest_.policy = canonical(plain);
    write_file(common_policy_, honest_.policy);
    accepted(honest_.host);
    accepted(honest_.dry);
    honest_.baseline = read_baseline(baseline(honest_.dry));
    honest_.baseline_text = read_file(baseline(honest_.dry));
    git({"init", "--quiet"});
    git({"add", "--all", "baselines"});
    git({"commit", "--quiet", "--message=base"});
    ASSERT_EQ(check({"--baseline-ref=HEAD"}), 0) << output_ << complaints_;
    ASSERT_THAT(output_, testing::HasSubstr("(well)"));
  }

  void add(const std::string& name, std::vector<Written> files, bool by_merge_base = false) {
    corpus_.push_back({.name = name, .files = std::move(files), .by_merge_base = by_merge_base});
  }

  std::string regressed() const {
    Results now = honest_.dry;
    toy::metric(now, "optimized", "launches") = toy::exact(5);
    toy::metric(now, "optimized", "peak_bytes") = toy::exact(2e6);
    toy::metric(now, "optimized", "registers_max") = toy::codegen(41);
    return dumped(now);
  }

  // A policy that lets more pass: alone, and beside what it would let pass.
  void loosened(const std::string& name, const Json& policy) {
    add("policy, " + name, {{toy::policy_place, canonical(policy)}}, true);
    add("policy beside a regression, " + name,
        {{toy::policy_place, canonical(policy)}, {toy::dry_file, regressed()}}, true);
  }

  void loosen_kinds() {
    const Json policy = Json::parse(honest_.policy);
    for (const char* kind : {"exact", "codegen", "ratio", "time"}) {
      for (const char* gate : {"off", "warn"}) {
        Json laxer = policy;
        if (laxer["kinds"][kind]["gate"] == gate) continue;
        laxer["kinds"][kind]["gate"] = gate;
        loosened(text(kind, " is ", gate), laxer);
      }
      for (int percent = 7; percent <= 100; percent += 3) {
        Json laxer = policy;
        laxer["kinds"][kind]["tolerance"] = percent / 100.;
        if (laxer["kinds"][kind].contains("host_tolerance"))
          laxer["kinds"][kind]["host_tolerance"] = percent / 100.;
        loosened(text(kind, " within ", percent, " %"), laxer);
      }
      Json laxer = policy;
      laxer["kinds"][kind]["same"] = {"nvrtc", "nvjitlink", "driver", "compiler"};
      loosened(text(kind, " of other versions"), laxer);
    }
    Json laxer = policy;
    laxer["kinds"]["exact"].erase("two_sided");
    loosened("the yardstick", laxer);
    for (int most = 13; most < 60; ++most) {
      laxer = policy;
      laxer["most_suspects"] = most;
      add(text("policy, suspects ", most), {{toy::policy_place, canonical(laxer)}}, true);
    }
  }

  void loosen_metrics() {
    const Json policy = Json::parse(honest_.policy);
    for (const char* metric : {"launches", "peak_bytes", "registers_max"}) {
      for (const char* gate : {"off", "warn"}) {
        Json laxer = policy;
        laxer["metrics"][metric]["gate"] = gate;
        loosened(text(metric, " is ", gate), laxer);
      }
      for (int percent = 1; percent <= 100; percent += 9) {
        Json laxer = policy;
        laxer["metrics"][metric]["tolerance"] = percent / 100.;
        loosened(text(metric, " within ", percent, " %"), laxer);
        laxer = policy;
        laxer["metrics"][metric]["patch_tolerance"] = percent / 100.;
        loosened(text(metric, " between patches ", percent, " %"), laxer);
      }
      Json laxer = policy;
      laxer["metrics"][metric]["on_request"] = "--metrics";
      loosened(text(metric, " on request"), laxer);
    }
    Json laxer = policy;
    laxer["metrics"].erase("launches");
    loosened("a fall that is a change", laxer);
    for (int limit = 65; limit < 100; ++limit) {
      laxer = policy;
      laxer["rules"][0]["bound"]["max"] = limit;
      loosened(text("the bound ", limit), laxer);
    }
    for (const char* gate : {"off", "warn"}) {
      laxer = policy;
      laxer["rules"][0]["gate"] = gate;
      loosened(text("the bound is ", gate), laxer);
    }
    laxer = policy;
    laxer["rules"] = Json::array();
    loosened("no bound", laxer);
  }

  // A rule of each scope that covers something, with each way to let more pass.
  void loosen_rules() {
    const Json policy = Json::parse(honest_.policy);
    for (const char* match : {"**", "toy/**", "toy/step/**", "toy/*/n:64/*", toy::step_id})
      for (const char* device : {"", "cuda-dry-*", "cuda-dry-sm_90", "*"})
        for (const char* variant : {"", "optimized"})
          for (const char* metric : {"launches", "peak_bytes", "registers_max"})
            for (const Json& lax : {Json{{"gate", "off"}}, Json{{"gate", "warn"}},
                                    Json{{"tolerance", 0.3}}, Json{{"tolerance", 1}}}) {
              Json rule = lax;
              rule["match"] = match;
              rule["metric"] = metric;
              if (*device) rule["device"] = device;
              if (*variant) rule["variant"] = variant;
              Json laxer = policy;
              laxer["rules"].push_back(rule);
              loosened(text("a rule ", rule.dump()), laxer);
            }
  }

  // Nulls with a reason: one, two, and all.
  void blank() {
    const std::vector<std::string> reasons = {"no permission", "not available here",
                                              "the driver cannot", "measure with --metrics"};
    for (const Results& whole : {honest_.dry, honest_.host}) {
      const char* file = whole.env.device_name == "host" ? toy::host_file : toy::dry_file;
      for (const std::string& reason : reasons) {
        const auto blanked = [&](Metric& metric) {
          metric = {.kind = metric.kind, .reason = reason};
        };
        Results all = whole;
        for (std::size_t i = 0; i < whole.cases.size(); ++i) {
          for (const auto& [variant, content] : whole.cases[i].variants)
            for (const auto& [name, metric] : content.metrics) {
              Results one = whole;
              blanked(one.cases[i].variants[variant].metrics[name]);
              blanked(all.cases[i].variants[variant].metrics[name]);
              add(text("blank ", variant, ' ', name, ' ', i, ", ", reason), {{file, dumped(one)}});
              add(text("blank by merge base ", variant, ' ', name, ' ', i, ", ", reason),
                  {{file, dumped(one)}}, true);
            }
          for (const auto& [name, metric] : whole.cases[i].metrics) {
            Results one = whole;
            blanked(one.cases[i].metrics[name]);
            blanked(all.cases[i].metrics[name]);
            add(text("blank ", name, ' ', i, ", ", reason), {{file, dumped(one)}});
          }
          Results one = whole;
          one.cases[i] = {
              .id = whole.cases[i].id, .tier = "gate", .status = "skipped", .reason = reason};
          add(text("a skipped case ", i, ", ", reason), {{file, dumped(one)}});
        }
        add("all blank, " + reason, {{file, dumped(all)}});
      }
    }
  }

  // Of another content, limit or list; an error that only its own limit allows.
  void make_stale() {
    for (int i = 0; i < 60; ++i) {
      Results other = honest_.dry;
      other.run.content = "sha256:" + sha256(text(i)).substr(7);
      other.run.utc = text(2020 + i % 6, "-11-21T12:00:00Z");
      add(text("another content ", i), {{toy::dry_file, dumped(other)}});
      other = honest_.dry;
      other.list_hash = sha256(text(i));
      add(text("another list ", i), {{toy::dry_file, dumped(other)}});
      other = honest_.host;
      other.cases[i % 2].check.limit = 1e-11 * (i + 1) * (i + 1) * (i + 1);
      other.cases[i % 2].check.error = 5e-12 * (i + 1);
      add(text("a limit of its own ", i), {{toy::host_file, dumped(other)}});
      other = honest_.host;
      other.cases[i % 2].check.error = 2e-12 * (i + 1);
      add(text("an error ", i), {{toy::host_file, dumped(other)}});
    }
    add("no content", {{"bin/content.json", std::nullopt}});
    add("a broken content", {{"bin/content.json", "{}"}});
  }

  // Baseline files that are not where they were, and values that were edited by hand.
  void lose_baselines() {
    const std::string folder = "baselines/devices/cuda-dry-sm_90/";
    for (const bool by_merge_base : {false, true}) {
      add("no baseline", {{toy::baseline_place, std::nullopt}}, by_merge_base);
      for (const char* other : {"Toy.json", "TOY.json", "toy.JSON", "toy.json.bak", "toy.json~",
                                "toy2.json", "toy", "old/toy.json", " toy.json", "toy .json"})
        add(text("a baseline called ", other),
            {{toy::baseline_place, std::nullopt}, {folder + other, honest_.baseline_text}},
            by_merge_base);
      for (const char* other : {"CUDA-DRY-SM_90", "cuda-dry-sm_90_", "cuda-dry-sm90", "cuda"})
        add(text("a baseline of ", other),
            {{toy::baseline_place, std::nullopt},
             {text("baselines/devices/", other, "/toy.json"), honest_.baseline_text}},
            by_merge_base);
      add("no policy", {{toy::policy_place, std::nullopt}}, by_merge_base);
    }
    for (const auto& [key, entry] : honest_.baseline.entries) {
      if (metric_of(key) == "kernels") continue;
      Baseline edited = honest_.baseline;
      edited.entries.erase(key);
      add("no entry of " + key, {{toy::baseline_place, baseline_text(edited)}}, true);
      if (!std::holds_alternative<double>(entry.value)) continue;
      for (int more = 1; more <= 8; ++more) {
        const double value = std::get<double>(entry.value) + more;
        edited = honest_.baseline;
        edited.entries[key].value = value;
        Results now = honest_.dry;
        for (CaseResult& result : now.cases)
          for (auto& [variant, content] : result.variants)
            for (auto& [name, metric] : content.metrics)
              if (entry_key(result.id, variant, name) == key) metric.value = value;
        add(text("an edited entry of ", key, " by ", more),
            {{toy::baseline_place, baseline_text(edited)}, {toy::dry_file, dumped(now)}}, true);
      }
    }
  }

  // A list that promises less, or turns what a metric is.
  void relist() {
    const auto listed = [&](const std::string& name, const List& list, Results results,
                            std::vector<Written> more = {}) {
      const std::string printed = canonical(to_json(list));
      results.list_hash = sha256(printed);
      Results host = honest_.host;
      host.list_hash = results.list_hash;
      std::vector<Written> files = {{toy::dry_file, dumped(results)},
                                    {toy::host_file, dumped(host)},
                                    {"bin/toy.list.json", printed},
                                    {"results/cuda-dry-sm_90/toy.list.json", printed},
                                    {"results/host-x86_64-v4-2t/toy.list.json", printed}};
      files.insert(files.end(), more.begin(), more.end());
      add("list, " + name, files, true);
      if (more.empty()) add("list, here, " + name, files);
    };
    for (const char* metric : {"launches", "peak_bytes", "registers_max"}) {
      for (const char* kind : {"advisory", "bound", "time"}) {
        List list = toy::list();
        list.metrics[metric].kind = kind;
        Baseline edited = honest_.baseline;
        edited.metrics[metric].kind = kind;
        if (kind != std::string("time")) listed(text(metric, " is ", kind), list, honest_.dry);
        edited.metrics.erase(metric);
        std::erase_if(edited.entries,
                      [&](const auto& one) { return metric_of(one.first) == metric; });
        listed(text(metric, " is ", kind, " and taken out"), list, honest_.dry,
               {{toy::baseline_place, baseline_text(edited)}});
      }
      List list = toy::list();
      list.metrics[metric].better = Better::higher;
      Baseline edited = honest_.baseline;
      edited.metrics[metric].better = Better::higher;
      listed(text("more ", metric, " are better"), list, honest_.dry,
             {{toy::baseline_place, baseline_text(edited)}});
      list = toy::list();
      Results without = honest_.dry;
      for (ListedCase& one : list.cases) std::erase(one.devices.at("cuda-dry"), metric);
      for (CaseResult& result : without.cases)
        for (auto& [variant, content] : result.variants) content.metrics.erase(metric);
      listed(text("no ", metric), list, without);
    }
    for (const char* tier : {"full", "gone"}) {
      List list = toy::list();
      Results without = honest_.dry;
      without.cases.pop_back();
      if (tier == std::string("full"))
        list.cases.back().tier = tier;
      else
        list.cases.pop_back();
      listed(text("a case is ", tier), list, without);
    }
  }

  // Files that end too early, or go on.
  void break_files() {
    const std::vector<std::pair<std::string, std::string>> files = {
        {toy::dry_file, dumped(honest_.dry)},
        {toy::baseline_place, honest_.baseline_text},
        {toy::policy_place, honest_.policy},
        {"bin/toy.list.json", toy::list_text()}};
    for (const auto& [file, whole] : files) {
      constexpr std::size_t cuts = 60;
      for (std::size_t i = 0; i < cuts; ++i)
        add(text(file, " cut to ", whole.size() * i / cuts),
            {{file, whole.substr(0, whole.size() * i / cuts)}}, i % 2 == 0);
      for (const char* garbage : {"x", "{}", ",", "}", "\xff", "null"})
        add(text(file, " and ", garbage), {{file, whole + garbage}});
    }
  }

  // Whether it passed without saying that something is less than well.
  bool passes_silently(const Trick& trick) {
    std::vector<Written> restored;
    for (const Written& written : trick.files) {
      const fs::path path = folder_.path() / written.file;
      std::optional<std::string> before;
      if (fs::exists(path)) before = read_file(path);
      restored.push_back({written.file, before});
      put(path, written.content);
    }
    std::vector<std::string> flags = {"--quiet"};
    if (trick.by_merge_base) flags.push_back("--baseline-ref=HEAD");
    const int exit = check(flags);
    for (auto at = restored.rbegin(); at != restored.rend(); ++at)
      put(folder_.path() / at->file, at->content);
    return exit == 0;
  }

  static void put(const fs::path& path, const std::optional<std::string>& content) {
    fs::create_directories(path.parent_path());
    if (content)
      write_file(path, *content, Sync::no);
    else
      fs::remove(path);
  }
};

TEST_F(SilentPass, IsNone) {
  loosen_kinds();
  loosen_metrics();
  loosen_rules();
  blank();
  make_stale();
  lose_baselines();
  relist();
  break_files();
  EXPECT_GE(corpus_.size(), 2000u);
  const bool all = std::getenv("HOLDFAST_CORPUS") != nullptr;
  const std::size_t stride = all ? 1 : corpus_.size() / sampled;
  std::size_t tried = 0;
  for (std::size_t i = 0; i < corpus_.size(); i += stride, ++tried)
    if (passes_silently(corpus_[i])) silent_.push_back(corpus_[i]);
  for (const Trick& trick : silent_) ADD_FAILURE() << trick.name << " passes";
  std::cout << tried << " of " << corpus_.size() << " inputs, " << silent_.size()
            << " silent passes\n";
  EXPECT_EQ(check({"--baseline-ref=HEAD"}), 0) << "all is as it was: " << output_;
}

}  // namespace
}  // namespace holdfast::gate
