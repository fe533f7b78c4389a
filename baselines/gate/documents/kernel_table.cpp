// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/kernel_table.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "gate/base/numbers.hpp"

namespace holdfast::gate {
namespace {

std::string or_dash(const std::optional<std::int64_t>& value) {
  return value ? text(*value) : "-";
}

// Whole numbers in full: a stream prints six digits, and a sum of arguments has more.
std::string in_full(double value) {
  const bool whole = value == std::trunc(value) && std::abs(value) < 0x1p53;
  return whole ? text(static_cast<std::int64_t>(value)) : text(value);
}

// Where the next kernel of this name belongs: a second program may have one, "rates #2".
KernelFacts& next_of(std::map<std::string, KernelFacts>& kernels, const std::string& name) {
  std::string key = name;
  for (int number = 2; kernels.contains(key); ++number) key = text(name, " #", number);
  return kernels[key];
}

// "local_bytes=256,f64=12"
std::string joined(const KernelEvidence& evidence) {
  std::string out;
  for (const auto& [name, value] : evidence) add_to(out, text(name, "=", value), ",");
  return out;
}

// Two cells of the kernel table, which holds numbers without their unit.
std::string from_to(const std::string& before, const std::string& now, const std::string& unit) {
  const auto old_number = number_of<double>(before), new_number = number_of<double>(now);
  if (unit.empty() || !old_number || !new_number) return text(before, " -> ", now);
  const auto [first, second] = told_apart(*old_number, *new_number, unit);
  return text(first, " -> ", second);
}

// "registers 64 -> 96, f64 0 -> 12": all that differs but the cubin; nothing where one side does
// not know.
std::string what_changed(const KernelFacts& before, const KernelFacts& now) {
  std::string out;
  const auto compare = [&](const char* name, const char* unit, const auto& old, const auto& young) {
    if (old != young) add_to(out, text(name, " ", from_to(or_dash(old), or_dash(young), unit)));
  };
  compare("registers", "", before.registers, now.registers);
  compare("spills", "B", before.spill_bytes, now.spill_bytes);
  compare("shared", "B", before.shared_bytes, now.shared_bytes);
  for (const std::string& change : evidence_changes(before.evidence, now.evidence))
    add_to(out, change);
  return out;
}

}  // namespace

KernelFacts facts_of(const KernelRow& row) {
  const std::string hash = row.cubin.value_or("-");
  KernelFacts facts{.registers = row.registers,
                    .spill_bytes = row.spill_bytes,
                    .shared_bytes = row.shared_bytes,
                    .launches = row.launches,
                    .cubin = hash.substr(hash.find(':') + 1).substr(0, 8)};
  for (const auto& [name, value] : row.evidence)
    if (value != 0 || name == argument_sum) facts.evidence[name] = in_full(value);
  return facts;
}

std::map<std::string, KernelFacts> facts_by_name(const std::vector<KernelRow>& kernels) {
  std::map<std::string, KernelFacts> facts;
  for (const KernelRow& row : kernels) next_of(facts, row.name) = facts_of(row);
  return facts;
}

std::string kernel_table(const std::vector<KernelRow>& kernels) {
  std::string out;
  for (const KernelRow& row : kernels) {
    const KernelFacts facts = facts_of(row);
    add_to(out,
           text(row.name, " ", or_dash(facts.registers), "/", or_dash(facts.spill_bytes), "/",
                or_dash(facts.shared_bytes),
                row.evidence.empty() ? "" : "/" + joined(facts.evidence), " ", facts.cubin),
           "; ");
  }
  return out;
}

std::map<std::string, KernelFacts> parse_kernel_table(const std::string& table) {
  std::map<std::string, KernelFacts> kernels;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = std::min(table.find("; ", begin), table.size());
    const std::string row = table.substr(begin, end - begin);
    begin = end + 2;
    // Names may hold spaces (template arguments); the two last words never do.
    const std::size_t last = row.rfind(' ');
    const std::size_t before =
        last == std::string::npos || last == 0 ? std::string::npos : row.rfind(' ', last - 1);
    if (before == std::string::npos) continue;
    KernelFacts& facts = next_of(kernels, row.substr(0, before));
    facts.cubin = row.substr(last + 1);
    std::istringstream cells(row.substr(before + 1, last - before - 1));
    for (auto* resource : {&facts.registers, &facts.spill_bytes, &facts.shared_bytes}) {
      std::string cell;
      std::getline(cells, cell, '/');
      *resource = number_of<std::int64_t>(cell);
    }
    for (std::string pair; std::getline(cells, pair, ',');)
      if (const auto equals = pair.find('='); equals != pair.npos)
        facts.evidence[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return kernels;
}

bool same_arguments(const KernelEvidence& before, const KernelEvidence& now) {
  const auto old = before.find(argument_sum), young = now.find(argument_sum);
  return old == before.end() || young == now.end() || old->second == young->second;
}

bool same_arguments(const std::string& before, const std::string& now) {
  const auto old_kernels = parse_kernel_table(before);
  return std::ranges::all_of(parse_kernel_table(now), [&](const auto& kernel) {
    const auto old = old_kernels.find(kernel.first);
    return old == old_kernels.end() || same_arguments(old->second.evidence, kernel.second.evidence);
  });
}

bool keeps_arguments(const std::string& before, const std::string& now) {
  const auto new_kernels = parse_kernel_table(now);
  return std::ranges::all_of(parse_kernel_table(before), [&](const auto& kernel) {
    const auto sum = kernel.second.evidence.find(argument_sum);
    if (sum == kernel.second.evidence.end()) return true;
    const auto young = new_kernels.find(kernel.first);
    if (young == new_kernels.end()) return false;
    const auto kept = young->second.evidence.find(argument_sum);
    return kept != young->second.evidence.end() && kept->second == sum->second;
  });
}

std::vector<std::string> evidence_changes(const KernelEvidence& before, const KernelEvidence& now) {
  std::vector<std::string> changes;
  if (before.empty() || now.empty()) return changes;
  KernelEvidence all = before;
  all.insert(now.begin(), now.end());
  const auto of = [](const KernelEvidence& side, const std::string& name) {
    const auto found = side.find(name);
    return found == side.end() ? std::string("0") : found->second;
  };
  for (const auto& [name, value] : all)
    if (of(before, name) != of(now, name) && (name != argument_sum || !same_arguments(before, now)))
      changes.push_back(
          text(name, " ", from_to(of(before, name), of(now, name), unit_of_name(name))));
  return changes;
}

std::string compare_kernels(const std::string& before, const std::string& now) {
  const auto old_kernels = parse_kernel_table(before);
  const auto new_kernels = parse_kernel_table(now);
  std::string out;
  std::size_t identical = 0;
  std::vector<std::string> recompiled;  // another cubin, the same resources
  const auto add = [&](const std::string& clause) { add_to(out, clause, "; "); };
  for (const auto& [name, facts] : new_kernels) {
    const auto old = old_kernels.find(name);
    if (old == old_kernels.end()) {
      add("kernel " + name + " is new");
      continue;
    }
    const std::string changes = what_changed(old->second, facts);
    const bool same_cubin = old->second.cubin == facts.cubin;
    if (!changes.empty())
      add(name + ": " + changes + (same_cubin ? "" : ", cubin changed"));
    else if (same_cubin)
      ++identical;
    else
      recompiled.push_back(name);
  }
  // All kernels of a program share its cubin.
  if (recompiled.size() == 1) add(recompiled.front() + ": cubin changed");
  if (recompiled.size() > 1)
    add(text(recompiled.size(), out.empty() ? " kernels" : " others",
             ": cubin changed, resources did not"));
  for (const auto& [name, facts] : old_kernels)
    if (!new_kernels.contains(name)) add("kernel " + name + " is gone");
  if (out.empty()) return text("all ", identical, " kernels identical");
  if (identical > 0)
    add(text(identical, identical == 1 ? " other kernel" : " other kernels", " identical"));
  return out;
}

}  // namespace holdfast::gate
