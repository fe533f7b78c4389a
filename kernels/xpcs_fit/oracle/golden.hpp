// SPDX-License-Identifier: Apache-2.0
// Published values at the start of the default box, for 3 angles and 8 frames of 1 s with noise of
// 0.01 in laminar flow.
#pragma once

#include <cstddef>

namespace holdfast::xpcs_fit::golden {

inline constexpr double m_2_2_5 = 1.2873978129329688;
inline constexpr double jacobian_2_2_5[] = {0.4747956258659377,      1,
                                            -2.9988400824814903e-05, -0.05565273446645527,
                                            -2.0767560675376115e-05, -877.3117674058761,
                                            -0.32124569142247666,    -776.8363422306662,
                                            -0.008191175173721955};
inline constexpr double cost = 2.54670870072525;
inline constexpr double gradient[] = {
    18.95920414380489,  27.765365845152722,     -0.0004157956162003193,
    -0.770378597776159, -0.0003079405843412717, -11674.04307800626,
    -4.011839296672717, -10429.21154237139,     0.015229059746810533};
inline constexpr double diagonal[] = {73.45094628825234,     192,
                                      6.192115398382886e-08, 0.25262270918188723,
                                      3.297517405030552e-08, 74266460.91350555,
                                      9.853998602528675,     59636534.837168574,
                                      0.004369523908743918};

}  // namespace holdfast::xpcs_fit::golden
