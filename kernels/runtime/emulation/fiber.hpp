// SPDX-License-Identifier: Apache-2.0
// A stack of its own that takes turns with whoever resumes it, by Boost.Context: unlike swapcontext
// it asks nothing of the kernel, and threads of the emulated device change places at every barrier.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <optional>
#include <utility>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace holdfast::emulation {

struct Stack {
  const void* bottom = nullptr;
  std::size_t size = 0;
};

// What AddressSanitizer is told before and after stacks change; nothing in other builds. Who leaves
// keeps in `kept` what he gets back on his return, or null where he does not return. A stack lies
// where another was unwound, of whose frames it is told that they are over.
#ifdef __SANITIZE_ADDRESS__
inline void leave_for(const Stack& next, void** kept) {
  __sanitizer_start_switch_fiber(kept, next.bottom, next.size);
}
inline Stack arrived_from(void* kept) {
  Stack last;
  __sanitizer_finish_switch_fiber(kept, &last.bottom, &last.size);
  return last;
}
inline void begin_on(const Stack& stack) {
  __asan_unpoison_memory_region(stack.bottom, stack.size);
}
#else
inline void leave_for(const Stack& /*next*/, void** /*kept*/) {}
inline Stack arrived_from(void* /*kept*/) {
  return {};
}
inline void begin_on(const Stack& /*stack*/) {}
#endif

// Repeats `work` for ever; each repetition ends in leave(), as may anything that `work` calls. A
// page below the stack faults when it overflows. Was it entered, it unwinds its stack where it
// goes: a catch-all on it passes boost::context::detail::forced_unwind on.
class Fiber {
 public:
  static constexpr std::size_t bytes = std::size_t{256} << 10;

  template <class Work>
  explicit Fiber(Work work)
      : stack_(mapped()),
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

  // Runs it, and whoever it hands over to, until one of them leaves.
  void enter() {
    run([this] { (void)std::move(inside_).resume(); });
  }

  // On it: back to whoever entered it, until it is entered again.
  void leave() {
    void* kept = nullptr;
    leave_for(resumer_, &kept);
    suspend(kept, std::move(outside_), [this](Side&& self) {
      inside_ = std::move(self);
      return Side();
    });
  }

  // On it, until it is entered again: `next`, which has left, goes on, and then leaves to whoever
  // entered this one.
  void hand_over(Fiber& next) {
    void* kept = nullptr;
    next.resumer_given_ = resumer_;
    leave_for(whole(next.stack_), &kept);
    suspend(kept, std::move(next.inside_), [this](Side&& self) {
      inside_ = std::move(self);
      return std::move(outside_);
    });
  }

 private:
  using Side = boost::context::fiber;
  using Stacks = boost::context::protected_fixedsize_stack;
  using Unwinding = boost::context::detail::forced_unwind;

  static boost::context::stack_context mapped() {
    const auto stack = Stacks(bytes).allocate();
    begin_on(whole(stack));
    return stack;
  }
  static Stack whole(const boost::context::stack_context& stack) {
    return {static_cast<char*>(stack.sp) - stack.size, stack.size};
  }

  template <class Resume>
  void run(const Resume& resume) {
    void* kept = nullptr;
    leave_for(whole(stack_), &kept);
    resume();
    (void)arrived_from(kept);
  }

  // `next` runs and is told by `hand_itself` who stopped here, and whom to resume; until this one
  // is resumed in turn, which is told the latter likewise.
  template <class HandItself>
  void suspend(void* kept, Side next, const HandItself& hand_itself) {
    try {
      outside_ = std::move(next).resume_with(hand_itself);
    } catch (const Unwinding&) {
      resumer_ = arrived_from(kept);
      throw;
    }
    const Stack last = arrived_from(kept);
    resumer_ = std::exchange(resumer_given_, {}).value_or(last);
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
  std::optional<Stack> resumer_given_ = {};  // by who handed over to it
  boost::context::stack_context stack_;      // freed by inside_
  Side inside_, outside_;
};

}  // namespace holdfast::emulation
