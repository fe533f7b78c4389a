// SPDX-License-Identifier: Apache-2.0
// What a run has finished of a suite while it goes on, in `.unfinished/` of its results: so that
// whatever stops it, `holdfast run --resume` goes on from there.
#pragma once

#include <filesystem>
#include <string>

namespace holdfast::gate {

class UnfinishedRun {
 public:
  // `what` is all that a run must have in common with the one that it resumes; what was left of any
  // other goes.
  UnfinishedRun(const std::filesystem::path& out, const std::string& suite,
                const std::string& device, bool resume, const std::string& what);
  UnfinishedRun(const UnfinishedRun&) = delete;
  UnfinishedRun& operator=(const UnfinishedRun&) = delete;
  ~UnfinishedRun();  // keeps the folder where a process has written into it and nothing came of it

  const std::filesystem::path& folder() const { return folder_; }
  // Where the seconds of each case are kept from run to run.
  std::filesystem::path history() const;
  bool has_processes() const;
  // Its results are written, of what was made so; whether those that were written last are; and
  // that they are about to be replaced.
  void finish(const std::string& made);
  bool finished_last(const std::string& made) const;
  void replace_last() const;

 private:
  std::filesystem::path made_file() const;

  std::filesystem::path out_, folder_;
  std::string name_;
  bool finished_ = false;
};

}  // namespace holdfast::gate
