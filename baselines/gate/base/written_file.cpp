// SPDX-License-Identifier: Apache-2.0
#include "gate/base/written_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "gate/base/json.hpp"

namespace holdfast::gate {

void WrittenFile::check() const {
  if (error() == 0) return;
  const char* const advice = error() == ENOTSUP  ? "; name a file"
                             : error() == ENOSPC ? "; make room there, or choose another folder"
                                                 : "; choose a folder that you may write to";
  throw Error(Fault::bad_input, text("cannot write ", place().string(), ": ",
                                     error() == ENOTSUP ? "it is a device or a FIFO, and no file"
                                                        : std::strerror(error()),
                                     advice));
}

void WrittenFile::append_copy_of(const std::filesystem::path& file) {
  constexpr std::size_t most = std::size_t{1} << 30;
  const Descriptor from(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (*from < 0)
    throw Error(Fault::bad_input, text("cannot read ", file.string(), ": ", std::strerror(errno)));
  for (;;) {
    const ssize_t copied = ::copy_file_range(*from, nullptr, descriptor(), nullptr, most, 0);
    if (copied > 0) continue;
    if (copied == 0) return;
    if (errno == EINTR) continue;
    break;
  }
  // Not every file system supports copy_file_range(); what it has copied stays.
  std::vector<char> block(std::size_t{1} << 20);
  for (;;) {
    const ssize_t got = ::read(*from, block.data(), block.size());
    if (got == 0) return;
    if (got > 0)
      append({block.data(), static_cast<std::size_t>(got)});
    else if (errno != EINTR)
      throw Error(Fault::bad_input,
                  text("cannot read ", file.string(), " to its end: ", std::strerror(errno)));
  }
}

void withdraw(const std::filesystem::path& older) {
  if (::unlink(older.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return;
  if (errno == EACCES || errno == EROFS)
    throw Error(Fault::bad_input, text("cannot write ", older.string(), ": the folder ",
                                       std::filesystem::absolute(older).parent_path().string(),
                                       " cannot be written to; name another folder"));
  throw Error(Fault::bad_input,
              text("cannot write ", older.string(),
                   ": what stands there cannot be removed: ", std::strerror(errno)));
}

void make_folder(const std::filesystem::path& out) {
  std::error_code problem;
  std::filesystem::create_directories(out, problem);
  if (!problem && ::faccessat(AT_FDCWD, out.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    problem = std::error_code(errno, std::generic_category());
  if (problem)
    throw Error(Fault::bad_input, text("cannot write to --out=", out.string(), ": ",
                                       problem.message(), "; name a folder that you may write to"));
}

void write_file(const std::filesystem::path& path, std::string_view content, Sync sync) {
  WrittenFile file(path);
  file.append(content);
  if (sync == Sync::yes) file.sync();
  file.publish();
}

}  // namespace holdfast::gate
