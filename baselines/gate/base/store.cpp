// SPDX-License-Identifier: Apache-2.0
#include "gate/base/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <set>

#include "gate/base/git.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr const char* journal_name = ".holdfast-journal.json";

// Whether a place is inside the store and not hidden.
bool is_place(const std::string& place) {
  for (std::size_t begin = 0; begin != std::string::npos;) {
    const std::size_t end = place.find('/', begin);
    const std::string part = place.substr(begin, end - begin);
    if (part.empty() || part.front() == '.') return false;
    begin = end == std::string::npos ? end : end + 1;
  }
  return true;
}

void refuse_no_place(const fs::path& folder, const std::string& place) {
  if (is_place(place)) return;
  throw Error(Fault::bad_input, text("'", place, "' is no place in ", folder.string(),
                                     "; the parts of a place are not empty, nor begin with a dot"));
}

bool is_hash(const std::string& content) {
  constexpr std::string_view name = "sha256:";
  return content.starts_with(name) && content.size() == name.size() + 64 &&
         content.find_first_not_of("0123456789abcdef", name.size()) == std::string::npos;
}

// The sha256() of a file of any length.
std::string hash_of(const fs::path& file) {
  const auto refuse = [&] {
    throw Error(Fault::bad_input,
                text("cannot read ", file.string(), ": ", std::strerror(errno),
                     "; run this as somebody who may read the files of this folder"));
  };
  const Descriptor open(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (*open < 0) refuse();
  Sha256 hash;
  std::vector<char> block(std::size_t{1} << 20);
  for (ssize_t got = 0; (got = ::read(*open, block.data(), block.size())) != 0;) {
    if (got > 0)
      hash.add({block.data(), static_cast<std::size_t>(got)});
    else if (errno != EINTR)
      refuse();
  }
  return "sha256:" + hash.digits();
}

// Throws if somebody else changed the files meanwhile: then nothing tells which are right.
void refuse_what_is_gone(const fs::path& folder, const Journal& journal) {
  for (const auto& [place, promised] : journal) {
    if (!promised) continue;
    const fs::path file = folder / place;
    const fs::path content = fs::exists(part_of(file)) ? part_of(file) : file;
    if (fs::exists(content) && hash_of(content) == *promised) continue;
    throw Error(Fault::bad_input,
                text(journal_path(folder).string(), ": a killed command left ", file.string(),
                     " with the content ", *promised,
                     " to be published, and it is gone; restore the files of this folder (git "
                     "checkout) and remove the journal"));
  }
}

// Behind a link, files of others would be replaced and removed.
void refuse_links(const fs::path& folder, const Journal& journal) {
  for (const auto& [place, promised] : journal)
    for (fs::path at = fs::path(place).parent_path(); !at.empty(); at = at.parent_path())
      if (fs::is_symlink(folder / at))
        throw Error(Fault::bad_input,
                    text(journal_path(folder).string(), ": '", place, "' lies behind the link ",
                         (folder / at).string(),
                         ", and no change leads out of this folder; remove the journal"));
}

// The change that a writer began and did not finish.
std::optional<Journal> what_is_begun(const fs::path& folder) {
  const fs::path path = journal_path(folder);
  if (!fs::exists(path)) return std::nullopt;
  refuse_tracked_changes(folder, tracked_files(folder));
  Journal journal = parse_journal(Document::open(path));
  refuse_links(folder, journal);
  refuse_what_is_gone(folder, journal);
  return journal;
}

// The store's own folder, and those of the files that change.
std::set<fs::path> folders_of(const fs::path& store, const Journal& journal) {
  std::set<fs::path> folders = {store};
  for (const auto& [place, content] : journal) folders.insert((store / place).parent_path());
  return folders;
}

// Makes file names survive a machine that stops. A folder that cannot be synced is left to the file
// system.
void sync_folder(const fs::path& folder) {
  (void)holdfast::sync_folder(folder);
}

// Creates the folder with its parents, and syncs each.
void make_folder(const fs::path& folder, std::error_code& problem) {
  const fs::file_type type = fs::status(folder, problem).type();
  if (type == fs::file_type::directory) return;
  if (type == fs::file_type::none) return;  // it may exist, but cannot be examined
  const fs::path parent = fs::absolute(folder, problem).parent_path();
  if (!problem) make_folder(parent, problem);
  if (!problem && fs::create_directory(folder, problem)) sync_folder(parent);
}

[[noreturn]] void refuse_folder(const fs::path& folder, const std::error_code& problem) {
  throw Error(Fault::bad_input, text("cannot make the folder ", folder.string(), ": ",
                                     problem.message(), "; name a folder that you may write to"));
}

bool is_forbidden(int error) {
  return error == EACCES || error == EPERM || error == EROFS;
}

}  // namespace

Journal parse_journal(const Document& document) {
  Object object = open_schema(document, "holdfast-journal/1");
  Journal journal;
  for (const auto& [place, reader] : object.take("files").object().rest()) {
    if (!is_place(place)) throw reader.wrong(text("'", place, "' is no place in a store"));
    std::optional<std::string>& content = journal[place];
    if (reader.is_null()) continue;
    content = reader.string();
    if (!is_hash(*content)) throw reader.wrong(text("'", *content, "' is no sha256 of a content"));
  }
  object.close();
  return journal;
}

nlohmann::json to_json(const Journal& journal) {
  nlohmann::json files = nlohmann::json::object();
  for (const auto& [place, content] : journal) files[place] = nullable(content);
  return {{"schema", "holdfast-journal/1"}, {"files", files}};
}

fs::path journal_path(const fs::path& store) {
  return store / journal_name;
}

bool is_of_a_change(const fs::path& file) {
  const std::string name = file.filename().string();
  return name == journal_name || (name.starts_with('.') && name.ends_with(".part"));
}

void refuse_tracked_changes(const fs::path& store, const std::vector<std::string>& tracked) {
  const auto found = std::find_if(tracked.begin(), tracked.end(), is_of_a_change);
  if (found == tracked.end()) return;
  throw Error(
      Fault::bad_input,
      text((store / *found).string(),
           ": git's index has the file, which is of an unfinished change, and such a change "
           "is not carried out; take it out (git rm), and restore the files of this folder"));
}

Store::Store(fs::path folder, Use use) : folder_(std::move(folder)) {
  std::error_code problem;
  if (use == Use::writing) make_folder(folder_, problem);
  if (problem) refuse_folder(folder_, problem);
  lock_ = Descriptor(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (*lock_ < 0 && errno == ENOENT) return;
  if (*lock_ < 0)
    throw Error(Fault::bad_input, text("cannot read ", folder_.string(), ": ", std::strerror(errno),
                                       "; name a folder that you may read"));
  lock(use);
  settle(use);
}

// The folder itself is locked: no lock file stays behind, and readers need no right to write. Where
// a network file system cannot lock folders, a lock of this machine has to do.
void Store::lock(Use use) {
  const auto tell = [&] {
    std::cerr << "holdfast: waiting until another command is done with " << folder_.string()
              << std::endl;
  };
  const int how = use == Use::writing ? LOCK_EX : LOCK_SH;
  if (::flock(*lock_, how | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) {
    tell();
    for (;;) {
      if (::flock(*lock_, how) == 0) return;
      if (errno != EINTR) break;
      throw_if_interrupted();
    }
  }
  const std::string name = sha256_digits(fs::canonical(folder_).string()).substr(0, 16);
  if (!machine_lock_) machine_lock_.emplace("store-" + name, tell);
}

// A reader that may not write reads an unfinished change under the shared lock; one that may takes
// the store alone and finishes it. The shared lock is released first, so another process may come
// in between: the state is then read again.
void Store::settle(Use use) {
  while (const auto begun = what_is_begun(folder_)) {
    if (use == Use::reading) {
      if (journal_ == *begun) return;
      journal_ = *begun;
      if (!may_finish(*begun)) return;
      lock(Use::writing);
    }
    const auto alone = use == Use::reading ? what_is_begun(folder_) : begun;
    const int error = alone ? finish(*alone) : 0;
    if (error != 0 && (use == Use::writing || !is_forbidden(error)))
      throw Error(
          Fault::bad_input,
          text("cannot finish the change that ", journal_path(folder_).string(),
               " speaks of: ", std::strerror(error), "; run this as somebody who may write there"));
    if (use == Use::reading) lock(Use::reading);
  }
  journal_.clear();
}

bool Store::may_finish(const Journal& journal) const {
  const std::set<fs::path> folders = folders_of(folder_, journal);
  return std::none_of(folders.begin(), folders.end(), [](const fs::path& folder) {
    return ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0 &&
           is_forbidden(errno);
  });
}

// Moves every file to its place. Steps that were already taken are skipped, so that another process
// can continue after this one is killed. Returns errno, or 0.
int Store::finish(const Journal& journal) const {
  for (const auto& [place, content] : journal) {
    const fs::path file = folder_ / place;
    const int done =
        content ? ::rename(part_of(file).c_str(), file.c_str()) : ::unlink(file.c_str());
    if (done != 0 && errno != ENOENT) return errno;
  }
  for (const fs::path& folder : folders_of(folder_, journal)) sync_folder(folder);
  if (::unlink(journal_path(folder_).c_str()) != 0) return errno;
  sync_folder(folder_);  // else the journal could return and be checked against newer files
  return 0;
}

std::optional<fs::path> Store::content_of(const std::string& place) const {
  fs::path file = folder_ / place;
  if (const auto changed = journal_.find(place); changed != journal_.end()) {
    if (!changed->second) return std::nullopt;
    if (fs::exists(part_of(file))) return part_of(file);
  }
  if (!fs::exists(file)) return std::nullopt;
  return file;
}

std::vector<std::string> Store::places(const std::string& under, std::string_view ending) const {
  std::set<fs::path> found;  // relative to the store
  if (fs::is_directory(folder_ / under))
    for (const auto& folder : fs::directory_iterator(folder_ / under)) {
      if (!folder.is_directory()) continue;
      for (const auto& file : fs::directory_iterator(folder.path()))
        found.insert(under / folder.path().filename() / file.path().filename());
    }
  for (const auto& [place, content] : journal_)
    if (place.starts_with(under)) found.insert(place);
  std::vector<std::string> places;
  for (const fs::path& place : found)
    if (place.string().ends_with(ending) && content_of(place.string()))
      places.push_back(place.string());
  return places;
}

WrittenFile& Store::write(const std::string& place) {
  refuse_no_place(folder_, place);
  const fs::path file = folder_ / place;
  std::error_code problem;
  make_folder(file.parent_path(), problem);
  if (problem) refuse_folder(file.parent_path(), problem);
  return written_.emplace_back(place, WrittenFile(file)).second;
}

void Store::remove(const std::string& place) {
  refuse_no_place(folder_, place);
  removed_.push_back(place);
}

void Store::publish() {
  const bool several = written_.size() + removed_.size() > 1;
  Journal journal;
  for (const std::string& place : removed_) journal[place] = std::nullopt;
  for (auto& [place, file] : written_) {
    file.sync();
    journal[place] = several ? hash_of(part_of(folder_ / place)) : "";
  }
  if (several) {
    // The names of the parts must be on disk before the journal mentions them.
    for (const fs::path& folder : folders_of(folder_, journal)) sync_folder(folder);
    write_file(journal_path(folder_), canonical(to_json(journal)));
    sync_folder(folder_);
    for (auto& [place, file] : written_) file.leave_beside();
    if (const int error = finish(journal))
      throw Error(Fault::bad_input,
                  text("cannot change ", folder_.string(), ": ", std::strerror(error),
                       "; the next command that may write there finishes what was begun"));
  } else {
    for (auto& [place, file] : written_) file.publish();
    for (const std::string& place : removed_) fs::remove(folder_ / place);
    for (const fs::path& folder : folders_of(folder_, journal)) sync_folder(folder);
  }
  written_.clear();
  removed_.clear();
}

}  // namespace holdfast::gate
