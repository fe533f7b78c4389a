// SPDX-License-Identifier: Apache-2.0
#include "galaxy_shear/oracle/planes.hpp"

#include <cmath>
#include <cstddef>

#include "galaxy_shear/oracle/oracle.hpp"

namespace holdfast::galaxy_shear::oracle {
namespace {

double sinc(double k) {
  return k == 0 ? 1 : std::sin(k / 2) / (k / 2);
}

template <class T>
struct Matrix {
  T a, b, c, d;  // [[a, b], [c, d]]
  friend Matrix operator*(const Matrix& m, const Matrix& o) {
    return {m.a * o.a + m.b * o.c, m.a * o.b + m.b * o.d, m.c * o.a + m.d * o.c,
            m.c * o.b + m.d * o.d};
  }
};

template <class T>
Matrix<T> unit_determinant(T p, T q) {
  const T scale = T(1) / std::sqrt(T(1) - p * p - q * q);
  return {(T(1) + p) * scale, q * scale, q * scale, (T(1) - p) * scale};
}

// response * the transform of the galaxy centred at the origin: [columns, rows].
template <class T>
std::vector<T> samples(const Scene& scene, const Plane& plane, const std::array<T, parameters>& z) {
  const Matrix<T> shear = unit_determinant(z[g1], z[g2]);
  const Matrix<T> metric = shear * unit_determinant(z[e1], z[e2]) * shear;
  const T radius = z[hlr] / (1.6783469900166605 * scene.pixel_scale);
  std::vector<T> all(plane.response.size());
  for (int c = 0; c < plane.columns; ++c)
    for (int r = 0; r < plane.rows; ++r) {
      const double kx = plane.k(c), ky = plane.k(r - plane.half);
      const T form =
          metric.a * (kx * kx) + (metric.b + metric.c) * (kx * ky) + metric.d * (ky * ky);
      const T t = T(1) + radius * radius * form;
      all[c * plane.rows + r] = z[flux] * plane.response[c * plane.rows + r] / (t * std::sqrt(t));
    }
  return all;
}

// The origin of pixel indices; the drawing convention puts the centre of the stamp at S / 2.
double origin(const Scene& scene) {
  const int s = scene.image, middle = s / 2;
  return s / 2. + (s % 2 == 0 ? 0.5 : 0) - middle;
}

// [count, S]: cosine and sine of k (pixel - shift).
struct Waves {
  Waves(int count, int first, int size, double shift, const Plane& plane)
      : cosine(std::size_t(count) * size), sine(cosine.size()) {
    for (int k = 0; k < count; ++k)
      for (int p = 0; p < size; ++p) {
        const double angle = plane.k(k + first) * (p - shift);
        cosine[k * size + p] = std::cos(angle);
        sine[k * size + p] = std::sin(angle);
      }
  }
  std::vector<double> cosine, sine;
};

}  // namespace

double psf(const PsfShape& shape, double q) {
  if (shape.kind == Psf::gaussian) return std::exp(-shape.width * shape.width * q * q / 2);
  const double radius = shape.width / (2 * std::sqrt(std::pow(2, 1 / shape.beta) - 1));
  const double argument = q * radius, nu = shape.beta - 1;
  if (argument == 0) return 1;
  return std::pow(2, 1 - nu) / std::tgamma(nu) * std::pow(argument, nu) *
         std::cyl_bessel_k(nu, argument);
}

Plane::Plane(const Scene& scene)
    : n(scene.fft), half(n / 2), columns(half + 1), rows(n + 1), response(columns * rows) {
  for (int c = 0; c < columns; ++c)
    for (int r = 0; r < rows; ++r) {
      const double q = std::hypot(k(c), k(r - half)) / scene.pixel_scale;
      response[c * rows + r] =
          (c == 0 ? 1 : 2) * psf(scene.psf, q) * sinc(k(c)) * sinc(k(r - half));
    }
}
double Plane::k(int index) const {
  return 2 * pi * index / n;
}

std::vector<double> drawn(const Scene& scene, const Plane& plane, const Parameters& z) {
  const int s = scene.image;
  const std::vector<double> weights = samples(scene, plane, z);
  const Waves along_x(plane.columns, 0, s, z[x] - origin(scene), plane);
  const Waves along_y(plane.rows, -plane.half, s, z[y] - origin(scene), plane);
  std::vector<double> all(std::size_t(s) * s);
  std::vector<double> even(s), odd(s);
  for (int c = 0; c < plane.columns; ++c) {
    even.assign(s, 0);
    odd.assign(s, 0);
    for (int r = 0; r < plane.rows; ++r)
      for (int i = 0; i < s; ++i) {
        even[i] += weights[c * plane.rows + r] * along_y.cosine[r * s + i];
        odd[i] += weights[c * plane.rows + r] * along_y.sine[r * s + i];
      }
    for (int i = 0; i < s; ++i)
      for (int j = 0; j < s; ++j)
        all[i * s + j] += along_x.cosine[c * s + j] * even[i] - along_x.sine[c * s + j] * odd[i];
  }
  for (double& value : all) value /= double(plane.n) * plane.n;
  return all;
}

Projection::Projection(const Scene& scene, const Plane& plane, const std::vector<double>& cotangent)
    : cosine(plane.response.size()), sine(cosine.size()) {
  const int s = scene.image;
  const Waves along_x(plane.columns, 0, s, 0, plane), along_y(plane.rows, -plane.half, s, 0, plane);
  std::vector<double> even(s), odd(s);
  for (int c = 0; c < plane.columns; ++c) {
    for (int i = 0; i < s; ++i) {
      even[i] = odd[i] = 0;
      for (int j = 0; j < s; ++j) {
        even[i] += along_x.cosine[c * s + j] * cotangent[i * s + j];
        odd[i] += along_x.sine[c * s + j] * cotangent[i * s + j];
      }
    }
    for (int r = 0; r < plane.rows; ++r) {
      const double* cosines = &along_y.cosine[r * s];
      const double* sines = &along_y.sine[r * s];
      double with_cosine = 0, with_sine = 0;
      for (int i = 0; i < s; ++i) {
        with_cosine += cosines[i] * even[i] - sines[i] * odd[i];
        with_sine += cosines[i] * odd[i] + sines[i] * even[i];
      }
      cosine[c * plane.rows + r] = with_cosine;
      sine[c * plane.rows + r] = with_sine;
    }
  }
}

// sum cotangent * image(z), for complex z.
Number paired(const Scene& scene, const Plane& plane, const Projection& projection,
              const std::array<Number, parameters>& z) {
  const std::vector<Number> weights = samples(scene, plane, z);
  const Number dx = z[x] - origin(scene), dy = z[y] - origin(scene);
  std::vector<Number> row_cosine(plane.rows), row_sine(plane.rows);
  for (int r = 0; r < plane.rows; ++r) {
    row_cosine[r] = std::cos(plane.k(r - plane.half) * dy);
    row_sine[r] = std::sin(plane.k(r - plane.half) * dy);
  }
  Number sum = 0;
  for (int c = 0; c < plane.columns; ++c) {
    const Number cosine = std::cos(plane.k(c) * dx), sine = std::sin(plane.k(c) * dx);
    for (int r = 0; r < plane.rows; ++r) {
      const int k = c * plane.rows + r;
      const Number even = cosine * row_cosine[r] - sine * row_sine[r];
      const Number odd = sine * row_cosine[r] + cosine * row_sine[r];
      sum += weights[k] * (even * projection.cosine[k] + odd * projection.sine[k]);
    }
  }
  return sum / (double(plane.n) * plane.n);
}

Parameters adjoint(const Scene& scene, const Plane& plane, const Projection& projection,
                   const Parameters& z, const std::vector<int>& wanted) {
  Parameters gradient = {};
  for (const int k : wanted) {
    std::array<Number, parameters> moved;
    for (int j = 0; j < parameters; ++j) moved[j] = {z[j], j == k ? tiny_step : 0};
    gradient[k] = paired(scene, plane, projection, moved).imag() / tiny_step;
  }
  return gradient;
}

}  // namespace holdfast::galaxy_shear::oracle
