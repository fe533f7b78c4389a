// SPDX-License-Identifier: Apache-2.0
// For tests: runs real commands in a private folder, and keeps their output.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "base/files.hpp"

namespace holdfast {

struct Said {
  int exit = 0;
  std::string words = {};  // standard output and error together
};

// Passes `line` to the shell.
inline Said run(const std::string& line) {
  Said said;
  FILE* pipe = ::popen((line + " 2>&1").c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot start: " + line);
  std::array<char, 4096> buffer = {};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    said.words.append(buffer.data(), got);
  const int status = ::pclose(pipe);
  said.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return said;
}

inline std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Whether the output is one line that begins with the program's name.
inline bool one_sentence(const Said& said, const std::string& program) {
  return std::count(said.words.begin(), said.words.end(), '\n') == 1 &&
         said.words.starts_with(program + ": ");
}

// In a folder of this process's own, which goes with it.
inline std::filesystem::path fresh_folder(const std::string& name) {
  static const NewFolder own(testing::TempDir() + "holdfast-");
  const auto folder = own.path() / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace holdfast
