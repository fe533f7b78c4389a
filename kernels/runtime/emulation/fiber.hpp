// SPDX-License-Identifier: Apache-2.0
// A stack of its own that takes turns with whoever resumes it, by Boost.Context: unlike swapcontext
// it asks nothing of the kernel, and threads of the emulated device change places at every barrier.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <utility>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace holdfast::emulation {

struct Stack {
  const void* bottom = nullptr;
  std::size_t size = 0;
};

// What AddressSanitizer is told before and after stacks change; nothing in other builds. Who leaves
// keeps in `kept` what he gets back on his return, or null where he does not return.
#ifdef __SANITIZE_ADDRESS__
inline void leave_for(const Stack& next, void** kept) {
  __sanitizer_start_switch_fiber(kept, next.bottom, next.size);
}
inline Stack arrived_from(void* kept) {
  Stack last;
  __sanitizer_finish_switch_fiber(kept, &last.bottom, &last.size);
  return last;
}
#else
inline void leave_for(const Stack& /*next*/, void** /*kept*/) {}
inline Stack arrived_from(void* /*kept*/) {
  return {};
}
#endif

// Repeats `work` for ever; each repetition ends in leave(), as may anything that `work` calls. A
// page below the stack faults when it overflows. Was it entered, it unwinds its stack where it
// goes: a catch-all on it passes boost::context::detail::forced_unwind on.
class Fiber {
 public:
  static constexpr std::size_t bytes = std::size_t{256} << 10;

  template <class Work>
  explicit Fiber(Work work)
      : stack_(Stacks(bytes).allocate()),
        inside_(std::allocator_arg,
                boost::context::preallocated(static_cast<char*>(stack_.sp) - offset_,
                                             stack_.size - offset_, stack_),
                Stacks(bytes), [this, work](Side&& resumer) {
                  outside_ = std::move(resumer);
                  resumer_ = arrived_from(nullptr);
                  try {
                    for (;;) work();
                  } catch (const Unwinding&) {
                    leave_for(resumer_, nullptr);
                    throw;
                  }
                  return std::move(outside_);
                }) {}
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() {
    run([this] { inside_ = {}; });
  }

  // Runs it until it leaves.
  void enter() {
    run([this] { inside_ = std::move(inside_).resume(); });
  }

  // On it: back to whoever entered it, until it is entered again.
  void leave() {
    void* kept = nullptr;
    leave_for(resumer_, &kept);
    try {
      outside_ = std::move(outside_).resume();
    } catch (const Unwinding&) {
      resumer_ = arrived_from(kept);
      throw;
    }
    resumer_ = arrived_from(kept);
  }

 private:
  using Side = boost::context::fiber;
  using Stacks = boost::context::protected_fixedsize_stack;
  using Unwinding = boost::context::detail::forced_unwind;

  template <class Resume>
  void run(const Resume& resume) {
    void* kept = nullptr;
    leave_for({static_cast<char*>(stack_.sp) - stack_.size, stack_.size}, &kept);
    resume();
    (void)arrived_from(kept);
  }

  // Stacks begin a different number of cache lines below their pages' ends: those of a block would
  // else push each other out of the same lines of the cache.
  static std::size_t next_offset() {
    constexpr std::size_t line = 64, lines = 61;
    static thread_local std::size_t made = 0;
    return line * (made++ % lines);
  }

  std::size_t offset_ = next_offset();
  Stack resumer_ = {};
  boost::context::stack_context stack_;  // freed by inside_
  Side inside_, outside_;
};

}  // namespace holdfast::emulation
