// SPDX-License-Identifier: Apache-2.0
// A folder whose files change together: the accepted baselines, the history. Every reader sees all
// of a change or nothing of it, even if its writer is killed.
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

// A change, by the files' places in the store: the sha256() of the new file that lies beside its
// place (see WrittenFile); empty where a file is removed.
using Journal = std::map<std::string, std::optional<std::string>>;

Journal parse_journal(const Document& document);
nlohmann::json to_json(const Journal& journal);

// The file that records a change while its files are moved to their places.
std::filesystem::path journal_path(const std::filesystem::path& store);

// Throws Error(bad_input) for what a killed command leaves, a journal or a file beside its place,
// if it is among the `tracked` files of the store: somebody committed it, and carried out it would
// replace files before anybody compares them with git's.
void refuse_tracked_changes(const std::filesystem::path& store,
                            const std::vector<std::string>& tracked);
bool is_of_a_change(const std::filesystem::path& file);

// Readers share the store; a writer has it alone until it is destroyed. Waiting is reported on the
// standard error. A change of several files is prepared beside their places, and holds from the
// moment its journal is written. The next process that opens the store finishes the change of a
// killed writer or, if it may not write, reads the new files from beside their places. A change
// that git has, or that leads out of the store, throws Error(bad_input).
class Store {
 public:
  enum class Use { reading, writing };
  // An absent folder is an empty store for a reader, and created for a writer.
  Store(std::filesystem::path folder, Use use);

  const std::filesystem::path& folder() const { return folder_; }

  // Where the content of a file is to be read; empty where the store has no such file.
  std::optional<std::filesystem::path> content_of(const std::string& place) const;
  // The places of all files <under>/<class>/<name><ending>, sorted; `under` is "" or ends with '/'.
  std::vector<std::string> places(const std::string& under, std::string_view ending) const;

  // For writers: the files of one change, and their publication. A place outside the store throws
  // Error(bad_input).
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
