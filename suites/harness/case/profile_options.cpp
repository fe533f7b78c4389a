// SPDX-License-Identifier: Apache-2.0
#include "harness/case/profile_options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "harness/case/options.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

constexpr OptionRow rows[] = {
    {"profile", "DIR",
     "what steps do: ops, scopes, gaps, transfers, memory, as holdfast-profile/1"},
    {"trace", "DIR", "a timeline per case that opens in https://ui.perfetto.dev"},
    {"memory-profile", "DIR", "who holds the memory at its peak, for go tool pprof"},
    {"dump-kernels", "DIR", "source, PTX, cubin, resources and launches of each kernel"},
    {"profile-steps", "K", "profile K steps in a row after the warm-up (10)"},
    {"profile-every", "N", "profile periodically: K steps at step N, 2 N, ..."},
    {"profile-windows", "W", "how often (3)", "profile-every"},
    {"variant", "WHICH", "which is profiled: optimized (default), reference or both"},
    {"assert-mean", "SECONDS", "profile, and exit 1 when a mean step takes longer"},
    {"nvml-log", "FILE", "sample the GPU's load, memory, clocks and power meanwhile, as CSV"},
    {"nvml-period", "SECONDS", "between two samples (0.1)", "nvml-log"},
};

int positive(std::string_view name, const std::string& digits) {
  int value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (fault != std::errc() || end != digits.data() + digits.size() || value < 1)
    throw Error(Fault::bad_input,
                text("--", name, "=", digits, ": give a whole number, 1 or more"));
  return value;
}

double seconds(std::string_view name, const std::string& digits) {
  double value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (fault != std::errc() || end != digits.data() + digits.size() || !(value > 0) ||
      !std::isfinite(value))
    throw Error(Fault::bad_input,
                text("--", name, "=", digits, ": give seconds above zero, such as 0.15"));
  return value;
}

std::string variant_named(const std::string& word) {
  if (word == "optimized" || word == "reference" || word == "both") return word;
  throw Error(Fault::bad_input,
              text("--variant=", word, ": the variants are optimized, reference and both"));
}

}  // namespace

std::string_view variant_name(Variant variant) {
  return variant == Variant::reference ? "reference" : "optimized";
}

bool ProfileOptions::profiles() const {
  return !profile.empty() || !trace.empty() || !memory_profile.empty() || !dump_kernels.empty() ||
         assert_mean.has_value();
}

bool ProfileOptions::wants(Variant which) const {
  return variant == "both" || variant == variant_name(which);
}

std::span<const OptionRow> profile_rows() {
  return rows;
}

bool take_profile_option(std::string_view name, const std::string& value, ProfileOptions& options) {
  if (name == "profile")
    options.profile = value;
  else if (name == "trace")
    options.trace = value;
  else if (name == "memory-profile")
    options.memory_profile = value;
  else if (name == "dump-kernels")
    options.dump_kernels = value;
  else if (name == "profile-steps")
    options.steps = positive(name, value);
  else if (name == "profile-every")
    options.every = positive(name, value);
  else if (name == "profile-windows")
    options.windows = positive(name, value);
  else if (name == "variant")
    options.variant = variant_named(value);
  else if (name == "assert-mean")
    options.assert_mean = seconds(name, value);
  else if (name == "nvml-log")
    options.nvml_log = value;
  else if (name == "nvml-period")
    options.nvml_period = seconds(name, value);
  else
    return false;
  constexpr std::string_view details[] = {"profile-steps", "profile-every", "profile-windows",
                                          "variant"};
  if (std::find(std::begin(details), std::end(details), name) != std::end(details))
    options.detail = name;
  return true;
}

void check_together(const ProfileOptions& options, std::string_view device, std::string_view out) {
  if (!out.empty() && (options.profiles() || !options.nvml_log.empty()))
    throw Error(Fault::bad_input,
                text("--out=", out,
                     ": a run that is profiled or sampled writes no results, since looking slows "
                     "what is looked at; leave out --out, and measure in a run of its own"));
  if (!options.profiles() && !options.detail.empty())
    throw Error(Fault::bad_input, text("--", options.detail,
                                       " says how to profile, and nothing is to be profiled; add "
                                       "--profile=DIR or --trace=DIR"));
  if (options.every > 0 && options.steps > options.every)
    throw Error(Fault::bad_input, text("--profile-steps=", options.steps,
                                       ": a window is longer than --profile-every=", options.every,
                                       "; give at most ", options.every));
  if (options.assert_mean && device.starts_with("cuda-dry"))
    throw Error(Fault::bad_input, text("--assert-mean: ", device,
                                       " executes nothing, so no step takes time; assert it on "
                                       "host or cuda"));
}

}  // namespace holdfast
