// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/profile.hpp"

#include <algorithm>

#include "gate/documents/baseline.hpp"

namespace holdfast::gate {
namespace {

const std::vector<std::string_view> clocks = {"cupti", "host", "none"};
const std::vector<std::string_view> op_kinds = {"fused",    "scatter", "gemm", "fft",
                                                "reduce",   "copy",    "fill", "upload",
                                                "download", "loop",    "scope"};

// Times and bytes that may be negative, because they count from the start of the recording.
double measured(const Reader& reader) {
  const double value = reader.number();
  refuse_absurd(reader, value, false);
  return value;
}

double not_negative(const Reader& reader) {
  const double value = measured(reader);
  if (value < 0) throw reader.wrong("a profile holds no negative number here");
  return value;
}

std::int64_t change(const Reader& reader) {
  const std::int64_t value = reader.integer();
  refuse_absurd(reader, static_cast<double>(value), true);
  return value;
}

std::int64_t count(const Reader& reader) {
  const std::int64_t value = change(reader);
  if (value < 0) throw reader.wrong("a profile holds no negative number here");
  return value;
}

std::optional<double> not_negative_or_null(const Reader& reader) {
  if (reader.is_null()) return std::nullopt;
  return not_negative(reader);
}

std::optional<std::int64_t> count_or_null(const Reader& reader) {
  if (reader.is_null()) return std::nullopt;
  return count(reader);
}

// A share of a whole; rounding may put a sum slightly above it.
std::optional<double> fraction_or_null(const Reader& reader) {
  const auto value = not_negative_or_null(reader);
  if (value && *value > 1 + 1e-6) throw reader.wrong(text("a share of ", *value, " is above 1"));
  return value;
}

std::vector<std::int64_t> shape_or_null(const Reader& reader) {
  std::vector<std::int64_t> shape;
  if (reader.is_null()) return shape;
  for (const Reader& item : reader.items()) shape.push_back(count(item));
  if (shape.size() != 3) throw reader.wrong("a launch shape has three numbers: x, y, z");
  return shape;
}

ProfileOverview parse_overview(const Reader& reader) {
  Object object = reader.object();
  ProfileOverview overview;
  if (const Reader steps = object.take("step_s"); !steps.is_null())
    for (const Reader& step : steps.items()) overview.step_s.push_back(not_negative(step));
  overview.mean_step_s = not_negative_or_null(object.take("mean_step_s"));
  overview.busy_fraction = fraction_or_null(object.take("busy_fraction"));
  overview.idle_fraction = fraction_or_null(object.take("idle_fraction"));
  overview.max_gap_s = not_negative_or_null(object.take("max_gap_s"));
  if (const Reader between = object.take("max_gap_between"); !between.is_null()) {
    overview.max_gap_between = between.strings();
    if (overview.max_gap_between.size() != 2)
      throw between.wrong("a gap lies between two operations");
  }
  overview.declared_h2d_bytes = not_negative_or_null(object.take("declared_h2d_bytes"));
  overview.top_op = object.take("top_op").string_or_null();
  overview.top_op_fraction = fraction_or_null(object.take("top_op_fraction"));
  using Member = double ProfileOverview::*;
  constexpr std::array<std::pair<const char*, Member>, 10> members = {
      {{"launches", &ProfileOverview::launches},
       {"library_calls", &ProfileOverview::library_calls},
       {"graph_nodes", &ProfileOverview::graph_nodes},
       {"copies", &ProfileOverview::copies},
       {"syncs", &ProfileOverview::syncs},
       {"h2d_bytes", &ProfileOverview::h2d_bytes},
       {"d2h_bytes", &ProfileOverview::d2h_bytes},
       {"allocations", &ProfileOverview::allocations},
       {"programs", &ProfileOverview::programs},
       {"plans", &ProfileOverview::plans}}};
  for (const auto& [name, member] : members) overview.*member = not_negative(object.take(name));
  object.close();
  return overview;
}

ProfileOp parse_op(const Reader& reader) {
  Object object = reader.object();
  ProfileOp op{.name = object.take("name").string(),
               .kind = object.take("kind").one_of(op_kinds),
               .count = count(object.take("count")),
               .total_s = not_negative_or_null(object.take("total_s")),
               .mean_s = not_negative_or_null(object.take("mean_s")),
               .min_s = not_negative_or_null(object.take("min_s")),
               .max_s = not_negative_or_null(object.take("max_s")),
               .fraction = fraction_or_null(object.take("fraction")),
               .grid = shape_or_null(object.take("grid")),
               .block = shape_or_null(object.take("block")),
               .dynamic_shared_bytes = count_or_null(object.take("dynamic_shared_bytes")),
               .shared_bytes = count_or_null(object.take("shared_bytes")),
               .registers = count_or_null(object.take("registers")),
               .spill_bytes = count_or_null(object.take("spill_bytes")),
               .occupancy = not_negative_or_null(object.take("occupancy")),
               .waves = not_negative_or_null(object.take("waves"))};
  object.close();
  return op;
}

ProfileScope parse_profile_scope(const Reader& reader) {
  Object object = reader.object();
  ProfileScope scope{.path = object.take("path").string(),
                     .depth = count(object.take("depth")),
                     .count = count(object.take("count")),
                     .total_s = not_negative(object.take("total_s")),
                     .self_s = not_negative(object.take("self_s")),
                     .fraction = not_negative_or_null(object.take("fraction")),
                     .launches = count(object.take("launches"))};
  object.close();
  return scope;
}

ProfileTransfer parse_transfer(const Reader& reader) {
  Object object = reader.object();
  ProfileTransfer transfer{.count = count(object.take("count")),
                           .bytes = count(object.take("bytes")),
                           .total_s = not_negative_or_null(object.take("total_s")),
                           .bytes_per_s = not_negative_or_null(object.take("bytes_per_s"))};
  object.close();
  return transfer;
}

ProfileGap parse_gap(const Reader& reader) {
  Object object = reader.object();
  ProfileGap gap{.after = object.take("after").string(),
                 .before = object.take("before").string(),
                 .seconds = not_negative(object.take("seconds")),
                 .at_s = measured(object.take("at_s"))};
  object.close();
  return gap;
}

ProfileMemory parse_memory(const Reader& reader) {
  Object object = reader.object();
  ProfileMemory memory{.peak_bytes = count(object.take("peak_bytes"))};
  for (const auto& [site, bytes] : object.take("peak_by_site").object().rest())
    memory.peak_by_site[site] = count(bytes);
  memory.live_bytes_end = count(object.take("live_bytes_end"));
  memory.device_total_bytes = count_or_null(object.take("device_total_bytes"));
  for (const Reader& item : object.take("timeline").items()) {
    Object point = item.object();
    memory.timeline.push_back({.seconds = measured(point.take("s")),
                               .bytes = count(point.take("bytes")),
                               .delta = change(point.take("delta")),
                               .site = point.take("site").string()});
    point.close();
  }
  object.close();
  return memory;
}

ProfileCompile parse_compile(const Reader& reader) {
  Object object = reader.object();
  ProfileCompile compile{.program = object.take("program").string(),
                         .reason = object.take("reason").string(),
                         .steady = object.take("steady").boolean(),
                         .from_cache = object.take("from_cache").boolean(),
                         .trace_s = not_negative(object.take("trace_s")),
                         .lower_s = not_negative(object.take("lower_s")),
                         .compile_s = not_negative(object.take("compile_s")),
                         .load_s = not_negative(object.take("load_s")),
                         .kernels = count(object.take("kernels")),
                         .registers_max = count(object.take("registers_max")),
                         .spill_bytes = count(object.take("spill_bytes"))};
  object.close();
  return compile;
}

ProfileWindow parse_window(const Reader& reader) {
  Object object = reader.object();
  ProfileWindow window{.first_step = count(object.take("first_step")),
                       .steps = count(object.take("steps")),
                       .mean_step_s = not_negative_or_null(object.take("mean_step_s")),
                       .busy_fraction = fraction_or_null(object.take("busy_fraction"))};
  object.close();
  return window;
}

template <class Item, class Parse>
std::vector<Item> parse_all(const Reader& reader, Parse parse) {
  std::vector<Item> all;
  for (const Reader& item : reader.items()) all.push_back(parse(item));
  return all;
}

void parse_identity(Object& object, Profile& profile) {
  profile.suite = object.take("suite").string();
  profile.case_id = object.take("case").string();
  profile.variant = object.take("variant").one_of({"optimized", "reference"});
  profile.device = object.take("device").string();
  profile.device_class = object.take("device_class").string();
  profile.device_name = object.take("device_name").string();
  profile.executed = object.take("executed").boolean();
  profile.clock = object.take("clock").one_of(clocks);
  profile.silence = object.take("silence").string_or_null();
  const Reader steps = object.take("steps");
  profile.steps = count(steps);
  if (profile.steps < 1) throw steps.wrong("a profile is of one step at least");
  profile.dropped = count(object.take("dropped"));
}

}  // namespace

bool ProfileOp::is_kernel() const {
  constexpr std::array<std::string_view, 4> others = {"fill", "upload", "download", "scope"};
  if (std::find(others.begin(), others.end(), kind) != others.end()) return false;
  return kind != "copy" || !grid.empty();  // a copy kernel of ours has a grid, a memcpy has none
}

Profile parse_profile(const Document& document) {
  Object object = open_schema(document, "holdfast-profile/1");
  Profile profile;
  parse_identity(object, profile);
  profile.overview = parse_overview(object.take("overview"));
  profile.ops = parse_all<ProfileOp>(object.take("ops"), parse_op);
  profile.scopes = parse_all<ProfileScope>(object.take("scopes"), parse_profile_scope);
  Object transfers = object.take("transfers").object();
  for (const char* way : {"h2d", "d2h", "d2d"})
    profile.transfers[way] = parse_transfer(transfers.take(way));
  transfers.close();
  profile.gaps = parse_all<ProfileGap>(object.take("gaps"), parse_gap);
  profile.memory = parse_memory(object.take("memory"));
  profile.compiles = parse_all<ProfileCompile>(object.take("compiles"), parse_compile);
  profile.first_call_s = not_negative_or_null(object.take("first_call_s"));
  profile.windows = parse_all<ProfileWindow>(object.take("windows"), parse_window);
  Object work = object.take("work").object();
  profile.work_flops = not_negative(work.take("flops"));
  profile.work_bytes = not_negative(work.take("bytes"));
  work.close();
  profile.floor_s = not_negative_or_null(object.take("floor_s"));
  if (const auto floor = object.optional("kernels_floor_s"))
    profile.kernels_floor_s = not_negative_or_null(*floor);
  if (const Reader reader = object.take("device_counts"); !reader.is_null()) {
    Object counts = reader.object();
    for (const char* name : {"kernels", "copied_bytes_h2d", "copied_bytes_d2h", "copied_bytes_d2d",
                             "modules_loaded", "jit_runs", "memory_peak_bytes"})
      profile.device_counts[name] = count(counts.take(name));
    counts.close();
  }
  profile.trace = object.take("trace").string_or_null();
  object.close();
  return profile;
}

Profile read_profile(const std::filesystem::path& path) {
  return parse_profile(Document::open(path));
}

std::string slug(const std::string& case_id) {
  std::string out = case_id;
  std::replace(out.begin(), out.end(), '/', '.');
  std::replace(out.begin(), out.end(), ':', '_');
  return out;
}

}  // namespace holdfast::gate
