// SPDX-License-Identifier: Apache-2.0
// The reference variant on a device: each step of the eager program is one kernel of reference.cu,
// or one call of the library. An encode is (E + 1) (1 + ceil(P / block) (4 + 2 d)) + 4 E launches,
// a decode 1 + sum over electrodes of 7 + 2 d + ceil(m / block) (11 + 2 D).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "clusterless_kde/reference/eager_reference.hpp"
#include "clusterless_kde/reference/reference_kernels.hpp"
#include "clusterless_kde/variants.hpp"

namespace holdfast::clusterless_kde {
namespace {

// At least one block: an array program launches for an empty array, too.
unsigned blocks(std::int64_t count, std::int64_t each) {
  return static_cast<unsigned>(std::max((count + each - 1) / each, std::int64_t{1}));
}
LaunchShape line(std::int64_t count) {
  constexpr unsigned threads = 256;
  return {.grid = {blocks(count, threads)}, .block = {threads}};
}
LaunchShape plane(std::int64_t rows, std::int64_t columns) {
  constexpr unsigned along_columns = 32, along_rows = 8;
  return {.grid = {blocks(rows, along_rows), blocks(columns, along_columns)},
          .block = {along_columns, along_rows}};
}
LaunchShape warp_per_row(std::int64_t rows) {
  return plane(rows, 1);
}
LaunchShape sums(std::int64_t columns) {
  return {.grid = {blocks(columns, sum_columns)}, .block = {sum_columns, sum_rows}};
}
int narrow(std::int64_t size) {
  return static_cast<int>(size);
}

template <class T>
class DeviceVerbs {
 public:
  using Value = T;
  using Size = std::int64_t;

  // The device flushes denormal numbers, or not, without being asked.
  struct Step {
    explicit Step(double) {}
  };

  DeviceVerbs(Backend& backend, bool multiplies)
      : device_(backend.device.get()), do_(*backend.compiler) {
    if (multiplies) blas_.emplace(backend);
  }

  void fill(T value, T* out, Size count) { do_.fill(line(count), value, out, count); }
  void clear(T* out, Size count) { device_->fill_zero(out, count * sizeof(T)); }
  void copy(const T* from, T* to, Size count) { device_->copy(to, from, count * sizeof(T)); }

  void pdf(const Axis<T>& axis, T* out, Size n, Size w) {
    do_.pdf(plane(n, w), axis.samples, axis.points, axis.inverse_width(), axis.scale(), out, n,
            narrow(w));
  }
  void log_pdf(const Axis<T>& axis, T* out, Size n, Size w) {
    do_.log_pdf(plane(n, w), axis.samples, axis.points, axis.inverse_width(), axis.log_scale(), out,
                n, narrow(w));
  }

  void add(const T* a, const T* b, T* out, Size count) { do_.add(line(count), a, b, out, count); }
  void subtract(const T* a, const T* b, T* out, Size count) {
    do_.subtract(line(count), a, b, out, count);
  }
  void multiply(const T* a, const T* b, T* out, Size count) {
    do_.multiply(line(count), a, b, out, count);
  }
  void exp(const T* a, T* out, Size count) { do_.exponential(line(count), a, out, count); }
  void log(const T* a, T* out, Size count) { do_.logarithm(line(count), a, out, count); }
  void shift(const T* a, T by, T* out, Size count) { do_.shift(line(count), a, by, out, count); }
  void scale(const T* a, T by, T* out, Size count) { do_.scale(line(count), a, by, out, count); }
  void divide(const T* a, T by, T* out, Size count) { do_.divide(line(count), a, by, out, count); }
  void clip(const T* a, T least, T* out, Size count) {
    do_.clip(line(count), a, least, out, count);
  }
  void masked_ratio(const T* a, const T* b, T otherwise, T* out, Size count) {
    do_.masked_ratio(line(count), a, b, otherwise, out, count);
  }
  void below(const T* a, T least, unsigned char* out, Size count) {
    do_.below(line(count), a, least, out, count);
  }
  void select(const unsigned char* mask, T value, const T* otherwise, T* out, Size count) {
    do_.select(line(count), mask, value, otherwise, out, count);
  }
  void place(const T* whole, const T* part, Size first, Size size, T* out, Size count) {
    do_.place(line(count), whole, part, first, first + size, out, count);
  }

  void divide_columns(const T* a, const T* b, T* out, Size rows, Size columns) {
    do_.divide_columns(plane(rows, columns), a, b, out, rows, narrow(columns));
  }
  void subtract_columns(const T* a, const T* b, T* out, Size rows, Size columns) {
    do_.subtract_columns(plane(rows, columns), a, b, out, rows, narrow(columns));
  }
  void keep_columns(const T* a, const T* b, T otherwise, T* out, Size rows, Size columns) {
    do_.keep_columns(plane(rows, columns), a, b, otherwise, out, rows, narrow(columns));
  }
  void negated_rows(const T* row, T* out, Size rows, Size columns) {
    do_.negated_rows(plane(rows, columns), row, out, rows, narrow(columns));
  }

  void weighted_sum(const T* weights, const T* in, T* out, Size n, Size w) {
    do_.weighted_sum(sums(w), weights, in, out, n, narrow(w));
  }
  void log_sum(const T* in, T* out, Size n, Size w) { do_.log_sum(sums(w), in, out, n, narrow(w)); }
  void row_maximum(const T* in, T* out, Size rows, Size columns) {
    do_.row_maximum(warp_per_row(rows), in, out, rows, narrow(columns));
  }
  void product(const T* a, const T* c, T* out, Size n, Size b, Size p) {
    (*blas_)(product_of<T>(n, b, p), a, c, out);
  }
  void segment_sum(const T* values, const std::int32_t* rows, T* out, Size m, Size columns) {
    do_.segment_sum(plane(m, columns), values, rows, out, m, narrow(columns));
  }

  void scale_rows(const T* from, Size pitch, const T* by, T* out, Size rows, Size columns) {
    do_.scale_rows(plane(rows, columns), from, pitch, by, out, rows, narrow(columns));
  }
  void square_sum(const T* in, T* out, Size rows, Size columns) {
    do_.square_sum(line(columns), in, out, narrow(rows), columns);
  }
  void expanded(const T* a, const T* b, const T* cross, T log_scale, T* out, Size n, Size w) {
    do_.expanded(plane(n, w), a, b, cross, log_scale, out, n, narrow(w));
  }

  void joint_maximum(const T* marks, const T* places, T* out, Size n, Size w, Size bins, Size first,
                     Size count) {
    do_.joint_maximum(plane(w, count), marks, places, out, n, narrow(w), narrow(bins),
                      narrow(first), narrow(count));
  }
  void joint_log_sum(const T* marks, const T* places, const T* most, T* out, Size n, Size w,
                     Size bins, Size first, Size count) {
    do_.joint_log_sum(plane(w, count), marks, places, most, out, n, narrow(w), narrow(bins),
                      narrow(first), narrow(count));
  }
  void half_exp(const T* in, const T* top, T* out, Size count) {
    do_.half_exp(line(count), in, top, out, count);
  }
  void shifted_exp(const T* in, const T* by, const T* share, T* out, Size rows, Size columns) {
    do_.shifted_exp(plane(rows, columns), in, by, share, out, rows, narrow(columns));
  }
  void shifted_log(const T* in, const T* by, T* out, Size count) {
    do_.shifted_log(line(count), in, by, out, count);
  }

 private:
  Device* device_;
  ReferenceKernels<T> do_;
  std::optional<Blas> blas_ = {};
};

}  // namespace

std::unique_ptr<Computation> make_cuda_reference(Backend& backend, Problem problem) {
  if (precision_of(problem.options.arithmetic) == Precision::f32)
    return std::make_unique<EagerReference<DeviceVerbs<float>>>(backend, std::move(problem));
  return std::make_unique<EagerReference<DeviceVerbs<double>>>(backend, std::move(problem));
}

}  // namespace holdfast::clusterless_kde
