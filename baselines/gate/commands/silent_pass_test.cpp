// SPDX-License-Identifier: Apache-2.0
// Loosened, blanked, stale, foreign and broken inputs by the real `holdfast check`: none passes
// without a word. A minute of them in the normal tests, from one that is drawn; HOLDFAST_CORPUS=all
// takes all, HOLDFAST_CORPUS=NUMBER begins with that one, and other words take those whose names
// hold them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <random>

#include "gate/testing/gate_command.hpp"
#include "gate/testing/silent_pass.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using toy::dumped;
using toy::lossy_metrics;
using toy::Trick;
using toy::Written;

constexpr std::chrono::seconds budget{60};

class SilentPass : public GateCommand {
 protected:
  toy::Honest honest_;
  toy::Tricks corpus_;

  void SetUp() override {
    GateCommand::SetUp();
    write_file(common_policy_, honest_.policy);
    for (const Written& one : toy::listed_files(honest_.list, honest_.dry, honest_.host))
      put(folder_.path() / one.file, one);
    ASSERT_EQ(accept(), 0) << complaints_;
    honest_.baseline = read_baseline(baseline(honest_.dry));
    honest_.baseline_text = read_file(baseline(honest_.dry));
    give_an_old_name();
    commit_baselines();
    ASSERT_EQ(check({"--baseline-ref=HEAD"}), 0) << output_ << complaints_;
    ASSERT_THAT(output_, testing::HasSubstr("(well)"));
    ASSERT_EQ(check(), 0) << output_ << complaints_;
  }

  // The host's sum was accepted before it got its name.
  void give_an_old_name() {
    honest_.aliases =
        canonical({{"schema", "holdfast-aliases/1"}, {"aliases", {{toy::total_id, toy::sum_id}}}});
    write_file(baselines_ / "aliases.json", honest_.aliases);
    honest_.host_baseline =
        toy::accepted_as(toy::total_id, toy::sum_id, read_baseline(baseline(honest_.host)));
    write_file(baseline(honest_.host), baseline_text(honest_.host_baseline));
  }

  void add(const std::string& name, std::vector<Written> files, bool by_merge_base = false) {
    corpus_.push_back({.name = name, .files = std::move(files), .by_merge_base = by_merge_base});
  }

  // Adds a policy that lets more pass: alone, and beside what it would let pass.
  void loosened(const std::string& name, const Json& policy, const std::string& metric) {
    add("policy, " + name, {{toy::policy_place, canonical(policy)}}, true);
    add("policy beside a loss, " + name,
        {{toy::policy_place, canonical(policy)},
         {toy::dry_file, dumped(toy::with_loss(honest_, metric))}},
        true);
  }

  void loosen_kinds() {
    const Json policy = Json::parse(honest_.policy);
    for (const std::string kind : {"exact", "codegen", "ratio", "time"}) {
      const char* metric = kind == "codegen" ? "barriers" : "peak_bytes";
      for (const char* gate : {"off", "warn"}) {
        Json laxer = policy;
        if (laxer["kinds"][kind]["gate"] == gate) continue;
        laxer["kinds"][kind]["gate"] = gate;
        loosened(text(kind, " is ", gate), laxer, metric);
      }
      for (int percent = 7; percent <= 100; percent += 10) {
        Json laxer = policy;
        laxer["kinds"][kind]["tolerance"] = percent / 100.;
        if (laxer["kinds"][kind].contains("host_tolerance"))
          laxer["kinds"][kind]["host_tolerance"] = percent / 100.;
        loosened(text(kind, " within ", percent, " %"), laxer, metric);
      }
      Json laxer = policy;
      laxer["kinds"][kind]["same"] = {"nvrtc", "nvjitlink", "driver", "compiler"};
      loosened(text(kind, " of other versions"), laxer, metric);
    }
    Json laxer = policy;
    laxer["kinds"]["exact"].erase("two_sided");
    loosened("the yardstick", laxer, "launches");
    for (int most = 13; most < 100'000; most *= 3) {
      laxer = policy;
      laxer["most_suspects"] = most;
      add(text("policy, suspects ", most), {{toy::policy_place, canonical(laxer)}}, true);
    }
  }

  void loosen_metrics() {
    const Json policy = Json::parse(honest_.policy);
    for (const std::string& metric : lossy_metrics()) {
      for (const char* gate : {"off", "warn"}) {
        Json laxer = policy;
        laxer["metrics"][metric]["gate"] = gate;
        loosened(text(metric, " is ", gate), laxer, metric);
      }
      for (const int percent : {1, 30, 100}) {
        Json laxer = policy;
        laxer["metrics"][metric]["tolerance"] = percent / 100.;
        loosened(text(metric, " within ", percent, " %"), laxer, metric);
        laxer = policy;
        laxer["metrics"][metric]["patch_tolerance"] = percent / 100.;
        loosened(text(metric, " between patches ", percent, " %"), laxer, metric);
      }
      Json laxer = policy;
      laxer["metrics"][metric]["on_request"] = "--metrics";
      loosened(text(metric, " on request"), laxer, metric);
    }
    Json laxer = policy;
    laxer["metrics"].erase("launches");
    loosened("a fall that is a change", laxer, "launches");
    for (int limit = 65; limit < 1000; limit += 100) {
      laxer = policy;
      laxer["rules"][0]["bound"]["max"] = limit;
      loosened(text("the bound ", limit), laxer, "launches");
    }
    for (const char* gate : {"off", "warn"}) {
      laxer = policy;
      laxer["rules"][0]["gate"] = gate;
      loosened(text("the bound is ", gate), laxer, "launches");
    }
    laxer = policy;
    laxer["rules"] = Json::array();
    loosened("no bound", laxer, "launches");
  }

  // A rule of each scope that covers something, with each way to let more pass, of the metrics in
  // turn.
  void loosen_rules() {
    const Json policy = Json::parse(honest_.policy);
    const std::vector<std::string> metrics = lossy_metrics();
    std::size_t turn = 0;
    for (const char* match : {"**", "toy/**", "toy/step/**", "toy/*/n:64/*", toy::step_id})
      for (const char* device : {"", "cuda-dry-*", "cuda-dry-sm_90", "*"})
        for (const char* variant : {"", "optimized"})
          for (const Json& lax : {Json{{"gate", "off"}}, Json{{"gate", "warn"}},
                                  Json{{"tolerance", 0.3}}, Json{{"tolerance", 1}}}) {
            const std::string& metric = metrics[turn++ % metrics.size()];
            Json rule = lax;
            rule["match"] = match;
            rule["metric"] = metric;
            if (*device) rule["device"] = device;
            if (*variant) rule["variant"] = variant;
            Json laxer = policy;
            laxer["rules"].push_back(rule);
            loosened(text("a rule ", rule.dump()), laxer, metric);
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

  // Results of another content, limit or list; an error that only its own limit allows.
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
      const bool falls = honest_.list.metrics.at(metric_of(key)).better == Better::higher;
      for (const double share : {0.1, 0.5, 1.}) {
        const double accepted = std::get<double>(entry.value);
        const double step = accepted == 0 ? 10 * share : accepted * share;
        const double value = falls ? accepted - step : accepted + step;
        edited = honest_.baseline;
        edited.entries[key].value = value;
        Results now = honest_.dry;
        for (CaseResult& result : now.cases)
          for (auto& [variant, content] : result.variants)
            for (auto& [name, metric] : content.metrics)
              if (entry_key(result.id, variant, name) == key) metric.value = value;
        add(text("an edited entry of ", key, " by ", value - accepted),
            {{toy::baseline_place, baseline_text(edited)}, {toy::dry_file, dumped(now)}}, true);
      }
    }
  }

  // Files that end too early, or go on.
  void break_files() {
    const std::vector<std::pair<std::string, std::string>> files = {
        {toy::dry_file, dumped(honest_.dry)},
        {toy::baseline_place, honest_.baseline_text},
        {toy::policy_place, honest_.policy},
        {"bin/toy.list.json", canonical(to_json(honest_.list))}};
    for (const auto& [file, whole] : files) {
      constexpr std::size_t cuts = 60;
      for (std::size_t i = 0; i < cuts; ++i)
        add(text(file, " cut to ", whole.size() * i / cuts),
            {{file, whole.substr(0, whole.size() * i / cuts)}}, i % 2 == 0);
      for (const char* garbage : {"x", "{}", ",", "}", "\xff", "null"})
        add(text(file, " and ", garbage), {{file, whole + garbage}});
    }
  }

  void add(toy::Tricks tricks) {
    std::move(tricks.begin(), tricks.end(), std::back_inserter(corpus_));
  }

  // The output of a trick that passes without a word; empty if it is noticed.
  std::string how_it_passes(const Trick& trick) {
    std::vector<std::pair<fs::path, fs::path>> aside;
    for (const Written& written : trick.files) {
      const fs::path path = folder_.path() / written.file;
      aside.emplace_back(path, fs::path());
      if (fs::exists(fs::symlink_status(path))) {
        aside.back().second = folder_.path() / text("aside_", aside.size());
        fs::rename(path, aside.back().second);
      }
      put(path, written);
    }
    std::vector<std::string> flags = trick.flags;
    if (!trick.told) flags.push_back("--quiet");
    if (trick.by_merge_base) flags.push_back("--baseline-ref=HEAD");
    const int exit = check(flags);
    for (auto at = aside.rbegin(); at != aside.rend(); ++at) {
      fs::remove_all(at->first);
      if (!at->second.empty()) fs::rename(at->second, at->first);
    }
    const std::string said = output_ + complaints_;
    const auto says = [&](const std::string& words) { return said.find(words) != said.npos; };
    if (exit == 0 && !(trick.told && says(*trick.told))) return "passes: " + said;
    return says(trick.named) ? "" : text("does not tell of ", trick.named, ": ", said);
  }

  static void put(const fs::path& path, const Written& written) {
    fs::create_directories(path.parent_path());
    if (written.link)
      fs::create_symlink(*written.link, path);
    else if (written.content)
      write_file(path, *written.content, Sync::no);
  }

  void collect() {
    loosen_kinds();
    loosen_metrics();
    loosen_rules();
    blank();
    make_stale();
    lose_baselines();
    break_files();
    for (auto* more :
         {toy::worse_counts, toy::wrong_results, toy::disputed_bounds, toy::losses_on_shared_cores,
          toy::impossible_speeds, toy::results_that_lack, toy::lists_that_promise_less,
          toy::reasons_that_are_none, toy::waivers, toy::absences, toy::removals, toy::aliases,
          toy::drifted_values, toy::widened_spreads, toy::unrequested_values, toy::links})
      add(more(honest_));
  }
};

// A stride through so many tricks by which any stretch covers all classes.
std::size_t stride_of(std::size_t size) {
  auto stride = static_cast<std::size_t>(0.618 * static_cast<double>(size));
  while (std::gcd(stride, size) != 1) ++stride;
  return stride;
}

TEST_F(SilentPass, IsNone) {
  const auto begin = std::chrono::steady_clock::now();
  collect();
  EXPECT_GE(corpus_.size(), 2000u);
  const char* set = std::getenv("HOLDFAST_CORPUS");
  const std::string given = set ? set : "";
  const bool is_number = !given.empty() && given.find_first_not_of("0123456789") == given.npos;
  const bool is_timed = given.empty() || is_number;
  if (!is_timed && given != "all")
    std::erase_if(corpus_, [&](const Trick& one) { return one.name.find(given) == given.npos; });
  ASSERT_FALSE(corpus_.empty()) << given << " is in no name";
  const std::size_t size = corpus_.size(), stride = stride_of(size);
  std::size_t at = (is_number ? std::stoul(given) : std::random_device()()) % size;
  std::cout << "from input " << at << '\n';
  std::size_t tried = 0, silent = 0;
  for (; tried < size; ++tried, at = (at + stride) % size) {
    if (is_timed && std::chrono::steady_clock::now() - begin > budget) break;
    const std::string how = how_it_passes(corpus_[at]);
    if (how.empty()) continue;
    ++silent;
    ADD_FAILURE() << corpus_[at].name << ' ' << how << "\nHOLDFAST_CORPUS=" << at
                  << " begins with this input";
  }
  std::cout << tried << " of " << size << " inputs, " << silent << " silent passes\n";
  EXPECT_EQ(check({"--baseline-ref=HEAD"}), 0) << "all is as it was: " << output_;
}

}  // namespace
}  // namespace holdfast::gate
