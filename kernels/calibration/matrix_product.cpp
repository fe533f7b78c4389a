// SPDX-License-Identifier: Apache-2.0
#include "calibration/formulas.hpp"
#include "calibration/variants.hpp"
#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::calibration {
namespace {

// [edge, edge], row-major.
template <class T>
std::vector<T> square(int edge, int (*element)(int, int)) {
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge));
  for (int row = 0; row < edge; ++row)
    for (int column = 0; column < edge; ++column)
      values.push_back(static_cast<T>(element(row, column)));
  return values;
}

template <class T>
class MatrixProduct final : public Calibration {
 public:
  MatrixProduct(Backend& backend, const Size& size)
      : size_(size),
        blas_(backend),
        a_(backend, square<T>(size.edge, left_factor), "calibration"),
        b_(backend, square<T>(size.edge, right_factor), "calibration"),
        c_(backend, std::vector<T>(a_.size()), "calibration") {}

  void step() override {
    const Gemm problem{.precision = size_.precision,
                       .m = size_.edge,
                       .n = size_.edge,
                       .k = size_.edge,
                       .lda = size_.edge,
                       .ldb = size_.edge,
                       .ldc = size_.edge};
    for (int i = 0; i < size_.repeats; ++i) blas_(problem, a_.data(), b_.data(), c_.data());
  }

  // The corners and some elements between: checking all of them would cost another product.
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
            .bytes = size_.repeats * 3 * n * n * double{sizeof(T)},
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
  Buffer<T> a_, b_, c_;
};

}  // namespace

std::unique_ptr<Calibration> make_matrix_product(Backend& backend, const Size& size) {
  if (size.precision == Precision::f32)
    return std::make_unique<MatrixProduct<float>>(backend, size);
  return std::make_unique<MatrixProduct<double>>(backend, size);
}

}  // namespace holdfast::calibration
