// SPDX-License-Identifier: Apache-2.0
#include "gate/history/series.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "gate/base/process.hpp"
#include "gate/history/append.hpp"
#include "gate/history/trend_lines.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

Results run_of(const std::string& commit = "abc", const std::string& utc = "2026-11-21T12:00:00Z",
               double launches = 4) {
  Results results{.suite = "toy", .tier = "gate"};
  results.run = {
      .id = utc + "-aaaa", .utc = utc, .content = "sha256:c0", .git_sha = commit, .processes = 5};
  results.env = {.device_class = "cuda-dry-sm_90",
                 .device_name = "cuda-dry:sm_90",
                 .fingerprint = "sha256:f0"};
  CaseResult result{.id = "toy/step/f64", .tier = "gate"};
  result.variants["optimized"] = {.identity = "sha256:aa",
                                  .metrics = {{"launches", {.kind = "exact", .value = launches}}}};
  result.metrics["speedup"] = {
      .kind = "ratio", .processes = {1.8, 1.9, 2, 2.1, 2.2}, .median = 2.0, .mad_between = 0.1};
  results.cases.push_back(result);
  return results;
}

class History : public testing::Test {
 protected:
  TemporaryFolder folder_{"history-test"};
  fs::path root_ = folder_.path() / "results";
  fs::path store_ = folder_.path() / "store";
  fs::path file_ = store_ / "cuda-dry-sm_90" / "2026-11-21T12-00-00Z.ndjson";

  void measure(const Results& results) {
    const fs::path folder = root_ / results.env.device_class;
    fs::create_directories(folder);
    write_file(folder / "toy.json", canonical(to_json(results)));
  }
  Appended append() { return append_history(root_, store_); }
  void expect_refused(const std::string& because) {
    EXPECT_THAT([&] { append(); }, ThrowsMessage<Error>(HasSubstr(because)));
    EXPECT_FALSE(fs::exists(store_)) << "something was written";
  }
  Appended append(const Results& results) {
    measure(results);
    return append();
  }
};

TEST_F(History, EveryNumberIsAValueInTheSegmentOfItsTime) {
  measure(run_of());
  EXPECT_EQ(append().values, 2u);
  const HistoryLines lines = read_history(store_);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0].metric, "launches");
  EXPECT_EQ(lines[0].value, 4);
  EXPECT_EQ(lines[0].mad, std::nullopt);
  EXPECT_EQ(lines[1].metric, "speedup");
  EXPECT_EQ(lines[1].variant, "case");
  EXPECT_NEAR(lines[1].mad.value_or(0), 0.1, 1e-9);
  EXPECT_TRUE(fs::exists(file_));
}

TEST_F(History, TheSameRunIsAppendedOnce) {
  append(run_of());
  const std::string before = read_file(file_);
  EXPECT_EQ(append().known, 1u);
  EXPECT_EQ(read_file(file_), before);
}

TEST_F(History, OrderGrowsByCommitAndStaysForAnotherRunOfIt) {
  for (const auto& [commit, utc] :
       {std::pair("abc", "2026-11-21T12:00:00Z"), std::pair("def", "2026-11-22T12:00:00Z"),
        std::pair("abc", "2026-11-23T12:00:00Z")}) {
    append(run_of(commit, utc));
  }
  std::vector<std::int64_t> orders;
  for (const HistoryLine& line : read_history(store_))
    if (line.metric == "launches") orders.push_back(line.order);
  EXPECT_THAT(orders, ElementsAre(1, 1, 2));
}

// Commits in the order in which they are appended, each by a run of `utc`.
struct Came {
  std::string commit;
  std::string utc;
  std::optional<std::string> parent = {};
};

std::string order_of(const fs::path& store, const std::vector<Came>& commits) {
  fs::remove_all(store);
  for (const Came& came : commits) {
    Store opened(store, Store::Use::writing);
    HistoryWriter writer(opened);
    MeasuredRun made = measured_run(run_of(came.commit, "2026-11-" + came.utc), {}, nullptr);
    made.run.commit.order = writer.order_of(came.commit);
    made.run.commit.parent = came.parent;
    writer.add("cuda-dry-sm_90", made.run, made.meanings);
    writer.publish();
  }
  std::string order;
  for (const std::string& commit :
       read_store(store, [](const auto&, const auto&) { return true; }).commits)
    order += commit;
  return order;
}

TEST_F(History, CommitsStandByTheTimeOfTheirFirstRunWhicheverWasAppendedFirst) {
  EXPECT_EQ(order_of(store_, {{"b", "22T12:00:00Z"}, {"a", "21T12:00:00Z"}}), "ab");
  EXPECT_EQ(order_of(store_, {{"a", "21T12:00:00Z"},
                              {"c", "23T12:00:00Z"},
                              {"b", "24T12:00:00Z"},
                              {"b", "22T12:00:00Z"},
                              {"a", "25T12:00:00Z"}}),
            "abc")
      << "the earliest run counts";
  EXPECT_EQ(order_of(store_, {{"z", "21T12:00:00Z"}, {"a", "21T12:00:00Z"}}), "za")
      << "of one time the first that came";
}

TEST_F(History, NoCommitStandsBeforeItsParent) {
  EXPECT_EQ(order_of(store_, {{"a", "21T12:00:00Z"},
                              {"c", "23T12:00:00Z", "b"},
                              {"d", "24T12:00:00Z", "c"},
                              {"b", "25T12:00:00Z", "a"}}),
            "abcd")
      << "a parent that was measured later than its child";
  EXPECT_EQ(order_of(store_, {{"a", "21T12:00:00Z", "0"},
                              {"b", "22T12:00:00Z", "a"},
                              {"c", "23T12:00:00Z", "b"},
                              {"d", "20T12:00:00Z", "c"},
                              {"e", "24T12:00:00Z", "d"}}),
            "abcde")
      << "a clock that ran backwards";
  EXPECT_EQ(order_of(store_, {{"b", "22T12:00:00Z", "a"}, {"a", "21T12:00:00Z", "b"}}), "ba")
      << "each the other's parent, which no history of git has";
}

TEST_F(History, TheOrderOfALineIsThePlaceOfItsCommitAmongAllOfTheStore) {
  (void)order_of(store_, {{"b", "22T12:00:00Z"}, {"a", "21T12:00:00Z"}, {"c", "23T12:00:00Z"}});
  const StoredHistory all = read_store(
      store_, [](const HistorySeries&, const std::string& commit) { return commit != "a"; });
  ASSERT_THAT(all.lines, SizeIs(4));
  EXPECT_EQ(all.lines.front().commit, "b");
  EXPECT_EQ(all.lines.front().order, 2);
  EXPECT_EQ(all.lines.back().order, 3);
}

TEST_F(History, VerdictsAreJoined) {
  measure(run_of());
  Verdict verdict;
  verdict.rows.push_back({.case_id = "toy/step/f64",
                          .device_class = "cuda-dry-sm_90",
                          .variant = "optimized",
                          .metric = "launches",
                          .verdict = "REGRESSION"});
  write_file(root_ / "verdict.json", canonical(to_json(verdict)));
  append();
  EXPECT_EQ(read_history(store_)[0].verdict, "REGRESSION");
  EXPECT_EQ(read_history(store_)[1].verdict, std::nullopt);
}

TEST_F(History, AVerdictOfWhatWasMeasuredBeforeIsNotJoined) {
  measure(run_of());
  Verdict verdict;
  verdict.rows.push_back({.case_id = "toy/step/f64",
                          .device_class = "cuda-dry-sm_90",
                          .variant = "optimized",
                          .metric = "launches",
                          .kind = "exact",
                          .verdict = "PASS",
                          .value = 4.0});
  EXPECT_TRUE(measured_run(run_of(), {}, &verdict).run.verdict);
  EXPECT_FALSE(measured_run(run_of("abc", "2026-11-21T12:00:00Z", 5), {}, &verdict).run.verdict);
  verdict.rows.front().case_id = "other/step/f64";
  EXPECT_FALSE(measured_run(run_of(), {}, &verdict).run.verdict) << "nobody judged this suite";
  verdict.rows.clear();
  EXPECT_TRUE(measured_run(run_of(), {}, &verdict).run.verdict) << "it was stopped";
}

TEST_F(History, ARunThatIsInvalidWithoutAReasonIsInvalid) {
  Results invalid = run_of();
  invalid.quality.valid = false;
  EXPECT_THAT(measured_run(invalid, {}, nullptr).run.invalid, ElementsAre("no reason given"));
}

TEST_F(History, TimesOfWhatIsNotValidAreUnsoundAndCountsAreNot) {
  Results invalid = run_of();
  invalid.quality.valid = false;
  append(invalid);
  append(run_of("def", "2026-11-22T12:00:00Z"));
  for (const HistoryLine& line : read_history(store_))
    EXPECT_EQ(line.unsound, line.commit == "abc" && line.metric == "speedup") << line.metric;
}

TEST_F(History, AnUncommittedTreeIsNamedByItsContent) {
  Results dirty = run_of();
  dirty.run.git_dirty = true;
  EXPECT_EQ(measured_run(dirty, {}, nullptr).run.commit.name, "sha256:c0");
}

TEST_F(History, CasesThatAreNotWellLeaveNoValue) {
  Results failed = run_of();
  failed.cases[0].status = "failed";
  EXPECT_THAT(measured_run(failed, {}, nullptr).run.points, SizeIs(0));
}

TEST_F(History, DeviceCodeFromOutsideTheBuildIsRefusedAndNothingIsWritten) {
  Results planted = run_of();
  planted.run.sources = "/elsewhere";
  measure(planted);
  expect_refused("HOLDFAST_SOURCES=/elsewhere");
}

TEST_F(History, ACustomRunIsRefusedAndNothingIsWritten) {
  Results custom = run_of();
  custom.run.custom = {"--size=9"};
  measure(custom);
  expect_refused("is a custom run (--size=9 ...)");
}

TEST_F(History, ResultsThatAreNotWhatTheirPlaceSaysAreRefusedAndNothingIsWritten) {
  const auto refused = [&](const char* device_class, const char* because) {
    Results elsewhere = run_of();
    elsewhere.env.device_class = device_class;
    fs::create_directories(root_ / "cuda-dry-sm_90");
    write_file(root_ / "cuda-dry-sm_90" / "toy.json", canonical(to_json(elsewhere)), Sync::no);
    expect_refused(because);
  };
  for (const char* device_class : {"", "..", "../outside", "a/b", ".hidden"})
    refused(device_class, "is no name");
  refused("cuda-dry-sm_80", "and its folder says");
  Results misspelt = run_of();
  misspelt.env.device_class = "cuda-dry-sm90";
  fs::remove_all(root_);
  measure(misspelt);
  expect_refused(
      "'cuda-dry:sm_90', whose device class is 'cuda-dry-sm_90', and not "
      "'cuda-dry-sm90'");
  fs::remove_all(root_);
  Results another = run_of();
  another.suite = "other";
  another.cases.clear();
  measure(another);
  expect_refused("and its name says");
}

TEST_F(History, ARunOfNoTimeIsRefusedAndNothingIsWritten) {
  for (const char* utc : {"", "2026", "20/6-11-21T12:00:00Z", "../6-11", "02026-11-21", "now"}) {
    measure(run_of("abc", utc));
    expect_refused("which is no time");
  }
}

TEST_F(History, AnAbsentFolderIsAnErrorWithTheCommandThatMakesIt) {
  EXPECT_THAT([&] { append(); }, ThrowsMessage<Error>(HasSubstr("measure first: holdfast run")));
  EXPECT_THAT([&] { (void)read_history(store_); },
              ThrowsMessage<Error>(HasSubstr("holdfast history append")));
}

TEST_F(History, AMalformedLineIsAnErrorWithItsNumber) {
  append(run_of());
  std::ofstream(file_, std::ios::app) << "{\"run\": NaN}\n";
  EXPECT_THAT([&] { (void)read_history(store_); },
              ThrowsMessage<Error>(HasSubstr("2026-11-21T12-00-00Z.ndjson:6:")));
}

// Each is one edit, which would otherwise be drawn.
TEST_F(History, EverySpoiltLineIsRefused) {
  measure(run_of());
  write_file(root_ / "verdict.json", canonical(to_json(Verdict{})));
  append();
  const std::string whole = read_file(file_);
  const std::pair<const char*, const char*> edits[] = {
      {"holdfast-history/2", "holdfast-history/3"},
      {"\"class\":\"cuda-dry-sm_90\"", "\"class\":\"cuda-dry-sm_80\""},
      {"\"kind\":\"ratio\"", "\"kind\":\"fast\""},
      {"\"better\":null", "\"better\":\"more\""},
      {"\"series\":0", "\"series\":1"},
      {"case|speedup", "speedup"},
      {"case|speedup", "|speedup"},
      {"\"case\":\"toy/step/f64\"", "\"case\":\"\""},
      {"\"run\":1", "\"run\":2"},
      {"\"run\":1", "\"run\":\"1\""},
      {"\"order\":1", "\"order\":0"},
      {"\"order\":1", "\"order\":1.5"},
      {"\"name\":\"abc\"", "\"name\":\"\""},
      {"\"parent\":null,", ""},
      {"\"fingerprint\":\"sha256:f0\"", "\"fingerprint\":\"\""},
      {"\"fingerprint\":", "\"finger\":"},
      {"\"not_checked\":[]", "\"not_checked\":[1]"},
      {"\"not_checked\":[],", ""},
      {"\"suite\":\"toy\"", "\"suite\":\"\""},
      {"\"suite\":\"toy\"", "\"suite\":\"other\""},
      {"\"utc\":\"2026-11-21T12:00:00Z\"", "\"utc\":\"2026-11-21\""},
      {"\"exit\":0", "\"exit\":null"},
      {"\"others\":{}", "\"others\":{\"PASS\":[[0,9]]}"},
      {"\"others\":{}", "\"others\":{\"PASS\":[[1,0]]}"},
      {"\"others\":{}", "\"others\":{\"PASS\":[[0,0],[0,0]]}"},
      {"\"others\":{}", "\"others\":{\"PASS\":[0]}"},
      {"\"verdict\":", "\"absent\":[[0,0]],\"verdict\":"},
      {"\"0\":4", "\"2\":4"},
      {"\"0\":4", "\"00\":4"},
      {"\"0\":4", "\"0\":NaN"},
      {"\"0\":4", "\"0\":1e999"},
      {"\"0\":4", "\"0\":null"},
      {"\"0\":4", "\"0\":[4]"},
      {"\"0\":4", "\"0\":[4,-1]"},
      {"\"0\":4", "\"0\":[4,1,2,3]"},
      {"\"0\":4", "\"0\":[4,1,2,3,1]"},
      {"\"0\":4", "\"0\":[4,1,2,3,4.5]"},
      {"\"0\":4", "\"0\":4,\"0\":4"},
      {"\"0\":4,", ""},
      {"\"utc\":", "\"more\":1,\"utc\":"}};
  for (const auto& [from, to] : edits) {
    std::string spoilt = whole;
    const std::size_t at = spoilt.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in\n" << whole;
    write_file(file_, spoilt.replace(at, std::string_view(from).size(), to), Sync::no);
    EXPECT_THROW((void)read_history(store_), Error) << from << " -> " << to;
  }
}

TEST_F(History, ALineThatIsLostOrStandsTwiceIsRefused) {
  append(run_of());
  append(run_of("def", "2026-11-22T12:00:00Z", 5));
  append(run_of("fed", "2026-11-23T12:00:00Z", 6));
  std::vector<std::string> lines;
  std::ifstream file(file_);
  for (std::string line; std::getline(file, line);) lines.push_back(line + '\n');
  ASSERT_THAT(lines, SizeIs(7));
  for (std::size_t at = 0; at + 1 < lines.size(); ++at) {
    if (lines[at].starts_with("{\"metric\"")) continue;  // says no more than a unit
    std::string lost, twice;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      lost += i == at ? "" : lines[i];
      twice += i == at ? lines[i] + lines[i] : lines[i];
    }
    for (const std::string& content : {lost, twice}) {
      write_file(file_, content, Sync::no);
      EXPECT_THROW((void)read_history(store_), Error) << content;
    }
  }
}

TEST_F(History, AFileCutWithinALineIsRefused) {
  append(run_of());
  const std::string whole = read_file(file_);
  for (std::size_t length = 1; length < whole.size(); ++length) {
    if (whole[length - 1] == '\n') continue;  // a shorter history
    if (length > 400 && length % 7 != 0) continue;
    write_file(file_, whole.substr(0, length), Sync::no);
    EXPECT_THROW((void)read_history(store_), Error) << length;
    EXPECT_THROW((void)last_runs(store_, run_of("def", "2026-11-22T12:00:00Z"), 2), Error)
        << length;
  }
}

// Reading a FIFO would block.
TEST_F(History, AFifoInThePlaceOfAFileIsRefused) {
  append(run_of());
  const fs::path fifo = file_.parent_path() / "2026-11-22T12-00-00Z.ndjson";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT([&] { (void)read_history(store_); },
              ThrowsMessage<Error>(HasSubstr("cannot read " + fifo.string())));
}

TEST_F(History, AFileThatHasLostAllOfItsRunsIsRefused) {
  append(run_of());
  Results other = run_of("def", "2026-11-22T12:00:00Z");
  other.env.device_name = other.env.device_class = "host";
  append(other);
  const std::string whole = read_file(file_);
  for (const std::string& left : {std::string(), whole.substr(0, whole.find('\n') + 1)}) {
    write_file(file_, left, Sync::no);
    const auto refusal =
        ThrowsMessage<Error>(HasSubstr("2026-11-21T12-00-00Z.ndjson holds no run"));
    EXPECT_THAT([&] { (void)read_history(store_); }, refusal);
    EXPECT_THAT([&] { append(run_of("fed", "2026-11-23T12:00:00Z")); }, refusal);
    EXPECT_THAT([&] { (void)last_runs(store_, run_of("fed", "2026-11-23T12:00:00Z"), 2); },
                refusal);
  }
}

// Names stand before the run that is the first to have them.
TEST_F(History, AFileThatEndsInNamesOfNoRunIsCutShort) {
  append(run_of());
  Results second = run_of("def", "2026-11-22T12:00:00Z");
  second.cases.front().id = "toy/other/f64";
  append(second);
  const std::string whole = read_file(file_);
  write_file(file_, whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1), Sync::no);
  const auto refusal = ThrowsMessage<Error>(
      HasSubstr("its last line names what no run behind it measured, so it is cut short"));
  EXPECT_THAT([&] { (void)read_history(store_); }, refusal);
  EXPECT_THAT([&] { append(run_of("fed", "2026-11-23T12:00:00Z")); }, refusal);
}

TEST_F(History, AStepOfACountIsFoundWhateverProcessorsMeasuredIt) {
  for (int day = 1; day <= 10; ++day) {
    Results results =
        run_of(text("c", day), text("2026-11-", day + 10, "T12:00:00Z"), day < 6 ? 4 : 5);
    results.env.processor = text("AuthenticAMD-25-", day % 3);
    results.env.fingerprint = text("sha256:f", day % 3);
    results.env.compiler = "g++ 12.2.0";
    append(results);
  }
  const HistoryLines lines = read_history(store_);
  const auto trends_of = [&](const char* metric) { return find_trends(lines, {.metric = metric}); };
  const TrendSeries launches = trends_of("launches").front();
  ASSERT_THAT(launches.changes, SizeIs(1));
  EXPECT_EQ(launches.changes.front().line->commit, "c6");
  EXPECT_THAT(trends_of("speedup").front().segments, SizeIs(3)) << "a time is a processor's own";
}

TEST_F(History, ACountOfOtherToolsIsNoChange) {
  for (int day = 1; day <= 8; ++day) {
    const std::string utc = text("2026-11-", day + 10, "T12:00:00Z");
    Results results = run_of(text("c", day), utc, day < 5 ? 4 : 5);
    results.env.compiler = day < 5 ? "g++ 12.2.0" : "g++ 13.1.0";
    append(results);
  }
  const HistoryLines lines = read_history(store_);
  EXPECT_THAT(find_trends(lines, {.metric = "launches"}).front().changes, SizeIs(0));
}

TEST_F(History, TheLastRunsAreThoseOfTheSameSuiteMachineAndTools) {
  for (int day = 1; day <= 5; ++day) {
    Results results = run_of(text("c", day), text("2026-11-0", day, "T12:00:00Z"), day);
    if (day == 4) results.env.fingerprint = "sha256:other";
    append(results);
  }
  Results of_another_suite = run_of("c4", "2026-11-04T18:00:00Z", 9);
  of_another_suite.suite = "other";
  of_another_suite.cases[0].id = "other/step/f64";
  fs::remove(root_ / "cuda-dry-sm_90" / "toy.json");
  write_file(root_ / "cuda-dry-sm_90" / "other.json", canonical(to_json(of_another_suite)));
  ASSERT_EQ(append().runs, 1u);
  std::vector<double> launches;
  for (const HistoryLine& line : last_runs(store_, run_of("c5", "2026-11-05T12:00:00Z"), 2))
    if (line.metric == "launches") launches.push_back(line.value);
  EXPECT_THAT(launches, ElementsAre(2, 3));
}

TEST_F(History, TheLastRunsAreAllOfThoseThatBeganInTheSameSecond) {
  for (int machine = 1; machine <= 2; ++machine) {
    Results results = run_of("c1", "2026-11-01T12:00:00Z", machine);
    results.run.id = text(results.run.utc, "-", machine);
    append(results);
  }
  std::vector<double> launches;
  for (const HistoryLine& line : last_runs(store_, run_of("c2", "2026-11-02T12:00:00Z"), 2))
    if (line.metric == "launches") launches.push_back(line.value);
  EXPECT_THAT(launches, ElementsAre(1, 2));
}

TEST_F(History, AnUnfinishedFileIsTakenOverByTheNextAppend) {
  append(run_of());
  const fs::path part = part_of(file_);
  std::ofstream(part) << std::string(100000, 'x');
  append(run_of("def", "2026-11-22T12:00:00Z"));
  EXPECT_THAT(read_history(store_), SizeIs(4));
  EXPECT_FALSE(fs::exists(part));
}

// As a disk may leave a file after a power failure: with its size but no content.
TEST_F(History, AFileOfNothingButZerosIsRefusedAtItsFirstBytes) {
  append(run_of());
  const std::string line = read_file(file_);
  fs::resize_file(file_, 0);
  fs::resize_file(file_, std::uintmax_t{1} << 30);
  EXPECT_THAT([&] { (void)read_history(store_); },
              ThrowsMessage<Error>(HasSubstr("it holds no line within 33554432 bytes")));
  std::ofstream(file_, std::ios::app) << '\n' << line;
  const Results later = run_of("def", "2026-11-22T12:00:00Z");
  EXPECT_THAT([&] { (void)last_runs(store_, later, 2); },
              ThrowsMessage<Error>(HasSubstr("it holds no line within 33554432 bytes")));
}

}  // namespace
}  // namespace holdfast::gate
