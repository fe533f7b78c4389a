// SPDX-License-Identifier: Apache-2.0
// The real `holdfast check` and `holdfast explain` on results with profiles beside them: findings
// are reported and never decide, and a broken profile is a broken input.
#include <gmock/gmock.h>

#include "gate/testing/gate_command.hpp"
#include "gate/testing/test_profile.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using toy::json;

class Findings : public GateCommand {
 protected:
  json syncing() const {
    json profile = toy::dry_profile();
    profile["overview"]["syncs"] = 2;
    return profile;
  }
  int explain(const std::string& word, const std::vector<std::string>& more = {}) {
    return holdfast(toy::joined({"explain", word, results_.string()}, stores(), more));
  }
  // Stores `results` with a list that expects a finding of its first case.
  void store_expecting(Results results, const char* finding) const {
    List list = toy::list();
    list.cases[0].expected = {
        {.finding = finding, .why = "it is there to show it", .devices = {"cuda-dry"}}};
    results.list_hash = sha256(canonical(to_json(list)));
    store(results);
    for (const auto& folder : {lists_, results_ / "cuda-dry-sm_90"})
      write_file(folder / "toy.list.json", canonical(to_json(list)));
  }
  // Another results root with the toy suite's results in it.
  std::filesystem::path store_elsewhere(const Results& results) const {
    store_in(folder_.path() / "before", results);
    return folder_.path() / "before";
  }
};

TEST_F(Findings, AreToldAndStoredAndChangeNoExitCode) {
  Results now = toy::dry();
  now.cases[0].variants["reference"].metrics["launches"] = toy::exact(4);
  now.cases[1].variants["reference"].metrics["launches"] = toy::exact(4);
  accepted(now);
  toy::store_profile(results_, syncing());
  expect_output(check(), 0,
                AllOf(HasSubstr("syncs_in_the_loop: the host waits for the device 2 times"),
                      HasSubstr("in   toy/step/n:64/f64  cuda-dry-sm_90  optimized"),
                      HasSubstr("fix  take no value back in the hot path")));
  ASSERT_THAT(verdict().findings, SizeIs(1));
  EXPECT_EQ(verdict().findings[0].value, 2);
  EXPECT_EQ(verdict().findings[0].threshold, 0);
  EXPECT_EQ(verdict().findings[0].source, "profile");
  EXPECT_EQ(verdict().findings[0].device_class, "cuda-dry-sm_90");
  EXPECT_THAT(read_file(results_ / "verdict.md"), HasSubstr("syncs_in_the_loop"));
}

TEST_F(Findings, ThatACaseShowsOnPurposeAreToldAsExpectedWithTheirReason) {
  accepted(toy::dry());
  store_expecting(toy::dry(), "syncs_in_the_loop");
  toy::store_profile(results_, syncing());
  const std::string line =
      "as expected of toy/step/n:64/f64 on cuda-dry-sm_90: syncs_in_the_loop (it is there to show "
      "it)\n";
  expect_output(check(), 0, AllOf(HasSubstr(line), Not(HasSubstr("take no value back"))));
  EXPECT_EQ(verdict().findings.at(0).detector, "syncs_in_the_loop");
  EXPECT_EQ(verdict().findings[0].expected, "it is there to show it");
  EXPECT_THAT(read_file(results_ / "verdict.md"), HasSubstr("as expected of toy/step"));
  EXPECT_THAT(verdict().notes, testing::Each(Not(HasSubstr("on purpose"))));
  expect_output(check({"--quiet"}), 0, Not(HasSubstr("as expected")));
  expect_output(
      explain(toy::step_id), 0,
      AllOf(HasSubstr("expected: it is there to show it"), Not(HasSubstr("take no value back"))));
}

TEST_F(Findings, ThatAreExpectedAndGoneAreANoteThatFailsNothing) {
  accepted(toy::dry());
  store_expecting(toy::dry(), "syncs_in_the_loop");
  expect_output(check(), 0,
                HasSubstr("note: toy/step/n:64/f64 on cuda-dry-sm_90 is listed as showing "
                          "syncs_in_the_loop on purpose, and no longer does"));
}

TEST_F(Findings, ComeFromResultsWhereThereIsNoProfile) {
  accepted(toy::dry());
  expect_output(check(), 0,
                HasSubstr("2 findings in reference variants, which are slow on purpose"));
  ASSERT_THAT(verdict().findings, SizeIs(2));
  EXPECT_EQ(verdict().findings[0].detector, "many_launches");
  EXPECT_EQ(verdict().findings[0].source, "result");
}

TEST_F(Findings, AreLeftOutOfAQuietCheck) {
  accepted(toy::dry());
  toy::store_profile(results_, syncing());
  expect_output(check({"--quiet"}), 0, Not(HasSubstr("syncs_in_the_loop")));
}

TEST_F(Findings, AreToldUpToTen) {
  Results many = toy::dry();
  List list = toy::list();
  const ListedCase listed = list.cases[0];
  const CaseResult measured = many.cases[0];
  list.cases.clear();
  many.cases.clear();
  for (int i = 10; i < 22; ++i) {
    list.cases.push_back(listed);
    many.cases.push_back(measured);
    list.cases.back().id = many.cases.back().id = text("toy/step/n:", i, "/f64");
    many.cases.back().variants["optimized"].metrics["launches"] = toy::exact(300 + i);
  }
  many.list_hash = sha256(canonical(to_json(list)));
  store(many);
  for (const auto& folder : {lists_, results_ / "cuda-dry-sm_90"})
    write_file(folder / "toy.list.json", canonical(to_json(list)));
  EXPECT_EQ(check(), 1) << complaints_;  // because of the toy's bound on launches
  EXPECT_THAT(output_, AllOf(HasSubstr("makes 321 launches"), Not(HasSubstr("makes 311 launches")),
                             HasSubstr("and 2 findings more, in verdict.json")));
  EXPECT_THAT(verdict().findings, SizeIs(24));
}

// Each is one edit of a good profile.
struct SpoiltProfile {
  const char* what;
  const char* from;
  const char* to;
  const char* words;
};

void PrintTo(const SpoiltProfile& spoilt, std::ostream* out) {
  *out << spoilt.what;
}

class SpoiltProfileDocument : public Findings, public testing::WithParamInterface<SpoiltProfile> {};

TEST_P(SpoiltProfileDocument, IsABadFileWithItsNameAndKey) {
  accepted(toy::dry());
  toy::store_profile(results_, toy::dry_profile());
  ASSERT_EQ(check(), 0) << complaints_;
  spoil(toy::profile_path(results_, toy::dry_profile()), GetParam().from, GetParam().to);
  expect_complaint(
      check(), 2,
      AllOf(HasSubstr("toy.step.n_64.f64.optimized.profile.json"), HasSubstr(GetParam().words)));
  EXPECT_EQ(verdict().exit, 2) << "an older verdict no longer holds";
}

INSTANTIATE_TEST_SUITE_P(
    OneEdit, SpoiltProfileDocument,
    testing::Values(
        SpoiltProfile{"AnUnknownKey", "\"dropped\"", "\"surprise\": 1, \"dropped\"",
                      "unknown key 'surprise'"},
        SpoiltProfile{"AWrongType", "\"dropped\": 0", "\"dropped\": \"none\"", "'dropped'"},
        SpoiltProfile{"NaN", "\"first_call_s\": 0.9", "\"first_call_s\": NaN", "not JSON"},
        SpoiltProfile{"AKeyThatIsAbsent", "\"dropped\": 0,", "", "dropped"},
        SpoiltProfile{"AnotherSuite", "\"suite\": \"toy\"", "\"suite\": \"toi\"",
                      "of the suite 'toi'"},
        SpoiltProfile{"AnotherCase", "\"case\": \"toy/step", "\"case\": \"toy/stop",
                      "of the case and variant 'toy/stop"},
        SpoiltProfile{"AnotherClass", "\"device_class\": \"cuda-dry-sm_90\"",
                      "\"device_class\": \"cuda-dry-sm_80\"", "of the device class"},
        SpoiltProfile{"AnotherVersion", "holdfast-profile/1", "holdfast-profile/9",
                      "the schema is"}),
    [](const auto& one) { return std::string(one.param.what); });

TEST_F(Findings, AProfileCutAnywhereNeverPasses) {
  accepted(toy::dry());
  const std::string whole = toy::dry_profile().dump(1);
  toy::store_profile(results_, toy::dry_profile());
  for (std::size_t tenth = 0; tenth < 10; ++tenth) {
    write_file(toy::profile_path(results_, toy::dry_profile()),
               whole.substr(0, whole.size() * tenth / 10));
    EXPECT_EQ(check(), 2) << "cut at " << tenth << "/10";
  }
}

TEST_F(Findings, AChangedKernelOfManyCasesIsToldOnce) {
  measured_anew(toy::dry(), [](Results& now) {
    for (CaseResult& result : now.cases) {
      Variant& variant = result.variants["optimized"];
      variant.metrics["registers_max"] = toy::codegen(56);
      variant.kernels.front().registers = 56;
      variant.kernels.front().cubin = "sha256:3c";
    }
  });
  expect_output(check(), 1,
                AllOf(HasSubstr("REGRESSION  toy/step/n:64/f64"), HasSubstr("and 1 more case;")));
  const std::string cause = "stage: registers 40 -> 56, cubin changed";
  EXPECT_NE(output_.find(cause), std::string::npos);
  EXPECT_EQ(output_.find(cause), output_.rfind(cause)) << output_;
}

// ---- explain ----

TEST_F(Findings, ExplainEndsInACauseAndTheNextCommand) {
  measured_anew(toy::dry(), [](Results& now) {
    toy::metric(now, "optimized", "registers_max") = toy::codegen(96);
    now.cases[0].variants["optimized"].identity = "sha256:cc";
    now.cases[0].variants["optimized"].kernels[0].registers = 96;
    now.cases[0].variants["optimized"].kernels[0].cubin = "sha256:3c";
  });
  toy::store_profile(results_, syncing());
  expect_output(explain(toy::step_id), 0,
                StartsWith("toy/step/n:64/f64  cuda-dry-sm_90\nagainst the baseline"));
  EXPECT_THAT(
      output_,
      AllOf(
          HasSubstr(
              "1 verdict      REGRESSION (blocking)  optimized  registers_max rose from 40 to 96"),
          HasSubstr("2 code         optimized  the compiled code is not the same"),
          HasSubstr("3 environment  the same tools on both sides"),
          HasSubstr("8 detectors    optimized  syncs_in_the_loop")));
  EXPECT_THAT(output_,
              HasSubstr("cause          stage uses 96 registers instead of 40: fewer blocks may "
                        "fit on a multiprocessor\n"));
  EXPECT_THAT(output_, AllOf(HasSubstr("next           holdfast profile toy toy/step/n:64/f64"),
                             HasSubstr("or             holdfast baseline accept")));
}

TEST_F(Findings, ExplainComparesTwoFoldersAsWell) {
  const std::filesystem::path before = store_elsewhere(toy::dry());
  store(toy::dry(), [](Results& now) {
    toy::metric(now, "optimized", "launches") = toy::exact(5);
    now.cases[0].variants["optimized"].kernels[1].launches = 2;
  });
  expect_output(explain("step", {"--against=" + before.string()}), 0,
                AllOf(HasSubstr("against " + before.string()),
                      HasSubstr("edge is launched 2 times instead of 1"),
                      HasSubstr("the host's control flow")));
}

TEST_F(Findings, ExplainSendsWhoMissesTheCaseElsewhereToMeasureItThere) {
  Results lacks = toy::dry();
  std::erase_if(lacks.cases, [](const CaseResult& one) { return one.id == toy::step_id; });
  const std::filesystem::path before = store_elsewhere(lacks);
  store(toy::dry());
  expect_output(explain(toy::step_id, {"--against=" + before.string()}), 0,
                AllOf(HasSubstr(before.string() + ", which does not have it"),
                      HasSubstr("next           holdfast run toy --device=cuda-dry:sm_90 "
                                "--bin-dir=BASE/bin --out=" +
                                before.string() + "\n")));
}

TEST_F(Findings, ExplainSaysThatTheCaseIsElsewhereOnOtherClassesAlone) {
  Results other = toy::dry();
  other.env.device_name = "cuda-dry:sm_80";
  other.env.device_class = "cuda-dry-sm_80";
  store_elsewhere(other);
  const std::filesystem::path before = store_elsewhere(toy::host());
  store(toy::dry());
  expect_output(
      explain(toy::step_id, {"--against=" + before.string()}), 0,
      AllOf(HasSubstr(before.string() + ", which has it on 2 other classes and not on this one\n"),
            Not(HasSubstr("which does not have it")),
            HasSubstr("next           holdfast run toy --device=cuda-dry:sm_90")));
}

TEST_F(Findings, ExplainComparesWithNoCaseThatCrashedOrWasWrong) {
  Results crashed = toy::host(), wrong = toy::host();
  crashed.cases[0] = {.id = toy::step_id, .tier = "gate", .status = "crashed", .reason = "SIGSEGV"};
  wrong.cases[0].check.status = "failed";
  store(toy::host());
  const std::filesystem::path first = store_elsewhere(crashed);
  expect_output(explain(toy::step_id, {"--against=" + first.string()}), 0,
                AllOf(HasSubstr(first.string() + ", where it gave no result (crashed)\n"),
                      HasSubstr("counts       nothing to compare with"), Not(HasSubstr("the same")),
                      HasSubstr("nothing is known from before")));
  const std::filesystem::path second = store_elsewhere(wrong);
  expect_output(explain(toy::step_id, {"--against=" + second.string()}), 0,
                HasSubstr(second.string() + ", whose own result of it is wrong"));
}

TEST_F(Findings, ExplainNamesTheNearestCase) {
  store(toy::dry());
  expect_complaint(explain("toy/stap/n:64/f64"), 2, HasSubstr("did you mean toy/step/n:64/f64?"));
  expect_complaint(explain("n:64"), 2,
                   AllOf(HasSubstr("is part of 2 cases"), HasSubstr(toy::sum_id)));
}

TEST_F(Findings, ExplainWorksWithoutBaselineAndWithoutPolicy) {
  store(toy::host());
  expect_output(explain(toy::step_id), 0,
                AllOf(HasSubstr("which does not have it"), HasSubstr("no profile stands"),
                      HasSubstr("nothing is known from before")));
  std::filesystem::remove(common_policy_);
  expect_output(explain(toy::step_id), 0, HasSubstr("not judged: "));
}

TEST_F(Findings, ExplainSaysWhyItIsNotJudgedThoughTheVerdictBeforeIsTruncated) {
  store(toy::host());
  ASSERT_EQ(check(), 0) << complaints_;
  std::filesystem::remove(common_policy_);
  expect_output(explain(toy::step_id), 0, HasSubstr("as judged in "));
  const std::filesystem::path kept = results_ / "verdict.json";
  write_file(kept, read_file(kept).substr(0, 100));
  expect_output(explain(toy::step_id), 0,
                AllOf(HasSubstr("1 verdict      not judged: "), HasSubstr("common.json"),
                      HasSubstr("what was judged before is not known: " + kept.string())));
}

TEST_F(Findings, ExplainSaysHowItIsUsed) {
  expect_complaint(holdfast({"explain"}), 2, HasSubstr("usage: holdfast explain"));
  expect_output(holdfast({"explain", "--help"}), 0,
                AllOf(HasSubstr("examples:"), HasSubstr("--against=DIR")));
  EXPECT_EQ(holdfast({"explain", toy::step_id, (folder_.path() / "absent").string()}), 2);
}

}  // namespace
}  // namespace holdfast::gate
