// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "gate/base/error.hpp"
#include "gate/base/numbers.hpp"
#include "gate/commands/commands.hpp"
#include "gate/history/series.hpp"

namespace holdfast::gate {
namespace {

int history(const Options& options) {
  const std::string& verb = options.operands()[0];
  if (verb != "append")
    throw Error(Fault::bad_input,
                text("holdfast history cannot '", verb, "'; it can append DIR --store=DIR"));
  const auto store = options.value("store");
  if (!store)
    throw Error(Fault::bad_input,
                "holdfast history append needs --store=DIR, the folder of the history");
  const Appended appended = append_history(options.operands()[1], *store);
  std::cout << *store << ": " << plural(appended.lines, "line") << " from "
            << plural(appended.runs, "run") << " appended";
  if (appended.known > 0)
    std::cout << ", " << plural(appended.known, "run") << (appended.known == 1 ? " was" : " were")
              << " there already";
  std::cout << '\n';
  return 0;
}

}  // namespace

Command history_command() {
  return {.name = "history",
          .summary = "Appends results to the history that trends are drawn from.",
          .operands = "append DIR",
          .fewest_operands = 2,
          .most_operands = 2,
          .options = {{"store", "DIR", "the folder of the history; made where it is absent"}},
          .examples = "  holdfast history append build/release/results --store=history\n",
          .run = history};
}

}  // namespace holdfast::gate
