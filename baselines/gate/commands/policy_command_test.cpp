// SPDX-License-Identifier: Apache-2.0
// `holdfast policy`: of a case it tells the rules that the gate applies to it, and no others.
#include <gmock/gmock.h>

#include "gate/testing/gate_command.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class PolicyCommand : public GateCommand {
 protected:
  int policy(const std::string& device_class) {
    return holdfast(
        toy::joined({"policy", toy::step_id, "--device-class=" + device_class}, stores()));
  }

  // The build lists a count of the whole case, on hosts.
  void list_peak_ratio() const {
    List list = toy::list();
    list.metrics["peak_ratio"] = {"exact", Better::higher};
    for (ListedCase& listed : list.cases) listed.devices["host"].push_back("peak_ratio");
    write_file(lists_ / "toy.list.json", canonical(to_json(list)));
  }

  void accept_peak_ratio() const {
    Baseline accepted{.device_class = "host-x86_64-v4-2t",
                      .metrics = {{"peak_ratio", {"exact", Better::higher}}}};
    accepted.entries[entry_key(toy::step_id, "case", "peak_ratio")] = {
        .value = 2., .accepted = {.utc = "u", .content = "c", .why = "w"}};
    std::filesystem::create_directories(baseline(toy::host()).parent_path());
    write_file(baseline(toy::host()), baseline_text(accepted));
  }
};

TEST_F(PolicyCommand, TellsOfTheMetricsThatTheCaseHasOnThatKindOfDevice) {
  expect_output(policy("host-x86_64-v4-2t"), 0,
                AllOf(HasSubstr("time_s"), HasSubstr("speedup"), Not(HasSubstr("launches")),
                      Not(HasSubstr("handover_s"))));
  expect_output(policy("cuda-dry-sm_90"), 0,
                AllOf(HasSubstr("launches"), Not(HasSubstr("time_s"))));
}

TEST_F(PolicyCommand, TakesEnoughOfAnId) {
  const auto of = [&](const char* word) {
    return holdfast(toy::joined({"policy", word}, stores()));
  };
  expect_output(of("step/n:64"), 0, HasSubstr("toy/step/n:64/f64 on cuda-dry-sm_90\n"));
  expect_complaint(of("n:64/f64"), 2, HasSubstr("is part of 2 cases of this build"));
  expect_complaint(of("step/n:65/f64"), 2,
                   HasSubstr("this build has no case 'step/n:65/f64'; it has:"));
  const std::string word(300, 'a');  // longer than any name of a file
  expect_complaint(of(word.c_str()), 2, HasSubstr("this build has no case '" + word + "'"));
}

TEST_F(PolicyCommand, TellsAMetricOfTheWholeCaseAsTheGateJudgesIt) {
  list_peak_ratio();
  accept_peak_ratio();
  expect_output(policy("host-x86_64-v4-2t"), 0,
                AllOf(HasSubstr("\n  case peak_ratio "), Not(HasSubstr("optimized peak_ratio")),
                      Not(HasSubstr("reference peak_ratio"))));
}

TEST_F(PolicyCommand, KnowsTheVariantsFromAnotherClassToo) {
  list_peak_ratio();
  accept_peak_ratio();
  expect_output(policy("host-x86_64-v3-2t"), 0,
                AllOf(HasSubstr("\n  case peak_ratio "), Not(HasSubstr("reference peak_ratio"))));
}

TEST_F(PolicyCommand, SaysOnceWhatHoldsForWhicheverVariantHasTheMetric) {
  expect_output(policy("host-x86_64-v4-2t"), 0,
                AllOf(HasSubstr("\n  time_s "), Not(HasSubstr("optimized time_s"))));
}

TEST_F(PolicyCommand, TellsNothingOfAReferenceThatTheCaseHasNot) {
  accepted(toy::dry());
  expect_output(policy("cuda-dry-sm_90"), 0, HasSubstr("\n  reference launches "));
  List list = toy::list();
  for (ListedCase& listed : list.cases) listed.reference = false;
  write_file(lists_ / "toy.list.json", canonical(to_json(list)));
  expect_output(policy("cuda-dry-sm_90"), 0,
                AllOf(HasSubstr("\n  optimized launches "), Not(HasSubstr("reference"))));
}

TEST_F(PolicyCommand, TellsOfNoSumWhosePartsTheCaseHasNotThere) {
  spoil(common_policy_, "\"rules\": [",
        R"("rules": [{"match": "toy/**", "metric": "launches+peak_bytes",
                    "bound": {"max": 1, "source": "a sum's"}},)");
  expect_output(policy("cuda-dry-sm_90"), 0, HasSubstr("optimized launches+peak_bytes"));
  expect_output(policy("host-x86_64-v4-2t"), 0, Not(HasSubstr("a sum's")));
}

TEST_F(PolicyCommand, TellsABoundInTheUnitOfItsMetric) {
  spoil(common_policy_, "\"rules\": [",
        R"("rules": [{"match": "toy/**", "metric": "peak_bytes",
                    "bound": {"max": 206569472, "source": "a formula"}},)");
  expect_output(policy("cuda-dry-sm_90"), 0, HasSubstr(": at most 206.6 MB (a formula)\n"));
}

TEST_F(PolicyCommand, TellsABoundOnASumWithItsNumberAndUnit) {
  List list = toy::list();
  for (ListedCase& listed : list.cases) listed.devices["host"].push_back("handover_s");
  write_file(lists_ / "toy.list.json", canonical(to_json(list)));
  spoil(common_policy_, "\"rules\": [",
        R"("rules": [{"match": "toy/**", "metric": "time_s+handover_s", "gate": "warn",
                    "bound": {"max": 0.001, "source": "a sum's"}},)");
  expect_output(policy("host-x86_64-v4-2t"), 0,
                AllOf(HasSubstr("\n  optimized time_s+handover_s "),
                      HasSubstr(": at most 1 ms (a sum's), gate warn\n")));
}

TEST_F(PolicyCommand, TellsABoundOnASumOfTheCaseAsAWhole) {
  list_peak_ratio();
  accept_peak_ratio();
  spoil(common_policy_, "\"rules\": [",
        R"("rules": [{"match": "toy/**", "metric": "peak_ratio+speedup",
                    "bound": {"max": 99, "source": "a sum's"}},)");
  expect_output(policy("host-x86_64-v4-2t"), 0,
                AllOf(HasSubstr("\n  case peak_ratio+speedup "), HasSubstr("at most 99 (a sum's)"),
                      Not(HasSubstr("optimized peak_ratio+speedup"))));
}

TEST_F(PolicyCommand, OfAnIdWithoutItsSuiteTheWholeOneIsAskedForWhereNothingIsListed) {
  std::filesystem::remove(lists_ / "toy.list.json");
  expect_complaint(holdfast(toy::joined({"policy", "step/n:64/f64"}, stores())), 2,
                   HasSubstr("a whole case id begins with its suite"));
}

TEST_F(PolicyCommand, AClassThatCannotBeIsRefused) {
  accepted(toy::dry());
  expect_complaint(policy("nope"), 2, HasSubstr("--device-class=nope: a class is called as"));
  expect_complaint(policy("cuda-dry:sm_90"), 2, HasSubstr("did you mean cuda-dry-sm_90?"));
  expect_complaint(policy("nvidia-h200"), 2, HasSubstr("is not measured on cuda"));
}

}  // namespace
}  // namespace holdfast::gate
