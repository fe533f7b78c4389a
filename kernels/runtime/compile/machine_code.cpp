// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/machine_code.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <vector>

#include "base/sha256.hpp"
#include "runtime/base/error.hpp"
#include "runtime/compile/program_cache.hpp"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

// Changing the way of counting invalidates the cached counts.
constexpr const char* counted_as = "holdfast-machine-code/1";

// The output of a shell command; empty if it fails.
std::optional<std::string> printed_by(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) return {};
  std::string all;
  char some[1 << 16];
  for (std::size_t read = 0; (read = std::fread(some, 1, sizeof some, pipe)) > 0;)
    all.append(some, read);
  const int status = ::pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return {};
  return all;
}

std::string in_quotes(const fs::path& path) {
  std::string out = "'";
  for (const char letter : path.string()) out += letter == '\'' ? "'\\''" : std::string(1, letter);
  return out + "'";
}

// The wheel's comes first.
std::vector<std::string> found_disassemblers() {
  std::vector<fs::path> folders;
  std::error_code none;
  for (const auto& python : fs::directory_iterator(fs::path(HOLDFAST_VENV) / "lib", none))
    folders.push_back(python.path() / "site-packages/nvidia/cu13/bin");
  const char* path = std::getenv("PATH");
  std::istringstream rest(text(path ? path : "", ":/usr/local/cuda/bin"));
  for (std::string folder; std::getline(rest, folder, ':');)
    if (!folder.empty()) folders.emplace_back(folder);
  std::vector<std::string> found;
  for (const fs::path& folder : folders)
    if (::access((folder / "nvdisasm").c_str(), X_OK) == 0) found.push_back(folder / "nvdisasm");
  return found;
}

// "Cuda compilation tools, release 13.2, V13.2.51" -> "13.2.51"
std::string version_of(const std::string& path) {
  const auto printed = printed_by(in_quotes(path) + " --version 2> /dev/null");
  if (!printed) return {};
  const auto found = printed->find(", V");
  if (found == printed->npos) return {};
  const auto end = std::min(printed->find_first_not_of("0123456789.", found + 3), printed->size());
  return printed->substr(found + 3, end - found - 3);
}

// One line per kernel: its name, then class and number alternately.
std::string written(const std::map<std::string, InstructionCounts>& kernels) {
  std::string all;
  for (const auto& [name, code] : kernels) {
    all += name;
    for (const auto& [instruction_class, number] : code)
      all += text(' ', instruction_class, ' ', number);
    all += '\n';
  }
  return all;
}
std::map<std::string, InstructionCounts> parsed(const std::string& all) {
  std::map<std::string, InstructionCounts> kernels;
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, instruction_class;
    words >> name;
    InstructionCounts& code = kernels[name];
    for (std::int64_t number = 0; words >> instruction_class >> number;)
      code[instruction_class] = number;
  }
  return kernels;
}

std::map<std::string, InstructionCounts> disassembled(const std::string& cubin,
                                                      const Disassembler& disassembler) {
  std::string pattern = (fs::temp_directory_path() / "holdfast-cubin-XXXXXX").string();
  const int file = ::mkstemp(pattern.data());
  if (file < 0)
    throw Error(Fault::compile, text("failed to write a cubin into ",
                                     fs::temp_directory_path().string(), " to disassemble it"));
  ::close(file);
  std::ofstream(pattern, std::ios::binary) << cubin;
  const auto printed = printed_by(text(in_quotes(disassembler.path), " --print-code --no-dataflow ",
                                       in_quotes(pattern), " 2> /dev/null"));
  ::unlink(pattern.c_str());
  if (!printed)
    throw Error(Fault::compile, text("failed to disassemble a cubin: ", disassembler.path, " (",
                                     disassembler.version, ") cannot read it"));
  return read_disassembly(*printed);
}

}  // namespace

const Disassembler& pinned_disassembler() {
  static const Disassembler chosen = [] {
    Disassembler found{.version = HOLDFAST_NVDISASM, .absent = "this machine has no nvdisasm"};
    for (const std::string& path : found_disassemblers()) {
      const std::string version = version_of(path);
      if (version == HOLDFAST_NVDISASM) return Disassembler{.path = path, .version = version};
      found.absent = text("this machine's nvdisasm is ", version, " and not " HOLDFAST_NVDISASM);
    }
    found.absent +=
        ", which tells what machine code does: run ./cmake/bootstrap.sh --cuda to have it";
    return found;
  }();
  return chosen;
}

std::optional<std::map<std::string, InstructionCounts>> machine_code(
    const std::string& cubin, const std::string& cubin_hash, const Disassembler& disassembler) {
  static std::mutex mutex;
  static std::map<std::string, std::map<std::string, InstructionCounts>> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(cubin_hash); found != known.end()) return found->second;
  const std::string key =
      sha256_digits(text(counted_as, '\n', disassembler.version, '\n', cubin_hash));
  const auto kept = cached_text(key);
  if (!kept && disassembler.path.empty()) return std::nullopt;
  auto kernels = kept ? parsed(*kept) : disassembled(cubin, disassembler);
  if (!kept) cache_text(key, written(kernels));
  return known[cubin_hash] = std::move(kernels);
}

}  // namespace holdfast
