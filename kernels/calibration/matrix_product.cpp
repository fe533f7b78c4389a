// SPDX-License-Identifier: Apache-2.0
#include "calibration/formulas.hpp"
#include "calibration/variants.hpp"
#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/device_code/bf16.hpp"

namespace holdfast::calibration {
namespace {

template <class T>
T number(int whole) {
  return static_cast<T>(whole);
}
template <>
Bf16 number<Bf16>(int whole) {
  return narrowed(static_cast<float>(whole));
}

// [edge, edge], row-major.
template <class T>
std::vector<T> square(int edge, int (*element)(int, int)) {
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge));
  for (int row = 0; row < edge; ++row)
    for (int column = 0; column < edge; ++column) values.push_back(number<T>(element(row, column)));
  return values;
}

// bf16 cannot hold the sums, which are whole numbers, so its products accumulate into f32.
template <class T, class Sum = T>
class MatrixProduct final : public Calibration {
 public:
  MatrixProduct(Backend& backend, const Size& size)
      : size_(size),
        blas_(backend,
              std::is_same_v<T, Bf16> ? planned_gemm_work_area_bytes : gemm_work_area_bytes),
        a_(backend, square<T>(size.edge, left_factor), "calibration"),
        b_(backend, square<T>(size.edge, right_factor), "calibration"),
        c_(backend, std::vector<Sum>(a_.size()), "calibration") {}

  void step() override {
    const Gemm problem{.precision = size_.precision,
                       .result = std::is_same_v<T, Sum> ? size_.precision : Precision::f32,
                       .m = size_.edge,
                       .n = size_.edge,
                       .k = size_.edge,
                       .lda = size_.edge,
                       .ldb = size_.edge,
                       .ldc = size_.edge};
    for (int i = 0; i < size_.repeats; ++i) blas_(problem, a_.data(), b_.data(), c_.data());
  }

  // Returns the corners and some elements between: checking all would cost another product.
  std::vector<double> result() override {
    const auto c = c_.to_host();
    std::vector<double> values;
    for (const int i : sampled())
      for (const int j : sampled())
        values.push_back(static_cast<double>(c[static_cast<std::size_t>(i) * edge() + j]));
    return values;
  }
  std::vector<double> expected() const override {
    std::vector<double> values;
    for (const int i : sampled())
      for (const int j : sampled()) {
        int sum = 0;
        for (int k = 0; k < size_.edge; ++k) sum += left_factor(i, k) * right_factor(k, j);
        values.push_back(sum);
      }
    return values;
  }
  Work work() const override {
    const double n = size_.edge;
    return {.flops = size_.repeats * 2 * n * n * n,
            .bytes = size_.repeats * n * n * double{2 * sizeof(T) + sizeof(Sum)},
            .precision = size_.precision};
  }

 private:
  std::size_t edge() const { return static_cast<std::size_t>(size_.edge); }
  std::vector<int> sampled() const {
    const int last = size_.edge - 1;
    return {0, last / 3, last - last / 3, last};
  }

  Size size_;
  Blas blas_;
  Buffer<T> a_, b_;
  Buffer<Sum> c_;
};

}  // namespace

std::unique_ptr<Calibration> make_matrix_product(Backend& backend, const Size& size) {
  if (size.precision == Precision::bf16)
    return std::make_unique<MatrixProduct<Bf16, float>>(backend, size);
  if (size.precision == Precision::f32)
    return std::make_unique<MatrixProduct<float>>(backend, size);
  return std::make_unique<MatrixProduct<double>>(backend, size);
}

}  // namespace holdfast::calibration
