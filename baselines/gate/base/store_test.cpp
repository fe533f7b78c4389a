// SPDX-License-Identifier: Apache-2.0
#include "gate/base/store.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <future>
#include <iterator>
#include <map>

#include "gate/base/git.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* host = "devices/host/toy.json";
constexpr const char* dry = "devices/dry/toy.json";

void put(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

// While it lives, file modes apply to this process: root becomes nobody.
class Unprivileged {
 public:
  Unprivileged() {
    if (::geteuid() == 0) is_root_ = ::seteuid(65534) == 0;
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged() {
    if (is_root_ && ::seteuid(0) != 0) ADD_FAILURE() << "cannot become root again";
  }

 private:
  bool is_root_ = false;
};

class AStore : public testing::Test {
 protected:
  TemporaryFolder temporary_{"store-test"};
  const fs::path folder_ = temporary_.path() / "baselines";

  void SetUp() override {
    put(folder_ / host, "old host");
    put(folder_ / dry, "old dry");
  }
  void TearDown() override { set_modes(0755, 0755); }

  // Leaves what a writer leaves that was killed after it had written its journal: contents by
  // place, none for a removed file.
  void leave(const std::map<std::string, std::optional<std::string>>& change) const {
    Journal journal;
    for (const auto& [place, content] : change) {
      if (content) put(part_of(folder_ / place), *content);
      journal[place] = content ? std::optional(sha256(*content)) : std::nullopt;
    }
    put(journal_path(folder_), canonical(to_json(journal)));
  }

  // Sets the modes of the store's folder and of the folders in it.
  void set_modes(mode_t store, mode_t inside) const {
    ::chmod(temporary_.path().c_str(), 0755);
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      if (entry.is_directory()) ::chmod(entry.path().c_str(), inside);
    ::chmod(folder_.c_str(), store);
  }

  Store reading() const { return Store(folder_, Store::Use::reading); }
  Store writing() const { return Store(folder_, Store::Use::writing); }
  std::string content(const Store& store, const std::string& place) const {
    const auto path = store.content_of(place);
    return path ? read_file(*path) : "absent";
  }
  // The lock that another command would get now; empty if it would have to wait.
  std::optional<Descriptor> other_command(int how) const {
    Descriptor other(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (::flock(*other, how | LOCK_NB) != 0) return std::nullopt;
    return other;
  }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      count += entry.is_regular_file();
    return count;
  }
};

TEST_F(AStore, ChangesItsFilesAndLeavesNothingBesideThem) {
  {
    Store store = writing();
    store.write(host).append("new host");
    store.write("devices/h200/toy.json").append("first");
    store.remove(dry);
    EXPECT_EQ(read_file(folder_ / host), "old host");
    store.publish();
  }
  EXPECT_THAT(reading().places("devices/", ".json"), ElementsAre("devices/h200/toy.json", host));
  EXPECT_EQ(content(reading(), host), "new host");
  EXPECT_EQ(files(), 2u);
}

TEST_F(AStore, KeepsItsFilesWhereAChangeIsNotPublished) {
  {
    Store store = writing();
    store.write(host).append("new host");
    store.write(dry).append("new dry");
  }
  EXPECT_EQ(content(reading(), host), "old host");
  EXPECT_EQ(files(), 2u);
}

TEST_F(AStore, NeedsNoJournalForOneFile) {
  set_modes(0555, 0777);
  const Unprivileged nobody;
  Store one = writing();
  one.write(host).append("new host");
  EXPECT_NO_THROW(one.publish());
  EXPECT_EQ(read_file(folder_ / host), "new host");
}

TEST_F(AStore, KeepsItsFilesWhereNoJournalCanBeWritten) {
  set_modes(0555, 0777);
  {
    const Unprivileged nobody;
    Store two = writing();
    two.write(host).append("new host");
    two.write(dry).append("new dry");
    EXPECT_THAT([&] { two.publish(); }, ThrowsMessage<Error>(HasSubstr("cannot write")));
  }
  EXPECT_EQ(content(reading(), host), "old host");
  EXPECT_EQ(files(), 2u);
}

TEST_F(AStore, SaysWhichFolderCannotBeMade) {
  set_modes(0555, 0555);
  const Unprivileged nobody;
  Store store = writing();
  const std::string place = (folder_ / "devices/h200").string();
  EXPECT_THAT([&] { store.write("devices/h200/toy.json"); },
              ThrowsMessage<Error>(
                  HasSubstr("cannot make the folder " + place + ": Permission denied; name a")));
}

TEST_F(AStore, IsFinishedByTheNextReader) {
  leave({{host, "new host"}, {"devices/h200/toy.json", "first"}, {dry, std::nullopt}});
  EXPECT_EQ(content(reading(), host), "new host");
  EXPECT_EQ(read_file(folder_ / host), "new host");
  EXPECT_FALSE(fs::exists(folder_ / dry));
  EXPECT_EQ(files(), 2u);
}

TEST_F(AStore, IsFinishedWhereItsWriterWasKilledBetweenTwoFiles) {
  leave({{host, "new host"}, {dry, "new dry"}});
  fs::rename(part_of(folder_ / dry), folder_ / dry);
  EXPECT_EQ(content(reading(), host), "new host");
  EXPECT_EQ(content(reading(), dry), "new dry");
  EXPECT_EQ(files(), 2u);
}

// As `git checkout` does, after the first of two files was moved to its place.
TEST_F(AStore, IsRefusedWhereSomebodyRestoredAFileThatHadTakenItsPlace) {
  leave({{host, "new host"}, {dry, "new dry"}});
  fs::rename(part_of(folder_ / dry), folder_ / dry);
  put(folder_ / dry, "old dry");
  EXPECT_THAT([&] { (void)reading(); }, ThrowsMessage<Error>(HasSubstr("and it is gone")));
  EXPECT_EQ(read_file(folder_ / host), "old host");
}

TEST_F(AStore, IsReadAsTheNewOneWhereItCannotBeFinished) {
  leave({{host, "new host"}, {"devices/host/more.json", "first"}, {dry, std::nullopt}});
  set_modes(0555, 0555);
  const Unprivileged nobody;
  const Store store = reading();
  EXPECT_EQ(content(store, host), "new host");
  EXPECT_EQ(content(store, dry), "absent");
  EXPECT_THAT(store.places("devices/", ".json"), ElementsAre("devices/host/more.json", host));
  EXPECT_EQ(read_file(folder_ / host), "old host");
}

TEST_F(AStore, IsNotWrittenWhereItCannotBeFinished) {
  leave({{host, "new host"}, {dry, "new dry"}});
  set_modes(0555, 0555);
  const Unprivileged nobody;
  EXPECT_THAT([&] { (void)writing(); },
              ThrowsMessage<Error>(HasSubstr("cannot finish the change")));
}

TEST_F(AStore, IsRefusedWhereSomebodyTookAwayWhatWasToBePublished) {
  leave({{host, "new host"}, {dry, "new dry"}});
  fs::remove(part_of(folder_ / dry));
  EXPECT_THAT([&] { (void)reading(); },
              ThrowsMessage<Error>(
                  HasSubstr("devices/dry/toy.json with the content " + sha256("new dry"))));
  EXPECT_EQ(read_file(folder_ / host), "old host");
}

TEST_F(AStore, IsRefusedWhereWhatWasToBePublishedIsCutShort) {
  leave({{host, "new host"}, {dry, "new dry"}});
  put(part_of(folder_ / host), "new ");
  EXPECT_THAT([&] { (void)reading(); }, ThrowsMessage<Error>(HasSubstr("and remove the journal")));
}

TEST_F(AStore, IsRefusedWhereItsJournalLeadsOutOfIt) {
  for (const char* place : {"../toy.json", "/toy.json", "devices/../../toy.json", "", "devices//a",
                            ".holdfast-journal.json", "devices/host/.toy.json.part"}) {
    put(journal_path(folder_),
        canonical({{"schema", "holdfast-journal/1"}, {"files", {{place, nullptr}}}}));
    EXPECT_THAT([&] { (void)reading(); }, ThrowsMessage<Error>(HasSubstr("no place in a store")))
        << place;
  }
}

TEST_F(AStore, IsRefusedWhereItsJournalLeadsBehindALink) {
  const fs::path outside = temporary_.path() / "elsewhere";
  put(outside / "x", "somebody's");
  fs::create_directory_symlink(outside, folder_ / "devices/link");
  const std::string linked = "devices/link/x";
  leave({{linked, std::nullopt}});
  EXPECT_THAT([&] { (void)reading(); },
              ThrowsMessage<Error>(HasSubstr("'devices/link/x' lies behind the link")));
  leave({{linked, "ours"}});
  EXPECT_THROW((void)writing(), Error);
  EXPECT_EQ(read_file(outside / "x"), "somebody's");
}

// As a change on a branch may bring both, before anybody compares the files with those of git.
TEST_F(AStore, IsRefusedWhereGitHasItsJournalOrAFileBesideItsPlace) {
  leave({{host, "new host"}});
  const auto must = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = git(folder_, arguments);
    ASSERT_TRUE(succeeded(outcome)) << outcome.complaints;
  };
  must({"-c", "init.templateDir=", "init", "-q"});
  const fs::path journal = journal_path(folder_), part = part_of(folder_ / host);
  for (const fs::path& committed : {journal, part}) {
    must({"add", "--force", committed.string()});
    EXPECT_THAT([&] { (void)reading(); },
                ThrowsMessage<Error>(HasSubstr(committed.string() + ": git's index has the file")));
    EXPECT_THROW((void)writing(), Error);
    EXPECT_EQ(read_file(folder_ / host), "old host");
    must({"rm", "--quiet", "--cached", committed.string()});
  }
  EXPECT_EQ(content(reading(), host), "new host") << "what a killed writer left is finished";
}

TEST_F(AStore, IsNotWrittenOutsideOfItself) {
  const std::string outside = (temporary_.path() / "other.json").string();
  for (const std::string& place : {std::string("../toy.json"), outside, std::string(),
                                   std::string("devices//toy.json"), std::string(".toy.json")}) {
    EXPECT_THAT([&] { writing().write(place); }, ThrowsMessage<Error>(HasSubstr("no place in")));
    EXPECT_THAT([&] { writing().remove(place); }, ThrowsMessage<Error>(HasSubstr("no place in")));
  }
  EXPECT_EQ(files(), 2u);
}

TEST_F(AStore, IsEmptyWhereItsFolderIsAbsentAndMadeByAWriter) {
  const fs::path absent = folder_ / "absent";
  EXPECT_THAT(Store(absent, Store::Use::reading).places("", ".json"), testing::IsEmpty());
  EXPECT_FALSE(fs::exists(absent));
  (void)Store(absent, Store::Use::writing);
  EXPECT_TRUE(fs::is_directory(absent));
}

TEST_F(AStore, IsSharedByItsReaders) {
  const Store store = reading();
  EXPECT_TRUE(other_command(LOCK_SH));
  EXPECT_FALSE(other_command(LOCK_EX));
}

TEST_F(AStore, IsItsWritersAlone) {
  const Store store = writing();
  EXPECT_FALSE(other_command(LOCK_SH));
}

TEST_F(AStore, IsSharedByAReaderThatHasFinishedIt) {
  leave({{host, "new host"}, {dry, "new dry"}});
  const Store store = reading();
  EXPECT_TRUE(other_command(LOCK_SH));
  EXPECT_FALSE(other_command(LOCK_EX));
}

TEST_F(AStore, IsSharedByReadersThatMayNotFinishIt) {
  leave({{host, "new host"}, {dry, "new dry"}});
  set_modes(0555, 0555);
  const Unprivileged nobody;
  auto other = other_command(LOCK_SH);
  auto store = std::async(std::launch::async, [&] { return reading(); });
  EXPECT_EQ(store.wait_for(std::chrono::seconds(10)), std::future_status::ready) << "it waits";
  other.reset();
  const Store mine = store.get();
  EXPECT_EQ(content(mine, host), "new host");
  EXPECT_TRUE(other_command(LOCK_SH));
}

// In this folder nobody may rename another user's files, which only trying shows.
TEST_F(AStore, IsSharedByAReaderThatCouldNotFinishIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root makes files that are another's";
  leave({{host, "new host"}, {dry, "new dry"}});
  set_modes(01777, 01777);
  const Unprivileged nobody;
  const Store store = reading();
  EXPECT_EQ(content(store, host), "new host");
  EXPECT_EQ(read_file(folder_ / host), "old host");
  EXPECT_TRUE(other_command(LOCK_SH));
}

}  // namespace
}  // namespace holdfast::gate
