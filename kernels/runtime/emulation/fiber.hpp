// SPDX-License-Identifier: Apache-2.0
// A stack that runs in turn with whoever resumes it, by Boost.Context: unlike swapcontext it makes
// no system call, which matters because emulated threads switch at every barrier.
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

// Tells AddressSanitizer before and after stacks are switched; does nothing in other builds. The
// leaving side keeps in `kept` what it gets back on return, or passes null if it never returns.
// Where a stack begins or ends, frames that lay there are declared dead: else they would seem to be
// those of the stack that is mapped there next, be it a fiber's or a thread's.
#ifdef __SANITIZE_ADDRESS__
inline void leave_for(const Stack& next, void** kept) {
  __sanitizer_start_switch_fiber(kept, next.bottom, next.size);
}
inline Stack arrived_from(void* kept) {
  Stack last;
  __sanitizer_finish_switch_fiber(kept, &last.bottom, &last.size);
  return last;
}
inline void declare_dead(const Stack& stack) {
  __asan_unpoison_memory_region(stack.bottom, stack.size);
}
#else
inline void leave_for(const Stack& /*next*/, void** /*kept*/) {}
inline Stack arrived_from(void* /*kept*/) {
  return {};
}
inline void declare_dead(const Stack& /*stack*/) {}
#endif

class Stacks {
 public:
  explicit Stacks(std::size_t bytes) : guarded_(bytes) {}

  static Stack whole(const boost::context::stack_context& stack) {
    return {static_cast<char*>(stack.sp) - stack.size, stack.size};
  }
  boost::context::stack_context allocate() {
    const auto stack = guarded_.allocate();
    declare_dead(whole(stack));
    return stack;
  }
  void deallocate(boost::context::stack_context& stack) {
    declare_dead(whole(stack));
    guarded_.deallocate(stack);
  }

 private:
  boost::context::protected_fixedsize_stack guarded_;
};

// Repeats `work` forever; each repetition ends in leave(), which `work` may also call. An overflow
// faults on a page below the stack. The destructor unwinds the stack if it was entered: a catch-all
// on it must rethrow boost::context::detail::forced_unwind.
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

  // Runs the fiber, and any it hands over to, until one of them leaves.
  void enter() {
    run([this] { (void)std::move(inside_).resume(); });
  }

  // Called on the fiber: returns to whoever entered it, until it is entered again.
  void leave() {
    void* kept = nullptr;
    leave_for(resumer_, &kept);
    suspend(kept, std::move(outside_), [this](Side&& self) {
      inside_ = std::move(self);
      return Side();
    });
  }

  // Called on the fiber: resumes `next`, which had left, in its place; `next` then leaves to
  // whoever entered this one. Returns when entered again.
  void hand_over(Fiber& next) {
    void* kept = nullptr;
    next.resumer_given_ = resumer_;
    leave_for(Stacks::whole(next.stack_), &kept);
    suspend(kept, std::move(next.inside_), [this](Side&& self) {
      inside_ = std::move(self);
      return std::move(outside_);
    });
  }

 private:
  using Side = boost::context::fiber;
  using Unwinding = boost::context::detail::forced_unwind;

  template <class Resume>
  void run(const Resume& resume) {
    void* kept = nullptr;
    leave_for(Stacks::whole(stack_), &kept);
    resume();
    (void)arrived_from(kept);
  }

  // Resumes `next`, on which `hand_itself` first stores this side and returns the one that `next`
  // is to leave to. Returns when this side is resumed, which passes the latter likewise.
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

  // Stacks begin a different number of cache lines below their pages' ends: otherwise those of a
  // block would evict each other from the same cache sets.
  static std::size_t next_offset() {
    constexpr std::size_t line = 64, lines = 61;
    static thread_local std::size_t made = 0;
    return line * (made++ % lines);
  }

  std::size_t offset_ = next_offset();
  Stack resumer_ = {};
  std::optional<Stack> resumer_given_ = {};  // set by the fiber that handed over to it
  boost::context::stack_context stack_;      // freed by inside_
  Side inside_, outside_;
};

}  // namespace holdfast::emulation
