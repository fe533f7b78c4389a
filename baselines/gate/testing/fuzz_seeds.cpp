// SPDX-License-Identifier: Apache-2.0
// fuzz_seeds PARSER FOLDER: writes the inputs that fuzzing this parser starts from.
#include <exception>
#include <filesystem>
#include <iostream>

#include "gate/base/json.hpp"
#include "gate/testing/parser_promises.hpp"

int main(int argc, char** argv) {
  using namespace holdfast::gate;
  if (argc != 3) {
    std::cerr << "usage: fuzz_seeds PARSER FOLDER\n";
    return 2;
  }
  try {
    const std::filesystem::path folder = argv[2];
    std::filesystem::create_directories(folder);
    std::size_t count = 0;
    for (const std::string& seed : parser_promise(argv[1]).seeds())
      write_file(folder / holdfast::text("seed_", count++), seed, Sync::no);
  } catch (const std::exception& error) {
    std::cerr << "fuzz_seeds: " << error.what() << "\n";
    return 2;
  }
}
