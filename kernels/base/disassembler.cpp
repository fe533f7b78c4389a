// SPDX-License-Identifier: Apache-2.0
#include "base/disassembler.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "base/text.hpp"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

// "Cuda compilation tools, release 13.2, V13.2.51" -> "13.2.51"
std::string version_of(const fs::path& program) {
  const auto printed = printed_by(in_quotes(program) + " --version 2> /dev/null");
  if (!printed) return {};
  const auto found = printed->find(", V");
  if (found == printed->npos) return {};
  const auto end = std::min(printed->find_first_not_of("0123456789.", found + 3), printed->size());
  return printed->substr(found + 3, end - found - 3);
}

}  // namespace

std::vector<fs::path> found_disassemblers(std::string_view name) {
  std::vector<fs::path> folders;
  std::error_code none;
  for (const auto& python : fs::directory_iterator(fs::path(HOLDFAST_VENV) / "lib", none))
    folders.push_back(python.path() / "site-packages/nvidia/cu13/bin");
  const char* path = std::getenv("PATH");
  std::istringstream rest(text(path ? path : "", ":/usr/local/cuda/bin"));
  for (std::string folder; std::getline(rest, folder, ':');)
    if (!folder.empty()) folders.emplace_back(folder);
  std::vector<fs::path> found;
  for (const fs::path& folder : folders)
    if (::access((folder / name).c_str(), X_OK) == 0) found.push_back(folder / name);
  return found;
}

std::string Disassembler::why_uncounted() const {
  return text(absent, ", which tells what machine code does: run ", disassembler_fix,
              " to have it");
}

const Disassembler& pinned_disassembler() {
  static const Disassembler chosen = [] {
    Disassembler found{.version = HOLDFAST_NVDISASM, .absent = "this machine has no nvdisasm"};
    for (const fs::path& program : found_disassemblers("nvdisasm")) {
      const std::string version = version_of(program);
      if (version == HOLDFAST_NVDISASM) return Disassembler{.path = program, .version = version};
      found.absent = text("this machine's nvdisasm is ", version, " and not " HOLDFAST_NVDISASM);
    }
    return found;
  }();
  return chosen;
}

std::string in_quotes(const fs::path& path) {
  std::string out = "'";
  for (const char letter : path.string()) out += letter == '\'' ? "'\\''" : std::string(1, letter);
  return out + "'";
}

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

}  // namespace holdfast
