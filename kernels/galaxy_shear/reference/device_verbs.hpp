// SPDX-License-Identifier: Apache-2.0
// The reference's operations as launches of one program, for any sizes.
#pragma once

#include <cstdint>

#include "arrays/device_verbs.hpp"
#include "galaxy_shear/reference/reference_verbs.hpp"
#include "galaxy_shear/sources.hpp"
#include "runtime/sources.hpp"

namespace holdfast::galaxy_shear {

using arrays::Line, arrays::Plane;

// Threads that sum over a galaxy: SUM_THREADS in reference.cu.
inline constexpr unsigned sum_threads = 256;

struct PerGalaxy {
  using Extents = void(long long, int);
  static LaunchShape launch(std::int64_t rows, std::int64_t) {
    return {.grid = {static_cast<unsigned>(rows)}, .block = {sum_threads}};
  }
};

template <class T>
struct DeviceVerbs {
  using Value = T;

  explicit DeviceVerbs(Backend& backend) : module_(backend.compiler->compile(program())) {}

  static Program program() {
    Program all = arrays::program<T>(sources::reference_cu);
    all.headers.insert(all.headers.end(),
                       {runtime::sources::both_hpp, sources::formulas_hpp, sources::objects_hpp,
                        sources::optics_hpp, sources::sampling_hpp, runtime::sources::random_hpp,
                        sources::reference_formulas_hpp, sources::reference_verbs_hpp});
    all.definitions.push_back(text("SUM_THREADS=", sum_threads));
    all.entries = {GALAXY_SHEAR_VERBS(HOLDFAST_ENTRY, HOLDFAST_ENTRY)};
    return all;
  }

 private:
  Module module_;  // before the kernels, which are looked up in it

 public:
  GALAXY_SHEAR_VERBS(HOLDFAST_LAUNCHED, HOLDFAST_LAUNCHED)
};

}  // namespace holdfast::galaxy_shear
