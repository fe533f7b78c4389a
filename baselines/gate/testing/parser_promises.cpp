// SPDX-License-Identifier: Apache-2.0
#include "gate/testing/parser_promises.hpp"

#include "gate/base/options.hpp"
#include "gate/base/store.hpp"
#include "gate/documents/aliases.hpp"
#include "gate/documents/history/old_history.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/profile.hpp"
#include "gate/documents/selftest.hpp"
#include "gate/history/append.hpp"
#include "gate/testing/fake_profile.hpp"
#include "gate/testing/toy_root.hpp"

namespace holdfast::gate {
namespace {

constexpr const char* today = "2026-11-21";
const std::string file = "x.json";

// False where `read` refuses, which must take the one form that main() knows how to tell.
template <class Read>
bool refuses(Read read) {
  try {
    read();
  } catch (const Error& error) {
    if (std::string_view(error.what()).size() < 10) throw BrokenPromise("a refusal says nothing");
    return true;
  }
  return false;
}

void expect_same(const std::string& first, const std::string& second) {
  if (first != second) throw BrokenPromise("read as\n" + first + "\nand then as\n" + second);
}

// `write` gives the canonical text of what `parse` has read.
template <class Parse, class Write>
bool round_trip(std::string_view bytes, Parse parse, Write write) {
  std::string first;
  if (refuses([&] { first = write(parse(Document(file, bytes))); })) return false;
  std::string second;
  if (refuses([&] { second = write(parse(Document(file, first))); }))
    throw BrokenPromise("its own text is refused:\n" + first);
  expect_same(first, second);
  return true;
}

const auto as_json = [](const auto& document) { return canonical(to_json(document)); };

// For documents that the gate reads and never writes: the same JSON in canonical form.
template <class Parse>
bool accepts_canonical(std::string_view bytes, Comments comments, Parse parse) {
  if (refuses([&] { parse(Document(file, bytes, comments)); })) return false;
  const nlohmann::json document = nlohmann::json::parse(bytes, nullptr, true, true);
  const std::string text = canonical(document);
  if (refuses([&] { parse(Document(file, text)); }))
    throw BrokenPromise("its own text is refused:\n" + text);
  expect_same(text, canonical(nlohmann::json::parse(text)));
  return true;
}

bool results(std::string_view bytes) {
  return round_trip(bytes, parse_results, as_json);
}

bool list(std::string_view bytes) {
  return round_trip(bytes, parse_list, as_json);
}

bool verdict(std::string_view bytes) {
  return round_trip(bytes, parse_verdict, as_json);
}

bool baseline(std::string_view bytes) {
  return round_trip(bytes, parse_baseline, baseline_text);
}

bool policy(std::string_view bytes) {
  return accepts_canonical(bytes, Comments::allowed, [](const Document& document) {
    const Policy read = Policy::parse(document, today);
    (void)refuses([&] { read.check_against({toy::list()}, true); });
    (void)refuses([&] {
      const Policy known = read.with(toy::metrics());
      for (const auto& [name, meaning] : known.metrics())
        (void)known.standard(toy::step_id, "host-x86_64-v4-2t", "optimized", name, meaning.kind);
    });
    (void)read.sums(toy::step_id, "cuda-dry-sm_90", "optimized");
  });
}

bool aliases(std::string_view bytes) {
  return accepts_canonical(bytes, Comments::allowed, [](const Document& document) {
    const Aliases read = Aliases::parse(document);
    (void)refuses([&] { read.check_against({toy::list()}, true); });
    if (read.current(read.current(toy::step_id)) != read.current(toy::step_id))
      throw BrokenPromise("a case has two present names");
    Baseline baseline{.device_class = "host"};
    for (const char* id : {toy::step_id, toy::sum_id})
      baseline.entries[entry_key(id, "optimized", "launches")].value = 4.0;
    (void)refuses([&] { read.rename(baseline); });
  });
}

bool journal(std::string_view bytes) {
  return round_trip(bytes, parse_journal, as_json);
}

bool self_test(std::string_view bytes) {
  return round_trip(bytes, parse_self_test, as_json);
}

bool profile(std::string_view bytes) {
  return accepts_canonical(bytes, Comments::forbidden,
                           [](const Document& document) { (void)parse_profile(document); });
}

template <class Use>
void each_line(std::string_view lines, const Use& use) {
  for (std::size_t end = 0; (end = lines.find('\n')) != std::string_view::npos;
       lines.remove_prefix(end + 1))
    use(Document(file, lines.substr(0, end)));
}

// The runs in the lines of a segment, written anew.
std::string rewritten(std::string_view lines) {
  HistorySegment read("host"), written("host");
  std::string out;
  each_line(lines, [&](const Document& line) {
    if (const auto run = read.read(line)) out += written.write(*run, read.meanings());
  });
  return out;
}

// The same of lines of the format before segments.
std::string rewritten_old(std::string_view lines) {
  OldHistory old("host", "2026");
  each_line(lines, [&](const Document& line) { old.read(line); });
  HistorySegment written("host");
  std::string out;
  for (const HistoryRun& run : old.runs()) out += written.write(run, {});
  return out;
}

// What the runs in the bytes say is what they say when `rewrite` has written them as a segment.
template <class Rewrite>
bool accepts_runs(std::string_view bytes, Rewrite rewrite) {
  std::string first, second;
  if (refuses([&] { first = rewrite(bytes); })) return false;
  if (refuses([&] { second = rewritten(first); }))
    throw BrokenPromise("its own text is refused:\n" + first);
  expect_same(first, second);
  return true;
}

bool history(std::string_view bytes) {
  return accepts_runs(bytes, rewritten);
}

bool old_history(std::string_view bytes) {
  return accepts_runs(bytes, rewritten_old);
}

// Options of every shape; an argument per line, which no system passes with a NUL in it.
bool options(std::string_view bytes) {
  if (bytes.find('\0') != std::string_view::npos) return false;
  const Command command{.name = "toy",
                        .summary = "Reads its options.",
                        .operands = "DIR...",
                        .fewest_operands = 1,
                        .most_operands = 3,
                        .options = {{"why", "TEXT", "a value"},
                                    {"processes", "N", "a number"},
                                    {"expect", "SUITE:DEVICE", "several values", true},
                                    {"quiet", "", "a switch"}}};
  std::vector<std::string> arguments;
  std::istringstream rest{std::string(bytes)};
  for (std::string line; std::getline(rest, line);) arguments.push_back(line);
  Options read;
  if (refuses([&] { read = command.parse(arguments); })) return false;
  std::vector<std::string> again;
  for (const OptionRow& row : command.options) {
    (void)refuses([&] { (void)read.integer(row.name); });
    for (const std::string& value : read.values(row.name))
      again.push_back(row.value.empty() ? text("--", row.name) : text("--", row.name, "=", value));
  }
  again.emplace_back("--");
  again.insert(again.end(), read.operands().begin(), read.operands().end());
  Options reread;
  if (refuses([&] { reread = command.parse(again); }))
    throw BrokenPromise("the same arguments are refused when written in order");
  for (const OptionRow& row : command.options)
    if (read.values(row.name) != reread.values(row.name))
      throw BrokenPromise(text("--", row.name, " is read in two ways"));
  if (read.operands() != reread.operands()) throw BrokenPromise("operands are read in two ways");
  return true;
}

std::vector<std::string> results_seeds() {
  Results full = toy::host();
  full.run.git_sha = "0123456789abcdef";
  full.run.binary = "sha256:b17e";
  full.run.sources = "/somewhere";
  full.run.custom = {"--size=384"};
  full.quality = {.valid = false, .reasons = {"load"}, .load = 3.5, .throttled = true};
  full.quality.steal_fraction = 0.25;
  full.quality.ecc_errors = 2;
  full.ceilings = {{"memory_bytes_per_s", 1.9e10}, {"l2_bytes_per_s", std::nullopt}};
  full.cases.front().derived["gradient_over_forward"] = {.kind = "advisory", .value = 2.5};
  full.cases.front().variants["optimized"].kernels = {
      {.name = "stage", .registers = 40, .kind = "fused", .evidence = {{"blocks", 8}}}};
  full.cases.front().metrics["top"] = {.kind = "advisory", .reason = "no permission"};
  Results absent = toy::empty_results("cuda", "cuda");
  absent.status = "no_device";
  absent.reason = "no driver";
  return {as_json(toy::dry()), as_json(toy::host()), as_json(full), as_json(absent)};
}

std::vector<std::string> list_seeds() {
  List expecting = toy::list();
  expecting.cases[0].uncounted = "its step takes too long";
  expecting.cases[0].expected = {
      {.finding = "idle_gaps", .why = "it idles on purpose", .devices = {"cuda", "cuda-dry"}}};
  return {toy::list_text(), as_json(expecting)};
}

std::vector<std::string> verdict_seeds() {
  Verdict made{.exit = 1, .counts = {{"REGRESSION", 1}}, .notes = {"n"}, .not_checked = {"c"}};
  made.rows = {{.case_id = toy::step_id,
                .device_class = "host",
                .variant = "case",
                .metric = "speedup",
                .kind = "ratio",
                .verdict = "REGRESSION",
                .blocking = true,
                .value = 2.0,
                .baseline = 4.0,
                .change = -0.5,
                .limit = -0.05,
                .sentence = "it fell",
                .evidence = {{"control", "still"}},
                .next = "holdfast policy",
                .standard = "accepted",
                .resolution = 0.02,
                .resolved_by = "bound"}};
  made.findings = {{.case_id = toy::step_id,
                    .device_class = "host",
                    .variant = "optimized",
                    .detector = "idle_gaps",
                    .sentence = "it idles",
                    .value = 0.3,
                    .threshold = 0.2,
                    .fix = "overlap",
                    .source = "profile"}};
  made.findings.push_back(made.findings.front());
  made.findings.back().expected = "it idles on purpose";
  return {as_json(made)};
}

std::vector<std::string> baseline_seeds() {
  const Acceptance accepted{.utc = "2026-11-21T12:00:00Z",
                            .content = "sha256:c0",
                            .runs = {"2026-11-21T12:00:00Z-7f3a"},
                            .why = "first"};
  Acceptance later = accepted;
  later.previous = 5.0;
  Baseline made{.device_class = "host", .fingerprint = {.compiler = "g++ 12.2.0"}};
  made.entries = {
      {"toy/step/n:64/f64|optimized|launches", {.value = 4.0, .accepted = later}},
      {"toy/step/n:64/f64|optimized|identity", {.value = "sha256:aa", .accepted = accepted}}};
  made.processors["AuthenticAMD-26-2"] = {{"toy/step/n:64/f64|case|speedup",
                                           {.value = 10.0,
                                            .mad_between = 0.05,
                                            .medians = {9.9, 10, 10.1},
                                            .days = 2,
                                            .anchor = 9.5,
                                            .bootstrap = true,
                                            .accepted = accepted}}};
  keep_metrics(made, toy::metrics());
  made.limits = {{toy::step_id, {.value = 1e-12, .accepted = accepted}}};
  made.bounded = {{toy::step_id, {"floor_fraction", "upload_ratio"}}};
  return {baseline_text(made)};
}

std::vector<std::string> policy_seeds() {
  return {toy::policy_text};
}

std::vector<std::string> aliases_seeds() {
  return {canonical({{"schema", "holdfast-aliases/1"},
                     {"aliases",
                      {{"toy/older/n:64/f64", "toy/old/n:64/f64"},
                       {"toy/old/n:64/f64", toy::step_id},
                       {"toy/total/n:64/f64", toy::sum_id}}},
                     {"why", {{"toy/total/n:64/f64", "it adds up"}}}})};
}

std::vector<std::string> journal_seeds() {
  return {
      as_json(Journal{{"devices/host/toy.json", sha256("new")}, {"devices/host/gone.json", {}}})};
}

std::vector<std::string> self_test_seeds() {
  return {as_json(SelfTest{.suite = "toy",
                           .device = "host",
                           .content = "sha256:c0",
                           .utc = "2026-11-21T12:30:00Z",
                           .tolerance = 0.02,
                           .decisions = {{toy::step_id, "PASS"},
                                         {toy::sum_id, "IMPROVED"},
                                         {toy::step_id, "NOISY"},
                                         {toy::sum_id, "PASS"}},
                           .alarm_rate = {.value = 0.25, .lower = 0.0063, .upper = 0.8059}})};
}

std::vector<std::string> profile_seeds() {
  return {canonical(toy::gpu_profile())};
}

std::vector<std::string> history_seeds() {
  HistorySegment segment("host");
  std::string lines;
  for (const double launches : {4.0, 5.0}) {
    Results results = toy::host();
    results.cases[0].variants["optimized"].metrics["launches"] = toy::exact(launches);
    MeasuredRun made = measured_run(results, toy::metrics(), nullptr);
    made.run.commit.order = 12;
    lines += segment.write(made.run, made.meanings);
  }
  const std::string out_of_order =
      R"({"schema":"holdfast-history/2","class":"host"}
{"series":0,"case":"toy/b","names":["case|of_b"]}
{"series":1,"case":"toy/a","names":["case|of_a"]}
{"run":1,"commit":{"author_time":null,"branch":null,"ci":null,"name":"c","order":1,"parent":null,"subject":null},)"
      R"("env":{"fingerprint":"f"},"id":null,"not_checked":[],"suite":"toy","utc":"2026-11-21T12:00:00Z",)"
      R"("values":{"0":1,"1":2},"verdict":null}
)";
  return {lines, out_of_order};
}

std::vector<std::string> old_history_seeds() {
  const auto line = [](const char* metric, const char* rest) {
    return text(
        R"({"case":"toy/step/f64","class":"host","commit":"c1","fp":"sha256:f0","order":1,)",
        R"("utc":"2026-01-01T12:00:00Z","variant":"optimized","metric":")", metric, rest);
  };
  return {line("time_s", R"(","value":0.5,"mad":0.01,"verdict":"PASS"})") + '\n' +
          line("launches", R"(","value":4,"mad":null,"verdict":null})") + '\n'};
}

std::vector<std::string> options_seeds() {
  return {"results\n--why=one more stage\n--quiet\n--expect=toy:host\n--expect\ntoy:cuda",
          "--processes\n5\na\nb\n--\n--c"};
}

}  // namespace

const std::vector<ParserPromise>& parser_promises() {
  static const std::vector<ParserPromise> table = {
      {"results", results, results_seeds}, {"list", list, list_seeds},
      {"verdict", verdict, verdict_seeds}, {"baseline", baseline, baseline_seeds},
      {"policy", policy, policy_seeds},    {"aliases", aliases, aliases_seeds},
      {"profile", profile, profile_seeds}, {"history", history, history_seeds},
      {"journal", journal, journal_seeds}, {"selftest", self_test, self_test_seeds},
      {"options", options, options_seeds}, {"old_history", old_history, old_history_seeds}};
  return table;
}

const ParserPromise& parser_promise(std::string_view name) {
  for (const ParserPromise& promise : parser_promises())
    if (name == promise.name) return promise;
  throw std::logic_error(text("there is no parser ", name));
}

}  // namespace holdfast::gate
