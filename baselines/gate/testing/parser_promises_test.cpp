// SPDX-License-Identifier: Apache-2.0
#include "gate/testing/parser_promises.hpp"

#include <gtest/gtest.h>

#include <random>

namespace holdfast::gate {
namespace {

class Parser : public testing::TestWithParam<ParserPromise> {};

TEST_P(Parser, TakesItsFixtures) {
  for (const std::string& seed : GetParam().seeds()) EXPECT_TRUE(GetParam().accepts(seed)) << seed;
}

TEST_P(Parser, KeepsItsPromiseOnEveryPrefixOfAFixture) {
  for (const std::string& seed : GetParam().seeds())
    for (std::size_t length = 0; length < seed.size(); length += 1 + seed.size() / 997)
      EXPECT_NO_THROW((void)GetParam().accepts(seed.substr(0, length))) << length;
}

// One to four bytes replaced, removed or doubled, as by a disk, a merge or a person.
TEST_P(Parser, KeepsItsPromiseOnRandomEditsOfAFixture) {
  std::mt19937 random(20261121);
  const std::string spice = "{}[]\",:0123456789-+.eE \\u\n\x01\x7f\xc3\xff";
  for (const std::string& seed : GetParam().seeds()) {
    for (int edit = 0; edit < 300; ++edit) {
      std::string spoilt = seed;
      for (std::size_t bytes = 1 + random() % 4; bytes > 0 && !spoilt.empty(); --bytes) {
        const std::size_t at = random() % spoilt.size();
        const std::size_t how = random() % 3;
        if (how == 0)
          spoilt[at] = spice[random() % spice.size()];
        else if (how == 1)
          spoilt.erase(at, 1 + random() % 8);
        else
          spoilt.insert(at, spoilt.substr(at, 1 + random() % 40));
      }
      EXPECT_NO_THROW((void)GetParam().accepts(spoilt)) << spoilt;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfTheGate, Parser, testing::ValuesIn(parser_promises()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace

// gtest names the parameter in its messages.
void PrintTo(const ParserPromise& promise, std::ostream* out) {
  *out << promise.name;
}

}  // namespace holdfast::gate
