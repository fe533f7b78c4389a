// SPDX-License-Identifier: Apache-2.0
// Decodes what was written, by the field numbers of profile.proto and not by the writer's names.
#include "harness/profile/memory_profile.hpp"

#include <gmock/gmock.h>
#include <zlib.h>

#include <map>
#include <protozero/pbf_reader.hpp>

#include "harness/testing/synthetic.hpp"

namespace holdfast {
namespace {

using testing::ElementsAre;

std::string inflated(const std::string& gzip) {
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

// A message as its fields: numbers by tag, submessages and packed arrays as bytes.
struct Message {
  explicit Message(const std::string& bytes) {
    protozero::pbf_reader reader(bytes);
    while (reader.next()) {
      if (reader.wire_type() == protozero::pbf_wire_type::varint)
        numbers[reader.tag()].push_back(reader.get_int64());
      else
        texts[reader.tag()].push_back(reader.get_string());
    }
  }
  std::int64_t number(unsigned tag) const { return numbers.at(tag).at(0); }
  std::vector<Message> messages(unsigned tag) const {
    std::vector<Message> all;
    for (const std::string& bytes : texts.at(tag)) all.emplace_back(bytes);
    return all;
  }
  std::vector<std::int64_t> packed(unsigned tag) const {
    std::vector<std::int64_t> values;
    const std::string& bytes = texts.at(tag).at(0);
    for (const char *at = bytes.data(), *end = at + bytes.size(); at != end;)
      values.push_back(static_cast<std::int64_t>(protozero::decode_varint(&at, end)));
    return values;
  }

  std::map<unsigned, std::vector<std::int64_t>> numbers = {};
  std::map<unsigned, std::vector<std::string>> texts = {};
};

struct Sample {
  std::vector<std::string> stack = {};  // innermost first
  std::int64_t count = 0, bytes = 0;
};

struct Decoded {
  explicit Decoded(const Profiled& profiled) : profile(inflated(memory_profile(profiled))) {
    strings = profile.texts.at(6);
    std::map<std::int64_t, std::string> functions, locations;
    for (const Message& function : profile.messages(5))
      functions[function.number(1)] = word(function.number(2));
    for (const Message& location : profile.messages(4))
      locations[location.number(1)] = functions.at(location.messages(4).at(0).number(1));
    for (const Message& message : profile.messages(2)) {
      Sample& sample = samples.emplace_back();
      for (const std::int64_t id : message.packed(1)) sample.stack.push_back(locations.at(id));
      const auto values = message.packed(2);
      EXPECT_EQ(values.size(), 2);
      sample.count = values[0];
      sample.bytes = values[1];
    }
  }
  std::string word(std::int64_t index) const { return strings.at(static_cast<std::size_t>(index)); }

  Message profile;
  std::vector<std::string> strings = {};
  std::vector<Sample> samples = {};
};

Synthetic holding() {
  Synthetic device;
  device.allocate("state", 1000);
  device.allocate("scratch", 300);
  device.release("scratch", 300);
  device.open("setup");
  device.open("tables");
  device.allocate("tables", 500);
  device.allocate("tables", 250);
  device.close();
  device.close();
  device.release("tables", 250);
  return device;
}

TEST(MemoryProfile, SumsToThePeak) {
  const Synthetic device = holding();
  const Decoded decoded(device.data);
  std::int64_t sum = 0;
  for (const Sample& sample : decoded.samples) sum += sample.bytes;
  EXPECT_EQ(sum, 1750);
  EXPECT_EQ(sum, device.data.peak_bytes);
}

TEST(MemoryProfile, StacksSiteScopesVariantAndCase) {
  const Synthetic device = holding();
  const Decoded decoded(device.data);
  ASSERT_EQ(decoded.samples.size(), 2);
  EXPECT_THAT(decoded.samples[0].stack, ElementsAre("state", "optimized", "toy/count/n:1/f64"));
  EXPECT_THAT(decoded.samples[1].stack,
              ElementsAre("tables", "tables", "setup", "optimized", "toy/count/n:1/f64"));
  EXPECT_EQ(decoded.samples[1].count, 2);
}

TEST(MemoryProfile, SaysWhatItsNumbersAre) {
  const Synthetic device = holding();
  const Decoded decoded(device.data);
  const auto types = decoded.profile.messages(1);
  ASSERT_EQ(types.size(), 2);
  EXPECT_EQ(decoded.word(types[0].number(1)), "allocations");
  EXPECT_EQ(decoded.word(types[0].number(2)), "count");
  EXPECT_EQ(decoded.word(types[1].number(1)), "space");
  EXPECT_EQ(decoded.word(types[1].number(2)), "bytes");
  EXPECT_EQ(decoded.word(decoded.profile.number(14)), "space");
}

TEST(MemoryProfile, BeginsItsStringsWithTheEmptyOneAndTellsTheTime) {
  const Synthetic device = holding();
  const Decoded decoded(device.data);
  EXPECT_EQ(decoded.strings.at(0), "");
  EXPECT_GT(decoded.profile.number(9), 1'600'000'000'000'000'000);
  EXPECT_EQ(decoded.profile.number(10), 6000);
  EXPECT_EQ(decoded.profile.number(12), 1);
}

TEST(HeldAtPeak, TakesAReleaseForTheLatestOfItsSiteAndSize) {
  Synthetic device;
  device.allocate("a", 10);
  device.open("inner");
  device.allocate("a", 10);
  device.close();
  device.release("a", 10);
  device.allocate("b", 100);
  const auto held = held_at_peak(device.data.recorded.activities);
  ASSERT_EQ(held.size(), 2);
  EXPECT_EQ(held[0].site, "a");
  EXPECT_EQ(held[0].scope, -1);
  EXPECT_EQ(held[1].bytes, 100);
}

TEST(HeldAtPeak, IsNothingWhereNothingWasAllocated) {
  EXPECT_TRUE(held_at_peak({}).empty());
}

}  // namespace
}  // namespace holdfast
