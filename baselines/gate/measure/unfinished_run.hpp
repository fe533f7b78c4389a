// SPDX-License-Identifier: Apache-2.0
// What a run in progress has finished of a suite, in `.unfinished/` of its results: so that
// `holdfast run --resume` continues it, whatever stopped it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "gate/base/process.hpp"
#include "gate/measure/suite_process.hpp"

namespace holdfast::gate {

// For a run's whole time: another one of the suite on the device into the same folder, wherever its
// locks of the machine are, would remove what this one has finished. Where a network's file system
// cannot lock files, a lock of this machine has to do.
class ResultsLock {
 public:
  ResultsLock(const std::filesystem::path& file, const std::function<void()>& on_wait);
  ResultsLock(const ResultsLock&) = delete;
  ResultsLock& operator=(const ResultsLock&) = delete;
  ~ResultsLock();  // removes the file

 private:
  std::filesystem::path file_;
  FileLock lock_;
  std::optional<MachineLock> machine_lock_ = {};
};
ResultsLock lock_results(const std::filesystem::path& out, const std::string& suite,
                         const std::string& device, Progress& progress);

class UnfinishedRun {
 public:
  // `what` identifies a run that can be resumed; what another one left is removed.
  UnfinishedRun(const std::filesystem::path& out, const std::string& suite,
                const std::string& device, bool resume, const std::string& what);
  UnfinishedRun(const UnfinishedRun&) = delete;
  UnfinishedRun& operator=(const UnfinishedRun&) = delete;
  ~UnfinishedRun();  // keeps the folder if processes wrote into it and the run did not finish

  const std::filesystem::path& folder() const { return folder_; }
  // Where the seconds of each case are kept from run to run.
  std::filesystem::path history() const;
  bool has_processes() const;
  // finish: the results are written, made as `made` says. finished_last: whether the last ones were
  // made so. replace_last: they are about to be replaced.
  void finish(const std::string& made);
  bool finished_last(const std::string& made) const;
  void replace_last() const;

 private:
  std::filesystem::path made_file() const;

  std::filesystem::path out_;
  std::string name_;
  std::filesystem::path folder_;
  bool finished_ = false;
};

}  // namespace holdfast::gate
