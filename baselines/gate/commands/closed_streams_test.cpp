// SPDX-License-Identifier: Apache-2.0
// Commands whose standard output cannot be written: a full disk, or no reader.
#include <gmock/gmock.h>

#include "gate/base/shown_text.hpp"
#include "gate/testing/gate_command.hpp"
#include "gate/testing/typed_command.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ToAFullDisk : public GateCommand {
 protected:
  static Outcome holdfast(const std::vector<std::string>& arguments) {
    std::string command = "exec holdfast";
    for (const std::string& argument : arguments) command += ' ' + shell_word(argument);
    return toy::typed(command + " > /dev/full");
  }
};

TEST_F(ToAFullDisk, WhatWasAcceptedIsToldOnTheStandardError) {
  store(toy::dry());
  const Outcome outcome =
      holdfast(toy::joined({"baseline", "accept", results_.string()}, stores()));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(std::filesystem::exists(baseline(toy::dry())));
  EXPECT_THAT(outcome.complaints,
              AllOf(HasSubstr(text(baseline(toy::dry()).string(), ": ")), HasSubstr(" changed\n"),
                    HasSubstr("holdfast: cannot write to the standard output\n")));
}

TEST_F(ToAFullDisk, WhatWasAppendedIsToldOnTheStandardError) {
  store(toy::dry());
  const std::string history = (folder_.path() / "history").string();
  const Outcome outcome =
      holdfast({"history", "append", results_.string(), text("--store=", history)});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.complaints, HasSubstr(" from 1 run appended\n"));
}

class WithoutStreams : public GateCommand {};

TEST_F(WithoutStreams, ARunWithoutAnyStreamKeepsItsResults) {
  const std::string out = (folder_.path() / "run").string();
  const Outcome outcome =
      toy::typed(text("exec holdfast run ", FAKE_SUITE_BINARY,
                      " --device=host --processes=1 --out=", out, " <&- >&- 2>&-"));
  EXPECT_EQ(outcome.code, 2) << "it cannot say where they are";
  EXPECT_TRUE(std::filesystem::exists(out + "/host-fake-1t/fake_suite.json"));
}

}  // namespace
}  // namespace holdfast::gate
