// SPDX-License-Identifier: Apache-2.0
// Reports of a verdict, held against what their readers document: JUnit's XML as Jenkins takes it,
// GitHub's workflow commands, and the size of a comment.
#include "gate/report/terminal.hpp"
#include "gate/report/markdown_text.hpp"
#include "gate/report/verdict_rows.hpp"

#include <gmock/gmock.h>

#include <map>
#include <regex>
#include <set>

#include "gate/testing/gate_command.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

Row row(const std::string& id, const std::string& verdict, bool blocking) {
  return {.case_id = id,
          .device_class = "host-x86_64-v4-2t",
          .variant = "optimized",
          .metric = "launches",
          .kind = "exact",
          .unit = "1",
          .verdict = verdict,
          .blocking = blocking,
          .value = 5.0,
          .baseline = 4.0,
          .change = 0.25,
          .limit = 0.0,
          .sentence = text(id, " optimized on host-x86_64-v4-2t: launches rose from 4 to 5"),
          .evidence = {{"code", "stage<double>: cubin changed"}},
          .next = "holdfast explain " + id};
}

Verdict many(std::size_t count, const std::string& verdict = "REGRESSION") {
  Verdict made{.exit = 1, .counts = {{verdict, static_cast<std::int64_t>(count)}}};
  for (std::size_t i = 0; i < count; ++i)
    made.rows.push_back(row(text("toy/step/n:", i, "/f64"), verdict, verdict == "REGRESSION"));
  made.not_checked = {"toy on cuda: no such device"};
  return made;
}

std::size_t occurrences(const std::string& content, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = content.find(word); at != std::string::npos;
       at = content.find(word, at + 1))
    ++count;
  return count;
}

std::vector<std::string> lines_of(const std::string& content) {
  std::istringstream in(content);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Markdown, ShowsTwentyRowsAndFoldsTheRest) {
  const std::string page = markdown(many(25));
  EXPECT_THAT(page.substr(0, page.find("<details>")), HasSubstr("toy/step/n:19/f64"));
  EXPECT_EQ(occurrences(page.substr(0, page.find("<details>")), "| REGRESSION (blocking)"), 20u);
  EXPECT_THAT(page, HasSubstr("<details><summary>and 5 other rows</summary>"));
  EXPECT_EQ(occurrences(page, "| REGRESSION (blocking)"), 25u);
  EXPECT_EQ(occurrences(page, "<details>"), occurrences(page, "</details>"));
}

TEST(Markdown, FoldsNothingWhereTwentyAreAll) {
  EXPECT_THAT(markdown(many(20)), Not(HasSubstr("<details>")));
}

TEST(Markdown, PutsTheWorstFirst) {
  Verdict verdict = many(30, "DRIFT");
  verdict.rows.push_back(row("toy/last/f64", "WRONG", true));
  const std::string page = markdown(verdict);
  EXPECT_LT(page.find("toy/last/f64"), page.find("toy/step/n:0/f64"));
}

TEST(Markdown, FitsIntoACommentAndStaysWhole) {
  Verdict verdict = many(5000);
  verdict.not_checked.assign(2000, std::string(300, 'x'));
  verdict.notes.assign(20, std::string(3000, 'n'));
  const std::string page = markdown(verdict);
  EXPECT_LE(page.size(), 65536u);
  EXPECT_EQ(occurrences(page, "<details>"), occurrences(page, "</details>"));
  EXPECT_THAT(page, AllOf(HasSubstr("more in verdict.json"), HasSubstr("Not checked:"),
                          HasSubstr("more, in verdict.json")));
  const std::size_t told = occurrences(page, "\n> nnn");
  EXPECT_GT(told, 0u);
  EXPECT_THAT(page, HasSubstr(text("\n> ", 20 - told, " notes more, in verdict.json\n")));
}

TEST(Markdown, SaysThatWhatTheDetectorsSawFoundNoRoom) {
  Verdict verdict = many(5000);
  verdict.findings.emplace_back().sentence = std::string(1000, 'x');
  EXPECT_THAT(markdown(verdict),
              HasSubstr("What the detectors saw (never a reason to fail) is in verdict.json"));
}

TEST(Markdown, CountsTheEditsOfBaselinesThatFoundNoRoom) {
  const std::string page = markdown(many(5000, "ACCEPTED"));
  const std::size_t told = occurrences(page, "| `toy/step/");
  EXPECT_THAT(page, HasSubstr(text("\n", 5000 - told, " rows more in verdict.json\n")));
}

TEST(Markdown, ALongerOneMayBeAskedFor) {
  const std::string page = markdown(many(5000), std::size_t{1} << 20);
  EXPECT_GT(page.size(), 65536u);
  EXPECT_LE(page.size(), std::size_t{1} << 20);
  EXPECT_EQ(occurrences(page, "| REGRESSION (blocking)"), 5000u);
}

TEST(Markdown, SaysWhatWasNotChecked) {
  EXPECT_THAT(markdown(many(1)), HasSubstr("Not checked:\n\n- toy on cuda: no such device\n"));
}

TEST(Markdown, KeepsTheNamesOfKernelsFromBecomingTags) {
  const std::string page = markdown(many(1));
  EXPECT_THAT(page, AllOf(HasSubstr("stage&lt;double&gt;"), Not(HasSubstr("stage<double>"))));
}

// Of what GitHub makes of Markdown: https://github.github.com/gfm and what its pages link besides.
TEST(Markdown, NothingOfAHostileNameIsMoreThanText) {
  const std::string hostile =
      "@team [a](http://x.y) ![i](www.x.y) <img src=x> `b` ~~c~~ *d* #12 GH-3 $e$ a|b ``` end";
  Verdict verdict = many(1);
  verdict.rows.front().sentence = hostile;
  verdict.rows.front().evidence = {{hostile, hostile}};
  verdict.rows.front().next = "holdfast explain '``'";
  verdict.notes = {"one\ntwo " + hostile};
  verdict.not_checked = {hostile};
  verdict.changes = {{.rule = hostile, .before = hostile, .after = hostile, .why = hostile}};
  const std::string page = markdown(verdict);
  for (const char* obeyed : {"@team", "a](", "http://", "![", "www.", "<img", " `b` ", "~~c", "*d*",
                             "#12", "GH-3", "$e$", "a|b", "``` end"})
    EXPECT_THAT(page, Not(HasSubstr(obeyed))) << obeyed;
  EXPECT_THAT(page, AllOf(HasSubstr("```holdfast explain '``'```"), HasSubstr("> one\\\n> two")));
}

TEST(Markdown, NamesAreSpansOfCode) {
  EXPECT_THAT(markdown(many(1)),
              HasSubstr("| `toy/step/n:0/f64` | `host-x86_64-v4-2t` | `optimized` | `launches` |"));
  EXPECT_EQ(markdown_code("a|b``"), "``` a\\|b`` ```");
  EXPECT_EQ(markdown_code("a|b", Within::text), "`a|b`");
}

TEST(Markdown, ABlockOfCodeEndsWhereItsTextDoes) {
  EXPECT_EQ(markdown_block("a\n```\nb\n"), "````\na\n```\nb\n````\n");
}

TEST(Markdown, ALongSentenceIsCutBetweenLetters) {
  const std::string page =
      markdown_text("x" + std::string(749, '.') + std::string(800, 'y') + "\u00b5");
  EXPECT_LT(page.size(), 1510);
  std::string letters;
  for (int i = 0; i < 1000; ++i) letters += "\u00b5";
  EXPECT_TRUE(markdown_text("x" + letters).ends_with("\u00b5 ..."));
}

TEST(Markdown, EditsOfBaselinesStandInATableOfTheirOwn) {
  Verdict verdict = many(1);
  verdict.rows.push_back(row("toy/edited/f64", "ACCEPTED", false));
  verdict.rows.back().sentence += "; accepted with this change: one more stage";
  const std::string page = markdown(verdict);
  const std::size_t table = page.find("Baselines that this change edits");
  ASSERT_NE(table, std::string::npos);
  EXPECT_GT(page.find("toy/edited/f64"), table);
  EXPECT_THAT(page.substr(table), HasSubstr("| 4 | 5 | one more stage |"));
}

std::string last_line(const Verdict& verdict) {
  std::ostringstream out;
  print(verdict, {}, out);
  return lines_of(out.str()).back();
}

TEST(Terminal, Exit1IsToldByTheWorstThatBlocks) {
  for (const auto& [name, said] :
       std::map<std::string, std::string>{{"WRONG", "a wrong result"},
                                          {"SUSPECT-FAST", "an impossible speed"},
                                          {"REGRESSION", "a blocking regression"},
                                          {"CHANGED", "a blocking change"},
                                          {"DRIFT", "blocking drift"}}) {
    const Verdict made{.exit = 1,
                       .rows = {row("toy/a/f64", "WRONG", false), row("toy/b/f64", name, true)}};
    EXPECT_THAT(last_line(made), EndsWith(text("exit 1 (", said, ")")));
  }
  const Verdict both{
      .exit = 1, .rows = {row("toy/a/f64", "REGRESSION", true), row("toy/b/f64", "WRONG", true)}};
  EXPECT_THAT(last_line(both), EndsWith("exit 1 (a wrong result)"));
}

TEST(Terminal, ALooseningThatBlocksIsToldAsSuch) {
  EXPECT_THAT(
      last_line(
          {.exit = 1,
           .changes =
               {{.rule = "r", .before = "b", .after = "a", .loosens = true, .blocking = true}}}),
      EndsWith("exit 1 (a loosening without a reason)"));
}

TEST(Terminal, WhatWasComparedWithABaseIsCounted) {
  Verdict made{.rows = {row("toy/a/f64", "PASS", false), row("toy/b/f64", "PASS", false),
                        row("toy/c/f64", "PASS", false)}};
  const auto print_it = [&] {
    std::ostringstream out;
    print(made, {}, out);
    return out.str();
  };
  made.rows[0].standard = "accepted";
  made.rows[1].standard = "bound";
  EXPECT_THAT(print_it(), Not(HasSubstr("compared with")));
  made.rows[2].standard = "beside";
  EXPECT_THAT(print_it(),
              HasSubstr("compared with: 1 accepted value, 1 value of the base, 1 bound\n"));
}

TEST(Annotations, NameTheFileAndTheCaseAndAreEscaped) {
  Verdict verdict = many(1);
  verdict.rows.front().sentence = "100 % more\nof it: a, b";
  const auto lines = lines_of(github_annotations(verdict, "baselines"));
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(
      lines.front(),
      StartsWith("::error file=baselines/devices/host-x86_64-v4-2t/toy.json,"
                 "title=REGRESSION toy/step/n%3A0/f64::100 %25 more%0Aof it: a, b%0Acode: "));
}

// What the runner splits a line into: "::name properties::message", where properties hold no colon
// and no comma but those between them.
TEST(Annotations, AreWorkflowCommandsOfOneLineEach) {
  const std::regex command("::(error|warning) ([a-z]+=[^,:]+)(,[a-z]+=[^,:]+)*::[^\r\n]+");
  Verdict verdict = many(30);
  verdict.rows.push_back(row("toy/a,b:c/f64", "NOISY", false));
  for (const std::string& line : lines_of(github_annotations(verdict, "baselines")))
    EXPECT_TRUE(std::regex_match(line, command)) << line;
}

TEST(Annotations, AreTenAtMostAndTellHowManyMore) {
  const auto lines = lines_of(github_annotations(many(30), "baselines"));
  ASSERT_THAT(lines, SizeIs(10));
  EXPECT_THAT(lines.back(), HasSubstr("and 21 more"));
  EXPECT_THAT(lines_of(github_annotations(many(10), "baselines")), SizeIs(10));
}

TEST(Annotations, WarnOfWhatDoesNotBlockAndKeepQuietAboutTheRest) {
  Verdict verdict{.exit = 0};
  verdict.rows = {row("toy/a/f64", "NOISY", false), row("toy/b/f64", "IMPROVED", false),
                  row("toy/c/f64", "PASS", false)};
  const auto lines = lines_of(github_annotations(verdict, "baselines"));
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines.front(), StartsWith("::warning file="));
}

TEST(Annotations, TellWhatStoppedTheCheck) {
  const Verdict stopped{.exit = 2, .notes = {"policy/common.json:3: 'gate' is gone"}};
  EXPECT_EQ(github_annotations(stopped, "baselines"),
            "::error title=holdfast::policy/common.json:3: 'gate' is gone\n");
}

// A reader of the XML that this project writes: elements with their attributes and parent.
struct Element {
  std::string name, parent;
  std::map<std::string, std::string> attributes = {};
};

std::vector<Element> elements(const std::string& xml) {
  static const std::regex tag(R"(<(/?)([a-z-]+)((?:\s+[a-z]+="[^"<>]*")*)\s*(/?)>)");
  static const std::regex attribute(R"re(([a-z]+)="([^"]*)")re");
  std::vector<Element> found;
  std::vector<std::string> open;
  for (std::sregex_iterator at(xml.begin(), xml.end(), tag), end; at != end; ++at) {
    const std::string name = (*at)[2];
    if ((*at)[1].length() > 0) {
      EXPECT_EQ(open.back(), name) << "closes what is not open";
      open.pop_back();
      continue;
    }
    Element& element = found.emplace_back();
    element.name = name;
    element.parent = open.empty() ? "" : open.back();
    const std::string given = (*at)[3];
    for (std::sregex_iterator a(given.begin(), given.end(), attribute); a != end; ++a)
      element.attributes[(*a)[1]] = (*a)[2];
    if ((*at)[4].length() == 0) open.push_back(name);
  }
  EXPECT_TRUE(open.empty());
  return found;
}

// The rules of junit-10.xsd, which Jenkins tests against: parents, required and allowed attributes.
struct Rule {
  std::string parent;
  std::set<std::string> required, allowed;
};
const std::map<std::string, Rule> schema = {
    {"testsuites", {"", {}, {"name", "time", "tests", "failures", "disabled", "errors"}}},
    {"testsuite",
     {"testsuites",
      {"name", "tests"},
      {"failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname", "id",
       "package"}}},
    {"testcase", {"testsuite", {"name", "classname"}, {"assertions", "time", "status"}}},
    {"failure", {"testcase", {}, {"type", "message"}}},
    {"skipped", {"testcase", {}, {"type", "message"}}},
    {"system-out", {"testcase", {}, {}}}};

void expect_schema(const std::string& xml) {
  std::map<std::string, std::size_t> counts;
  for (const Element& element : elements(xml)) {
    ++counts[element.name];
    ASSERT_TRUE(schema.contains(element.name)) << element.name;
    const Rule& rule = schema.at(element.name);
    EXPECT_EQ(element.parent, rule.parent) << element.name;
    for (const std::string& name : rule.required)
      EXPECT_TRUE(element.attributes.contains(name)) << element.name << ' ' << name;
    for (const auto& [name, value] : element.attributes)
      EXPECT_TRUE(rule.required.contains(name) || rule.allowed.contains(name))
          << element.name << ' ' << name;
  }
  for (const Element& element : elements(xml))
    if (element.name == "testsuite" || element.name == "testsuites") {
      EXPECT_EQ(element.attributes.at("tests"), text(counts["testcase"]));
      EXPECT_EQ(element.attributes.at("failures"), text(counts["failure"]));
      if (element.name == "testsuite") {
        EXPECT_EQ(element.attributes.at("skipped"), text(counts["skipped"]));
      }
    }
}

TEST(JUnit, KeepsToTheSchemaOfItsReaders) {
  Verdict verdict = many(3);
  verdict.rows.push_back(verdict.rows.front());  // a second failing metric of one case
  verdict.rows.back().metric = "peak_bytes";
  verdict.rows.push_back(row("toy/a/f64", "NOISY", false));
  verdict.rows.push_back(row("toy/b/f64", "SKIPPED", false));
  verdict.rows.push_back(row("toy/c/f64", "PASS", false));
  verdict.rows.back().sentence = "a < b & \"c\" \x01";
  expect_schema(junit(verdict));
}

TEST(JUnit, ACaseHasOneFailureAtMost) {
  Verdict verdict = many(1);
  verdict.rows.push_back(verdict.rows.front());
  EXPECT_EQ(occurrences(junit(verdict), "<failure "), 1u);
  EXPECT_EQ(occurrences(junit(verdict), "rose from 4 to 5"), 3u) << "the message, and each row";
}

TEST(JUnit, AWarningFailsNothingAndIsWrittenDown) {
  Verdict verdict{.exit = 0, .rows = {row("toy/a/f64", "NOISY", false)}};
  EXPECT_THAT(junit(verdict), AllOf(HasSubstr("failures=\"0\""),
                                    HasSubstr("<system-out>NOISY: toy/a/f64 optimized")));
}

TEST(JUnit, WhatStopsTheCheckIsAFailureOfItsOwn) {
  const std::string xml = junit({.exit = 3, .notes = {"no baseline"}});
  expect_schema(xml);
  EXPECT_THAT(xml, HasSubstr("name=\"check\""));
}

TEST_F(GateCommand, AnnotationsArePrintedWhereGitHubReadsThem) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(5));
  Task task{.program = HOLDFAST_BINARY,
            .arguments = {"check", results_.string(), "--baselines=" + baselines_.string(),
                          "--lists=" + lists_.string()},
            .environment = {{"GITHUB_ACTIONS", ""}}};
  EXPECT_THAT(run_task(task).output, Not(HasSubstr("::error")));
  task.environment["GITHUB_ACTIONS"] = "true";
  EXPECT_THAT(run_task(task).output, HasSubstr("\n::error file=baselines/devices/cuda-dry-sm_90/"));
  task.environment["GITHUB_ACTIONS"] = "";
  task.arguments.push_back("--annotations");
  EXPECT_THAT(run_task(task).output, HasSubstr("\n::error file=baselines/devices/cuda-dry-sm_90/"));
}

TEST_F(GateCommand, TheWrittenReportsKeepToTheirReaders) {
  measured_anew(toy::host(), "case", "speedup", toy::timed("ratio", 5));
  EXPECT_EQ(check(), 1);
  expect_schema(read_file(results_ / "verdict.xml"));
  EXPECT_LE(read_file(results_ / "verdict.md").size(), 65536u);
}

// The rows of a case whose kernel was compiled with more registers.
std::vector<Row> of_a_changed_kernel(const std::string& id, int now) {
  std::vector<Row> rows = {row(id, "REGRESSION", true), row(id, "REGRESSION", true)};
  rows[0].metric = "registers_max";
  rows[0].sentence =
      text(id, " optimized on host-x86_64-v4-2t: registers_max rose from 64 to ", now);
  rows[0].evidence["code"] = text("stage<double>: registers 64 -> 96, cubin changed; ", id);
  rows[0].next = "holdfast explain " + id;
  rows[1].metric = "waves";
  rows[1].evidence = rows[0].evidence;
  return rows;
}

TEST(Terminal, AChangedKernelIsToldOnceForAllItsCases) {
  Verdict made{.exit = 1};
  for (int n = 0; n < 12; ++n)
    for (Row& one : of_a_changed_kernel(text("toy/step/n:", n, "/f64"), 90 + n % 2))
      made.rows.push_back(std::move(one));
  std::ostringstream out;
  print(made, {}, out);
  const std::string said = out.str();
  EXPECT_THAT(said, StartsWith("REGRESSION  toy/step/n:0/f64  host-x86_64-v4-2t  optimized  "
                               "(blocking)\n  code          stage<double>: registers 64 -> 96"));
  EXPECT_EQ(occurrences(said, "REGRESSION"), 1u);
  EXPECT_EQ(occurrences(said, "registers 64 -> 96"), 1u);
  EXPECT_EQ(occurrences(said, "\n  registers_max "), 1u);
  EXPECT_EQ(occurrences(said, "\n  waves "), 1u);
  EXPECT_EQ(occurrences(said, "holdfast explain"), 1u);
  EXPECT_THAT(said, HasSubstr("  cases         and 11 more cases; numbers are those of the first"));
  EXPECT_EQ(occurrences(said, "\n"), 7u);
}

// A kernel of which two instances changed: what fails of either is told, under one heading.
Verdict two_instances() {
  Verdict made{.exit = 1, .rows = of_a_changed_kernel("toy/step/n:1/f64", 96)};
  made.rows.push_back(row("toy/step/n:2/f32", "REGRESSION", true));
  made.rows.back().metric = "spill_bytes";
  made.rows.back().evidence["code"] = "stage<float>: registers 40 -> 80, spills 0 B -> 48 B";
  made.rows.push_back(row("toy/step/n:1/f64", "DRIFT", false));
  made.rows.back().metric = "identity";
  made.rows.back().evidence["code"] = made.rows.front().evidence["code"];
  return made;
}

TEST(Terminal, EveryMetricThatAChangedKernelFailsHasALine) {
  std::ostringstream out;
  print(two_instances(), {}, out);
  const std::string said = out.str();
  EXPECT_EQ(occurrences(said, "REGRESSION  "), 1u);
  EXPECT_THAT(said, AllOf(HasSubstr("\n  spill_bytes   "), HasSubstr("(in toy/step/n:2/f32)"),
                          HasSubstr("\n  identity      DRIFT: "), HasSubstr("and 1 more case;")));
}

TEST(Terminal, AKernelThatFailsNothingStandsApart) {
  Verdict made = two_instances();
  made.rows.push_back(row("toy/step/n:3/f64", "IMPROVED", false));
  made.rows.back().evidence["code"] = "stage<double>: registers 64 -> 60";
  std::ostringstream out;
  print(made, {}, out);
  EXPECT_THAT(out.str(), HasSubstr("\nIMPROVED    toy/step/n:3/f64"));
}

TEST(Markdown, AChangedKernelIsOneTableBelowItsCause) {
  Verdict made{.exit = 1};
  for (int n = 0; n < 12; ++n)
    for (Row& one : of_a_changed_kernel(text("toy/step/n:", n, "/f64"), 90 + n % 2))
      made.rows.push_back(std::move(one));
  made.rows.push_back(row("toy/last/f64", "REGRESSION", true));
  const std::string page = markdown(made);
  const std::size_t cause = page.find("registers 64"), metrics = page.find("`registers_max`");
  const std::size_t cases = page.find("<details><summary>and 11 more cases</summary>");
  EXPECT_LT(cause, metrics);
  EXPECT_LT(metrics, cases);
  EXPECT_NE(cases, std::string::npos);
  EXPECT_EQ(occurrences(page, "| REGRESSION (blocking)"), 3u);
  EXPECT_EQ(occurrences(page, "`registers_max`"), 1u);
  EXPECT_EQ(occurrences(page, "`toy/step/n:11/f64`"), 1u);
  EXPECT_THAT(page, HasSubstr("`toy/last/f64`"));
  EXPECT_EQ(occurrences(page, "<details>"), occurrences(page, "</details>"));
}

// What a page says that it leaves out.
std::size_t rows_left_out(const std::string& page) {
  std::smatch found;
  return std::regex_search(page, found, std::regex(R"(\n(\d+) rows? more in verdict\.json\n)"))
             ? std::stoul(found[1])
             : 0;
}

TEST(Markdown, AKernelBehindManyRowsIsToldBeforeTheRestOfThem) {
  Verdict made{.exit = 1};
  for (int n = 0; n < 3000; ++n)
    made.rows.push_back(row(text("toy/a/n:", n, "/f64"), "WRONG", true));
  for (Row& one : of_a_changed_kernel("toy/step/n:1/f64", 96)) made.rows.push_back(std::move(one));
  for (int n = 0; n < 3000; ++n)
    made.rows.push_back(row(text("toy/b/n:", n, "/f64"), "DRIFT", false));
  const std::string page = markdown(made);
  EXPECT_LE(page.size(), 65536u);
  EXPECT_THAT(page, AllOf(HasSubstr("registers 64 -&gt; 96"), HasSubstr("`toy/a/n:0/f64`"),
                          HasSubstr("`toy/b/n:0/f64`")));
  EXPECT_EQ(occurrences(page, "<details>"), occurrences(page, "</details>"));
  EXPECT_EQ(occurrences(page, "\n| WRONG") + occurrences(page, "\n| DRIFT") + rows_left_out(page),
            6000u);
}

TEST(Markdown, TheRowsOfKernelsThatFindNoRoomAreCounted) {
  Verdict made{.exit = 1};
  for (int n = 0; n < 30; ++n)
    for (Row& one : of_a_changed_kernel(text("toy/step/n:", n, "/f64"), 96)) {
      one.evidence["code"] = text("stage_", n, "<double>: registers 64 -> 96");
      one.metric += std::string(1000, 'x');
      for (int i = 0; i < 5; ++i) one.evidence[text("evidence ", i)] = std::string(1400, 'x');
      made.rows.push_back(std::move(one));
    }
  const std::string page = markdown(made);
  EXPECT_GT(rows_left_out(page), 0u);
  EXPECT_EQ(occurrences(page, "\n| REGRESSION") + rows_left_out(page), 60u);
}

TEST(Terminal, WhatABusyMachineMayHaveCausedComesLastOfWhatBlocks) {
  Verdict made{.exit = 1};
  made.rows = {row("toy/busy/n:1/f64", "WRONG", true), row("toy/step/n:1/f64", "REGRESSION", true)};
  made.rows.front().evidence["load"] = "27 on 2 threads";
  const std::vector<const Row*> told = worst_rows(made);
  EXPECT_EQ(told.front()->case_id, "toy/step/n:1/f64");
  EXPECT_EQ(told.back()->case_id, "toy/busy/n:1/f64");
}

TEST(Terminal, ACaseIsNotLastForWhatElseABusyMachineMayHaveCausedInIt) {
  Verdict made{.exit = 1};
  made.rows = {row("toy/step/n:1/f64", "REGRESSION", true),
               row("toy/step/n:1/f64", "REGRESSION", true),
               row("toy/other/n:1/f64", "MISSING", true)};
  made.rows.front().metric = "compile_s";
  made.rows.front().evidence["load"] = "27 on 2 threads";
  EXPECT_EQ(worst_rows(made).front()->metric, "launches");
}

}  // namespace
}  // namespace holdfast::gate
