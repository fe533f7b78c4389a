// SPDX-License-Identifier: Apache-2.0
// Published values of three scenes, computed by two other programs: the oracle, and with it every
// variant, is checked against them. T is small and rough, so that half a weight too much or too
// little on a Nyquist line shows; L0 and L0M are the benchmark, with a Gaussian and a Moffat
// profile.
#pragma once

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "galaxy_shear/data/data.hpp"
#include "galaxy_shear/oracle/oracle.hpp"
#include "galaxy_shear/problem/scene.hpp"

namespace holdfast::galaxy_shear::golden {

struct Pixel {
  int i, j;
  double value;
};

struct Golden {
  Scene scene = {};
  Parameters truth = {};
  std::vector<double> start = {};
  std::vector<Pixel> pixels = {};
  double sum = 0;
  double loss = 0;
  std::vector<double> gradient = {};
};

// The cotangent R of the published products.
inline std::vector<double> cotangent(int image) {
  std::vector<double> values;
  for (int i = 0; i < image; ++i)
    for (int j = 0; j < image; ++j) values.push_back(((3 * i + 5 * j) % 7 - 3) / 2.);
  return values;
}

inline Scene scene_t(const PsfShape& psf) {
  using Kind = PriorLaw::Kind;
  const PriorLaw shear = {Kind::normal, 0, 0.05}, shape = {Kind::normal, 0, 0.2};
  const PriorLaw place = {Kind::uniform, 2.4, 5.6};
  return {.fft = 16,
          .image = 8,
          .pixel_scale = 0.25,
          .psf = psf,
          .noise = 1e-3,
          .priors = {shear, shear, PriorLaw{Kind::log_normal, 1, 0.1},
                     PriorLaw{Kind::uniform, 0.3, 0.8}, shape, shape, place, place},
          .latents = {g1, g2, flux, hlr, e1, e2, x, y},
          .learning_rate = 0.05};
}

// The small scene, with its four published pixels.
inline Golden t_seen(const PsfShape& psf, const double (&pixels)[4], double sum, double loss,
                     std::vector<double> gradient) {
  return {.scene = scene_t(psf),
          .truth = {0.02, -0.03, 1, 0.45, 0.08, -0.05, 4.2, 3.9},
          .start = {0.05, -0.01, 0.1, -0.2, 0.02, 0.03, 0.25, -0.15},
          .pixels = {{0, 0, pixels[0]}, {3, 3, pixels[1]}, {4, 4, pixels[2]}, {7, 2, pixels[3]}},
          .sum = sum,
          .loss = loss,
          .gradient = std::move(gradient)};
}

inline Golden t_gaussian() {
  return t_seen({Psf::gaussian, 0.3},
                {1.7809954197825317e-03, 3.7373748091215721e-02, 3.8462441952046962e-02,
                 5.1926707954178981e-03},
                8.6299959146396954e-01, -3.1276006031424754e+02,
                {6.1073820434414074e+01, 2.7361296943167565e+02, 3.8375741098781106e+01,
                 1.0048406845080753e+02, 2.1053291515614205e+01, 1.3922490227753173e+02,
                 6.8465648084289388e+00, -3.7416643982279211e+01});
}

inline constexpr double t_prior_loss = -4.1488283598954485;  // at its start

inline Golden t_moffat() {
  return t_seen({Psf::moffat, 0.7, 2.5},
                {2.7626840309965240e-03, 2.7881497944143005e-02, 2.8595273962141565e-02,
                 5.8915034693530609e-03},
                7.5313551761803899e-01, -3.3397770893431880e+02,
                {4.0381035173356103e+01, 1.1697369211020410e+02, 2.1375543884284335e+02,
                 2.2541910035412069e+01, 1.0695296931157820e+01, 6.1094955883325888e+01,
                 4.0073787480156184e+00, -1.7492334812527456e+01});
}

inline Golden t_moffat_31() {
  return t_seen({Psf::moffat, 0.7, 3.1},
                {2.5473261109694068e-03, 3.0200218889851270e-02, 3.0995518837895600e-02,
                 5.8542799772054750e-03},
                7.8878945245636922e-01, -3.3025554233605760e+02,
                {4.4574599342055130e+01, 1.4660715605402740e+02, 1.8934650502929188e+02,
                 3.4954558152190593e+01, 1.2794008935551201e+01, 7.5876093533554766e+01,
                 4.4237897169456151e+00, -2.1471700735196205e+01});
}

inline Golden benchmark(const Options& options) {
  const Scene scene = scene_of(options);
  return {.scene = scene, .truth = truth_of(scene, 0), .start = start_of(scene)};
}

inline Golden l0() {
  Golden all = benchmark({});
  all.pixels = {{0, 0, 5.1444638039467043e-14},
                {23, 23, 3.0806214971571218e-02},
                {23, 24, 3.0806214971571211e-02},
                {10, 30, 4.5591639342122982e-07}};
  all.sum = 9.9999998136046298e-01;
  all.loss = 6.7082386896671392e+06;
  all.gradient = {3.3908455872775450e+07, -4.9796799857025385e+07, 2.7751929607833505e+07,
                  -1.9260658329820815e+07};
  return all;
}

inline Golden l0m() {
  Golden all = benchmark({.psf = Psf::moffat});
  all.pixels = {{24, 24, 2.2274367578816033e-02}, {0, 0, 3.3773327279029588e-07}};
  all.sum = 9.9846208984159079e-01;
  all.loss = 3.1694549355635406e+06;
  all.gradient = {1.4874684935982037e+07, -2.1871790227076054e+07, 1.3282272829890843e+07,
                  -9.1896857127378769e+06};
  return all;
}

inline Golden full() {
  Golden all = benchmark({.image = 32, .latents = 8});
  all.loss = 4.8766121337718994e+02;
  all.gradient = {-2.7586851753014424e+04, 2.1998396170996377e+04,  -3.4716255852577073e+04,
                  3.7672092180924615e+03,  -1.3780833109522213e+04, 1.0912670033802373e+04,
                  -3.0495202566504639e+04, 8.4992381274548228e+04};
  return all;
}

// Three objects in one image, with the published loss and gradient of a start: by the shear, then
// by flux, hlr, e1, e2, x and y of each object.
inline constexpr int scene_objects = 3;
inline Golden scene() {
  const Options options = {.fft = 64, .image = 48, .objects = scene_objects};
  Golden all = {.scene = scene_of(options)};
  all.start = start_of_objects(all.scene, scene_objects);
  all.loss = 1.1571856854996076e+04;
  all.gradient = {1.0508887641537975e+04,  1.6612403278233422e+04,  3.2707557197700589e+04,
                  -2.9345856800580937e+03, -7.1742649275217782e+03, 2.3481350928899673e+02,
                  2.7623786637028817e+04,  -6.6421023250449980e+03, 8.4055927763907293e+03,
                  1.4354002588331052e+03,  -8.7578545358835777e+02, 4.9161990267999113e+02,
                  1.6126426435111358e+05,  -7.9836150566082988e+03, 9.0978527496993149e+02,
                  -4.0545611424877529e+02, 1.3200918615419301e+04,  7.4118195987457984e+03,
                  1.0365663929135716e+05,  -4.3368849836726137e+05};
  return all;
}

// The oracle's image of the truth, plus pattern noise.
inline std::vector<double> data(const Golden& golden) {
  std::vector<double> values = oracle::image(golden.scene, golden.truth);
  const std::vector<double> noise = noise_of(Noise::pattern, golden.scene.image, 0);
  for (std::size_t p = 0; p < values.size(); ++p) values[p] += golden.scene.noise * noise[p];
  return values;
}

// The loss before step `step`, counted from 0.
struct Loss {
  int step;
  double value;
};

// Fits of T (20 steps), L0 and L0M (200) and FULL (500) with pattern noise, and of L0 with Philox
// noise for b = 0, 3.
inline constexpr double t_after_20[] = {4.9876529718532320e-04,  -2.1023621721669133e-02,
                                        -9.5134914454639632e-03, -8.4036615989927610e-01,
                                        5.2286241777321073e-02,  -7.3327901169251988e-02,
                                        2.2744718222993265e-01,  -1.1081155449203595e-01};
inline constexpr double l0_after_5[] = {6.5284320912972024e-02, -5.0199191412428568e-02,
                                        -1.1946020572280663e-01, 1.1701857101415494e-01};
inline constexpr double l0_after_200[] = {1.0007810673159173e-02, -6.0347407601014860e-06,
                                          -1.3726611757715275e-06, -2.9582450751871570e-06};
inline constexpr double l0m_after_200[] = {1.0009381353356659e-02, -6.4501191614234850e-06,
                                           -1.7762643433986097e-06, -1.3989137405193946e-06};
inline constexpr double full_after_500[] = {5.4854905185570048e-02, -5.5150052392266190e-02,
                                            4.6053175674404052e+00, 1.0176386234153690e-03,
                                            9.0784612463317899e-02, -4.0088898476609888e-02,
                                            1.2534832826459189e-01, -9.4098351366310840e-02};
inline constexpr Loss t_losses[] = {{0, -3.1276006031424754e+02},
                                    {1, -3.0057825395441569e+02},
                                    {10, -3.4512372100406213e+02},
                                    {19, -3.5494499801612460e+02}};
inline constexpr Loss l0_losses[] = {
    {0, 6.7082386896671392e+06},  {1, 2.9612058219539944e+07},    {20, 2.5820903707930972e+06},
    {50, 6.1098781396650120e+04}, {100, -2.7902226894266696e+04}, {199, -2.8612217109503716e+04}};
inline constexpr Loss l0m_losses[] = {{199, -2.8612202586681171e+04}};
inline constexpr Loss full_losses[] = {{250, -3.2821224780735538e+03},
                                       {499, -3.2824101698561985e+03}};
inline constexpr double l0_loss_after_200 = -2.8612208070767800e+04;
inline constexpr double philox_0_loss_199 = -2.8607914253663188e+04,
                        philox_3_loss_199 = -2.8594682572818656e+04;

inline constexpr double philox_0_after_200[] = {1.0030221449744263e-02, -3.9956362113538151e-05,
                                                6.8572820928815466e-05, 6.3461401023102415e-05};
inline constexpr double philox_3_after_200[] = {6.0004296604534600e-03, 7.9820099049000611e-03,
                                                2.3221625109018945e-04, -2.0071277187364675e-01};

// Images of the benchmark's truth at other sizes; a peak of 0 means it is not published.
struct Size {
  int fft, image;
  double peak, sum;
};
inline constexpr Size sizes[] = {{64, 48, 3.0806214954594385e-02, 9.9999998512491317e-01},
                                 {256, 64, 3.0806214975929266e-02, 9.9999999324665700e-01},
                                 {256, 128, 0, 9.9999999708693021e-01},
                                 {512, 256, 0, 9.9999999852384092e-01}};

}  // namespace holdfast::galaxy_shear::golden
