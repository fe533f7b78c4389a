// SPDX-License-Identifier: Apache-2.0
// Parses nvdisasm's output: sections of instructions, each an operation with its modifiers.
#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/compile/machine_code.hpp"

namespace holdfast {
namespace {

using Words = std::vector<std::string_view>;

// "LDG.E.128" is LDG, E and 128.
Words parts(std::string_view operation) {
  Words words;
  while (!operation.empty()) {
    const auto dot = std::min(operation.find('.'), operation.size());
    words.push_back(operation.substr(0, dot));
    operation.remove_prefix(std::min(dot + 1, operation.size()));
  }
  return words;
}

bool has(const Words& words, std::string_view one) {
  return std::find(words.begin() + 1, words.end(), one) != words.end();
}

// Bytes that a thread moves; for matrix fragments, four per fragment.
int width(const Words& words) {
  struct Modifier {
    std::string_view word;
    int bytes;
  };
  constexpr Modifier modifiers[] = {{"U8", 1},   {"S8", 1},   {"U16", 2}, {"S16", 2}, {"64", 8},
                                    {"128", 16}, {"256", 32}, {"2", 8},   {"4", 16}};
  for (const auto& [word, bytes] : modifiers)
    if (has(words, word)) return bytes;
  return 4;
}

struct Moves {
  std::string_view operation, kind;
};
constexpr Moves moves[] = {
    {"LDG", "global_load"},  {"LD", "global_load"},   {"LDGSTS", "global_load"},
    {"STG", "global_store"}, {"ST", "global_store"},  {"LDS", "shared_load"},
    {"LDSM", "shared_load"}, {"STS", "shared_store"}, {"STSM", "shared_store"},
    {"LDL", "local_load"},   {"STL", "local_store"}};

// Whole names, or beginnings that end in '*'; those of the uniform data path lose their U first.
struct Class {
  std::string_view name;
  std::array<std::string_view, 24> operations;
};
constexpr Class classes[] = {
    {"f64", {"DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "DSET"}},
    {"special", {"MUFU", "F2F*", "F2I*", "I2F*", "FRND*"}},
    {"f16", {"HADD2*", "HMUL2*", "HFMA2*", "HSET*", "HMNMX2", "F2FP"}},
    {"f32", {"FADD*", "FMUL*", "FFMA*", "FSET*", "FMNMX*", "FCHK", "FSWZADD", "FSEL"}},
    {"integer", {"IADD*", "IMAD*", "IMUL*", "ISETP", "ISET",   "LEA",  "LOP*", "SHF",
                 "SHL",   "SHR",   "IABS",  "IMNMX", "VI*",    "POPC", "FLO",  "BREV",
                 "BMSK",  "IDP*",  "SGXT",  "PRMT",  "ISCADD", "XMAD", "BFE",  "BFI"}},
    {"atomic", {"ATOM*", "RED", "REDG", "REDS"}},
    {"barrier", {"BAR", "CGABAR*"}},
    {"branch", {"BRA", "BRX", "BRXU", "JMP", "JMX", "CALL"}}};

bool is(std::string_view operation, std::string_view pattern) {
  if (pattern.ends_with('*')) return operation.starts_with(pattern.substr(0, pattern.size() - 1));
  return !pattern.empty() && operation == pattern;
}

std::string class_of(const Words& words) {
  std::string_view operation = words.front();
  for (const auto& [name, kind] : moves)
    if (operation == name) return std::string(kind) + '_' + std::to_string(width(words));
  if (operation.ends_with("MMA")) return "tensor";
  // Conversions to and from double, and the first instructions of its division and square root; not
  // atomics, whose own modifiers name the type.
  const bool atomic = operation.starts_with("ATOM") || operation.starts_with("RED");
  for (const std::string_view word : words)
    if (!atomic && (word == "F64" || word.ends_with("64H"))) return "f64";
  if (operation.size() > 3 && operation.front() == 'U') operation.remove_prefix(1);
  for (const Class& one : classes)
    for (const std::string_view pattern : one.operations)
      if (is(operation, pattern)) return std::string(one.name);
  return {};
}

// "        /*0090*/                   @!P0 BRA `(.L_x_4) ;" -> "BRA"
std::string_view operation_of(std::string_view line) {
  auto begin = line.find("/*");
  const auto end = line.find("*/");
  if (begin == line.npos || end == line.npos) return {};
  if (line.find_first_not_of(" \t") != begin) return {};
  const auto skip_blanks = [&](std::size_t at) {
    return std::min(line.find_first_not_of(" \t{", at), line.size());
  };
  begin = skip_blanks(end + 2);
  if (begin < line.size() && line[begin] == '@')
    begin = skip_blanks(std::min(line.find(' ', begin), line.size()));
  return line.substr(begin, line.find_first_of(" ;", begin) - begin);
}

// "        .section        .text.NAME,"ax",@progbits" -> NAME
std::string_view section_of(std::string_view line) {
  const auto section = line.find(".section");
  constexpr std::string_view code = ".text.";
  const auto name = line.find(code);
  if (section == line.npos || name == line.npos || name < section) return {};
  const auto begin = name + code.size();
  return line.substr(begin, line.find_first_of(",\"", begin) - begin);
}

void add(InstructionCounts& to, const InstructionCounts& more) {
  for (const auto& [name, number] : more) to[name] += number;
}

}  // namespace

std::int64_t count(const InstructionCounts& code, const std::string& instruction_class) {
  const auto found = code.find(instruction_class);
  return found == code.end() ? 0 : found->second;
}

Accesses accesses(const InstructionCounts& code) {
  Accesses all;
  for (const auto& [name, number] : code) {
    if (!name.starts_with("global_") && !name.starts_with("shared_")) continue;
    std::int64_t bytes = 0;
    const auto digits = name.rfind('_') + 1;
    std::from_chars(name.data() + digits, name.data() + name.size(), bytes);
    all.bytes += bytes * number;
    all.count += number;
  }
  return all;
}

std::map<std::string, InstructionCounts> read_disassembly(std::string_view printed) {
  std::map<std::string, InstructionCounts> kernels, functions;
  InstructionCounts counts;
  std::string section;
  bool entry = false;
  const auto close = [&] {
    if (!section.empty()) (entry ? kernels : functions)[section] = std::move(counts);
    counts.clear();
    entry = false;
  };
  while (!printed.empty()) {
    const auto line = printed.substr(0, printed.find('\n'));
    printed.remove_prefix(std::min(line.size() + 1, printed.size()));
    if (const auto name = section_of(line); !name.empty()) {
      close();
      section = name;
    } else if (line.find("STO_CUDA_ENTRY") != line.npos) {
      entry = true;
    } else if (const auto operation = operation_of(line); !operation.empty()) {
      if (const std::string name_of_class = class_of(parts(operation)); !name_of_class.empty())
        ++counts[name_of_class];
    }
  }
  close();
  for (auto& [name, code] : kernels)
    for (const auto& [function, more] : functions) add(code, more);
  return kernels;
}

}  // namespace holdfast
