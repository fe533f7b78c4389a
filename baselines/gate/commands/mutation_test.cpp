// SPDX-License-Identifier: Apache-2.0
// Thousands of checks of inputs with one thing spoilt: none may end in exit 0, unless the spoilt
// file says the same as before, or says something else that is as well.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iostream>

#include "gate/accept/accept.hpp"
#include "gate/commands/check/check.hpp"
#include "gate/testing/gate_command.hpp"
#include "gate/testing/mutants.hpp"
#include "gate/testing/test_profile.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using toy::Mutant;

constexpr const char* today = "2026-11-21";
constexpr const char* inputs[] = {"results", "baseline", "policy", "aliases", "profile"};
constexpr const char* old_id = "toy/total/n:64/f64";

// A mutant that may pass, and why that is right. Every one of them must be needed.
struct Exception {
  const char* scenario;  // glob on the scenario's name, "results of dry"
  const char* path;      // glob on the place in the file
  const char* edits;     // "deleted, null"; empty for all
  const char* because;
};

const char* const other_values = "a text, a number, true, huge, huge and whole, null, negative";

// Scenarios that pass are "dry" and "host". Where something is worse, nothing is excused.
const std::vector<Exception> exceptions = {
    // Results: what is told and never judged.
    {"results of *", "/cases/*/reason", "a text", "why a case is not ok is told; this one is"},
    {"results of *", "/cases/*/check/oracle", "a text, null", "what verified it is told"},
    {"results of dry", "/cases/*/check/error", other_values, "nothing was executed: no check"},
    {"results of dry", "/cases/*/variants/*/kernels/**", "",
     "the kernel table is evidence beside what is judged"},
    {"results of *", "/env/device/*", other_values, "the device is described; its class is judged"},
    {"results of *", "/env/host/*", other_values, "the host is described; its class is judged"},
    {"results of *", "/env/nvdisasm", "deleted", "older results do not tell it"},
    {"results of dry", "/env/host/processor", "deleted", "what is counted is of no processor"},
    {"results of *", "/env/*", "a text, null",
     "other versions excuse what moved (ENV), and nothing moved"},
    {"results of *", "/quality/*", other_values,
     "the state of the machine is told; 'valid' and 'reasons' decide"},
    {"results of *", "/run/git/sha", "a text", "where it comes from is told"},
    {"results of host", "/cases/**/mad_between", "deleted, null",
     "a narrower spread excuses nothing"},
    {"results of host", "/cases/**/samples", "", "how many samples a median has is told"},
    // Baselines: where a value comes from is told; what warns may differ.
    {"baseline of *", "/acceptances/*/runs/0", "", "the runs of a value are told"},
    {"baseline of *", "/fingerprint/*", "a text, null",
     "other versions excuse what moved (ENV), and nothing moved"},
    {"baseline of dry", "/entries/*|identity/value", "a number",
     "another identity is DRIFT, which warns"},
    {"baseline of dry", "/entries/*|kernels", "deleted", "the kernel table is evidence"},
    {"baseline of dry", "/entries/*|kernels/value", "a number", "the kernel table is evidence"},
    // Policies: another policy, which a reviewer sees, and which this measurement obeys as well.
    {"policy of *", "/kinds/*/same/*", "", "versions excuse what moved (ENV), and nothing moved"},
    {"policy of *", "/kinds/*/same", "deleted", "versions excuse what moved, and nothing moved"},
    {"policy of *", "/kinds/*/tolerance", "deleted", "0 where it is not told, which is stricter"},
    {"policy of *", "/kinds/*/host_tolerance", "deleted", "'tolerance' then, which is stricter"},
    {"policy of *", "/kinds/exact/two_sided/**", "", "nothing moved, to either side"},
    {"policy of *", "/kinds/exact/two_sided", "deleted", "nothing moved, to either side"},
    {"policy of *", "/metrics", "deleted", "what is laxer here nobody measured"},
    {"policy of *", "/metrics/floor_fraction", "deleted", "nobody measured it here"},
    {"policy of *", "/metrics/floor_fraction/impossible_above", "", "nobody measured it here"},
    {"policy of *", "/metrics/identity", "deleted", "it then blocks, which is stricter"},
    {"policy of *", "/metrics/identity/gate", "deleted", "it then blocks, which is stricter"},
    {"policy of *", "/rules/0", "deleted, twice", "its bound is kept by what was measured"},
    {"policy of host", "/rules/0/variant", "deleted", "nobody measured it here"},
    {"policy of *", "/most_suspects", "deleted", "12 where it is not told, which says the same"},
    // Profiles: they explain and never judge. Rows may be fewer, and what a device cannot tell is
    // null; whatever has no sense at all is noticed.
    {"profile of *", "/ops/*", "deleted, twice", "an operation explains"},
    {"profile of *", "/ops/*/*", "null, a number", "no device tells all of an operation"},
    {"profile of *", "/scopes/*", "deleted, twice", "a scope explains"},
    {"profile of *", "/scopes/*/fraction", "null", "nothing is timed on every device"},
    {"profile of *", "/compiles/*", "deleted, twice", "a compilation explains"},
    {"profile of host", "/gaps/*", "deleted, twice", "a gap explains"},
    {"profile of host", "/gaps/*/at_s", "negative", "time counts from any moment"},
    {"profile of host", "/windows/*", "deleted, twice", "a window explains"},
    {"profile of host", "/windows/*/*", "null", "nothing is timed on every device"},
    {"profile of *", "/overview/*", "null, a number, a text", "no device tells all of a step"},
    {"profile of host", "/overview/step_s/*", "deleted, twice",
     "how many steps were timed is told"},
    {"profile of *", "/transfers/*/*", "a number", "how long a copy took is told"},
    {"profile of *", "/memory/device_total_bytes", "null, a number", "the device is described"},
    {"profile of *", "/memory/peak_by_site/*", "deleted, renamed", "who allocates is told"},
    {"profile of *", "/memory/timeline/*", "deleted, twice", "memory over time is told"},
    {"profile of *", "/memory/timeline/*/*", "negative",
     "time counts from any moment, and some of "
     "the memory is given back"},
    {"profile of *", "/*", "a text, null, a number", "no device tells all: silence, trace, floor"},
    // Lists as a suite might print them: what is measured is judged, whether listed or not.
    {"list of *", "/cases/*/devices/*/metrics/*", "deleted", "what is measured is judged"},
    {"list of dry", "/cases/*/limit", "deleted", "what is not computed is not checked"},
    {"list of *", "/metrics/handover_s", "deleted, renamed", "nobody measured it here"},
    {"list of dry", "/cases/*/devices/host", "", "another device is asked another time"},
    {"list of host", "/cases/*/devices/cuda-dry", "", "another device is asked another time"},
};

// Which exceptions some mutant needed.
std::vector<bool>& used() {
  static std::vector<bool> flags(exceptions.size());
  return flags;
}

bool covers(const Exception& exception, const std::string& scenario, const Mutant& mutant) {
  const std::string edits = text(", ", exception.edits, ", ");
  return matches_glob(exception.scenario, scenario) && matches_glob(exception.path, mutant.path) &&
         (std::string_view(exception.edits).empty() ||
          edits.find(", " + mutant.edit + ", ") != std::string::npos);
}

// What is measured, and against what: both are whole, and the check of them ends in `exit`.
struct Scenario {
  std::string name;
  Results accepted;
  Results measured;
  int exit = 0;
};

void PrintTo(const Scenario& scenario, std::ostream* out) {
  *out << scenario.name;
}

std::vector<Scenario> scenarios() {
  Results more_launches = toy::dry();
  toy::metric(more_launches, "optimized", "launches") = toy::exact(5);
  Results half_the_speed = toy::host();
  toy::metric(half_the_speed, "case", "speedup") = toy::timed("ratio", 5);
  Results wrong = toy::host();
  wrong.cases.front().check.error = 1e-3;
  Results lost = toy::dry();
  lost.cases.pop_back();
  return {{"dry", toy::dry(), toy::dry(), 0},
          {"host", toy::host(), toy::host(), 0},
          {"more launches", toy::dry(), more_launches, 1},
          {"half the speed", toy::host(), half_the_speed, 1},
          {"a wrong result", toy::host(), wrong, 1},
          {"a lost case", toy::dry(), lost, 3}};
}

// Overwrites the file and then truncates it: ext4 writes a file that was truncated first to disk at
// once, for each mutant.
void put(const fs::path& path, const std::string& content) {
  if (!fs::exists(path)) std::ofstream(path, std::ios::binary);
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << content;
  fs::resize_file(path, content.size());
}

class Mutation : public GateCommand, public testing::WithParamInterface<Scenario> {
 protected:
  std::size_t checks_ = 0;
  std::vector<std::string> survivors_;
  std::string results_text_;  // of the whole results, and of the whole list
  const std::string list_text_ = toy::list_text();

  void SetUp() override {
    GateCommand::SetUp();
    const Scenario& scenario = GetParam();
    results_text_ = canonical(to_json(scenario.measured));
    // Without comments and with times that gate, so that nothing is excused by its kind.
    nlohmann::json plain = nlohmann::json::parse(
        toy::policy_with(R"("warn", "tolerance")", R"("block", "tolerance")"), nullptr, true, true);
    plain["most_suspects"] = 12;
    put(common_policy_, canonical(plain));
    const Policy read = Policy::read(common_policy_.parent_path(), today).with(toy::list().metrics);
    fs::create_directories(baseline(scenario.accepted).parent_path());
    const Baseline first =
        gate::accept(scenario.accepted, std::nullopt, read, {.why = "first"}).baseline;
    // Under another name, so that its entries need the alias.
    put(baseline(scenario.accepted), baseline_text(toy::accepted_as(old_id, toy::sum_id, first)));
    put(baselines_ / "aliases.json",
        canonical({{"schema", "holdfast-aliases/1"}, {"aliases", {{old_id, toy::sum_id}}}}));
    store(scenario.measured);
    toy::store_profile(results_, profile());
    ASSERT_EQ(exit_of_check(), scenario.exit);
  }

  // A profile of the device class that was measured.
  static nlohmann::json profile() {
    const Environment& env = GetParam().measured.env;
    if (env.device_name != "host") return toy::dry_profile();
    nlohmann::json made = toy::gpu_profile();
    made["device"] = "host";
    made["device_class"] = env.device_class;
    return made;
  }

  fs::path file_of(const std::string& what) const {
    const Results& measured = GetParam().measured;
    if (what == "results") return result_path(measured);
    if (what == "baseline") return baseline(measured);
    if (what == "profile") return toy::profile_path(results_, profile());
    return what == "policy" ? common_policy_ : baselines_ / (what + ".json");
  }

  std::vector<std::string> flags_ =
      {};  // that the command needs to say the same as exit_of_check()

  int exit_of_check() {
    ++checks_;
    flags_.clear();
    try {
      const CheckRequest request{.directory = results_,
                                 .baselines = baselines_,
                                 .root = {.lists = lists_},
                                 .today = today};
      const Verdict verdict = gate::check(request).verdict;
      if (verdict.exit != 0 || !says_no_baseline(verdict)) return verdict.exit;
      flags_ = {"--require-baseline"};
      return exit_with_baseline(request);
    } catch (const Error& error) {
      EXPECT_GT(std::string_view(error.what()).size(), 10u);
      return exit_code(error.fault());
    }
  }

  // Another processor without an accepted time is reported in a prominent line; if CI requires a
  // baseline, it fails.
  static bool says_no_baseline(const Verdict& verdict) {
    return std::any_of(verdict.notes.begin(), verdict.notes.end(), [](const std::string& note) {
      return note.starts_with("NO BASELINE for the processor ");
    });
  }
  static int exit_with_baseline(CheckRequest request) {
    request.require_baseline = true;
    return gate::check(request).verdict.exit;
  }

  // Notes a mutant that passes, or that the command and the library see in two ways: every 97th is
  // shown to the real command as well.
  void expect_noticed(const std::string& what, const Mutant& mutant) {
    const int exit = exit_of_check();
    if (checks_ % 97 == 0) {
      EXPECT_EQ(check(flags_), exit) << mutant.path << ' ' << mutant.edit;
    }
    if (exit != 0) return;
    const std::string scenario = text(what, " of ", GetParam().name);
    bool excused = false;
    for (std::size_t i = 0; i < exceptions.size() && GetParam().exit == 0; ++i) {
      if (!covers(exceptions[i], scenario, mutant)) continue;
      used()[i] = excused = true;
    }
    if (excused) return;
    survivors_.push_back(text(scenario, ' ', mutant.path, " is ", mutant.edit));
  }

  void spoil_every_thing(const std::string& what) {
    const fs::path path = file_of(what);
    const std::string whole = read_file(path);
    toy::for_each_mutant(whole, [&](const Mutant& mutant) {
      put(path, mutant.content);
      expect_noticed(what, mutant);
    });
    put(path, whole);
  }

  // The list stands beside the results and in the build; the results name its hash.
  void put_list(const std::string& content, bool beside, bool in_build, bool in_results) {
    const Results& measured = GetParam().measured;
    std::string results = results_text_;
    if (in_results)
      results.replace(results.find(measured.list_hash), measured.list_hash.size(), sha256(content));
    put(result_path(measured), results);
    const fs::path copy = result_path(measured).parent_path() / "toy.list.json";
    put(copy, beside ? content : list_text_);
    put(lists_ / "toy.list.json", in_build ? content : list_text_);
  }

  void cut_everywhere(const fs::path& path, bool last_byte_may_go) {
    constexpr std::size_t cuts = 400;
    const std::string whole = read_file(path);
    const std::size_t end = whole.size() - (last_byte_may_go ? 1 : 0);
    for (std::size_t i = 0; i < cuts; ++i) {
      const std::size_t length = end * i / cuts;
      put(path, whole.substr(0, length));
      EXPECT_NE(exit_of_check(), 0) << path << " cut at byte " << length;
    }
    for (std::size_t length = end - 20; length < end; ++length) {
      put(path, whole.substr(0, length));
      EXPECT_NE(exit_of_check(), 0) << path << " cut at byte " << length;
    }
    for (const std::string& garbage :
         {std::string("x"), std::string("{}"), std::string(","), std::string("}"),
          std::string(1, '\0'), std::string("\xff"), whole}) {
      put(path, whole + garbage);
      EXPECT_NE(exit_of_check(), 0) << path << " followed by " << garbage.substr(0, 10);
    }
    put(path, whole);
  }

  void expect_no_survivors() {
    for (const std::string& survivor : survivors_) ADD_FAILURE() << survivor;
    std::cout << checks_ << " checks\n";
  }
};

TEST_P(Mutation, OfAnyInputIsNoticed) {
  for (const char* what : inputs) spoil_every_thing(what);
  expect_no_survivors();
}

// A list that was changed belongs to another build, whatever was changed; one that a suite printed
// so is compared with the results.
TEST_P(Mutation, OfAListIsNoticed) {
  const auto spoil = [&](bool beside, bool in_build, bool in_results, const std::string& what) {
    toy::for_each_mutant(toy::list_text(), [&](const Mutant& mutant) {
      put_list(mutant.content, beside, in_build, in_results);
      expect_noticed(what, mutant);
    });
  };
  spoil(true, false, false, "list beside the results");
  spoil(false, true, false, "list of the build");
  spoil(true, true, false, "list that the results do not name");
  spoil(true, true, true, "list");
  expect_no_survivors();
}

TEST_P(Mutation, ByCuttingIsNoticed) {
  const fs::path results = result_path(GetParam().measured);
  for (const char* what : inputs) cut_everywhere(file_of(what), true);
  cut_everywhere(results.parent_path() / "toy.list.json", false);
  cut_everywhere(lists_ / "toy.list.json", false);
}

// What the exceptions are measured against: another order and other space say the same.
TEST_P(Mutation, ThatChangesOnlySpaceAndOrderChangesNothing) {
  for (const char* what : inputs) {
    const fs::path path = file_of(what);
    const std::string whole = read_file(path);
    put(path, nlohmann::json::parse(whole).dump(7) + "\n \n");
    EXPECT_EQ(exit_of_check(), GetParam().exit) << what;
    put(path, "\n" + nlohmann::ordered_json::parse(whole).dump());
    EXPECT_EQ(exit_of_check(), GetParam().exit) << what;
    put(path, whole);
  }
}

// After all others, which gtest runs in the order of this file.
class Exceptions : public testing::Environment {
 public:
  void TearDown() override {
    if (testing::GTEST_FLAG(filter) != "*") return;
    for (std::size_t i = 0; i < exceptions.size(); ++i)
      EXPECT_TRUE(used()[i]) << "no mutant needs the exception for " << exceptions[i].scenario
                             << ' ' << exceptions[i].path << ": " << exceptions[i].because;
  }
};
const testing::Environment* const environment = testing::AddGlobalTestEnvironment(new Exceptions);

INSTANTIATE_TEST_SUITE_P(Of, Mutation, testing::ValuesIn(scenarios()), [](const auto& one) {
  std::string name = one.param.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

}  // namespace

}  // namespace holdfast::gate
