// SPDX-License-Identifier: Apache-2.0
// For tests: a memory profile decoded by the field numbers of profile.proto, and not by its
// writer's names.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <set>
#include <string>
#include <vector>

#include "harness/testing/shell.hpp"

namespace holdfast::pprof {

inline std::string inflated(const std::string& gzip) {
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
  explicit Decoded(const std::string& gzip) : profile(inflated(gzip)) {
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
  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const Sample& sample : samples) sum += sample.bytes;
    return sum;
  }
  std::string word(std::int64_t index) const { return strings.at(static_cast<std::size_t>(index)); }

  Message profile;
  std::vector<std::string> strings = {};
  std::vector<Sample> samples = {};
};

// The sites of a variant's memory profile in that folder, whose bytes are those of its peak.
inline std::set<std::string> sites_of_peak(const std::filesystem::path& folder,
                                           const std::string& variant, double peak_bytes) {
  std::set<std::string> sites;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().string().ends_with(variant + ".pb.gz")) continue;
    const Decoded decoded(read(entry.path()));
    EXPECT_EQ(decoded.bytes(), peak_bytes) << variant;
    for (const Sample& sample : decoded.samples) sites.insert(sample.stack.at(0));
  }
  EXPECT_FALSE(sites.empty()) << variant;
  return sites;
}

}  // namespace holdfast::pprof
