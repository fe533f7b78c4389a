// SPDX-License-Identifier: Apache-2.0
#include "gate/history/branch.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <thread>

#include "gate/base/git.hpp"
#include "gate/history/append.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_attempts = 12;
constexpr const char* incoming = "refs/holdfast/incoming";  // as the remote has it
constexpr const char* files_of_a_history = ":(glob)*/*.ndjson";

// Removes the locks of refs that git leaves where it is killed. Nobody else makes such refs, and
// whoever calls this has locked the store.
void remove_stale_locks(const fs::path& refs) {
  if (!fs::is_directory(refs)) return;
  for (const auto& file : fs::directory_iterator(refs))
    if (file.path().extension() == ".lock") fs::remove(file.path());
}

// The store as a repository of its own, whose working copy it is. Its index stays as it is, for
// another program may hold it.
class Repository {
 public:
  explicit Repository(const DataBranch& data) : data_(data) {
    if (!fs::exists(data.store / ".git"))
      must({"init", "--quiet"}, text("make ", data.store.string(), " a repository"));
    else
      remove_stale_locks(data.store / ".git/refs/holdfast");
    address_ = address();
    seen_ = "refs/holdfast/seen-" + sha256_digits(text(data.branch, ' ', address_)).substr(0, 16);
  }

  Outcome ask(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"-c", "user.name=holdfast", "-c", "user.email=holdfast@localhost", "-c",
                      "commit.gpgsign=false", "-c", "core.autocrlf=false", "-c",
                      "core.hooksPath=/dev/null", "-c", "gc.auto=0"});
    return git(data_.store, std::move(arguments), 60, index_.path() / "index");
  }

  std::string must(const std::vector<std::string>& arguments, const std::string& doing) const {
    const Outcome outcome = ask(arguments);
    if (!succeeded(outcome))
      throw Error(Fault::bad_input,
                  text("git cannot ", doing, ": ", reason_of(outcome.complaints)));
    return outcome.output;
  }

  // The commit behind a name; empty where it has none.
  std::string commit_of(const std::string& name) const {
    const Outcome found = ask({"rev-parse", "--verify", "--quiet", name + "^{commit}"});
    return succeeded(found) ? first_line(found.output) : "";
  }

  // The branch as the remote has it now; empty where it has none.
  std::string fetch() const {
    const std::string listed =
        must({"ls-remote", "--heads", "--", address_, "refs/heads/" + data_.branch},
             text("ask ", address_, " for the branch ", data_.branch));
    if (listed.empty()) return "";
    must({"fetch", "--quiet", "--no-tags", "--", address_,
          text("+refs/heads/", data_.branch, ":", incoming)},
         text("fetch ", data_.branch, " of ", address_));
    return commit_of(incoming);
  }

  // True if the remote took the commit, false if it has another one by now. Anything else throws.
  bool push(const std::string& commit) const {
    const Outcome pushed = ask({"push", "--quiet", "--porcelain", "--", address_,
                                text(commit, ":refs/heads/", data_.branch)});
    if (succeeded(pushed)) return true;
    const std::string said = pushed.output + pushed.complaints;
    for (const char* quicker : {"[rejected]", "cannot lock ref", "failed to update ref",
                                "incorrect old value", "non-fast-forward"})
      if (said.find(quicker) != std::string::npos) return false;
    throw Error(Fault::bad_input,
                text("git cannot push ", data_.branch, " to ", address_, ": ", reason_of(said)));
  }

  const std::string& where() const { return address_; }

  // The branch of that remote as this store has taken it; empty where it has not yet.
  std::string seen() const { return commit_of(seen_); }
  void note_seen(const std::string& commit, const std::string& doing) const {
    must({"update-ref", seen_, commit}, doing);
  }

 private:
  const DataBranch& data_;
  const TemporaryFolder index_{"index"};
  std::string address_ = {};
  std::string seen_ = {};  // a ref of this remote's branch

  std::string address() const {
    if (data_.remote.find_first_of(":/") != std::string::npos)
      return data_.remote.find(':') == std::string::npos ? fs::absolute(data_.remote).string()
                                                         : data_.remote;
    const Outcome found = git(data_.repository, {"remote", "get-url", data_.remote});
    if (!succeeded(found))
      throw Error(Fault::bad_input,
                  text("--remote=", data_.remote, ": the repository ", data_.repository.string(),
                       " has no such remote; give its address, or --repository=DIR"));
    const std::string url = first_line(found.output);
    const bool relative = url.find(':') == std::string::npos && url.front() != '/';
    return relative ? fs::absolute(data_.repository / url).string() : url;
  }
};

// Refuses a branch that lost something since this store saw it.
void refuse_rewritten(const Repository& git, const DataBranch& data, const std::string& before,
                      const std::string& now) {
  if (before.empty() || data.rewritten) return;
  if (now.empty())
    throw Error(Fault::bad_input,
                text(git.where(), " has no branch ", data.branch, " any more, and it had ",
                     before.substr(0, 12), "; push what this store has with --rewritten"));
  if (succeeded(git.ask({"merge-base", "--is-ancestor", before, now}))) return;
  throw Error(Fault::bad_input,
              text("the branch ", data.branch, " of ", git.where(), " was rewritten: it had ",
                   before.substr(0, 12), ", which is no part of ", now.substr(0, 12),
                   " that it has now; ask who pushed it by force, and take it with --rewritten "
                   "(what this store has stays)"));
}

// Writes the branch's files of a history into a folder of their own. A tree that git never made may
// hold names that lead out of it.
void unpack(const Repository& git, const std::string& commit, const fs::path& into) {
  const std::string all =
      git.must({"ls-tree", "-r", "-z", "--name-only", commit}, text("list the files of ", commit));
  for (const fs::path place : names_in(all)) {
    if (place.extension() != ".ndjson" || place.parent_path().has_parent_path()) continue;
    fs::create_directories((into / place).parent_path());
    write_file(into / place,
               git.must({"cat-file", "blob", commit + ':' + place.string()},
                        text("read ", place.string(), " of ", commit)),
               Sync::no);
  }
}

bool same_content(const fs::path& a, const fs::path& b) {
  return fs::exists(a) && fs::exists(b) && fs::file_size(a) == fs::file_size(b) &&
         read_file(a) == read_file(b);
}

// A run's class, commit, time, suite and what tells runs of one second apart: its id, or where an
// old store has none its fingerprint.
using RunName = std::array<std::string, 5>;

RunName name_of(const std::string& device_class, const HistoryRun& run) {
  return {device_class, run.commit.name, run.utc, run.suite, run.id.value_or(run.fingerprint())};
}

// The runs in files that differ from those in `other`.
std::set<RunName> runs_of(const Store& store, const fs::path& other, const std::string& called) {
  std::set<RunName> runs;
  for (const HistoryFile& file : history_files(store)) {
    if (same_content(file.content, other / file.place)) continue;
    try {
      for_each_run(file, [&](const HistoryRun& run, const HistoryMeanings&) {
        runs.insert(name_of(file.device_class, run));
      });
    } catch (const Error& error) {
      if (called.empty()) throw;
      throw Error(Fault::bad_input, text(called, " is damaged: ", error.what()));
    }
  }
  return runs;
}

// Gives `theirs` the branch's runs and then the store's own; counts how many of either the other
// lacked.
void bring_in(Store& store, const fs::path& theirs, const std::string& called, Synced& synced) {
  Store other(theirs, Store::Use::writing);
  const auto in_store = runs_of(store, theirs, "");
  const auto in_branch = runs_of(other, store.folder(), called);
  for (const auto& run : in_branch) synced.brought += in_store.contains(run) ? 0 : 1;
  HistoryWriter writer(other);
  synced.own = 0;
  for (const HistoryFile& file : history_files(store)) {
    if (same_content(file.content, theirs / file.place)) continue;
    for_each_run(file, [&](const HistoryRun& run, const HistoryMeanings& meanings) {
      if (in_branch.contains(name_of(file.device_class, run)) || writer.has(file.device_class, run))
        return;
      HistoryRun moved = run;
      moved.commit.order = writer.order_of(run.commit.name);
      writer.add(file.device_class, moved, meanings);
      ++synced.own;
    });
  }
  writer.publish();
}

// Gives the store the files of `theirs`, as one change.
void take(Store& store, const fs::path& theirs) {
  const Store other(theirs, Store::Use::reading);
  std::set<std::string> places;
  for (const HistoryFile& file : history_files(other)) {
    places.insert(file.place);
    if (!same_content(file.content, store.folder() / file.place))
      store.write(file.place).append_copy_of(file.content);
  }
  for (const HistoryFile& file : history_files(store))
    if (!places.contains(file.place)) store.remove(file.place);
  store.publish();
}

void fetch(Store& store, const Repository& git, const DataBranch& data, Synced& synced) {
  const std::string before = git.seen(), now = git.fetch();
  refuse_rewritten(git, data, before, now);
  synced.commit = now;
  if (now.empty()) return;
  const TemporaryFolder theirs("history");
  unpack(git, now, theirs.path());
  bring_in(store, theirs.path(),
           text("the branch ", data.branch, " of ", git.where(), " at ", now.substr(0, 12)),
           synced);
  take(store, theirs.path());
  git.note_seen(now, "note what was fetched");
}

// Commits the store on top of `parent`; returns `parent` if nothing changed.
std::string commit(const Repository& git, const std::string& parent, std::size_t own) {
  if (!parent.empty()) git.must({"read-tree", parent}, "read the branch");
  git.must({"add", "--all", "--force", "--", files_of_a_history}, "add the store's files");
  const std::string tree = first_line(git.must({"write-tree"}, "write the store's files"));
  if (!parent.empty() &&
      first_line(git.must({"rev-parse", parent + "^{tree}"}, "read the branch")) == tree)
    return parent;
  std::vector<std::string> make = {"commit-tree", tree, "-m",
                                   text("Add ", own, own == 1 ? " run" : " runs")};
  if (!parent.empty()) make.insert(make.end(), {"-p", parent});
  return first_line(git.must(make, "commit the store"));
}

void wait_a_moment() {
  static std::minstd_rand chance(static_cast<unsigned>(::getpid()));
  std::this_thread::sleep_for(
      std::chrono::milliseconds(std::uniform_int_distribution<>(20, 400)(chance)));
}

std::size_t count_runs(const Store& store) {
  std::size_t count = 0;
  for (const HistoryFile& file : history_files(store))
    for_each_run(file, [&](const HistoryRun&, const HistoryMeanings&) { ++count; });
  return count;
}

}  // namespace

Synced fetch_history(const DataBranch& data) {
  refuse_results(data.store);
  Store store(data.store, Store::Use::writing);
  const Repository git(data);
  Synced synced;
  fetch(store, git, data, synced);
  return synced;
}

Synced push_history(const DataBranch& data) {
  require_folder(data.store, begin_history(data.store));
  Store store(data.store, Store::Use::writing);
  if (history_files(store).empty())
    throw Error(Fault::bad_input, text(data.store.string(), " holds no history to push; ",
                                       begin_history(data.store)));
  const Repository git(data);
  Synced synced;
  for (;; ++synced.attempts) {
    fetch(store, git, data, synced);
    if (synced.commit.empty()) synced.own = count_runs(store);
    const std::string made = commit(git, synced.commit, synced.own);
    if (made == synced.commit || git.push(made)) {
      git.note_seen(made, "note what was pushed");
      synced.commit = made;
      return synced;
    }
    if (synced.attempts == most_attempts)
      throw Error(Fault::bad_input,
                  text(git.where(), " refused ", data.branch, ' ', most_attempts,
                       " times, as if others pushed each time; look at its rules, and push again"));
    wait_a_moment();
  }
}

}  // namespace holdfast::gate
