// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/memory_profile.hpp"

#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <protozero/pbf_builder.hpp>

#include "harness/case/profile_options.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

// Field numbers of profile.proto: https://github.com/google/pprof/blob/main/proto/profile.proto
enum class ProfileField : protozero::pbf_tag_type {
  sample_type = 1,
  sample = 2,
  mapping = 3,
  location = 4,
  function = 5,
  string_table = 6,
  time_nanos = 9,
  duration_nanos = 10,
  period_type = 11,
  period = 12,
  comment = 13,
  default_sample_type = 14
};
enum class ValueTypeField : protozero::pbf_tag_type { type = 1, unit = 2 };
enum class SampleField : protozero::pbf_tag_type { location_id = 1, value = 2 };
enum class MappingField : protozero::pbf_tag_type { id = 1, filename = 5, has_functions = 7 };
enum class LocationField : protozero::pbf_tag_type { id = 1, mapping_id = 2, line = 4 };
enum class LineField : protozero::pbf_tag_type { function_id = 1 };
enum class FunctionField : protozero::pbf_tag_type { id = 1, name = 2, system_name = 3 };

using Builder = protozero::pbf_builder<ProfileField>;

// Numbers distinct words from zero.
class Numbered {
 public:
  std::int64_t operator()(const std::string& word) {
    const auto [known, fresh] =
        numbers_.try_emplace(word, static_cast<std::int64_t>(words_.size()));
    if (fresh) words_.push_back(word);
    return known->second;
  }
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, std::int64_t> numbers_ = {};
  std::vector<std::string> words_ = {};
};

void add_value_type(Builder& profile, ProfileField field, std::int64_t type, std::int64_t unit) {
  protozero::pbf_builder<ValueTypeField> value(profile, field);
  value.add_int64(ValueTypeField::type, type);
  value.add_int64(ValueTypeField::unit, unit);
}

// One location per function, with the same number: there are no addresses. All lie in one mapping,
// whose name pprof shows as the program.
void add_frames(Builder& profile, const std::string& program, const Numbered& frames,
                Numbered& strings) {
  constexpr std::uint64_t only_mapping = 1;
  {
    protozero::pbf_builder<MappingField> mapping(profile, ProfileField::mapping);
    mapping.add_uint64(MappingField::id, only_mapping);
    mapping.add_int64(MappingField::filename, strings(program));
    mapping.add_bool(MappingField::has_functions, true);
  }
  for (std::size_t i = 0; i < frames.words().size(); ++i) {
    const std::uint64_t id = i + 1;  // zero is no id
    {
      protozero::pbf_builder<LocationField> location(profile, ProfileField::location);
      location.add_uint64(LocationField::id, id);
      location.add_uint64(LocationField::mapping_id, only_mapping);
      protozero::pbf_builder<LineField> line(location, LocationField::line);
      line.add_uint64(LineField::function_id, id);
    }
    protozero::pbf_builder<FunctionField> function(profile, ProfileField::function);
    function.add_uint64(FunctionField::id, id);
    function.add_int64(FunctionField::name, strings(frames.words()[i]));
    function.add_int64(FunctionField::system_name, strings(frames.words()[i]));
  }
}

std::string gzip(const std::string& data) {
  z_stream stream = {};
  constexpr int gzip_format = 15 + 16;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_format, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(Fault::device, "failed to begin compressing a memory profile");
  std::string out(deflateBound(&stream, data.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  (void)deflateEnd(&stream);
  if (status != Z_STREAM_END) throw Error(Fault::device, "failed to compress a memory profile");
  return out;
}

std::vector<std::uint64_t> stack(const Profiled& profiled, const std::vector<int>& parent,
                                 const Held& held, Numbered& frames) {
  std::vector<std::string> names = {held.site};
  for (int scope = held.scope; scope >= 0; scope = parent[static_cast<std::size_t>(scope)])
    names.push_back(profiled.recorded.scopes[static_cast<std::size_t>(scope)].name);
  names.emplace_back(variant_name(profiled.variant));
  names.push_back(profiled.case_id);
  std::vector<std::uint64_t> ids;
  for (const std::string& frame : names)
    ids.push_back(static_cast<std::uint64_t>(frames(frame)) + 1);
  return ids;
}

}  // namespace

// A release has a site and a size, but does not identify its allocation: the latest one with both
// is assumed.
std::vector<Held> held_at_peak(const std::vector<Activity>& activities) {
  std::vector<const Activity*> live, at_peak;
  std::int64_t peak = 0;
  for (const Activity& activity : activities) {
    if (activity.kind == Activity::Kind::allocate) {
      live.push_back(&activity);
      if (activity.live_bytes > peak) {
        peak = activity.live_bytes;
        at_peak = live;
      }
    } else if (activity.kind == Activity::Kind::release) {
      const auto same_size = [&](const Activity* held) {
        return held->name == activity.name && held->bytes == activity.bytes;
      };
      const auto found = std::find_if(live.rbegin(), live.rend(), same_size);
      if (found != live.rend()) live.erase(std::next(found).base());
    }
  }
  std::map<std::pair<std::string, int>, Held> sums;
  for (const Activity* activity : at_peak) {
    Held& sum = sums[{activity->name, activity->scope}];
    sum.site = activity->name;
    sum.scope = activity->scope;
    ++sum.count;
    sum.bytes += activity->bytes;
  }
  std::vector<Held> result;
  for (auto& [key, sum] : sums) result.push_back(std::move(sum));
  return result;
}

std::string memory_profile(const Profiled& profiled) {
  Numbered strings, frames;
  (void)strings("");  // the format requires entry zero to be empty
  const std::int64_t space = strings("space"), bytes = strings("bytes");
  const std::vector<int> parent = parents(profiled.recorded.scopes);
  std::string data;
  Builder profile(data);
  add_value_type(profile, ProfileField::sample_type, strings("allocations"), strings("count"));
  add_value_type(profile, ProfileField::sample_type, space, bytes);
  for (const Held& held : held_at_peak(profiled.recorded.activities)) {
    const auto ids = stack(profiled, parent, held, frames);
    const std::int64_t values[] = {held.count, held.bytes};
    protozero::pbf_builder<SampleField> sample(profile, ProfileField::sample);
    sample.add_packed_uint64(SampleField::location_id, ids.begin(), ids.end());
    sample.add_packed_int64(SampleField::value, std::begin(values), std::end(values));
  }
  add_frames(profile, profiled.suite, frames, strings);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const double last =
      profiled.recorded.activities.empty() ? 0 : profiled.recorded.activities.back().end;
  profile.add_int64(ProfileField::time_nanos,
                    std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  profile.add_int64(ProfileField::duration_nanos, std::llround(last * 1e9));
  add_value_type(profile, ProfileField::period_type, space, bytes);
  profile.add_int64(ProfileField::period, 1);
  profile.add_int64(ProfileField::comment,
                    strings(text("memory at its peak on ", profiled.device)));
  profile.add_int64(ProfileField::default_sample_type, space);
  for (const std::string& word : strings.words())
    profile.add_string(ProfileField::string_table, word);
  return gzip(data);
}

}  // namespace holdfast
