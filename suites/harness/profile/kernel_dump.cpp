// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/kernel_dump.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "harness/profile/profile.hpp"
#include "harness/results/result_writer.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using nlohmann::json;

// "cubed_sphere_swe.optimized" for "cubed_sphere_swe/optimized.cu"; numbered if a source was
// compiled several times.
std::vector<std::string> file_names(const std::vector<const Compiled*>& programs) {
  std::vector<std::string> names;
  std::map<std::string, int> used;
  for (const Compiled* program : programs) {
    std::string name = program->source_name;
    if (name.ends_with(".cu")) name.resize(name.size() - 3);
    std::replace(name.begin(), name.end(), '/', '.');
    const int before = used[name]++;
    names.push_back(before == 0 ? name : text(name, ".", before + 1));
  }
  return names;
}

// If the disassembler fails, its partial output is removed.
void disassemble(const std::string& program, const std::filesystem::path& cubin,
                 const std::filesystem::path& sass) {
  const std::filesystem::path written = sass.string() + ".new";
  const std::string line =
      text(program, " ", in_quotes(cubin), " > ", in_quotes(written), " 2> /dev/null");
  const int status = std::system(line.c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    (void)take_place(written, sass);
  else
    (void)::unlink(written.c_str());
}

// Once per program: cases share programs, and disassembling one takes longer than the rest of its
// dump.
void disassemble_once(const std::string& program, const Compiled& compiled,
                      const std::filesystem::path& cubin, const std::filesystem::path& sass) {
  static std::map<std::pair<std::string, std::string>, std::string> printed;
  const std::pair what = {program, sha256(compiled.cubin)};
  if (const auto known = printed.find(what); known != printed.end())
    return write_document(sass, known->second);
  std::filesystem::remove(sass);
  disassemble(program, cubin, sass);
  if (std::ifstream file(sass); file)
    printed[what].assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// The program that prints a cubin's instructions, with its options; empty where there is none.
std::string printing_program(const Disassembler& pinned) {
  if (!pinned.path.empty()) return in_quotes(pinned.path) + " --print-code";
  const auto others = found_disassemblers("cuobjdump");
  return others.empty() ? "" : in_quotes(others.front()) + " --dump-sass";
}

double per_step(std::int64_t count, const Profiled& profiled) {
  return static_cast<double>(count) / static_cast<double>(profiled.step_count());
}

json number(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? json(whole) : json(value);
}

json shapes_json(const Profiled& profiled, const Function& function) {
  json shapes = json::array();
  for (const LaunchShape& shape : function.shapes) {
    const KernelFit kernel = fit(*profiled.architecture, function, shape);
    shapes.push_back({{"grid", {shape.grid.x, shape.grid.y, shape.grid.z}},
                      {"block", {shape.block.x, shape.block.y, shape.block.z}},
                      {"dynamic_shared_bytes", shape.shared_bytes},
                      {"cooperative", shape.cooperative},
                      {"occupancy", kernel.occupancy},
                      {"waves", kernel.waves}});
  }
  return shapes;
}

}  // namespace

json launches_json(const Profiled& profiled) {
  const StepFinder steps(profiled.windows);
  std::map<std::pair<std::string, std::string>, std::int64_t> counts;
  for (const DeviceSlice& slice : profiled.recorded.slices) {
    const bool launched = slice.kind == Activity::Kind::kernel ||
                          slice.kind == Activity::Kind::library ||
                          slice.kind == Activity::Kind::copy;
    if (launched && steps.step_of(slice.activity)) ++counts[{slice.name, operation_kind(slice)}];
  }
  json rows = json::array();
  for (const auto& [key, count] : counts)
    rows.push_back(
        {{"name", key.first}, {"class", key.second}, {"count", number(per_step(count, profiled))}});
  return rows;
}

json resources_json(const Profiled& profiled) {
  json rows = json::array();
  for (const Compiled* program : profiled.programs)
    for (const Function& function : program->functions)
      rows.push_back({{"name", function.expression},
                      {"mangled", function.name},
                      {"program", program->source_name},
                      {"class", name(function.kind)},
                      {"registers", function.registers},
                      {"spill_bytes", function.spill_bytes},
                      {"shared_bytes", function.shared_bytes},
                      {"cubin", function.cubin_hash},
                      {"shapes", shapes_json(profiled, function)}});
  return rows;
}

void dump_kernels(const Profiled& profiled, const std::filesystem::path& folder,
                  const Disassembler& pinned) {
  std::filesystem::create_directories(folder);
  write_document(folder / "launches.json", document(launches_json(profiled)));
  write_document(folder / "resources.json", document(resources_json(profiled)));
  const std::string program = printing_program(pinned);
  const std::vector<std::string> names = file_names(profiled.programs);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Compiled& compiled = *profiled.programs[i];
    write_document(folder / (names[i] + ".cu"), compiled.source);
    write_document(folder / (names[i] + ".ptx"), compiled.ptx);
    write_document(folder / (names[i] + ".cubin"), compiled.cubin);
    if (!program.empty())
      disassemble_once(program, compiled, folder / (names[i] + ".cubin"),
                       folder / (names[i] + ".sass"));
  }
}

}  // namespace holdfast
