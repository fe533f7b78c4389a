// SPDX-License-Identifier: Apache-2.0
// Private to the device reference: the kernels of reference.cu as typed callables, all from one
// program, whatever the sizes.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "clusterless_kde/sources.hpp"
#include "runtime/base/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/sources.hpp"

namespace holdfast::clusterless_kde {

// Of the sums in reference.cu, SUM_COLUMNS and SUM_ROWS: threads of a block along either axis.
// Eight columns of f32 fill a sector of memory; the rows are a power of two.
inline constexpr int sum_columns = 8, sum_rows = 128;

template <class T>
std::string reference_entry(std::string_view kernel) {
  return text(kernel, std::is_same_v<T, float> ? "<float>" : "<double>");
}

template <class T>
class ReferenceKernels {
  using Size = long long;
  using Mask = unsigned char;

  // Becomes a callable of the type that it initialises.
  struct Found {
    const Module& module;
    std::string entry;
    template <class... Arguments>
    operator Kernel<Arguments...>() const {
      return module.kernel<Arguments...>(entry);
    }
  };
  Found find(std::string_view kernel) const { return {module_, reference_entry<T>(kernel)}; }

  Module module_;  // before the kernels, which are looked up in it

 public:
  explicit ReferenceKernels(Compiler& compiler) : module_(compiler.compile(program())) {}

  static Program program() {
    Program all = {.code = sources::reference_cu,
                   .headers = {runtime::sources::both_hpp, sources::formulas_hpp},
                   .definitions = {text("SUM_COLUMNS=", sum_columns), text("SUM_ROWS=", sum_rows)}};
    for (const auto* kernel : {"fill",
                               "pdf",
                               "log_pdf",
                               "add",
                               "subtract",
                               "multiply",
                               "exponential",
                               "logarithm",
                               "shift",
                               "scale",
                               "divide",
                               "clip",
                               "masked_ratio",
                               "below",
                               "select",
                               "divide_columns",
                               "subtract_columns",
                               "keep_columns",
                               "negated_rows",
                               "scale_rows",
                               "expanded",
                               "half_exp",
                               "shifted_exp",
                               "shifted_log"})
      all.entries.push_back(reference_entry<T>(kernel));
    for (const auto* kernel : {"weighted_sum", "log_sum", "row_maximum", "segment_sum",
                               "square_sum", "joint_maximum", "joint_log_sum"})
      all.entries.push_back({reference_entry<T>(kernel), KernelKind::reduce});
    all.entries.push_back({reference_entry<T>("place"), KernelKind::copy});
    return all;
  }

  Kernel<T, T*, Size> fill = find("fill");
  Kernel<const T*, const T*, T, T, T*, Size, int> pdf = find("pdf"), log_pdf = find("log_pdf");
  Kernel<const T*, const T*, T*, Size> add = find("add"), subtract = find("subtract"),
                                       multiply = find("multiply");
  Kernel<const T*, T*, Size> exponential = find("exponential"), logarithm = find("logarithm");
  Kernel<const T*, T, T*, Size> shift = find("shift"), scale = find("scale"),
                                divide = find("divide"), clip = find("clip");
  Kernel<const T*, const T*, T, T*, Size> masked_ratio = find("masked_ratio");
  Kernel<const T*, T, Mask*, Size> below = find("below");
  Kernel<const Mask*, T, const T*, T*, Size> select = find("select");
  Kernel<const T*, const T*, Size, Size, T*, Size> place = find("place");

  Kernel<const T*, const T*, T*, Size, int> divide_columns = find("divide_columns"),
                                            subtract_columns = find("subtract_columns");
  Kernel<const T*, const T*, T, T*, Size, int> keep_columns = find("keep_columns");
  Kernel<const T*, T*, Size, int> negated_rows = find("negated_rows");
  Kernel<const T*, const T*, T*, Size, int> weighted_sum = find("weighted_sum");
  Kernel<const T*, T*, Size, int> log_sum = find("log_sum"), row_maximum = find("row_maximum");
  Kernel<const T*, const int*, T*, Size, int> segment_sum = find("segment_sum");

  Kernel<const T*, Size, const T*, T*, Size, int> scale_rows = find("scale_rows");
  Kernel<const T*, T*, int, Size> square_sum = find("square_sum");
  Kernel<const T*, const T*, const T*, T, T*, Size, int> expanded = find("expanded");

  Kernel<const T*, const T*, T*, Size, int, int, int, int> joint_maximum = find("joint_maximum");
  Kernel<const T*, const T*, const T*, T*, Size, int, int, int, int> joint_log_sum =
      find("joint_log_sum");
  Kernel<const T*, const T*, T*, Size> half_exp = find("half_exp"),
                                       shifted_log = find("shifted_log");
  Kernel<const T*, const T*, const T*, T*, Size, int> shifted_exp = find("shifted_exp");
};

}  // namespace holdfast::clusterless_kde
