// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/instruction_count.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/time.hpp"
#include "harness/measure/account.hpp"
#include "harness/measure/known_answers.hpp"
#include "harness/measure/metrics.hpp"
#include "runtime/backend/host_library.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

// Request numbers of valgrind.h and callgrind.h; outside valgrind each returns 0.
enum class Request : std::uintptr_t {
  is_valgrind = 0x1001,
  zero_counts = 0x43540001,  // 'C', 'T', then the number
  dump_counts_as = 0x43540003,
  start_counting = 0x43540004,
  stop_counting = 0x43540005,
};

// Rotations that restore their register, and an exchange of another with itself: a request to
// valgrind, a no-op to a processor (valgrind.h, for amd64).
std::uintptr_t ask(Request request, const char* name = nullptr) {
  const volatile std::uintptr_t arguments[6] = {static_cast<std::uintptr_t>(request),
                                                reinterpret_cast<std::uintptr_t>(name)};
  std::uintptr_t answer = 0;
  asm volatile(
      "rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
      "xchgq %%rbx, %%rbx"
      : "=d"(answer)
      : "a"(&arguments[0]), "0"(answer)
      : "cc", "memory");
  return answer;
}

void require_callgrind() {
  if (ask(Request::is_valgrind) == 0)
    throw Error(Fault::bad_input,
                "--count-instructions counts inside valgrind, and this is not; type: holdfast run "
                "SUITE --device=host --count-instructions --out=DIR");
  const HostLimits& limits = host_limits();
  if (limits.isa != "x86-64-v3" || limits.threads != 1)
    throw Error(Fault::bad_input,
                text("instructions are counted of the x86-64-v3 code on one thread, and this is ",
                     limits.isa, " on ", limits.threads,
                     "; set HOLDFAST_NUM_THREADS=1, and use a valgrind that offers AVX2 and no "
                     "AVX-512"));
}

// In a row, to expose a computation that remembers an unchanged input: eight, or three if steps are
// slow. If they are unchained the first follows a start, to expose what a start prepares for all.
constexpr int fewest_in_a_row = 3, most_in_a_row = 8;
// CPU time of this thread inside valgrind, while it counts and while it does not.
constexpr double enough_seconds = 0.3, quick_seconds = 0.05;

// While it lives callgrind counts. Each change makes valgrind translate all code anew, so dumps
// that belong together share one.
class Counting {
 public:
  Counting() { (void)ask(Request::start_counting); }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
  ~Counting() { (void)ask(Request::stop_counting); }
};

// The same code makes each dump, so that the harness's own instructions in it are the same.
[[gnu::noinline]] void dump(Computation& computation, int steps, const std::string& name) {
  (void)ask(Request::zero_counts);
  for (int i = 0; i < steps; ++i) computation.step();
  (void)ask(Request::dump_counts_as, name.c_str());
}

// Holds all free heap memory. Otherwise a block large enough for glibc to map separately (the gate
// sets that size) might be served from it, and a step that allocates would execute some thousand
// instructions more or less depending on what ran before. Steps that ran once find their smaller
// blocks where those were freed.
class FullHeap {
 public:
  FullHeap() {
    for (std::size_t bytes = largest; bytes >= mapped_from; bytes /= 2) fill(bytes);
  }
  FullHeap(const FullHeap&) = delete;
  FullHeap& operator=(const FullHeap&) = delete;
  ~FullHeap() {
    while (last_) std::free(std::exchange(last_, last_->before));
  }

 private:
  struct Block {
    Block* before;
  };
  static constexpr std::size_t largest = 64 << 20, mapped_from = 1024;

  // If the gate has not set that size it is dynamic, so this must end.
  void fill(std::size_t bytes) {
    while (held_ < largest) {
      const auto mapped = ::mallinfo2().hblks;
      void* memory = std::malloc(bytes);
      if (!memory) return;
      if (::mallinfo2().hblks > mapped) return std::free(memory);
      last_ = new (memory) Block{last_};
      held_ += bytes;
    }
  }

  Block* last_ = nullptr;
  std::size_t held_ = 0;
};

void count_variant(const Case& one, Variant variant, const std::string& device) {
  Steps steps = std::get<Steps>(one.recipe);
  steps.oracle = remembering(std::move(steps.oracle), one.id);
  const Subject subject = warmed_up(steps, variant, device);
  verify(steps, subject, device);
  std::vector<std::string> names;
  for (int number = 0; number <= most_in_a_row; ++number)
    names.push_back(text(one.id, '|', variant_name(variant), '|', number));
  Computation& computation = *subject.computation;
  subject.backend->ledger.enter(Ledger::Phase::steady, computation.permissions());
  // What only a process's first steady step executes belongs to no step. For a slow one the heap's
  // share is negligible.
  double start = thread_cpu_seconds();
  computation.step();
  const bool quick = thread_cpu_seconds() - start < quick_seconds;
  const FullHeap full;
  if (quick) computation.step();
  if (!steps.chained) computation.start_again(0);
  {
    const Counting counting;
    start = thread_cpu_seconds();
    for (int step = 1; step <= most_in_a_row; ++step) {
      dump(computation, 1, names[static_cast<std::size_t>(step)]);
      if (step >= fewest_in_a_row && thread_cpu_seconds() - start > enough_seconds) break;
    }
    dump(computation, 0, names[0]);
  }
  subject.backend->ledger.enter(Ledger::Phase::building);
}

}  // namespace

bool count_instructions(const std::vector<const Case*>& cases, const std::string& device) {
  require_callgrind();
  plan_ffts_without_measuring();
  const auto counted = std::find_if(metrics().begin(), metrics().end(), [](const Metric& metric) {
    return std::string_view(metric.name) == "instructions";
  });
  bool well = true;
  std::size_t number = 0;
  for (const Case* one : cases) {
    std::fprintf(stderr, "[%zu/%zu] %s\n", ++number, cases.size(), one->id.c_str());
    if (!applies(*counted, *one, device)) continue;
    try {
      count_variant(*one, Variant::optimized, device);
      if (one->has_reference(device)) count_variant(*one, Variant::reference, device);
    } catch (const Error& error) {
      if (error.fault() == Fault::no_device || error.fault() == Fault::bad_input) throw;
      std::fprintf(stderr, "failed %s: %s\n", one->id.c_str(), error.what());
      well = false;
    }
  }
  return well;
}

}  // namespace holdfast
