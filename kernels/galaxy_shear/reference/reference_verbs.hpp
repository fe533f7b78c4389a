// SPDX-License-Identifier: Apache-2.0
// The operations of the reference, a row each as in arrays/verbs.hpp: each is a pass over whole
// arrays. r is a galaxy, c a point of its plane or stamp; README.md numbers them.
#pragma once

#include "galaxy_shear/reference/reference_formulas.hpp"

// OWN: sums over the points of each galaxy, their kernels in reference.cu, their loops in
// host_reference.cpp. n: samples along an axis; step: of the Fourier plane. Galaxies is [batch].
// clang-format off
#define GALAXY_SHEAR_VERBS(ROW, OWN)                                                               \
  ROW(fused, Line, place_truths,                                                                   \
      (holdfast::galaxy_shear::Model model, const double* zs,                                      \
       holdfast::galaxy_shear::Placed* placed),                                                    \
      holdfast::galaxy_shear::place_truth(model, zs + i * 8, placed[i]))                           \
  ROW(fused, Line, place_states,                                                                   \
      (holdfast::galaxy_shear::Model model, const holdfast::galaxy_shear::FitState* states,        \
       holdfast::galaxy_shear::Placed* placed),                                                    \
      holdfast::galaxy_shear::place_latents(model, states[i], placed[i]))                          \
  ROW(fused, Line, draw_states,                                                                    \
      (holdfast::galaxy_shear::Model model, holdfast::galaxy_shear::FitState* states),             \
      holdfast::galaxy_shear::draw_latents(model, static_cast<unsigned>(i), states[i].u))          \
  ROW(fused, Plane, coordinates,                                                                   \
      (const holdfast::galaxy_shear::Placed* placed, int n, double step, int lines,                \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] =                                                                       \
          holdfast::galaxy_shear::coordinates_at<T>(placed[r / lines], static_cast<int>(r % lines),\
          static_cast<int>(c), n, step))                                                           \
  ROW(fused, Plane, form,                                                                          \
      (const holdfast::galaxy_shear::Placed* placed,                                               \
       const holdfast::galaxy_shear::Value<T>* at, T* out),                                        \
      out[r * columns + c] = holdfast::galaxy_shear::form_at(placed[r], at[r * columns + c]))      \
  ROW(fused, Plane, profile,                                                                       \
      (const holdfast::galaxy_shear::Placed* placed, const T* t,                                   \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] = holdfast::galaxy_shear::profile_at(placed[r], t[r * columns + c]))    \
  ROW(fused, Plane, psf,                                                                           \
      (holdfast::galaxy_shear::Optics optics, double pixel_scale, int n, double step,              \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] = holdfast::galaxy_shear::psf_value<T>(                                 \
          optics, pixel_scale, static_cast<int>(r), static_cast<int>(c), n, step))                 \
  ROW(fused, Plane, phase,                                                                         \
      (const holdfast::galaxy_shear::Placed* placed, int n, double step, int lines,                \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] =                                                                       \
          holdfast::galaxy_shear::phase_at<T>(placed[r / lines], static_cast<int>(r % lines),      \
          static_cast<int>(c), n, step))                                                           \
  ROW(fused, Plane, pixel, (int n, double step, holdfast::galaxy_shear::Value<T>* out),            \
      out[r * columns + c] = holdfast::galaxy_shear::pixel_value<T>(                               \
          static_cast<int>(r), static_cast<int>(c), n, step))                                      \
  ROW(fused, Plane, product,                                                                       \
      (const holdfast::galaxy_shear::Value<T>* a, const holdfast::galaxy_shear::Value<T>* b,       \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] =                                                                       \
          holdfast::galaxy_shear::times(a[r * columns + c], b[r * columns + c]))                   \
  ROW(fused, Plane, shared_product,                                                                \
      (const holdfast::galaxy_shear::Value<T>* a, const holdfast::galaxy_shear::Value<T>* shared,  \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] = holdfast::galaxy_shear::times(a[r * columns + c], shared[c]))         \
  ROW(copy, Plane, expand,                                                                         \
      (const holdfast::galaxy_shear::Value<T>* in, int points, int lines, int n,                   \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] =                                                                       \
          holdfast::galaxy_shear::expanded_at(in + r / lines * points, static_cast<int>(r % lines),\
          static_cast<int>(c), n))                                                                 \
  ROW(copy, Plane, pad,                                                                            \
      (const holdfast::galaxy_shear::Value<T>* in, int points, int lines, int n,                   \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] =                                                                       \
          holdfast::galaxy_shear::padded_at(in + r / lines * points, static_cast<int>(r % lines),  \
          static_cast<int>(c), n))                                                                 \
  ROW(fused, Plane, wrap,                                                                          \
      (const holdfast::galaxy_shear::Value<T>* in, int points, int lines, int n,                   \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] =                                                                       \
          holdfast::galaxy_shear::wrapped_at(in + r / lines * points, static_cast<int>(r % lines), \
          static_cast<int>(c), n))                                                                 \
  ROW(copy, Plane, contract,                                                                       \
      (const holdfast::galaxy_shear::Value<T>* in, int points, int lines, int n,                   \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] =                                                                       \
          holdfast::galaxy_shear::contracted_at(in + r / lines * points, static_cast<int>(r % lines),\
          static_cast<int>(c), n))                                                                 \
  ROW(copy, Plane, crop, (const T* in, int n, int s, T scale, T* out),                             \
      out[r * columns + c] = scale * in[(r / s * n + r % s) * n + c])                              \
  ROW(fused, Plane, residual, (const T* image, const T* data, T inverse_noise, T* out),            \
      out[r * columns + c] = (image[r * columns + c] - data[r * columns + c]) * inverse_noise)     \
  OWN(reduce, PerGalaxy, half_square, (const T* in, double* out))                                  \
  OWN(reduce, PerGalaxy, weighted_light, (const T* in, const T* weights, double* out))               \
  ROW(fused, Line, add_prior,                                                                      \
      (double constant, const holdfast::galaxy_shear::Placed* placed, const double* in,            \
       double* out),                                                                               \
      out[i] = in[i] + constant + placed[i].point.prior)                                           \
  ROW(fused, Plane, weigh_residual, (const T* in, T inverse_noise, T* out),                        \
      out[r * columns + c] = in[r * columns + c] * inverse_noise)                                  \
  ROW(copy, Plane, pad_stamp, (const T* in, int n, int s, long long stride, T* out),               \
      out[r * columns + c] =                                                                       \
          r % n < s && c < s ? in[r / n * stride + r % n * s + c] : T(0))                          \
  ROW(fused, Plane, weigh,                                                                         \
      (const holdfast::galaxy_shear::Value<T>* in, int n,                                          \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] = holdfast::galaxy_shear::weighed_at(in[r * columns + c],               \
                                                                static_cast<int>(c), n))           \
  ROW(copy, Plane, uncontract,                                                                     \
      (const holdfast::galaxy_shear::Value<T>* in, int points, int lines, int n,                   \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] =                                                                       \
          holdfast::galaxy_shear::uncontracted_at(in + r / lines * points, static_cast<int>(r % lines),\
          static_cast<int>(c), n))                                                                 \
  ROW(copy, Plane, broadcast,                                                                      \
      (const holdfast::galaxy_shear::Value<T>* in, int points, int lines, int n,                   \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] =                                                                       \
          holdfast::galaxy_shear::broadcast_at(in + r / lines * points, static_cast<int>(r % lines),\
          static_cast<int>(c), n))                                                                 \
  ROW(copy, Plane, cut,                                                                            \
      (const holdfast::galaxy_shear::Value<T>* in, int points, int lines, int n,                   \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] =                                                                       \
          holdfast::galaxy_shear::cut_at(in + r / lines * points, static_cast<int>(r % lines),     \
          static_cast<int>(c), n))                                                                 \
  ROW(fused, Plane, fold,                                                                          \
      (const holdfast::galaxy_shear::Value<T>* in, int points, int lines, int n,                   \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] =                                                                       \
          holdfast::galaxy_shear::folded_at(in + r / lines * points, static_cast<int>(r % lines),  \
          static_cast<int>(c), n))                                                                 \
  ROW(fused, Plane, shared_product_back,                                                           \
      (const holdfast::galaxy_shear::Value<T>* a, const holdfast::galaxy_shear::Value<T>* shared,  \
       holdfast::galaxy_shear::Value<T>* out),                                                     \
      out[r * columns + c] =                                                                       \
          holdfast::galaxy_shear::times_conjugate(a[r * columns + c], shared[c]))                  \
  ROW(fused, Plane, phase_back,                                                                    \
      (const holdfast::galaxy_shear::Value<T>* slope,                                              \
       const holdfast::galaxy_shear::Value<T>* phase,                                              \
       const holdfast::galaxy_shear::Value<T>* shifted, holdfast::galaxy_shear::Value<T>* out,     \
       T* angle),                                                                                  \
      out[r * columns + c] =                                                                       \
          holdfast::galaxy_shear::times_conjugate(slope[r * columns + c], phase[r * columns + c]); \
      angle[r * columns + c] =                                                                     \
          holdfast::galaxy_shear::times_conjugate(shifted[r * columns + c], slope[r * columns + c])\
              .im)                                                                                 \
  ROW(fused, Plane, form_back,                                                                     \
      (const holdfast::galaxy_shear::Placed* placed,                                               \
       const holdfast::galaxy_shear::Value<T>* slope, const T* t, T* out),                         \
      out[r * columns + c] = holdfast::galaxy_shear::form_slope_at(                                \
          placed[r], slope[r * columns + c], t[r * columns + c]))                                  \
  ROW(fused, Plane, coordinates_back,                                                              \
      (const holdfast::galaxy_shear::Placed* placed, const T* slope,                               \
       const holdfast::galaxy_shear::Value<T>* at, holdfast::galaxy_shear::Value<T>* out),         \
      const T factor = slope[r * columns + c] * T(2 * placed[r].radius * placed[r].radius);        \
      out[r * columns + c] = {factor * at[r * columns + c].re, factor * at[r * columns + c].im})   \
  OWN(reduce, PerGalaxy, matrix_slopes,                                                            \
      (const holdfast::galaxy_shear::Value<T>* slope, int n, double step,                          \
       holdfast::galaxy_shear::Slopes* out))                                                       \
  OWN(reduce, PerGalaxy, shift_slopes,                                                             \
      (const T* angle, int n, double step, holdfast::galaxy_shear::Slopes* out))                   \
  OWN(reduce, PerGalaxy, light_slopes,                                                             \
      (const holdfast::galaxy_shear::Placed* placed,                                               \
       const holdfast::galaxy_shear::Value<T>* profile_slope, const T* form_slope, const T* t,     \
       const holdfast::galaxy_shear::Value<T>* at, holdfast::galaxy_shear::Slopes* out))           \
  ROW(fused, Line, chain_slopes,                                                                   \
      (holdfast::galaxy_shear::Model model, const holdfast::galaxy_shear::Placed* placed,          \
       const holdfast::galaxy_shear::Slopes* slopes, double* out),                                 \
      holdfast::galaxy_shear::chain_back(model, placed[i], slopes[i], out + i * 8))                \
  ROW(fused, Line, place_objects,                                                                  \
      (holdfast::galaxy_shear::SceneModel model, const holdfast::galaxy_shear::FitState* states,   \
       holdfast::galaxy_shear::Placed* placed),                                                    \
      holdfast::galaxy_shear::place_object(model, states, static_cast<int>(i), placed[i]))         \
  ROW(reduce, Line, add_images, (const T* images, int objects, T* out),                            \
      T sum = 0;                                                                                   \
      for (int j = 0; j < objects; ++j) sum += images[j * count + i];                              \
      out[i] = sum)                                                                                \
  ROW(fused, Line, share_objects,                                                                  \
      (const holdfast::galaxy_shear::Placed* placed, const double* gradients,                      \
       holdfast::galaxy_shear::Share* out),                                                        \
      out[i] = holdfast::galaxy_shear::share_of(placed[i], gradients + i * 8))                     \
  ROW(reduce, Line, add_shares,                                                                    \
      (holdfast::galaxy_shear::SceneModel model, const holdfast::galaxy_shear::FitState* states,   \
       const holdfast::galaxy_shear::Share* shares, int objects, const double* misfit,             \
       holdfast::galaxy_shear::Together* out),                                                     \
      out[i] = holdfast::galaxy_shear::together(model, states, shares, objects, misfit[i]))        \
  ROW(fused, Line, advance_objects,                                                                \
      (holdfast::galaxy_shear::SceneModel model, const holdfast::galaxy_shear::Together* all,      \
       const holdfast::galaxy_shear::Share* shares, double* loss,                                  \
       holdfast::galaxy_shear::FitState* states),                                                  \
      const double now = holdfast::galaxy_shear::advance_part(model, *all, shares,                 \
                                                              static_cast<int>(i), states[i]);     \
      if (i == 0) *loss = now)                                                                     \
  ROW(fused, Line, adam,                                                                           \
      (holdfast::galaxy_shear::Model model, const holdfast::galaxy_shear::Placed* placed,          \
       const double* gradients, double* losses, holdfast::galaxy_shear::FitState* states),         \
      losses[i] = holdfast::galaxy_shear::advance(model, placed[i].point, placed[i].shaped,        \
                                                  losses[i], gradients + i * 8, states[i]))
// clang-format on
