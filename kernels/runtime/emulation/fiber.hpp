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

// Repeats `work` for ever; each repetition ends in leave(), as may anything that `work` calls. A
// page below the stack faults when it overflows. A fiber that goes while it sleeps unwinds its
// stack: a catch-all on it passes boost::context::detail::forced_unwind on.
class Fiber {
 public:
  static constexpr std::size_t bytes = std::size_t{256} << 10;

  template <class Work>
  explicit Fiber(Work work)
      : stack_(Stacks(bytes).allocate()),
        inside_(std::allocator_arg, boost::context::preallocated(stack_.sp, stack_.size, stack_),
                Stacks(bytes), [this, work](Side&& resumer) {
                  outside_ = std::move(resumer);
                  arrived(nullptr);
                  for (;;) work();
                  return std::move(outside_);
                }) {}
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs it until it leaves.
  void enter() {
#ifdef __SANITIZE_ADDRESS__
    void* left = nullptr;
    __sanitizer_start_switch_fiber(&left, static_cast<char*>(stack_.sp) - stack_.size, stack_.size);
#endif
    inside_ = std::move(inside_).resume();
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(left, nullptr, nullptr);
#endif
  }

  // On it: back to whoever entered it, until it is entered again.
  void leave() {
    void* left = nullptr;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&left, resumer_stack_, resumer_size_);
#endif
    outside_ = std::move(outside_).resume();
    arrived(left);
  }

 private:
  using Side = boost::context::fiber;
  using Stacks = boost::context::protected_fixedsize_stack;

  void arrived([[maybe_unused]] void* left) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(left, &resumer_stack_, &resumer_size_);
#endif
  }

#ifdef __SANITIZE_ADDRESS__
  const void* resumer_stack_ = nullptr;
  std::size_t resumer_size_ = 0;
#endif
  boost::context::stack_context stack_;  // freed by inside_
  Side inside_, outside_;
};

}  // namespace holdfast::emulation
