// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/stream/background_writer.hpp"

#include <gmock/gmock.h>

#include <future>

namespace holdfast::xpcs_fit {
namespace {

using testing::ElementsAre;

struct Background : testing::Test {
  std::vector<std::string> written = {};
  std::promise<void> released = {};
  std::shared_future<void> release = released.get_future().share();
  BackgroundWriter::Write slow = [this](const std::string& content) {
    release.wait();
    written.push_back(content);
    return std::string();
  };
};

// Nothing is written before everything is handed over; a writer that waits would wait forever.
TEST_F(Background, NeverStopsWhoSavesAndKeepsTheNewest) {
  {
    BackgroundWriter writer(slow);
    for (int k = 0; k < 100; ++k) writer.save(std::to_string(k));
    released.set_value();
    EXPECT_EQ(writer.drain(), "");
    EXPECT_EQ(writer.seconds().size(), written.size());
  }
  EXPECT_LE(written.size(), 2);
  EXPECT_EQ(written.back(), "99");
}

TEST_F(Background, WritesWhatIsPendingBeforeItEnds) {
  {
    BackgroundWriter writer(slow);
    writer.save("last");
    released.set_value();
  }
  EXPECT_THAT(written, ElementsAre("last"));
}

TEST_F(Background, TellsOnceWhatWentWrong) {
  BackgroundWriter writer([](const std::string& content) { return "cannot write " + content; });
  writer.save("it");
  EXPECT_EQ(writer.drain(), "cannot write it");
  EXPECT_EQ(writer.drain(), "");
}

}  // namespace
}  // namespace holdfast::xpcs_fit
