// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <vector>

#include "galaxy_shear/problem/problem.hpp"

namespace holdfast::galaxy_shear {
namespace {

// Of a mirror pair it is the same number, so that device code may read either. For nu a
// half-integer and not, and for the longest sum of exponentials.
TEST(GalaxyModel, ATableOfOpticsIsTheResponseAtEachOfItsSamplesToTheLastBit) {
  for (const auto& psf : {PsfShape{},
                          PsfShape{Psf::moffat, 0.9, 2.5},
                          {Psf::moffat, 0.9, 3.1},
                          {Psf::moffat, 0.7, 1.15}})
    for (const int fft : {16, 128}) {
      const Scene scene = {.fft = fft, .image = 8, .psf = psf};
      const double step = 2 * std::numbers::pi / fft;
      std::vector<double> each;
      for (int r = 0; r < (separable(psf) ? 1 : fft / 2 + 1); ++r)
        for (int c = 0; c < fft / 2 + 1; ++c)
          each.push_back(response_at(optics_of(psf), scene.pixel_scale, step * std::min(c, r),
                                     step * std::max(c, r)));
      EXPECT_EQ(attenuation(scene), each) << psf.beta << ' ' << fft;
    }
}

}  // namespace
}  // namespace holdfast::galaxy_shear
