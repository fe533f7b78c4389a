// SPDX-License-Identifier: Apache-2.0
// The families of patterns around fits.
#include "xpcs_fit/patterns.hpp"

#include "families/invariants.hpp"
#include "families/known.hpp"
#include "xpcs_fit/row.hpp"

namespace holdfast::xpcs_fit {
namespace {

Oracle oracle_of(Pattern pattern, const Row& row) {
  return {.name = "the plain formulation, point by point", .limit = 2e-12, .expected = [=](int) {
            static Known<std::string, std::vector<double>> known;
            return known.of(row.family->id(row),
                            [&] { return exact(pattern, row.count, problem_of(row, true)); });
          }};
}

// The optimized variant on a host also rewrites the values it derives from the parameters.
template <Pattern pattern>
std::vector<std::string> written_anew(const Backend& backend, Variant variant) {
  std::vector<std::string> sites = {"result"};
  if (backend.device || variant == Variant::reference || pattern == Pattern::round_trip)
    return sites;
  sites.emplace_back("frames");
  if (pattern == Pattern::costs) sites.emplace_back("partial sums");
  if (pattern == Pattern::angle_loop) sites.emplace_back("pairs");
  return sites;
}

template <Pattern pattern>
constexpr Family<Row> surrounding(Family<Row> family) {
  family.make = [](const Row& row, Backend& backend, Variant variant) {
    return make(pattern, row.count, backend, variant, problem_of(row, backend.executes()));
  };
  family.work = [](const Row& row) { return work(pattern, row.count, size_of(row), row.options); };
  family.oracle = [](const Row& row) { return oracle_of(pattern, row); };
  family.invariant = [](const Row&) { return repeats_itself(); };
  family.chained = never;
  family.more = [](const Row&, Steps& steps) { steps.rewritten = written_anew<pattern>; };
  return family;
}

std::string counted(const std::string& word, const std::string& axis, const Row& row) {
  return id("xpcs_fit/" + word, {{axis, row.count}, {"size", size_words.of(row.size)}}, "f64");
}

}  // namespace

const Family<Row> families::angle_loop =
    surrounding<Pattern::angle_loop>({.id = [](const Row& row) {
      return id("xpcs_fit/angle_loop", {{"angles", row.angles}, {"frames", row.frames}}, "f64");
    }});

const Family<Row> families::batch_chi2 = surrounding<Pattern::costs>(
    {.id = [](const Row& row) { return counted("batch_chi2", "vectors", row); },
     .rates = [](const Row& row) -> std::vector<holdfast::Rate> {
       return {
           {.name = "points_per_s", .per_step = row.count * static_cast<double>(points_of(row))}};
     }});

const Family<Row> families::chunk_gather = surrounding<Pattern::chunks>(
    {.id = [](const Row& row) { return counted("chunk_gather", "chunks", row); }});

const Family<Row> families::round_trip = surrounding<Pattern::round_trip>(
    {.id = [](const Row& row) { return counted("roundtrip", "iterations", row); },
     .expected = [](const Row&) -> std::vector<ExpectedFinding> {
       return {{.finding = "transfers_in_the_loop",
                .why = "it shows what bringing a fit's points and taking them back costs"},
               {.finding = "syncs_in_the_loop", .why = "the host waits for what it takes back"}};
     }});

}  // namespace holdfast::xpcs_fit
