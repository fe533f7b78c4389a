// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/unfinished_run.hpp"

#include "base/files.hpp"
#include "base/names.hpp"
#include "base/sha256.hpp"
#include "gate/base/error.hpp"
#include "gate/base/json.hpp"
#include "gate/base/written_file.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr const char* question = "what";

std::string file_name_of(const std::string& suite, const std::string& device) {
  return suite + "." + device_file_name(device);
}

}  // namespace

ResultsLock::ResultsLock(const fs::path& file, const std::function<void()>& on_wait)
    : file_(file), lock_(file, on_wait, 0666) {
  if (lock_.error() == 0) return;
  const std::string place = fs::weakly_canonical(file).string();
  machine_lock_.emplace("run-" + sha256_digits(place).substr(0, 16), on_wait);
}

ResultsLock::~ResultsLock() {
  std::error_code ignored;
  fs::remove(file_, ignored);
}

ResultsLock lock_results(const fs::path& out, const std::string& suite, const std::string& device,
                         Progress& progress) {
  make_folder(out);
  return ResultsLock(out / ('.' + file_name_of(suite, device) + ".lock"), [&] {
    progress.say("waiting for another run of ", suite, " on ", device, " into ", out.string());
  });
}

UnfinishedRun::UnfinishedRun(const fs::path& out, const std::string& suite,
                             const std::string& device, bool resume, const std::string& what)
    : out_(out), name_(file_name_of(suite, device)), folder_(out / ".unfinished" / name_) {
  const bool same =
      resume && fs::exists(folder_ / question) && read_file(folder_ / question) == what;
  if (same) return;
  std::error_code problem;
  fs::remove_all(folder_, problem);
  // Another run that ends may remove the folder around it meanwhile.
  for (int left = 10; left > 0; --left) {
    fs::create_directories(folder_, problem);
    if (problem != std::errc::no_such_file_or_directory) break;
  }
  if (problem)
    throw Error(Fault::bad_input, text("cannot make the folder ", folder_.string(), ": ",
                                       problem.message(), "; name another --out"));
  write_file(folder_ / question, what);
}

UnfinishedRun::~UnfinishedRun() {
  std::error_code ignored;
  if (!finished_ && has_processes()) return;
  fs::remove_all(folder_, ignored);
  fs::remove(folder_.parent_path(), ignored);  // if it was the last one
}

bool UnfinishedRun::has_processes() const {
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder_, ignored))
    if (file.path().extension() == ".json") return true;
  return false;
}

fs::path UnfinishedRun::history() const {
  return out_ / ".history" / name_;
}

fs::path UnfinishedRun::made_file() const {
  return history() += ".made";
}

// If this cannot be written, the next run measures again.
void UnfinishedRun::finish(const std::string& made) {
  finished_ = true;
  std::error_code ignored;
  fs::create_directories(made_file().parent_path(), ignored);
  holdfast::WrittenFile file(made_file());
  file.append(made);
  file.publish();
}

void UnfinishedRun::replace_last() const {
  withdraw(made_file());
}

bool UnfinishedRun::finished_last(const std::string& made) const {
  std::error_code problem;  // reading a FIFO would block
  return fs::is_regular_file(made_file(), problem) && read_file(made_file()) == made;
}

}  // namespace holdfast::gate
