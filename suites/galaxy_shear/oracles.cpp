// SPDX-License-Identifier: Apache-2.0
#include "galaxy_shear/oracles.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "families/invariants.hpp"
#include "families/known.hpp"
#include "galaxy_shear/data/data.hpp"
#include "galaxy_shear/oracle/oracle.hpp"
#include "harness/measure/correctness.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::galaxy_shear {
namespace {

using Values = std::vector<double>;

// A fit of one galaxy, which several cases and both variants share.
const oracle::Fit& fit_of(const Row& row, int b, int steps) {
  static Known<std::pair<Options, int>, oracle::Fit> known;
  // Leaves out what a galaxy's path does not depend on.
  Options o = row.options;
  o.batch = 1;
  o.steps = steps;
  o.sample = false;
  o.launch = Launch::host;
  o.precision = Precision::f64;
  return known.of({o, b}, [&] {
    const Scene scene = scene_of(o);
    if (o.objects > 0)
      return oracle::scene_fit(scene, scene_data_of(scene, Noise::philox, o.objects),
                               start_of_objects(scene, o.objects), steps);
    const std::size_t pixels = std::size_t(o.image) * o.image;
    const Values data = data_of(scene, Noise::philox, b + 1);
    return oracle::fit(scene, {data.end() - static_cast<std::ptrdiff_t>(pixels), data.end()},
                       start_of(scene), steps);
  });
}

// Images of the row's galaxies, or, for input 1, of the same number of following ones.
Values images(const Row& row, int input) {
  const Scene scene = scene_of(row.options);
  Values all;
  for (int b = input * row.options.batch; b < (input + 1) * row.options.batch; ++b) {
    const Values image = oracle::image(scene, truth_of(scene, b));
    all.insert(all.end(), image.begin(), image.end());
  }
  return all;
}

Values products(const Row& row, int input) {
  const Scene scene = scene_of(row.options);
  const Values ones(std::size_t(row.options.image) * row.options.image, 1);
  const int first = input * row.options.batch, last = first + row.options.batch;
  Values all;
  for (int b = first; b < last; ++b) {
    const Values image = oracle::image(scene, truth_of(scene, b));
    all.push_back(std::accumulate(image.begin(), image.end(), 0.));
  }
  for (int b = first; b < last; ++b)
    for (const double value : oracle::vjp(scene, truth_of(scene, b), ones)) all.push_back(value);
  return all;
}

Values chained(const Row& row, int steps) {
  Values all, losses;
  for (const auto part : {&oracle::Fit::u, &oracle::Fit::m, &oracle::Fit::v})
    for (int b = 0; b < row.options.batch; ++b) {
      const Values& values = fit_of(row, b, steps).*part;
      all.insert(all.end(), values.begin(), values.end());
    }
  for (int b = 0; b < row.options.batch; ++b) all.push_back(fit_of(row, b, steps).losses.back());
  all.insert(all.end(), row.options.batch, steps);
  all.insert(all.end(), row.options.batch, 0);
  return all;
}

// The largest distance of a galaxy of a whole fit from its truth, 1 if one of its latents is off by
// its scale.
double off_truth(const Row& row, const Values& result, int first, std::span<const double> scales) {
  const Scene scene = scene_of(row.options);
  const int latents = scene.latent_count();
  double worst = 0;
  for (int b = 0; b < row.options.batch; ++b) {
    const auto from = result.begin() + b * latents;
    const Parameters z = oracle::constrained(scene, Values(from, from + latents));
    const Parameters truth = truth_of(scene, first + b);
    for (int k = 0; k < latents; ++k) {
      const int parameter = scene.latents[k];
      worst = larger(worst, (z[parameter] - truth[parameter]) / scales[k]);
    }
  }
  return worst;
}

// Limits for shears and positions of a fit at rest, several times the posterior's width.
constexpr double most_off[] = {1e-4, 1e-4, 2e-4, 2e-4};

// The loss of galaxy b at its truth, where only the noise remains of its data.
double loss_of_truth(const Row& row, int b) {
  const Scene scene = scene_of(row.options);
  const double each = std::log(scene.noise) + std::log(2 * std::numbers::pi) / 2;
  double sum = oracle::prior_loss(scene, latents_of(scene, truth_of(scene, b)));
  for (const double pixel : noise_of(Noise::philox, scene.image, b))
    sum += pixel * pixel / 2 + each;
  return sum;
}

// A fit at rest lies below its truth's loss by half a chi-squared of its latents: by `usual_gain`
// on average, over 2048 galaxies by 10 at most. A larger gap means another galaxy's fit, or none.
constexpr double usual_gain = 2, most_apart = 14;

// The distance of the last loss of a galaxy whose fit is at rest from the value that its noise
// implies, 1 at the limit.
double off_losses(const Row& row, std::span<const double> losses, int first) {
  const std::size_t steps = row.options.steps;
  double worst = 0;
  for (int b = 0; b < row.options.batch; ++b) {
    const double left = loss_of_truth(row, first + b) - usual_gain;
    worst = larger(worst, (losses[(b + 1) * steps - 1] - left) / most_apart);
  }
  return worst;
}

// The galaxies that are compared along their paths; each takes the oracle a second. Fits at rest
// also show at their ends what they are, so of them it is the first, and of another input none;
// else the first, the last and two between.
std::vector<int> followed(const Row& row, int input) {
  constexpr int most = 4;
  const int batch = row.options.batch;
  if (rests(row)) return input == 0 ? std::vector{0} : std::vector<int>();
  std::vector<int> all;
  for (int k = 0; k < std::min(batch, most); ++k)
    all.push_back(batch <= most ? k : k * (batch - 1) / (most - 1));
  return all;
}

// By how much of itself the loss of a galaxy rose, 0 if it did not.
double rise(std::span<const double> losses) {
  return std::max(0., (losses.back() - losses.front()) / std::abs(losses.front()));
}

// A distance of whole fits. Every loss must be finite, and where none rises of those that are
// compared, as with too large a learning rate, no other's may.
double distance_of_fits(const Row& row, double limit, const Values& result, int input) {
  const int latents = row.options.latents, batch = row.options.batch, steps = row.options.steps;
  if (result.size() != std::size_t(batch) * (latents + steps + 1)) return INFINITY;
  const std::span all(result);
  double worst = 0;
  for (const double status : all.last(batch)) worst = larger(worst, status);
  const std::span losses = all.subspan(batch * latents, batch * steps);
  for (const double loss : losses) worst = larger(worst, loss - loss);  // 0 if finite, else NaN
  double risen = 0;
  for (const int b : followed(row, input)) {
    const oracle::Fit& fit = fit_of(row, input * batch + b, steps);
    risen = std::max(risen, rise(fit.losses));
    worst = larger(worst, larger(relative(all.subspan(b * latents, latents), fit.u),
                                 relative(losses.subspan(b * steps, steps), fit.losses)));
  }
  for (int b = 0; b < batch && risen == 0; ++b)
    worst = larger(worst, rise(losses.subspan(b * steps, steps)));
  if (rests(row) && (batch > 1 || input > 0))
    worst = larger(worst, limit * larger(off_truth(row, result, input * batch, most_off),
                                         off_losses(row, losses, input * batch)));
  return worst;
}

Values losses(const Row& row, int input) {
  const Scene scene = scene_of(row.options);
  const int batch = row.options.batch;
  const Values data = data_of(scene, Noise::philox, batch, input * batch);
  const auto pixels = std::ptrdiff_t(row.options.image) * row.options.image;
  Values latents, found;
  for (int b = 0; b < row.options.batch; ++b) {
    const Values u = row.options.sample ? oracle::drawn(scene, b) : start_of(scene);
    if (row.options.sample) latents.insert(latents.end(), u.begin(), u.end());
    found.push_back(
        oracle::loss(scene, {data.begin() + b * pixels, data.begin() + (b + 1) * pixels}, u));
  }
  latents.insert(latents.end(), found.begin(), found.end());
  return latents;
}

double limit_of(const Row& row) {
  const bool single = row.options.precision == Precision::f32;
  switch (unit_of(row)) {
    case Unit::render:
      return single ? 2e-6 : 1e-12;
    case Unit::render_grad:
      return single ? 2e-4 : 1e-10;
    case Unit::psf_table:
      return single ? 1e-6 : 1e-13;
    case Unit::forward:
      return single ? 2e-5 : 1e-10;
    case Unit::map:
      return single ? 2e-3 : 1e-8;
    default:  // the results include squares of gradients
      return single ? 4e-4 : 1e-9;
  }
}

// Makes an oracle know images, products or losses, also for another input; each is computed on
// demand and kept.
using OfInput = Values(const Row& row, int input);
void know(Oracle& known, const Row& row, OfInput* of) {
  known.expected = [=](int) { return of(row, 0); };
  known.other = [=, limit = known, kept = std::make_shared<Values>()](const Values& result,
                                                                      int input) {
    if (kept->empty()) *kept = of(row, input);
    return error_of(limit, result, *kept);
  };
}

}  // namespace

Oracle oracle_of(const Row& row) {
  const double limit = limit_of(row);
  Oracle known = {.name = "direct cosine sums, published values of a small scene",
                  .limit = limit,
                  .parts = fields_of(unit_of(row), row.options),
                  .golden = [=](Backend& backend, Variant variant) {
                    return small_error(row, [&](Problem problem) {
                      return make(backend, variant, std::move(problem));
                    });
                  }};
  switch (unit_of(row)) {
    case Unit::render:
      know(known, row, images);
      break;
    case Unit::render_grad:
      know(known, row, products);
      break;
    case Unit::psf_table:
      known.expected = [=](int) { return oracle::response(scene_of(row.options)); };
      known.name = "Bessel functions of the library";
      known.golden = {};
      break;
    case Unit::forward:
      know(known, row, losses);
      break;
    case Unit::map:
      known.expected = [](int) { return Values(); };
      known.distance = [=](const Values& result, const Values&) {
        return distance_of_fits(row, limit, result, 0);
      };
      // Each may be as far from the truth, on opposite sides. A first loss is a billion times the
      // latents.
      known.between = [parts = known.parts](const Values& ours, const Values& theirs) {
        return relative_error(ours, theirs, parts) / 2;
      };
      known.other = [=](const Values& result, int input) {
        return distance_of_fits(row, limit, result, input);
      };
      break;
    default:
      known.expected = [=](int steps) { return chained(row, steps); };
      break;
  }
  return known;
}

bool rests(const Row& row) {
  const Options &o = row.options, usual = {};
  return o.latents == usual.latents && o.steps >= usual.steps && o.fft == usual.fft &&
         o.image == usual.image && o.learning_rate == usual.learning_rate;
}

double posterior_error(const Row& row, const Values& result) {
  const Scene scene = scene_of(row.options);
  return off_truth(row, result, 0, oracle::posterior_widths(scene, truth_of(scene, 0)));
}

double truncation_error(const Row& row, const Values& image) {
  Options finest = row.options;
  finest.fft = 512;
  const Scene scene = scene_of(finest);
  return relative(image, oracle::image(scene, truth_of(scene, 0)));
}

Invariant fit_goes_on(const Row& row) {
  const Options& o = row.options;
  const std::size_t batch = o.batch,
                    latents = o.objects > 0 ? 2 + 6 * o.objects : batch * o.latents;
  return [=](const Values& before, const Values& after) -> std::optional<std::string> {
    bool moved = false;
    for (std::size_t k = 0; k < latents; ++k) moved = moved || before[k] != after[k];
    if (!moved) return "no latent moved";
    for (std::size_t b = 0; b < batch; ++b) {
      const std::size_t t = 3 * latents + batch + b;
      if (!(after[t] > before[t])) return text("galaxy ", b, " took no step");
      if (after[t + batch] != 0) return text("galaxy ", b, " failed at step ", after[t + batch]);
      if (!std::isfinite(after[t - batch])) return text("the loss of galaxy ", b, " is no number");
    }
    return std::nullopt;
  };
}

}  // namespace holdfast::galaxy_shear
