// SPDX-License-Identifier: Apache-2.0
#include "gate/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <set>

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

// A place is inside the store, and no place of anything hidden.
bool is_place(const std::string& place) {
  for (std::size_t begin = 0; begin != std::string::npos;) {
    const std::size_t end = place.find('/', begin);
    const std::string part = place.substr(begin, end - begin);
    if (part.empty() || part.front() == '.') return false;
    begin = end == std::string::npos ? end : end + 1;
  }
  return true;
}

bool has_size(const fs::path& file, std::int64_t bytes) {
  std::error_code absent;
  return fs::file_size(file, absent) == static_cast<std::uintmax_t>(bytes) && !absent;
}

// Someone else's hand in between: then nothing tells which files are right.
void refuse_what_is_gone(const fs::path& folder, const Journal& journal) {
  for (const auto& [place, bytes] : journal) {
    if (!bytes) continue;
    const fs::path file = folder / place;
    const fs::path part = part_of(file);
    if (has_size(fs::exists(part) ? part : file, *bytes)) continue;
    throw Error(Fault::bad_input,
                text(journal_path(folder).string(), ": a killed command left ", file.string(),
                     " with ", *bytes,
                     " bytes to be published, and they are gone; restore the "
                     "files of this folder (git checkout) and remove the journal"));
  }
}

// So that a machine that stops has not forgotten which name a file has. What cannot be synced is
// left to the file system.
void sync_folder(const fs::path& folder) {
  const Descriptor open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (*open >= 0) (void)::fsync(*open);
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
    std::optional<std::int64_t>& bytes = journal[place];
    if (reader.is_null()) continue;
    bytes = reader.integer();
    if (*bytes < 0) throw reader.wrong(text("a file of ", *bytes, " bytes cannot be"));
  }
  object.close();
  return journal;
}

nlohmann::json to_json(const Journal& journal) {
  nlohmann::json files = nlohmann::json::object();
  for (const auto& [place, bytes] : journal) files[place] = nullable(bytes);
  return {{"schema", "holdfast-journal/1"}, {"files", files}};
}

fs::path journal_path(const fs::path& store) {
  return store / ".holdfast-journal.json";
}

Store::Store(fs::path folder, Use use) : folder_(std::move(folder)) {
  std::error_code problem;
  if (use == Use::writing) fs::create_directories(folder_, problem);
  if (problem)
    throw Error(Fault::bad_input, text("cannot make the folder ", folder_.string(), ": ",
                                       problem.message(), "; name a folder that you may write to"));
  lock_ = Descriptor(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (*lock_ < 0 && errno == ENOENT) return;
  if (*lock_ < 0)
    throw Error(Fault::bad_input, text("cannot read ", folder_.string(), ": ", std::strerror(errno),
                                       "; name a folder that you may read"));
  lock(use);
  settle(use);
}

// The folder itself is what is locked: nothing is left behind, and a reader needs no right to
// write. Where a network's file system locks no folders, a lock of this machine has to do.
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
  const std::string name = sha256(fs::canonical(folder_).string());
  if (!machine_lock_) machine_lock_.emplace("store-" + name.substr(name.find(':') + 1, 16), tell);
}

void Store::settle(Use use) {
  const fs::path path = journal_path(folder_);
  if (!fs::exists(path)) return;
  if (use == Use::reading) {
    lock(Use::writing);
    if (!fs::exists(path)) return;  // another reader was quicker
  }
  const Journal journal = parse_journal(Document::open(path));
  refuse_what_is_gone(folder_, journal);
  const int error = finish(journal);
  if (error == 0) return;
  if (use == Use::writing || !is_forbidden(error))
    throw Error(Fault::bad_input, text("cannot finish the change that ", path.string(),
                                       " speaks of: ", std::strerror(error),
                                       "; run this as somebody who may write there"));
  journal_ = journal;
}

// Gives every file its place. Each step that was taken already is passed over, so that whoever is
// killed here is followed by the next one. Returns what went wrong, as errno does.
int Store::finish(const Journal& journal) const {
  std::set<fs::path> folders = {folder_};
  for (const auto& [place, bytes] : journal) {
    const fs::path file = folder_ / place;
    folders.insert(file.parent_path());
    const int done = bytes ? ::rename(part_of(file).c_str(), file.c_str()) : ::unlink(file.c_str());
    if (done != 0 && errno != ENOENT) return errno;
  }
  std::for_each(folders.begin(), folders.end(), sync_folder);
  return ::unlink(journal_path(folder_).c_str()) == 0 ? 0 : errno;
}

std::optional<fs::path> Store::content_of(const std::string& place) const {
  const fs::path file = folder_ / place;
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
  for (const auto& [place, bytes] : journal_)
    if (place.starts_with(under)) found.insert(place);
  std::vector<std::string> places;
  for (const fs::path& place : found)
    if (place.string().ends_with(ending) && content_of(place.string()))
      places.push_back(place.string());
  return places;
}

WrittenFile& Store::write(const std::string& place) {
  const fs::path file = folder_ / place;
  std::error_code problem;
  fs::create_directories(file.parent_path(), problem);  // writing says why, should this fail
  return written_.emplace_back(place, WrittenFile(file)).second;
}

void Store::remove(const std::string& place) {
  removed_.push_back(place);
}

void Store::publish() {
  Journal journal;
  for (const std::string& place : removed_) journal[place] = std::nullopt;
  for (auto& [place, file] : written_) {
    file.sync();
    journal[place] = static_cast<std::int64_t>(fs::file_size(part_of(folder_ / place)));
  }
  if (journal.size() > 1) {
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
  }
  written_.clear();
  removed_.clear();
}

}  // namespace holdfast::gate
