// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/program_key.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "runtime/compile/toolkit.hpp"

namespace holdfast {
namespace {

struct Keyed {
  Lowering lowering = {.name = "scale.cu",
                       .text = "__global__ void scale() {}",
                       .headers = {{"formulas.hpp", "// one"}},
                       .definitions = {"N=1", "M"},
                       .entries = {"scale"},
                       .sm = 90};
  Toolchain toolchain = {.nvrtc = "13.0", .nvjitlink = "13.0", .options = {"-std=c++20", "-w"}};

  std::string key() const { return program_key(lowering, toolchain); }
};

// Each of these alone changes the machine code, or may.
const std::vector<std::function<void(Keyed&)>> changes = {
    [](Keyed& one) { one.lowering.name = "scales.cu"; },
    [](Keyed& one) { one.lowering.text += " "; },
    [](Keyed& one) { one.lowering.headers[0].name = "formula.hpp"; },
    [](Keyed& one) { one.lowering.headers[0].text = "// two"; },
    [](Keyed& one) { one.lowering.headers.clear(); },
    [](Keyed& one) { one.lowering.definitions[0] = "N=2"; },
    [](Keyed& one) { one.lowering.definitions = {"N=1M"}; },
    [](Keyed& one) { std::swap(one.lowering.definitions[0], one.lowering.definitions[1]); },
    [](Keyed& one) { one.lowering.entries.emplace_back("more"); },
    [](Keyed& one) { one.lowering.sm = 100; },
    [](Keyed& one) { one.toolchain.nvrtc = "13.1"; },
    [](Keyed& one) { one.toolchain.nvjitlink = "13.1"; },
    [](Keyed& one) { one.toolchain.options.emplace_back("--use_fast_math"); },
    [](Keyed& one) { one.toolchain.options[1] = "-G"; },
};

TEST(ProgramKey, IsAnotherOneWhereAnythingIs) {
  std::set<std::string> keys = {Keyed().key()};
  EXPECT_EQ(Keyed().key(), *keys.begin());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Keyed changed;
    changes[i](changed);
    EXPECT_TRUE(keys.insert(changed.key()).second) << "change " << i;
  }
}

TEST(ProgramKey, IsMadeWithWhatThisProcessCompilesWith) {
  EXPECT_EQ(toolchain().nvrtc, toolkit_versions().nvrtc);
  EXPECT_EQ(toolchain().nvjitlink, toolkit_versions().nvjitlink);
  EXPECT_EQ(toolchain().options, lowering_options());
  EXPECT_THAT(toolchain().options, testing::Not(testing::IsEmpty()));
}

}  // namespace
}  // namespace holdfast
