// SPDX-License-Identifier: Apache-2.0
// The verbs on a device: each is one library call or one kernel, and one program holds the kernels
// for all sizes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "arrays/arrays.hpp"
#include "arrays/sources.hpp"
#include "arrays/verbs.hpp"
#include "runtime/backend/backend.hpp"
#include "runtime/base/error.hpp"
#include "runtime/compile/compiler.hpp"

namespace holdfast::arrays {

// SUM_COLUMNS and SUM_ROWS of the sums in arrays.cu: threads of a block along either axis. Eight
// f32 columns fill a memory sector; the number of rows is a power of two.
inline constexpr int sum_columns = 8, sum_rows = 128;

// The shapes of verbs.hpp: how kernels take the extents, and which launch covers them. At least one
// block: an array program launches for an empty array, too.
struct Shape {
  static unsigned blocks(std::int64_t count, std::int64_t each) {
    return static_cast<unsigned>(std::max((count + each - 1) / each, std::int64_t{1}));
  }
};
struct Line : Shape {
  using Extents = void(long long);
  static LaunchShape launch(std::int64_t count) {
    constexpr unsigned threads = 256;
    return {.grid = {blocks(count, threads)}, .block = {threads}};
  }
};
struct Plane : Shape {
  using Extents = void(long long, int);
  static LaunchShape launch(std::int64_t rows, std::int64_t columns) {
    constexpr unsigned along_columns = 32, along_rows = 8;
    return {.grid = {blocks(rows, along_rows), blocks(columns, along_columns)},
            .block = {along_columns, along_rows}};
  }
};
struct Columns : Shape {
  using Extents = void(int, long long);
  static LaunchShape launch(std::int64_t, std::int64_t columns) { return Line::launch(columns); }
};
struct Sums : Shape {
  using Extents = void(long long, int);
  static LaunchShape launch(std::int64_t, std::int64_t columns) {
    return {.grid = {blocks(columns, sum_columns)}, .block = {sum_columns, sum_rows}};
  }
};
struct Warps : Shape {
  using Extents = void(long long, int);
  static LaunchShape launch(std::int64_t rows, std::int64_t) { return Plane::launch(rows, 1); }
};

// A verb's kernel with the launch that fits its extents: add(a, b, out, count).
template <class Over, class Parameters, class Extents = Over::Extents>
class Launched;
template <class Over, class... Parameters, class... Extents>
class Launched<Over, void(Parameters...), void(Extents...)> {
  template <class>
  using Size = std::int64_t;

 public:
  Launched(const Module& module, std::string_view entry)
      : kernel_(module.kernel<Parameters..., Extents...>(entry)) {}

  void operator()(Parameters... parameters, Size<Extents>... extents) const {
    kernel_(Over::launch(extents...), parameters..., static_cast<Extents>(extents)...);
  }

 private:
  Kernel<Parameters..., Extents...> kernel_;
};

template <class T>
std::string entry(std::string_view verb) {
  return text(verb, std::is_same_v<T, float> ? "<float>" : "<double>");
}

// For a table's rows: HOLDFAST_ARRAY_VERBS(HOLDFAST_ENTRY, HOLDFAST_ENTRY) lists WantedKernels,
// HOLDFAST_LAUNCHED declares members of a class with a module_.
#define HOLDFAST_ENTRY(kind, shape, name, ...) \
  {holdfast::arrays::entry<T>(#name), holdfast::KernelKind::kind},
#define HOLDFAST_LAUNCHED(kind, shape, name, parameters, ...)            \
  holdfast::arrays::Launched<shape, void parameters> name{this->module_, \
                                                          holdfast::arrays::entry<T>(#name)};

// All verbs. A workload adds its own: its code includes arrays.cu and brings its headers and
// entries.
template <class T>
Program program(const Source& code = sources::arrays_cu) {
  return {.code = code,
          .headers = {sources::arrays_cu, sources::verbs_hpp},
          .definitions = {text("SUM_COLUMNS=", sum_columns), text("SUM_ROWS=", sum_rows)},
          .entries = {HOLDFAST_ARRAY_VERBS(HOLDFAST_ENTRY, HOLDFAST_ENTRY)}};
}

template <class T>
class DeviceVerbs {
 public:
  using Value = T;
  using Size = std::int64_t;

  // A no-op: on a device, whether denormals are flushed does not depend on the step.
  struct Step {
    explicit Step(double) {}
  };

  DeviceVerbs(Backend& backend, bool multiplies, const Program& all = program<T>())
      : device_(backend.device.get()), module_(backend.compiler->compile(all)) {
    if (multiplies) blas_.emplace(backend);
  }

  void clear(T* out, Size count) { device_->fill_zero(out, count * sizeof(T)); }
  void copy(const T* from, T* to, Size count) { device_->copy(to, from, count * sizeof(T)); }
  void product(const T* a, const T* c, T* out, Size n, Size b, Size p) {
    (*blas_)(product_of<T>(n, b, p), a, c, out);
  }

 protected:
  Device* device_;
  Module module_;  // before the kernels, which are looked up in it
  std::optional<Blas> blas_ = {};

 public:
  HOLDFAST_ARRAY_VERBS(HOLDFAST_LAUNCHED, HOLDFAST_LAUNCHED)
};

}  // namespace holdfast::arrays
