// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/compiler.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/sha256.hpp"
#include "base/time.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/compile/program_cache.hpp"
#include "runtime/compile/program_key.hpp"
#include "runtime/compile/source_text.hpp"
#include "runtime/compile/toolkit.hpp"
#include "runtime/count/recorder.hpp"

namespace holdfast {
namespace {

class Stopwatch {
 public:
  double lap() {
    const double now = thread_cpu_seconds();
    return now - std::exchange(begin_, now);
  }

 private:
  double begin_ = thread_cpu_seconds();
};

// "void f<double>(double*, int)" and "void (double*, int)" both give "(double*, int)": the last
// parenthesis and its partner, since parameters may contain parentheses.
std::optional<std::string> parameters(const char* mangled) {
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr), &std::free);
  if (!demangled) return {};
  const std::string readable = demangled.get();
  int depth = 0;
  for (auto i = readable.rfind(')'); i != std::string::npos && i < readable.size(); --i) {
    if (readable[i] == ')') ++depth;
    if (readable[i] == '(' && --depth == 0) return readable.substr(i, readable.rfind(')') + 1 - i);
  }
  return {};
}

Lowering assembled(const Program& program, int sm) {
  Lowering lowering{.name = short_name(program.code.name),
                    .text = source_text(program.code.name, program.code.text),
                    .definitions = program.definitions,
                    .sm = sm};
  for (const auto& wanted : program.entries) lowering.entries.push_back(wanted.expression);
  for (const auto& header : program.headers) {
    const auto content = source_text(header.name, header.text);
    lowering.headers.push_back({std::string(header.name), content});
    if (const auto bare = bare_name(header.name); bare != header.name)
      lowering.headers.push_back({std::string(bare), content});
  }
  return lowering;
}

std::map<std::string, std::string> constants(const std::vector<std::string>& definitions) {
  std::map<std::string, std::string> result;
  for (const auto& definition : definitions) {
    const auto equals = definition.find('=');
    result[definition.substr(0, equals)] =
        equals == std::string::npos ? "1" : definition.substr(equals + 1);
  }
  return result;
}

bool same_texts(const Lowering& a, const Lowering& b) {
  const auto same = [](const IncludedText& x, const IncludedText& y) {
    return x.name == y.name && x.text == y.text;
  };
  return a.text == b.text &&
         std::equal(a.headers.begin(), a.headers.end(), b.headers.begin(), b.headers.end(), same);
}

// Names the first changed entry if their number is unchanged.
std::string changed_entries(const Lowering& before, const Lowering& now) {
  if (before.entries.size() != now.entries.size()) return "entries changed";
  const auto [old, other] =
      std::mismatch(before.entries.begin(), before.entries.end(), now.entries.begin());
  return text("entries changed: ", *old, " -> ", *other);
}

// What differs from the last program of this source: the reason to recompile.
std::string difference(const Lowering& before, const Lowering& now) {
  std::string reasons;
  const auto add = [&](const std::string& reason) { add_to(reasons, reason); };
  if (!same_texts(before, now)) add("source changed");
  const auto old_constants = constants(before.definitions);
  const auto new_constants = constants(now.definitions);
  for (const auto& [name, value] : new_constants) {
    const auto old = old_constants.find(name);
    if (old == old_constants.end())
      add(text("constant ", name, ": none -> ", value));
    else if (old->second != value)
      add(text("constant ", name, ": ", old->second, " -> ", value));
  }
  for (const auto& [name, value] : old_constants)
    if (!new_constants.contains(name)) add(text("constant ", name, ": ", value, " -> none"));
  if (before.entries != now.entries) add(changed_entries(before, now));
  return reasons.empty() ? "order of constants changed" : reasons;
}

std::shared_ptr<const Artifact> made_of(const Lowering& lowering, Stopwatch& watch,
                                        StageSeconds& seconds) {
  auto made = std::make_shared<Artifact>();
  lower(lowering, *made);
  seconds.lower = watch.lap();
  link(lowering, *made);
  seconds.compile = watch.lap();
  return made;
}

// Takes over the code and its functions, not yet loaded on any device.
void take(const Artifact& artifact, const std::vector<WantedKernel>& wanted, Compiled& compiled) {
  compiled.ptx = artifact.ptx;
  compiled.cubin = artifact.cubin;
  compiled.cubin_hash = sha256(artifact.cubin);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& entry = artifact.entries[i];
    const auto taken = parameters(entry.name.c_str());
    if (!taken)
      throw Error(Fault::compile, text("kernel ", entry.name, " of ", compiled.source_name,
                                       " has no C++ signature: do not declare it extern \"C\""));
    compiled.functions.push_back(Function{.expression = wanted[i].expression,
                                          .kind = wanted[i].kind,
                                          .name = entry.name,
                                          .parameters = *taken,
                                          .registers = entry.registers,
                                          .spill_bytes = entry.spill_bytes,
                                          .shared_bytes = entry.shared_bytes,
                                          .local_bytes = entry.local_bytes,
                                          .most_threads = most_threads(artifact.ptx, entry.name),
                                          .cubin_hash = compiled.cubin_hash});
  }
}

void report(const Compiled& program, Ledger::Phase phase) {
  if (!logs_compilations()) return;
  const auto& s = program.seconds;
  const auto milliseconds = [](double seconds) { return std::round(seconds * 1e4) / 10; };
  log_compilation(text(
      program.from_cache ? "took " : "compiled ", program.source_name,
      program.from_cache ? " from the cache (" : " (", program.reason,
      phase == Ledger::Phase::steady ? ") in a steady step: trace " : ") while building: trace ",
      milliseconds(s.trace), " ms, lower ", milliseconds(s.lower), " ms, compile ",
      milliseconds(s.compile), " ms, load ", milliseconds(s.load), " ms, ",
      program.functions.size(), " kernels"));
}

}  // namespace

Function& Module::find(std::string_view entry, const std::type_info& signature) const {
  for (auto& function : compiled_->functions) {
    if (function.expression != entry) continue;
    const auto passed = parameters(signature.name()).value_or("?");
    if (passed != function.parameters)
      throw Error(Fault::compile, text("kernel ", entry, " of ", compiled_->source_name, " takes ",
                                       function.parameters, ", the host passes ", passed));
    return function;
  }
  throw Error(Fault::compile, text("program ", compiled_->source_name, " has no kernel ", entry,
                                   ": add it to its entries"));
}

Compiler::Compiler(Device& device) : device_(device) {}
Compiler::~Compiler() = default;

Module Compiler::compile(const Program& program) {
  (void)toolkit_versions();  // asks once for a process: no stage of the first program
  Stopwatch watch;
  auto lowering = assembled(program, device_.architecture().sm);
  const auto key = program_key(lowering, toolchain());
  if (const auto known = by_key_.find(key); known != by_key_.end())
    return {device_, *known->second};

  const Verb verb(device_.ledger().recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::compile, lowering.name);
  });
  auto compiled = std::make_unique<Compiled>();
  compiled->source_name = lowering.name;
  compiled->source = lowering.text;
  const auto last = last_.find(lowering.name);
  compiled->reason = last == last_.end() ? "first use" : difference(last->second, lowering);
  auto artifact = bypass_caches_ ? nullptr : cached_program(key);
  compiled->from_cache = artifact != nullptr;
  device_.ledger().program(!compiled->from_cache, text(lowering.name, " (", compiled->reason, ")"));
  compiled->seconds.trace = watch.lap();

  if (!artifact) {
    artifact = made_of(lowering, watch, compiled->seconds);
    if (!bypass_caches_) cache_program(key, artifact);
    watch.lap();  // writing the cache is no stage
  }
  take(*artifact, program.entries, *compiled);
  for (Function& function : compiled->functions) device_.load(compiled->cubin, function);
  compiled->seconds.load = watch.lap();
  report(*compiled, device_.ledger().phase());

  last_[lowering.name] = std::move(lowering);
  auto& kept = *programs_.emplace_back(std::move(compiled));
  by_key_[key] = &kept;
  verb.compiled(kept);
  return {device_, kept};
}

}  // namespace holdfast
