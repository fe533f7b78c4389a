// SPDX-License-Identifier: Apache-2.0
#include "gate/report/profile_report.hpp"

#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>

#include "gate/base/numbers.hpp"
#include "gate/base/text_table.hpp"

namespace holdfast::gate {
namespace {

constexpr std::size_t most_rows = 20;
constexpr const char* unknown = "-";
constexpr const char* indent = "  ";

std::string seconds(const std::optional<double>& value) {
  return value ? readable(*value, "s") : unknown;
}
std::string share(const std::optional<double>& fraction) {
  if (!fraction) return unknown;
  std::ostringstream out;
  out << std::setprecision(3) << 100 * *fraction << " %";
  return std::move(out).str();
}
std::string number(double value) {
  return readable(value, "");
}
std::string bytes(std::int64_t value) {
  return readable(static_cast<double>(value), "B");
}
template <class Number>
std::string or_unknown(const std::optional<Number>& value) {
  return value ? number(static_cast<double>(*value)) : unknown;
}

std::string shape(const std::vector<std::int64_t>& dimensions) {
  if (dimensions.empty()) return unknown;
  return text(dimensions[0], "x", dimensions[1], "x", dimensions[2]);
}

std::string section(const std::string& title, const std::string& body) {
  return body.empty() ? "" : text("\n", title, "\n", body);
}

std::string rest_of(std::size_t count, const std::string& what) {
  return count > most_rows ? text(indent, "and ", count - most_rows, " more ", what, "\n") : "";
}

std::string times(const Profile& profile) {
  const ProfileOverview& overview = profile.overview;
  if (!profile.executed) return "nothing was executed: counts are exact, times are unknown";
  std::string out = text("mean step ", seconds(overview.mean_step_s));
  if (!overview.step_s.empty()) {
    const auto [least, most] = std::minmax_element(overview.step_s.begin(), overview.step_s.end());
    out += text(" (", seconds(*least), " .. ", seconds(*most), ")");
  }
  if (overview.busy_fraction) out += text(", busy ", share(overview.busy_fraction));
  if (overview.idle_fraction) out += text(", idle ", share(overview.idle_fraction));
  if (overview.max_gap_s && overview.max_gap_between.size() == 2)
    out += text(", longest gap ", seconds(overview.max_gap_s), " between ",
                overview.max_gap_between[0], " and ", overview.max_gap_between[1]);
  return out;
}

std::string counts(const ProfileOverview& overview) {
  struct Count {
    const char* name;
    double value;
    const char* unit = "";
  };
  const Count all[] = {{"launches", overview.launches},
                       {"library calls", overview.library_calls},
                       {"graph nodes", overview.graph_nodes},
                       {"copies", overview.copies},
                       {"syncs", overview.syncs},
                       {"to the device", overview.h2d_bytes, "B"},
                       {"back", overview.d2h_bytes, "B"},
                       {"allocations", overview.allocations},
                       {"programs", overview.programs},
                       {"plans", overview.plans}};
  std::string out;
  for (const Count& count : all)
    if (count.value != 0) add_to(out, text(readable(count.value, count.unit), " ", count.name));
  return out.empty() ? "no work on a device" : out;
}

std::string operations(const Profile& profile) {
  TextTable table({"operation", "kind", "count", "time", "mean", "share", "grid", "block",
                   "registers", "spill", "occupancy", "waves"});
  for (std::size_t i = 0; i < std::min(profile.ops.size(), most_rows); ++i) {
    const ProfileOp& op = profile.ops[i];
    table.add({op.name, op.kind, number(static_cast<double>(op.count)), seconds(op.total_s),
               seconds(op.mean_s), share(op.fraction), shape(op.grid), shape(op.block),
               or_unknown(op.registers), or_unknown(op.spill_bytes), share(op.occupancy),
               or_unknown(op.waves)});
  }
  return table.empty() ? "" : table.str(indent) + rest_of(profile.ops.size(), "operations");
}

std::string scopes(const Profile& profile) {
  TextTable table({"scope", "count", "time", "self", "share", "launches"});
  for (std::size_t i = 0; i < std::min(profile.scopes.size(), most_rows); ++i) {
    const ProfileScope& scope = profile.scopes[i];
    const std::size_t slash = scope.path.rfind('/');
    const std::string name = slash == std::string::npos ? scope.path : scope.path.substr(slash + 1);
    table.add({std::string(2 * static_cast<std::size_t>(scope.depth), ' ') + name,
               number(static_cast<double>(scope.count)), seconds(scope.total_s),
               seconds(scope.self_s), share(scope.fraction),
               number(static_cast<double>(scope.launches))});
  }
  return table.empty() ? "" : table.str(indent) + rest_of(profile.scopes.size(), "scopes");
}

std::string transfers(const Profile& profile) {
  TextTable table({"transfers", "count", "bytes", "time", "per second"});
  const std::map<std::string, std::string> names = {
      {"h2d", "to the device"}, {"d2h", "back"}, {"d2d", "within the device"}};
  for (const auto& [way, transfer] : profile.transfers)
    if (transfer.count > 0)
      table.add({names.at(way), number(static_cast<double>(transfer.count)), bytes(transfer.bytes),
                 seconds(transfer.total_s),
                 transfer.bytes_per_s ? readable(*transfer.bytes_per_s, "B") : unknown});
  return table.empty() ? text(indent, "none\n") : table.str(indent);
}

std::string memory(const Profile& profile) {
  const ProfileMemory& held = profile.memory;
  std::vector<std::pair<std::int64_t, std::string>> sites;
  for (const auto& [site, amount] : held.peak_by_site) sites.emplace_back(-amount, site);
  std::sort(sites.begin(), sites.end());
  std::string out = text(indent, "peak ", bytes(held.peak_bytes));
  if (held.device_total_bytes) out += text(" of ", bytes(*held.device_total_bytes));
  out += text(", ", bytes(held.live_bytes_end), " held at the end\n");
  TextTable table({"site", "at the peak", "share"});
  for (std::size_t i = 0; i < std::min(sites.size(), most_rows); ++i)
    table.add({sites[i].second, bytes(-sites[i].first),
               held.peak_bytes > 0 ? share(static_cast<double>(-sites[i].first) /
                                           static_cast<double>(held.peak_bytes))
                                   : unknown});
  return out + (table.empty() ? "" : table.str(indent) + rest_of(sites.size(), "sites"));
}

std::string compilations(const Profile& profile) {
  TextTable table(
      {"program", "trace", "lower", "compile", "load", "kernels", "registers", "spill", "because"});
  for (std::size_t i = 0; i < std::min(profile.compiles.size(), most_rows); ++i) {
    const ProfileCompile& one = profile.compiles[i];
    table.add({one.program, seconds(one.trace_s), seconds(one.lower_s), seconds(one.compile_s),
               seconds(one.load_s), number(static_cast<double>(one.kernels)),
               number(static_cast<double>(one.registers_max)),
               number(static_cast<double>(one.spill_bytes)),
               text(one.reason, one.from_cache ? ", from the cache" : "",
                    one.steady ? ", AFTER WARM-UP" : "")});
  }
  std::string out = table.empty() ? "" : table.str(indent);
  if (profile.first_call_s && !out.empty())
    out += text(indent, "first call ", seconds(profile.first_call_s), "\n");
  return out + rest_of(profile.compiles.size(), "compilations");
}

std::string windows(const Profile& profile) {
  if (profile.windows.size() < 2) return "";
  TextTable table({"from step", "steps", "mean step", "busy"});
  for (const ProfileWindow& window : profile.windows)
    table.add({number(static_cast<double>(window.first_step)),
               number(static_cast<double>(window.steps)), seconds(window.mean_step_s),
               share(window.busy_fraction)});
  return table.str(indent);
}

// Where a sentence holds: "CASE  CLASS  VARIANT".
std::string place_of(const Detection& finding) {
  return text(finding.case_id, "  ", finding.device_class, "  ", finding.variant);
}

}  // namespace

std::string describe_briefly(const Profile& profile) {
  std::string out =
      text(profile.case_id, "  ", profile.variant, "  on ", profile.device_name, " (",
           profile.device, ")\n", indent, plural(static_cast<std::size_t>(profile.steps), "step"),
           ", ", times(profile), "\n", indent, "per step: ", counts(profile.overview), "\n");
  if (profile.silence)
    out += text(indent, "the device's own times are missing: ", *profile.silence, "\n");
  if (profile.floor_s && profile.overview.mean_step_s && *profile.overview.mean_step_s > 0)
    out += text(indent, "floor ", seconds(profile.floor_s), ": the step runs at ",
                share(*profile.floor_s / *profile.overview.mean_step_s), " of it\n");
  if (profile.dropped > 0)
    out += text(indent, profile.dropped,
                " activities beyond the limit were not kept; profile fewer steps\n");
  return out;
}

std::string describe(const Profile& profile) {
  return describe_briefly(profile) + section("operations", operations(profile)) +
         section("scopes, on the host's clock", scopes(profile)) +
         section("transfers in the profiled steps", transfers(profile)) +
         section("memory", memory(profile)) + section("compilations", compilations(profile)) +
         section("windows", windows(profile));
}

std::string describe(const std::vector<Detection>& findings, const FindingsShown& shown) {
  struct Told {
    const Detection* first = nullptr;
    std::vector<std::string> places = {};
  };
  std::vector<Told> told;
  std::map<std::string, std::size_t> known;
  std::size_t references = 0;
  for (const Detection& finding : findings) {
    if (finding.expected) continue;
    if (finding.variant == "reference" && !shown.references) {
      ++references;
      continue;
    }
    const auto [at, is_new] =
        known.try_emplace(text(finding.detector, '|', finding.sentence), told.size());
    if (is_new) told.push_back({.first = &finding});
    told[at->second].places.push_back(place_of(finding));
  }
  std::string out;
  for (std::size_t i = 0; i < std::min(told.size(), shown.at_most); ++i) {
    const Detection& finding = *told[i].first;
    out += text(finding.detector, ": ", finding.sentence, "\n");
    if (shown.places)
      for (const std::string& place : told[i].places) out += text("  in   ", place, "\n");
    out += text("  fix  ", finding.fix, "\n");
  }
  if (told.size() > shown.at_most)
    out += text("and ", plural(told.size() - shown.at_most, "finding"), " more, in verdict.json\n");
  if (references > 0)
    out += text(plural(references, "finding"),
                " in reference variants, which are slow on purpose, in verdict.json\n");
  return out;
}

std::string describe_expected(const std::vector<Detection>& findings) {
  std::string out;
  for (const Detection& finding : findings)
    if (finding.expected)
      out += text("as expected of ", finding.case_id, " on ", finding.device_class, ": ",
                  finding.detector, " (", *finding.expected, ")\n");
  return out;
}

}  // namespace holdfast::gate
