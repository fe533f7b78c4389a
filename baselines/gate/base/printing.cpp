// SPDX-License-Identifier: Apache-2.0
#include "gate/base/printing.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "gate/base/error.hpp"

namespace holdfast::gate {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool shows_colors() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && !is_set("NO_COLOR") &&
         !(terminal != nullptr && std::string_view(terminal) == "dumb");
}

}  // namespace

Printing printing_of(const Options& options) {
  const std::string color = options.value_or("color", "auto");
  if (color != "auto" && color != "always" && color != "never")
    throw Error(Fault::bad_input, text("--color=", color, ": give auto, always or never"));
  return {.color = color == "always" || (color == "auto" && shows_colors()),
          .quiet = options.has("quiet")};
}

Printing& printing() {
  static Printing of_this_process;
  return of_this_process;
}

void tell_done(const std::string& words) {
  if (!(std::cout << words << std::flush)) std::cerr << words;
}

std::string toned(Tone tone, std::string_view words, const Printing& how) {
  constexpr std::array colors = {"\033[32m", "\033[33m", "\033[1;31m"};
  if (!how.color) return std::string(words);
  return text(colors[static_cast<std::size_t>(tone)], words, "\033[0m");
}

}  // namespace holdfast::gate
