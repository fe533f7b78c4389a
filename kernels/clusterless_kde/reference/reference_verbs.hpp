// SPDX-License-Identifier: Apache-2.0
// The reference's verbs in addition to those of arrays/verbs.hpp, as rows of the same form.
#pragma once

// pdf, log_pdf: out[n, w], of sample r at point c. expanded: of a[n], b[w] and cross[n, w].
// joint_maximum, joint_log_sum: Joint is w spikes and `count` places from `first`.
// clang-format off
#define CLUSTERLESS_KDE_VERBS(ROW, OWN)                                                            \
  ROW(fused, Plane, pdf,                                                                           \
      (const T* samples, const T* points, T inverse_width, T factor, T* out),                      \
      out[r * columns + c] =                                                                       \
          factor * exp(holdfast::clusterless_kde::gauss_exponent(points[c], samples[r],            \
                                                                 inverse_width)))                  \
  ROW(fused, Plane, log_pdf,                                                                       \
      (const T* samples, const T* points, T inverse_width, T log_factor, T* out),                  \
      out[r * columns + c] =                                                                       \
          log_factor + holdfast::clusterless_kde::gauss_exponent(points[c], samples[r],            \
                                                                 inverse_width))                   \
  ROW(fused, Plane, expanded, (const T* a, const T* b, const T* cross, T log_factor, T* out),      \
      out[r * columns + c] =                                                                       \
          log_factor + holdfast::clusterless_kde::expanded_exponent(a[r], b[c],                    \
                                                                    cross[r * columns + c]))       \
  OWN(reduce, Joint, joint_maximum, (const T* marks, const T* places, T* out))                     \
  OWN(reduce, Joint, joint_log_sum, (const T* marks, const T* places, const T* most, T* out))
// clang-format on
