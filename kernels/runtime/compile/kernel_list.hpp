// SPDX-License-Identifier: Apache-2.0
// The kernels of one program, each listed once: a row has a kernel's arguments, name and kind. The
// program's entries, the typed callable and the emulated device use it.
//   template <class T>
//   struct HeatKernels : KernelList {
//     HeatKernels() = default;  // names alone
//     explicit HeatKernels(Compiler& compiler) { compile(compiler, {.code = sources::heat_cu}); }
//     Listed<const T*, T*, int> step{*this, entry<T>("step")};
//     Listed<T*, int> border{*this, entry<T>("border"), KernelKind::scatter};
//   };
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/error.hpp"
#include "runtime/compile/compiler.hpp"

namespace holdfast {

class KernelList {
 public:
  KernelList() = default;
  KernelList(const KernelList&) = delete;  // it points to its rows
  KernelList& operator=(const KernelList&) = delete;

  // Compiles `program` with the rows, in their order, as its entries.
  void compile(Compiler& compiler, Program program) {
    program.entries = rows_;
    const Module module = compiler.compile(program);
    for (const auto& find : find_) find(module);
  }

 private:
  template <class...>
  friend class Listed;

  std::vector<WantedKernel> rows_ = {};
  std::vector<std::function<void(const Module&)>> find_ = {};
};

// A row: callable once its list is compiled.
template <class... Arguments>
class Listed {
 public:
  Listed(KernelList& list, std::string expression, KernelKind kind = KernelKind::fused)
      : expression_(std::move(expression)) {
    list.rows_.emplace_back(expression_, kind);
    list.find_.push_back([this](const Module& module) {
      kernel_.emplace(module.kernel<Arguments...>(expression_));
    });
  }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

  void operator()(const LaunchShape& shape, Arguments... arguments) const {
    kernel_.value()(shape, arguments...);
  }
  const std::string& expression() const { return expression_; }
  const Function& function() const { return kernel_.value().function(); }

 private:
  std::string expression_;
  std::optional<Kernel<Arguments...>> kernel_ = {};
};

}  // namespace holdfast
