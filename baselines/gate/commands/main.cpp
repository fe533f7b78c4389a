// SPDX-License-Identifier: Apache-2.0
// The `holdfast` command: finds the verb, prints what went wrong, and gives the exit code.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>

#include "base/files.hpp"
#include "gate/base/error.hpp"
#include "gate/base/printing.hpp"
#include "gate/base/process.hpp"
#include "gate/commands/commands.hpp"

namespace holdfast::gate {
namespace {

std::string overview() {
  std::string out =
      "usage: holdfast COMMAND ...\n"
      "Holds GPU science fast: runs the suites, judges them against stored baselines, shows what "
      "changed.\n"
      "\ncommands:\n";
  for (const Command& command : commands()) {
    std::string left = text("  ", command.name);
    left.resize(12, ' ');
    out += text(left, command.summary, "\n");
  }
  return out +
         "\nexamples:\n"
         "  holdfast run cubed_sphere_swe --device=cuda-dry:sm_90 --out=results\n"
         "  holdfast check results\n"
         "  holdfast explain rk4_step/n:48/f64 results\n"
         "\nholdfast COMMAND --help tells more. Exit codes: 0 well, 1 a regression or a wrong "
         "result, 2 usage\nor a bad file, 3 incomplete, 4 undecided, 77 no such device.\n";
}

const Command& command_of(const std::string& verb) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (verb == command.name) return command;
    names.emplace_back(command.name);
  }
  const auto meant = nearest(verb, names);
  throw Error(Fault::bad_input,
              text("holdfast has no command '", verb, "'",
                   meant ? text("; did you mean ", *meant, "?") : "; see holdfast --help"));
}

// `holdfast help VERB` and `holdfast --help VERB` are `holdfast VERB --help`.
int help(const std::vector<std::string>& arguments) {
  if (arguments.size() > 2)
    throw Error(Fault::bad_input, "holdfast help takes one command, or none for all of them");
  std::cout << (arguments.size() == 1 ? overview() : command_of(arguments[1]).usage());
  return 0;
}

// In a git hook these variables name the calling repository, in which git finds nothing of other
// folders. Ours is always the repository around the folder that we are given.
void forget_the_callers_repository() {
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE"})
    (void)::unsetenv(name);
}

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    std::cerr << overview();
    return exit_code(Fault::bad_input);
  }
  const std::string& verb = arguments.front();
  if (verb == "help" || verb == "--help" || verb == "-h") return help(arguments);
  if (verb == "--version") {
    if (arguments.size() > 1)
      throw Error(Fault::bad_input, "holdfast --version takes nothing behind it");
    std::cout << "holdfast " << HOLDFAST_VERSION << "\n";
    return 0;
  }
  const Command& command = command_of(verb);
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  for (const std::string& argument : rest) {
    if (argument == "--") break;
    if (argument != "--help" && argument != "-h") continue;
    std::cout << command.usage();
    return 0;
  }
  if (rest.empty() && command.fewest_operands > 0) {
    std::cerr << command.usage();
    return exit_code(Fault::bad_input);
  }
  const Options options = command.parse(rest);
  printing() = printing_of(options);
  return command.run(options);
}

}  // namespace
}  // namespace holdfast::gate

int main(int argc, char** argv) {
  using namespace holdfast::gate;
  holdfast::hold_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` fails, and says so
  forget_the_callers_repository();
  try {
    const int code = dispatch(std::vector<std::string>(argv + 1, argv + argc));
    // A verdict that cannot be printed is an error.
    if (!std::cout.flush()) throw Error(Fault::bad_input, "cannot write to the standard output");
    return code;
  } catch (const Interrupted& interrupted) {
    std::cerr << "holdfast: interrupted; " << interrupted.left.what() << std::endl;
    std::signal(interrupted.signal, SIG_DFL);
    return std::raise(interrupted.signal);
  } catch (const Error& error) {
    std::cout.flush();
    std::cerr << "holdfast: " << error.what() << "\n";
    return exit_code(error.fault());
  } catch (const std::bad_alloc&) {
    std::cerr << "holdfast: " << no_memory << "\n";
    return exit_code(Fault::incomplete);
  } catch (const std::filesystem::filesystem_error& error) {
    std::cerr << "holdfast: cannot use " << error.path1().string() << ": " << error.code().message()
              << "\n";
    return exit_code(Fault::bad_input);
  } catch (const std::exception& error) {
    std::cerr << "holdfast: " << error.what() << "\n";
    return exit_code(Fault::bad_input);
  }
}
