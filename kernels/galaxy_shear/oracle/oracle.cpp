// SPDX-License-Identifier: Apache-2.0
#include "galaxy_shear/oracle/oracle.hpp"

#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <numbers>

#include "runtime/device_code/random.hpp"

namespace holdfast::galaxy_shear::oracle {
namespace {

using Number = std::complex<double>;
using Kind = PriorLaw::Kind;

constexpr double pi = std::numbers::pi;
constexpr double tiny_step = 1e-30;  // of a complex step: nothing is subtracted, nothing cancels

double sinc(double k) {
  return k == 0 ? 1 : std::sin(k / 2) / (k / 2);
}

// Samples of the half plane 0 <= c <= H, -H <= r <= H, which stands for all (N + 1)^2: those with
// c > 0 count twice. Real factors that no parameter moves.
struct Plane {
  explicit Plane(const Scene& scene)
      : n(scene.fft), half(n / 2), columns(half + 1), rows(n + 1), response(columns * rows) {
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < rows; ++r) {
        const double q = std::hypot(k(c), k(r - half)) / scene.pixel_scale;
        response[c * rows + r] =
            (c == 0 ? 1 : 2) * psf(scene.psf, q) * sinc(k(c)) * sinc(k(r - half));
      }
  }
  double k(int index) const { return 2 * pi * index / n; }

  int n, half, columns, rows;
  std::vector<double> response;
};

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

// response * transform of the galaxy, centred at the origin: [columns, rows].
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

// Of the origin of pixel indices; the drawing convention puts the centre of the stamp at S / 2.
double origin(const Scene& scene) {
  const int s = scene.image;
  return s / 2. + (s % 2 == 0 ? 0.5 : 0) - s / 2;
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

// sum of cotangent * cos and * sin of kx j + ky i: [columns, rows].
struct Projection {
  Projection(const Scene& scene, const Plane& plane, const std::vector<double>& cotangent)
      : cosine(plane.response.size()), sine(cosine.size()) {
    const int s = scene.image;
    const Waves along_x(plane.columns, 0, s, 0, plane),
        along_y(plane.rows, -plane.half, s, 0, plane);
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
  std::vector<double> cosine, sine;
};

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

Parameters adjoint(const Scene& scene, const Plane& plane, const Parameters& z,
                   const std::vector<double>& cotangent, const std::vector<int>& wanted) {
  const Projection projection(scene, plane, cotangent);
  Parameters gradient = {};
  for (const int k : wanted) {
    std::array<Number, parameters> moved;
    for (int j = 0; j < parameters; ++j) moved[j] = {z[j], j == k ? tiny_step : 0};
    gradient[k] = paired(scene, plane, projection, moved).imag() / tiny_step;
  }
  return gradient;
}

template <class T>
T sigmoid(T u) {
  return T(1) / (T(1) + std::exp(-u));
}

template <class T>
T transformed(const PriorLaw& law, T u) {
  if (law.kind == Kind::log_normal) return std::exp(u);
  if (law.kind == Kind::uniform) return law.a + (law.b - law.a) * sigmoid(u);
  return u;
}

// Minus the logarithm of the density of z, not of u.
template <class T>
T negative_log(const PriorLaw& law, T u) {
  if (law.kind == Kind::uniform) return T(std::log(law.b - law.a));
  const double constant = std::log(law.b) + std::log(2 * pi) / 2;
  const bool logarithmic = law.kind == Kind::log_normal;
  const T distance = u - (logarithmic ? std::log(law.a) : law.a);
  return distance * distance / (2 * law.b * law.b) + constant + (logarithmic ? u : T(0));
}

double loss(const Scene& scene, const Plane& plane, const std::vector<double>& data,
            const std::vector<double>& u, std::vector<double>* cotangent) {
  std::vector<double> residual = drawn(scene, plane, constrained(scene, u));
  double sum = 0;
  for (std::size_t p = 0; p < residual.size(); ++p) {
    residual[p] = (residual[p] - data[p]) / scene.noise;
    sum += residual[p] * residual[p] / 2;
    residual[p] /= scene.noise;
  }
  sum += double(residual.size()) * (std::log(scene.noise) + std::log(2 * pi) / 2);
  for (int k = 0; k < scene.latent_count(); ++k)
    sum += negative_log(scene.priors[scene.latents[k]], u[k]);
  if (cotangent) *cotangent = std::move(residual);
  return sum;
}

Objective objective(const Scene& scene, const Plane& plane, const std::vector<double>& data,
                    const std::vector<double>& u) {
  std::vector<double> cotangent;
  Objective found = {.loss = loss(scene, plane, data, u, &cotangent)};
  const Parameters by_z = adjoint(scene, plane, constrained(scene, u), cotangent, scene.latents);
  for (int k = 0; k < scene.latent_count(); ++k) {
    const PriorLaw& law = scene.priors[scene.latents[k]];
    const Number moved = {u[k], tiny_step};
    found.gradient.push_back(by_z[scene.latents[k]] * transformed(law, moved).imag() / tiny_step +
                             negative_log(law, moved).imag() / tiny_step);
  }
  return found;
}

}  // namespace

double psf(const PsfShape& shape, double q) {
  if (shape.kind == Psf::gaussian) return std::exp(-shape.width * shape.width * q * q / 2);
  const double radius = shape.width / (2 * std::sqrt(std::pow(2, 1 / shape.beta) - 1));
  const double argument = q * radius, nu = shape.beta - 1;
  if (argument == 0) return 1;
  return std::pow(2, 1 - nu) / std::tgamma(nu) * std::pow(argument, nu) *
         std::cyl_bessel_k(nu, argument);
}

std::vector<double> response(const Scene& scene) {
  const Plane plane(scene);
  std::vector<double> all;
  for (int r = plane.half; r < plane.rows; ++r)
    for (int c = 0; c < plane.columns; ++c)
      all.push_back(plane.response[c * plane.rows + r] / (c == 0 ? 1 : 2));
  return all;
}

std::vector<double> image(const Scene& scene, const Parameters& z) {
  return drawn(scene, Plane(scene), z);
}

Parameters vjp(const Scene& scene, const Parameters& z, const std::vector<double>& cotangent) {
  return adjoint(scene, Plane(scene), z, cotangent, {g1, g2, flux, hlr, e1, e2, x, y});
}

Parameters constrained(const Scene& scene, const std::vector<double>& u) {
  Parameters z = scene.fixed;
  for (int k = 0; k < scene.latent_count(); ++k)
    z[scene.latents[k]] = transformed(scene.priors[scene.latents[k]], u[k]);
  return z;
}

std::vector<double> drawn(const Scene& scene, int b) {
  std::vector<double> u;
  for (int k = 0; k < scene.latent_count(); ++k) {
    const PriorLaw& law = scene.priors[scene.latents[k]];
    const Philox4x32 words = philox4x32_10({{unsigned(k), unsigned(b), 1, 0}}, 100, 0);
    const double share = (words.word[0] + 0.5) * 0x1p-32, turn = (words.word[1] + 0.5) * 0x1p-32;
    const double normal = std::sqrt(-2 * std::log(share)) * std::cos(2 * pi * turn);
    const double middle = law.kind == Kind::log_normal ? std::log(law.a) : law.a;
    u.push_back(law.kind == Kind::uniform ? std::log(share / (1 - share))
                                          : middle + law.b * normal);
  }
  return u;
}

Objective objective(const Scene& scene, const std::vector<double>& data,
                    const std::vector<double>& u) {
  return objective(scene, Plane(scene), data, u);
}

double loss(const Scene& scene, const std::vector<double>& data, const std::vector<double>& u) {
  return loss(scene, Plane(scene), data, u, nullptr);
}

Fit fit(const Scene& scene, const std::vector<double>& data, std::vector<double> u, int steps) {
  const Plane plane(scene);
  const std::size_t count = u.size();
  Fit fit = {.u = std::move(u), .m = std::vector<double>(count), .v = std::vector<double>(count)};
  for (int t = 1; t <= steps; ++t) {
    const Objective now = objective(scene, plane, data, fit.u);
    fit.losses.push_back(now.loss);
    for (std::size_t k = 0; k < count; ++k) {
      const double slope = now.gradient[k];
      fit.m[k] = (1 - 0.9) * slope + 0.9 * fit.m[k];
      fit.v[k] = (1 - 0.999) * slope * slope + 0.999 * fit.v[k];
      const double mean = fit.m[k] / (1 - std::pow(0.9, t));
      const double square = fit.v[k] / (1 - std::pow(0.999, t));
      fit.u[k] -= scene.learning_rate * mean / (std::sqrt(square) + 1e-8);
    }
  }
  return fit;
}

}  // namespace holdfast::galaxy_shear::oracle
