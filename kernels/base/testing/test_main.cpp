// SPDX-License-Identifier: Apache-2.0
// main() of the tests: if all tests are skipped, the exit code says so; with HOLDFAST_REQUIRE, no
// test may skip for lack of what cmake/bootstrap.sh installs.
#include <gmock/gmock.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace {

// Under HOLDFAST_REQUIRE a skip that names cmake/bootstrap.sh, which installs what is missing, is a
// failure.
class Skips : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    const char* required = std::getenv("HOLDFAST_REQUIRE");
    if (!required || !*required || !result.skipped()) return;
    if (std::string_view(result.message()).find("bootstrap.sh") == std::string_view::npos) return;
    std::cerr << result.message() << ": HOLDFAST_REQUIRE=" << required << " allows no such skip\n";
    ++refused;
  }

 public:
  int refused = 0;
};

}  // namespace

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  testing::InitGoogleMock(&argc, argv);
  auto* const skips = new Skips;  // owned by gtest from here on
  testing::UnitTest& all = *testing::UnitTest::GetInstance();
  all.listeners().Append(skips);
  const int code = RUN_ALL_TESTS();
  if (code != 0 || skips->refused > 0) return 1;
  return all.test_to_run_count() > 0 && all.skipped_test_count() == all.test_to_run_count()
             ? skipped
             : 0;
}
