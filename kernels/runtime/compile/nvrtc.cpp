// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/nvrtc.hpp"

#include <algorithm>
#include <charconv>

#include "runtime/base/error.hpp"
#include "runtime/base/handle.hpp"
#include "runtime/compile/toolkit.hpp"
#include "runtime/cuda/cuda_check.hpp"
#include "runtime/cuda/nvjitlink_library.hpp"
#include "runtime/cuda/nvrtc_library.hpp"
#include "runtime/device/architecture.hpp"

namespace holdfast {
namespace {

void destroy_program(nvrtcProgram program) {
  (void)nvrtc().destroy_program(&program);
}
void destroy_link(nvJitLinkHandle link) {
  (void)nvjitlink().destroy(&link);
}
using ProgramHandle = Handle<nvrtcProgram, destroy_program>;
using LinkHandle = Handle<nvJitLinkHandle, destroy_link>;

std::vector<const char*> pointers(const std::vector<std::string>& strings) {
  std::vector<const char*> result;
  for (const auto& string : strings) result.push_back(string.c_str());
  return result;
}

// Both libraries include the terminating zero in their sizes.
void drop_terminator(std::string& text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
}

std::string log_of(nvrtcProgram program) {
  std::size_t size = 0;
  check(nvrtc().log_size(program, &size), "size the compiler's log");
  std::string log(size, '\0');
  check(nvrtc().log(program, log.data()), "read the compiler's log");
  drop_terminator(log);
  return log;
}

std::string log_of(nvJitLinkHandle link, decltype(NvJitLinkLibrary::info_log_size) size_of,
                   decltype(NvJitLinkLibrary::info_log) read) {
  std::size_t size = 0;
  check(size_of(link, &size), "size the linker's log");
  std::string log(size, '\0');
  if (size > 0) check(read(link, log.data()), "read the linker's log");
  drop_terminator(log);
  return log;
}

// The number directly before `words`, 0 if they are absent: 12 in "12 bytes spill stores".
template <class Number = int>
Number number_before(std::string_view words, std::string_view log) {
  const auto found = log.find(words);
  if (found == std::string_view::npos || found == 0) return 0;
  const auto digits_begin = log.find_last_not_of("0123456789", found - 1) + 1;
  Number number = 0;
  std::from_chars(log.data() + digits_begin, log.data() + found, number);
  return number;
}

int spills_in(std::string_view lines) {
  int bytes = 0;
  while (!lines.empty()) {
    const auto line = lines.substr(0, lines.find('\n'));
    bytes += number_before(" bytes spill stores", line) + number_before(" bytes spill loads", line);
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
  }
  return bytes;
}

// The rest of the log after `words`, which must be present; `what` names what they introduce.
std::string_view after(std::string_view words, std::string_view log, std::string_view what,
                       const Artifact::Entry& entry) {
  const auto found = log.find(words);
  if (found == log.npos)
    throw Error(Fault::compile, text("failed to read the ", what, " of kernel ", entry.name,
                                     ": nvJitLink does not report them"));
  return log.substr(found + words.size());
}
// The number before words that must be in a kernel's part of the log: otherwise a linker with
// another wording would read as a kernel that uses nothing.
int number_of(std::string_view words, std::string_view log, const Artifact::Entry& entry) {
  (void)after(words, log, text("number of", words), entry);
  return number_before(words, log);
}
std::string_view first_line(std::string_view lines) {
  return lines.substr(0, lines.find('\n'));
}

// The bytes of a kernel's shared memory in nvJitLink's log that are the system's: it counts what
// the system reserves of a block on Hopper, and on no other architecture.
std::int64_t reserved_in_log(int sm) {
  constexpr int hopper = 90;
  return sm == hopper ? architecture(sm).shared_bytes_reserved : 0;
}

// "release 13.0, V13.0.88" in a tool's own output -> "13.0.88".
std::string release_in(std::string_view artefact) {
  auto found = artefact.find(", V", artefact.find("release "));
  if (found == artefact.npos) return "unknown";
  found += 3;
  return std::string(
      artefact.substr(found, artefact.find_first_not_of("0123456789.", found) - found));
}

std::string dotted(int version) {
  return text(version / 1000, ".", version % 1000 / 10);
}

}  // namespace

const std::vector<std::string>& lowering_options() {
  // Unannotated functions are device functions, so that formulas.hpp needs no annotation for g++
  // either.
  static const std::vector<std::string> options = {"--std=c++20",
                                                   "--device-as-default-execution-space"};
  return options;
}

void lower(const Lowering& lowering, Artifact& artifact) {
  std::vector<std::string> options = lowering_options();
  options.push_back(text("--gpu-architecture=compute_", lowering.sm));
  options.push_back("--no-cache");  // see link()
  for (const auto& definition : lowering.definitions) options.push_back("-D" + definition);
  std::vector<const char*> header_names, header_texts;
  for (const auto& header : lowering.headers) {
    header_names.push_back(header.name.c_str());
    header_texts.push_back(header.text.c_str());
  }

  nvrtcProgram raw = nullptr;
  check(nvrtc().create_program(&raw, lowering.text.c_str(), lowering.name.c_str(),
                               static_cast<int>(header_names.size()), header_texts.data(),
                               header_names.data()),
        text("create program ", lowering.name));
  const ProgramHandle program(raw);
  for (const auto& entry : lowering.entries)
    check(nvrtc().add_name(raw, entry.c_str()), text("name kernel ", entry));
  const auto list = pointers(options);
  if (nvrtc().compile(raw, static_cast<int>(list.size()), list.data()) != NVRTC_SUCCESS)
    throw Error(Fault::compile, text("failed to compile ", lowering.name, " for compute_",
                                     lowering.sm, ":\n", log_of(raw)));

  artifact.entries.clear();
  for (const auto& entry : lowering.entries) {
    const char* mangled = nullptr;
    check(nvrtc().lowered_name(raw, entry.c_str(), &mangled),
          text("find kernel ", entry, " in ", lowering.name));
    artifact.entries.push_back({.name = mangled});
  }
  std::size_t size = 0;
  check(nvrtc().ptx_size(raw, &size), "size the PTX");
  artifact.ptx.assign(size, '\0');
  check(nvrtc().ptx(raw, artifact.ptx.data()), "read the PTX");
  drop_terminator(artifact.ptx);
}

// With a driver present, both libraries cache their output (~/.nv/ComputeCache). A cache hit comes
// without ptxas's log and takes no time, so the cache is disabled: here a compilation always
// compiles.
void link(const Lowering& lowering, Artifact& artifact) {
  const std::vector<std::string> options = {text("-arch=sm_", lowering.sm), "-verbose",
                                            "-Xptxas=-v", "-no-cache"};
  auto list = pointers(options);
  nvJitLinkHandle raw = nullptr;
  check(nvjitlink().create(&raw, static_cast<unsigned>(list.size()), list.data()),
        text("start the compilation of ", lowering.name, " for sm_", lowering.sm));
  const LinkHandle link(raw);
  // A fixed name: the cubin must depend only on the code.
  auto status = nvjitlink().add_data(raw, NVJITLINK_INPUT_PTX, artifact.ptx.c_str(),
                                     artifact.ptx.size() + 1, "program.ptx");
  if (status == NVJITLINK_SUCCESS) status = nvjitlink().complete(raw);
  if (status != NVJITLINK_SUCCESS)
    throw Error(Fault::compile,
                text("failed to compile the PTX of ", lowering.name, " for sm_", lowering.sm, ":\n",
                     log_of(raw, nvjitlink().error_log_size, nvjitlink().error_log)));
  std::size_t size = 0;
  check(nvjitlink().cubin_size(raw, &size), "size the cubin");
  artifact.cubin.assign(size, '\0');
  check(nvjitlink().cubin(raw, artifact.cubin.data()), "read the cubin");

  const auto log = log_of(raw, nvjitlink().info_log_size, nvjitlink().info_log);
  if (const std::int64_t bytes = static_bytes(log); bytes > most_static_bytes)
    throw Error(Fault::broken_rule,
                text(lowering.name, " holds ", bytes,
                     " bytes of device memory in variables of its own, which no ledger counts, and "
                     "constants may take ",
                     most_static_bytes, ": give its kernels a buffer"));
  read_resources(log, reserved_in_log(lowering.sm), artifact.entries);
}

std::int64_t static_bytes(std::string_view log) {
  constexpr std::string_view words = " bytes gmem";
  if (log.find(words) == log.npos)
    throw Error(Fault::compile,
                "failed to read the device memory of a program: nvJitLink does not report it");
  return number_before<std::int64_t>(words, log);
}

// Registers and static shared memory come from the linker, under "Function properties for 'NAME':",
// which includes the functions that a kernel calls; ptxas's "Used R registers" does not. ptxas
// reports the spills of functions that were not inlined (not their callers) like those of kernels:
// they count against every kernel of the program.
void read_resources(std::string_view log, std::int64_t reserved,
                    std::vector<Artifact::Entry>& entries) {
  int of_functions = spills_in(log);
  for (auto& entry : entries) {
    const auto compiled =
        after(text("Compiling entry function '", entry.name, "'"), log, "resources", entry);
    const auto own = compiled.substr(0, compiled.find("Used "));
    entry.spill_bytes =
        number_of(" bytes spill stores", own, entry) + number_of(" bytes spill loads", own, entry);
    of_functions -= entry.spill_bytes;
    const auto linked = first_line(
        after(text("Function properties for '", entry.name, "':\n"), log, "registers", entry));
    entry.registers = number_of(" registers", linked, entry);
    entry.shared_bytes =
        std::max(number_of(" bytes smem", linked, entry) - static_cast<int>(reserved), 0);
    entry.local_bytes = number_of(" stack", linked, entry);
  }
  for (auto& entry : entries) entry.spill_bytes += of_functions;
}

// "... .entry NAME(parameters) .maxntid 256, 1, 1 .minnctapersm 2 { ...": the product counts.
int most_threads(std::string_view ptx, std::string_view name) {
  const auto found = ptx.find(text(".entry ", name, "("));
  if (found == ptx.npos)
    throw Error(Fault::compile, text("failed to read the launch bounds of kernel ", name,
                                     ": its program's PTX does not hold it"));
  ptx = ptx.substr(found, ptx.find('{', found) - found);
  int threads = 0;
  for (const std::string_view directive : {".maxntid ", ".reqntid "}) {
    const auto at = ptx.find(directive);
    if (at == ptx.npos) continue;
    threads = 1;
    const std::string_view line = first_line(ptx.substr(at + directive.size()));
    for (const char* next = line.data(); next < line.data() + line.size();) {
      int extent = 0;
      const auto [end, status] = std::from_chars(next, line.data() + line.size(), extent);
      if (status == std::errc()) threads *= extent;
      next = end + 1;
    }
  }
  return threads;
}

ToolkitVersions toolkit_versions() {
  // Only their output tells the libraries' patch level, on which a cubin depends.
  static const ToolkitVersions versions = [] {
    const Lowering probe{
        .name = "probe.cu", .text = "__global__ void probe() {}", .entries = {"probe"}, .sm = 90};
    Artifact artifact;
    lower(probe, artifact);
    link(probe, artifact);
    int runtime = 0, driver = 0;
    check(cudaRuntimeGetVersion(&runtime), "read the CUDA runtime's version");
    if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
    return ToolkitVersions{.cuda = dotted(runtime),
                           .nvrtc = release_in(artifact.ptx),
                           .nvjitlink = release_in(artifact.cubin),
                           .driver = driver > 0 ? dotted(driver) : std::string()};
  }();
  return versions;
}

}  // namespace holdfast
