// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/trace.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "harness/testing/synthetic.hpp"

namespace holdfast {
namespace {

using nlohmann::json;
using Kind = Activity::Kind;

// A warm-up of two steps and two profiled ones, each a scope with two kernels inside.
Synthetic stepping(bool executes = true) {
  Synthetic device(executes);
  device.allocate("state", 100);
  const auto body = [&] {
    device.open("rhs");
    device.open("project \"h\"");
    device.kernel("a", device.now + 2 * us, device.now + 3 * us, {.grid = {2}, .block = {64}});
    device.close();
    device.kernel("b", device.now + 4 * us, device.now + 5 * us);
    device.close();
    device.now += 5 * us;
  };
  for (int i = 0; i < 2; ++i) device.data.warm_up.push_back(device.stepped(body));
  for (int i = 0; i < 2; ++i) device.step(body);
  return device;
}

// The events of a phase, in the file's order; with a track only those on it.
struct Events {
  explicit Events(const Profiled& data, std::size_t limit = 5'000'000)
      : trace(trace_of(data, limit)), document(json::parse(trace.text)) {}

  std::vector<json> phase(const std::string& letter) const {
    std::vector<json> found;
    for (const json& event : document["traceEvents"])
      if (event["ph"] == letter) found.push_back(event);
    return found;
  }
  std::vector<json> on(std::string_view track) const {
    std::vector<json> found;
    for (const json& name : phase("M"))
      if (name["name"] == "thread_name" && name["args"]["name"] == track)
        for (const json& event : phase("X"))
          if (event["pid"] == name["pid"] && event["tid"] == name["tid"]) found.push_back(event);
    return found;
  }

  Trace trace;
  json document;
};

// In nanoseconds, which the format's microseconds hold exactly.
std::int64_t ns(const json& value) {
  return std::llround(value.get<double>() * 1000);
}

void expect_nested(std::vector<json> events) {
  std::vector<std::int64_t> open;
  std::stable_sort(events.begin(), events.end(), [](const json& a, const json& b) {
    return ns(a["ts"]) != ns(b["ts"]) ? ns(a["ts"]) < ns(b["ts"]) : ns(a["dur"]) > ns(b["dur"]);
  });
  for (const json& event : events) {
    const std::int64_t begin = ns(event["ts"]), end = begin + ns(event["dur"]);
    while (!open.empty() && open.back() <= begin) open.pop_back();
    if (!open.empty()) {
      EXPECT_LE(end, open.back()) << event << " outlasts what encloses it";
    }
    open.push_back(end);
  }
}

TEST(Trace, NamesItsTracks) {
  const Synthetic device = stepping();
  std::vector<std::string> names;
  for (const json& event : Events(device.data).phase("M"))
    if (event["name"] == "thread_name") names.push_back(event["args"]["name"]);
  EXPECT_THAT(names, testing::ElementsAre("steps", "scopes", "host verbs", "device"));
}

TEST(Trace, CopiesOnALaneOfTheirOwnHaveATrack) {
  Synthetic device;
  device.step([&] {
    device.slice(Kind::upload, "upload", 1 * us, 4 * us).lane = Lane::copies;
    device.kernel("a", 2 * us, 3 * us);
  });
  const Events events(device.data);
  ASSERT_EQ(events.on(copies_track).size(), 1);
  EXPECT_EQ(events.on(copies_track)[0]["name"], "upload");
  ASSERT_EQ(events.on(device_track).size(), 1);
  EXPECT_EQ(events.on(device_track)[0]["name"], "a");
}

TEST(Trace, WorkersHaveATrackEach) {
  Synthetic device = stepping();
  for (const double begin : {2 * us, 4 * us}) {
    WorkerTrack& worker = device.data.recorded.workers.emplace_back(std::thread::id(), "fetch");
    const std::size_t batch = worker.open("batch", begin);
    worker.close(worker.open("round", begin + us), begin + 2 * us);
    worker.close(batch, begin + 3 * us);
  }
  const std::vector<json> events = Events(device.data).on("worker: fetch");
  ASSERT_EQ(events.size(), 4);
  EXPECT_NE(events[0]["tid"], events[3]["tid"]);
  for (const int thread : {4, 5}) {
    std::vector<json> of;
    std::ranges::copy_if(events, std::back_inserter(of),
                         [&](const json& event) { return event["tid"] == thread; });
    EXPECT_EQ(of.size(), 2);
    expect_nested(of);
  }
}

TEST(Trace, SaysThatNothingWasExecuted) {
  const Synthetic device = stepping(false);
  const Events events(device.data);
  const auto slices = events.on("device (not executed)");
  ASSERT_EQ(slices.size(), 8);
  for (const json& slice : slices) EXPECT_EQ(slice["args"]["executed"], false);
}

TEST(Trace, OfDryWorkIsOneUnitEachInOrder) {
  const Synthetic device = stepping(false);
  const Events events(device.data);
  const auto launches = events.phase("s");
  std::int64_t free_at = 0;
  for (std::size_t i = 0; const json& slice : events.on("device (not executed)")) {
    EXPECT_EQ(ns(slice["dur"]), 1000);
    EXPECT_GE(ns(slice["ts"]), free_at);
    EXPECT_GE(ns(slice["ts"]), ns(launches.at(i++)["ts"])) << "before its launch";
    free_at = ns(slice["ts"]) + 1000;
  }
}

TEST(Trace, NumbersStepsAsTheRunDoes) {
  Synthetic device;
  for (const int first : {5, 10}) {
    device.data.windows.push_back({.first_step = first});
    for (int i = 0; i < 2; ++i) device.step([&] { device.kernel("a", device.now, device.now); });
  }
  std::vector<std::string> names;
  for (const json& step : Events(device.data).on("steps")) names.push_back(step["name"]);
  EXPECT_THAT(names, testing::ElementsAre("step 5", "step 6", "step 10", "step 11"));
}

TEST(Trace, NestsOnEveryTrack) {
  const Synthetic device = stepping();
  const Events events(device.data);
  for (const std::string_view track : {"steps", "scopes", "host verbs", "device"}) {
    EXPECT_FALSE(events.on(track).empty()) << track;
    expect_nested(events.on(track));
  }
}

TEST(Trace, NestsWhereNanosecondsRoundBothEndsAlike) {
  Synthetic device;
  device.now = 0.1234567;
  device.step([&] {
    device.open("outer");
    for (int i = 0; i < 50; ++i) {
      device.open("inner");
      device.now += 1.4999999e-9;
      device.close();
    }
    device.close();
  });
  expect_nested(Events(device.data).on("scopes"));
}

TEST(Trace, HasEventsInTheOrderInWhichTheyBegin) {
  const Synthetic device = stepping();
  const auto verbs = Events(device.data).on("host verbs");
  EXPECT_TRUE(std::is_sorted(verbs.begin(), verbs.end(), [](const json& a, const json& b) {
    return ns(a["ts"]) < ns(b["ts"]);
  }));
}

TEST(Trace, LeadsFromEachLaunchToItsSlice) {
  const Synthetic device = stepping();
  const Events events(device.data);
  const auto begins = events.phase("s"), ends = events.phase("f");
  const auto verbs = events.on("host verbs"), slices = events.on("device");
  ASSERT_EQ(begins.size(), slices.size());
  ASSERT_EQ(ends.size(), slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    EXPECT_EQ(begins[i]["id"], ends[i]["id"]);
    EXPECT_EQ(ns(ends[i]["ts"]), ns(slices[i]["ts"]));
    const auto launch = std::find_if(verbs.begin(), verbs.end(), [&](const json& verb) {
      return verb["args"]["activity"] == slices[i]["args"]["correlation"];
    });
    ASSERT_NE(launch, verbs.end());
    EXPECT_EQ((*launch)["name"], slices[i]["name"]);
    EXPECT_EQ(ns((*launch)["ts"]), ns(begins[i]["ts"]));
  }
}

TEST(Trace, TellsTheShapeOfAKernel) {
  const Synthetic device = stepping();
  const json arguments = Events(device.data).on("device")[0]["args"];
  EXPECT_EQ(arguments["grid"], json({2, 1, 1}));
  EXPECT_EQ(arguments["block"], json({64, 1, 1}));
  EXPECT_EQ(arguments["registers"], 32);
  EXPECT_GT(arguments["occupancy"], 0);
}

TEST(Trace, CountsTheMemoryHeld) {
  Synthetic device = stepping();
  device.release("state", 100);
  const auto counters = Events(device.data).phase("C");
  ASSERT_EQ(counters.size(), 2);
  EXPECT_EQ(counters[0]["name"], "live bytes");
  EXPECT_EQ(counters[0]["args"]["bytes"], 100);
  EXPECT_EQ(counters[1]["args"]["bytes"], 0);
}

TEST(Trace, KeepsQuotesInNames) {
  const Synthetic device = stepping();
  EXPECT_EQ(Events(device.data).on("scopes")[1]["name"], "project \"h\"");
}

TEST(Trace, OfTheHostHasNoDevice) {
  Synthetic host;
  host.data.architecture.reset();
  host.step([&] { host.now += us; });
  for (const json& event : Events(host.data).phase("M")) EXPECT_EQ(event["pid"], 1);
}

TEST(Trace, ThatIsNotTooLargeIsWhole) {
  const Synthetic device = stepping();
  const Events events(device.data);
  EXPECT_EQ(events.trace.cut, "");
  EXPECT_EQ(events.on("steps").size(), 4);
}

TEST(Trace, ThatIsTooLargeLosesItsWarmUpFirst) {
  const Synthetic device = stepping();
  const std::size_t whole = trace_of(device.data).text.size();
  const Events events(device.data, whole);  // the frame is estimated from above
  std::vector<std::string> steps;
  for (const json& step : events.on("steps")) steps.push_back(step["name"]);
  EXPECT_THAT(steps, testing::ElementsAre("warm-up 0", "step 0", "step 1"));
}

TEST(Trace, ThatIsTooLargeIsCutAndSaysHowToTakeASmallerOne) {
  Synthetic device = stepping();
  for (int i = 0; i < 100; ++i) device.step([&] { device.kernel("a", device.now, device.now); });
  constexpr std::size_t limit = 20'000;
  const Events events(device.data, limit);
  EXPECT_LE(events.trace.text.size(), limit);
  // Beside the slice of each of the last there are two of the first warm-up and of the first steps.
  EXPECT_THAT(events.trace.cut, testing::HasSubstr(text(" holds ", events.on("device").size() - 4,
                                                        " of 102 profiled steps whole")));
  EXPECT_THAT(events.trace.cut, testing::HasSubstr("--profile-steps="));
  EXPECT_EQ(events.document["otherData"]["cut"], events.trace.cut);
  expect_nested(events.on("scopes"));
  EXPECT_EQ(events.phase("s").size(), events.on("device").size());
}

TEST(Trace, OfOneVeryLongReplayIsCutWithinIt) {
  Synthetic device;
  device.step([&] {
    (void)device.verb(Kind::replay, "replay");
    for (int i = 0; i < 1000; ++i) device.enqueue(Kind::kernel, "node", i * us, i * us + us);
  });
  constexpr std::size_t limit = 50'000;
  const Events events(device.data, limit);
  EXPECT_LE(events.trace.text.size(), limit);
  EXPECT_EQ(events.on("host verbs").size(), 1);
  EXPECT_GT(events.on("device").size(), 100);
  EXPECT_THAT(events.trace.cut, testing::HasSubstr("0 of 1 profiled steps"));
}

}  // namespace
}  // namespace holdfast
