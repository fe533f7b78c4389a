// SPDX-License-Identifier: Apache-2.0
// A device for tests: host memory with canaries, kernels compiled by g++ (emulation_shim.hpp),
// OpenBLAS and FFTW. The real compiler still compiles every program, so signatures, resources and
// counts are those of a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>

#include "runtime/backend/backend.hpp"
#include "runtime/compile/kernel_list.hpp"
#include "runtime/emulation/emulation.hpp"
#include "runtime/emulation/lanes.hpp"

namespace holdfast {

class EmulatedKernels {
 public:
  // `expression` as in the program's entries: add("stage<double>", &on_cpu::stage<double>). Throws
  // Error{broken_rule} if another kernel has that name.
  template <class... Arguments>
  void add(const std::string& expression, void (*kernel)(Arguments...)) {
    add_binding(expression, {.kernel = reinterpret_cast<void (*)()>(kernel),
                             .bind = [kernel](void** pointers) -> std::function<void()> {
                               return bound(kernel, pointers,
                                            std::index_sequence_for<Arguments...>());
                             }});
  }

  // A kernel of a program's list: add(listed.stage, &on_cpu::stage<double>).
  template <class... Arguments>
  void add(const Listed<Arguments...>& listed, void (*kernel)(std::type_identity_t<Arguments>...)) {
    add(listed.expression(), kernel);
  }

  // The call of one thread, with the launch's arguments copied. Throws Error{device} for a kernel
  // that was not added.
  std::function<void()> bind(const std::string& expression, void** pointers) const;

 private:
  template <class... Arguments, std::size_t... i>
  static std::function<void()> bound(void (*kernel)(Arguments...), void** pointers,
                                     std::index_sequence<i...>) {
    (void)pointers;  // a kernel may take nothing
    std::tuple<Arguments...> arguments{*static_cast<Arguments*>(pointers[i])...};
    return [kernel, arguments] { std::apply(kernel, arguments); };
  }

  struct Binding {
    void (*kernel)() = nullptr;  // identifies it
    std::function<std::function<void()>(void**)> bind = {};
  };
  void add_binding(const std::string& expression, const Binding& binding);

  std::map<std::string, Binding> bindings_ = {};
};

struct Emulation {
  int sm = 90;
  int multiprocessors =
      4;  // few, because each block of a cooperative grid takes a thread of the CPU
  emulation::Order order = emulation::Order::forward;
  emulation::CopyLane copies = emulation::CopyLane::late;
  std::optional<std::int64_t> memory_bytes = {};  // that it tells of
  std::int64_t foreign_bytes = 0;                 // of these, held by other processes
};

std::unique_ptr<Backend> make_emulated_backend(EmulatedKernels kernels, Emulation emulation = {});

}  // namespace holdfast
