// SPDX-License-Identifier: Apache-2.0
// A folder whose files change together: the accepted baselines, the history. Every reader sees all
// of a change or nothing of it, whenever its writer was killed.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gate/base/json.hpp"
#include "gate/base/process.hpp"
#include "gate/base/written_file.hpp"

namespace holdfast::gate {

// What a change consists of, by the files' places in the store: the sha256() of what lies beside a
// place to take it (see WrittenFile); empty where the file goes.
using Journal = std::map<std::string, std::optional<std::string>>;

Journal parse_journal(const Document& document);
nlohmann::json to_json(const Journal& journal);

// Where a change is written down while its files take their places.
std::filesystem::path journal_path(const std::filesystem::path& store);

// Readers share the store, a writer has it alone until it is destroyed; who must wait says so on
// the standard error. A change of several files is prepared beside their places; writing the
// journal is the moment from which on it holds. Whoever opens the store next finishes what a killed
// writer wrote down, or, where it may not write, reads the new files from beside their places.
class Store {
 public:
  enum class Use { reading, writing };
  // An absent folder is an empty store to a reader, and made for a writer.
  Store(std::filesystem::path folder, Use use);

  const std::filesystem::path& folder() const { return folder_; }

  // Where the content of a file is to be read; empty where the store has no such file.
  std::optional<std::filesystem::path> content_of(const std::string& place) const;
  // The places of all files <under>/<class>/<name><ending>, sorted; `under` is "" or ends with '/'.
  std::vector<std::string> places(const std::string& under, std::string_view ending) const;

  // For writers: the files of one change, and their publication. What is no place inside the store
  // throws Error(bad_input).
  WrittenFile& write(const std::string& place);
  void remove(const std::string& place);
  void publish();

 private:
  std::filesystem::path folder_;
  Descriptor lock_ = Descriptor();
  std::optional<MachineLock> machine_lock_ = {};
  Journal journal_ = {};  // of a change that this reader may not finish
  std::deque<std::pair<std::string, WrittenFile>> written_ = {};
  std::vector<std::string> removed_ = {};

  void lock(Use use);
  void settle(Use use);
  bool may_finish(const Journal& journal) const;
  int finish(const Journal& journal) const;
};

}  // namespace holdfast::gate
