// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/history/history_store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "gate/documents/history/old_history.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t block_bytes = std::size_t{1} << 18;

Error cannot_read(const fs::path& path, std::string_view why) {
  return Error(Fault::bad_input, text("cannot read ", path.string(), ": ", why));
}

Error cut_short(const fs::path& path, const char* sign) {
  return cannot_read(path, text(sign, ", so it is cut short; restore the file"));
}

Error no_run(const fs::path& path) {
  return Error(Fault::bad_input, text(path.string(),
                                      " holds no run, and each file of a history has one: it has "
                                      "lost its content; restore the file"));
}

constexpr std::size_t longest_line = std::size_t{1} << 25;

// No line is nearly that long: a file that seems to have one has lost its content.
Error no_line(const fs::path& path) {
  return cannot_read(path,
                     text("it holds no line within ", longest_line, " bytes; restore the file"));
}

// Opening a FIFO would block without O_NONBLOCK.
Descriptor open_to_read(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (*file < 0) throw cannot_read(path, std::strerror(errno));
  return file;
}

// Up to `count` bytes from `offset` on; fewer only where the file ends.
std::string read_block(const fs::path& path, int file, std::size_t offset, std::size_t count) {
  std::string block(count, '\0');
  std::size_t have = 0;
  while (have < count) {
    const ssize_t got =
        ::pread(file, block.data() + have, count - have, static_cast<off_t>(offset + have));
    if (got == 0) break;
    if (got > 0)
      have += static_cast<std::size_t>(got);
    else if (errno != EINTR)
      throw cannot_read(path, std::strerror(errno));
  }
  block.resize(have);
  return block;
}

// Shows `use` the lines of a file without their ends.
void for_each_text_line(const fs::path& path, const std::function<void(std::string_view)>& use) {
  const Descriptor file = open_to_read(path);
  std::string held;  // begins at the start of a line
  for (std::size_t offset = 0;;) {
    const std::string block = read_block(path, *file, offset, block_bytes);
    if (block.empty()) break;
    const std::size_t kept = held.size();
    held += block;
    offset += block.size();
    std::size_t begin = 0;
    for (std::size_t end = held.find('\n', kept); end != std::string::npos;
         end = held.find('\n', begin)) {
      use(std::string_view(held).substr(begin, end - begin));
      begin = end + 1;
    }
    held.erase(0, begin);
    if (held.size() > longest_line) throw no_line(path);
  }
  if (!held.empty()) throw cut_short(path, "its last line has no end");
}

// Shows `use` each line as a document that is called FILE:LINE.
void for_each_document(const fs::path& file, const std::function<void(const Document&)>& use) {
  std::size_t number = 0;
  for_each_text_line(file, [&](std::string_view line) {
    const Document document(text(file.string(), ':', ++number), line);
    use(document);
  });
}

bool is_year(std::string_view name) {
  return name.size() == 4 && name.find_first_not_of("0123456789") == std::string_view::npos;
}

// A time with `colon` for its colons, as file systems and git want it, or back.
std::string with(std::string utc, char colon) {
  for (const std::size_t at : {13, 16})
    if (at < utc.size()) utc[at] = colon;
  return utc;
}

}  // namespace

std::string begin_history(const fs::path& store) {
  return text("begin a history with holdfast history append DIR --store=", store.string());
}

Store open_history(const fs::path& store) {
  require_folder(store, begin_history(store));
  return Store(store, Store::Use::reading);
}

std::string segment_place(const std::string& device_class, const std::string& utc) {
  return text(device_class, '/', with(utc, '-'), ".ndjson");
}

std::vector<HistoryFile> history_files(const Store& store) {
  std::vector<HistoryFile> files;
  for (const std::string& place : store.places("", ".ndjson")) {
    if (place.front() == '.' || fs::path(place).filename().string().front() == '.') continue;
    HistoryFile file{.place = place,
                     .content = *store.content_of(place),
                     .device_class = fs::path(place).parent_path(),
                     .begin = fs::path(place).stem()};
    if (!file.old()) file.begin = with(file.begin, ':');
    if (file.old() ? !is_year(file.begin)
                   : !is_utc(file.begin) || segment_place(file.device_class, file.begin) != place)
      throw Error(Fault::bad_input,
                  text(file.content.string(),
                       " is not named as a file of a history is, for the time of its first run; "
                       "move it elsewhere"));
    files.push_back(std::move(file));
  }
  return files;
}

void read_segment(const HistoryFile& file, HistorySegment& segment, const UseRun& use) {
  bool ends_in_a_run = false;
  for_each_document(file.content, [&](const Document& line) {
    const auto run = segment.read(line);
    ends_in_a_run = run.has_value();
    if (run && use) use(*run, segment.meanings());
  });
  if (segment.runs() == 0) throw no_run(file.content);
  if (!ends_in_a_run)
    throw cut_short(file.content, "its last line names what no run behind it measured");
}

void for_each_run(const HistoryFile& file, const UseRun& use) {
  if (!file.old()) {
    HistorySegment segment(file.device_class);
    read_segment(file, segment, use);
    return;
  }
  OldHistory old(file.device_class, file.begin);
  for_each_document(file.content, [&](const Document& line) { old.read(line); });
  if (old.runs().empty()) throw no_run(file.content);
  for (const HistoryRun& run : old.runs()) use(run, {});
}

}  // namespace holdfast::gate
