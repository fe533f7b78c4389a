// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/history_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include "gate/base/process.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

// Bytes that stand for themselves in JSON and in every encoding; the rest is left to the parser.
bool is_plain(std::string_view line) {
  unsigned odd = 0;
  for (const char byte : line) {
    const auto code = static_cast<unsigned char>(byte);
    odd |= static_cast<unsigned>(code < 0x20) | static_cast<unsigned>(code > 0x7e) |
           static_cast<unsigned>(code == '\\');
  }
  return odd == 0;
}

// -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
bool is_json_number(std::string_view token) {
  const auto digits = [&] {
    const std::size_t count = std::min(token.find_first_not_of("0123456789"), token.size());
    token.remove_prefix(count);
    return count;
  };
  if (token.starts_with('-')) token.remove_prefix(1);
  const bool zero = token.starts_with('0');
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (token.starts_with('.')) {
    token.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (token.starts_with('e') || token.starts_with('E')) {
    token.remove_prefix(1);
    if (token.starts_with('+') || token.starts_with('-')) token.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return token.empty();
}

// Takes one thing after the other from the front of a line; each tells whether it was there.
class Scanner {
 public:
  explicit Scanner(std::string_view line) : rest_(line) {}

  bool is(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  bool text(std::string_view& into) {
    if (!is("\"")) return false;
    const std::size_t end = rest_.find('"');
    if (end == std::string_view::npos) return false;
    into = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }
  bool text_or_null(std::optional<std::string_view>& into) {
    if (is("null")) return true;
    return text(into.emplace());
  }
  template <class Number>
  bool number(Number& into) {
    const std::size_t end = rest_.find_first_of(",}");
    if (end == std::string_view::npos || !is_json_number(rest_.substr(0, end))) return false;
    const auto [stop, problem] = std::from_chars(rest_.data(), rest_.data() + end, into);
    if (problem != std::errc() || stop != rest_.data() + end) return false;
    rest_.remove_prefix(end);
    return true;
  }
  bool number_or_null(std::optional<double>& into) {
    if (is("null")) return true;
    return number(into.emplace());
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

constexpr std::size_t block_bytes = std::size_t{1} << 18;

Error cannot_read(const fs::path& path, std::string_view why) {
  return Error(Fault::bad_input, text("cannot read ", path.string(), ": ", why));
}

Error cut_short(const fs::path& path) {
  return cannot_read(path, "its last line has no end, so it is cut short; restore the file");
}

// No line is nearly as long: a file in which one seems to be has lost its content.
Error no_line(const fs::path& path) {
  return cannot_read(path,
                     text("it holds no line within ", block_bytes, " bytes; restore the file"));
}

Descriptor open_to_read(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
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
    if (held.size() > block_bytes) throw no_line(path);
  }
  if (!held.empty()) throw cut_short(path);
}

// The same from the last line to the first, until `use` says false; then false as well.
bool for_each_text_line_from_end(const fs::path& path,
                                 const std::function<bool(std::string_view)>& use) {
  const Descriptor file = open_to_read(path);
  std::size_t offset = fs::file_size(path);
  if (offset == 0) return true;
  if (read_block(path, *file, offset - 1, 1) != "\n") throw cut_short(path);
  --offset;
  std::string held;  // ends where a line ends
  while (offset > 0) {
    const std::size_t count = std::min(offset, block_bytes);
    offset -= count;
    held.insert(0, read_block(path, *file, offset, count));
    for (std::size_t end = held.rfind('\n'); end != std::string::npos; end = held.rfind('\n')) {
      if (!use(std::string_view(held).substr(end + 1))) return false;
      held.resize(end);
    }
    if (held.size() > block_bytes) throw no_line(path);
  }
  return use(held);
}

// A file of the history, and what its place says about its lines.
struct Place {
  fs::path file;
  std::string device_class;
  std::string year;
};

std::vector<Place> places_of(const Store& store) {
  std::vector<Place> all;
  for (const std::string& place : store.places("", ".ndjson"))
    all.push_back({.file = *store.content_of(place),
                   .device_class = fs::path(place).parent_path().filename(),
                   .year = fs::path(place).stem().string() + '-'});
  return all;
}

// What a line must be besides well-formed; empty where nothing is wrong.
std::string what_is_wrong(const HistoryView& line, const Place& place) {
  constexpr std::array<std::pair<const char*, std::string_view HistoryView::*>, 7> names = {
      {{"utc", &HistoryView::utc},
       {"commit", &HistoryView::commit},
       {"class", &HistoryView::device_class},
       {"fp", &HistoryView::fingerprint},
       {"case", &HistoryView::case_id},
       {"variant", &HistoryView::variant},
       {"metric", &HistoryView::metric}}};
  for (const auto& [name, member] : names)
    if ((line.*member).empty()) return text("'", name, "' is empty");
  constexpr std::int64_t most_commits = 1'000'000'000;  // leaves room for the next one
  if (line.order < 1 || line.order > most_commits)
    return text("'order' counts commits from 1 on, and is ", line.order);
  if (line.mad && *line.mad < 0) return "'mad' is a spread and cannot be negative";
  if (line.verdict && line.verdict->empty()) return "'verdict' is empty";
  if (line.device_class != place.device_class)
    return text("a line of the class '", line.device_class, "' in the folder of another");
  if (!line.utc.starts_with(place.year))
    return text("a line of ", line.utc, " in the file of another year");
  return "";
}

// What `use` says about a line; `number` is its line in the file, where that is known.
template <class Use>
auto show_line(std::string_view content, const Place& place, std::optional<std::size_t> number,
               const Use& use) {
  const auto where = [&] {
    return place.file.string() + (number ? text(':', *number) : std::string());
  };
  const auto show = [&](const HistoryView& line) {
    if (const std::string wrong = what_is_wrong(line, place); !wrong.empty())
      throw Error(Fault::bad_input,
                  text(where(), ": ", wrong, "; restore the file, or remove the line"));
    return use(line);
  };
  if (const auto canonical = read_canonical_line(content)) return show(*canonical);
  const Document document(where(), content);
  return show(parse_history_line(document));
}

void show_file(const Place& place, const std::function<void(const HistoryView&)>& use) {
  std::size_t number = 0;
  for_each_text_line(place.file,
                     [&](std::string_view content) { show_line(content, place, ++number, use); });
}

}  // namespace

std::string begin_history(const fs::path& store) {
  return text("begin a history with holdfast history append DIR --store=", store.string());
}

std::optional<HistoryView> read_canonical_line(std::string_view content) {
  HistoryView line;
  Scanner scan(content);
  const bool canonical =
      is_plain(content) && scan.is(R"({"case": )") && scan.text(line.case_id) &&
      scan.is(R"(, "class": )") && scan.text(line.device_class) && scan.is(R"(, "commit": )") &&
      scan.text(line.commit) && scan.is(R"(, "fp": )") && scan.text(line.fingerprint) &&
      scan.is(R"(, "mad": )") && scan.number_or_null(line.mad) && scan.is(R"(, "metric": )") &&
      scan.text(line.metric) && scan.is(R"(, "order": )") && scan.number(line.order) &&
      scan.is(R"(, "utc": )") && scan.text(line.utc) && scan.is(R"(, "value": )") &&
      scan.number(line.value) && scan.is(R"(, "variant": )") && scan.text(line.variant) &&
      scan.is(R"(, "verdict": )") && scan.text_or_null(line.verdict) && scan.is("}") &&
      scan.at_end();
  if (!canonical) return std::nullopt;
  return line;
}

HistoryView parse_history_line(const Document& document) {
  Object object = document.root().object();
  HistoryView line{.utc = object.take("utc").string(),
                   .commit = object.take("commit").string(),
                   .order = object.take("order").integer(),
                   .device_class = object.take("class").string(),
                   .fingerprint = object.take("fp").string(),
                   .case_id = object.take("case").string(),
                   .variant = object.take("variant").string(),
                   .metric = object.take("metric").string(),
                   .value = object.take("value").number(),
                   .mad = object.take("mad").number_or_null()};
  if (const Reader verdict = object.take("verdict"); !verdict.is_null())
    line.verdict = verdict.string();
  object.close();
  return line;
}

Store open_history(const fs::path& store) {
  require_folder(store, begin_history(store));
  return Store(store, Store::Use::reading);
}

void for_each_line(const Store& store, const std::function<void(const HistoryView&)>& use) {
  for (const Place& place : places_of(store)) show_file(place, use);
}

void for_each_line_from_end(const Store& store, const std::string& device_class,
                            const std::function<bool(const HistoryView&)>& use) {
  std::vector<Place> places = places_of(store);
  std::reverse(places.begin(), places.end());
  for (const Place& place : places) {
    if (place.device_class != device_class) continue;
    try {
      const bool more = for_each_text_line_from_end(place.file, [&](std::string_view content) {
        return show_line(content, place, std::nullopt, use);
      });
      if (!more) return;
    } catch (const Error&) {
      show_file(place, [](const HistoryView&) {});  // throws the same with the line's number
      throw;
    }
  }
}

}  // namespace holdfast::gate
