// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/machine_code.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "runtime/base/error.hpp"
#include "runtime/compile/program_cache.hpp"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

// Changing the way of counting invalidates the cached counts.
constexpr const char* counted_as = "holdfast-machine-code/2";

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
  std::string pattern = (temporary_place() / "holdfast-cubin-XXXXXX").string();
  const int file = ::mkstemp(pattern.data());
  if (file < 0)
    throw Error(Fault::compile, text("failed to write a cubin into ", temporary_place().string(),
                                     " to disassemble it"));
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
