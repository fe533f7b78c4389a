// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cufft_library.hpp"

#include "runtime/cuda/shared_library.hpp"

namespace holdfast {
namespace {

CufftLibrary load_cufft() {
  const SharedLibrary from("cuFFT", text("libcufft.so.", CUFFT_VER_MAJOR));
  CufftLibrary library;
  from.find(library.create, "cufftCreate");
  from.find(library.destroy, "cufftDestroy");
  from.find(library.set_auto_allocation, "cufftSetAutoAllocation");
  from.find(library.make_plan, "cufftMakePlanMany64");
  from.find(library.set_work_area, "cufftSetWorkArea");
  from.find(library.set_stream, "cufftSetStream");
  from.find(library.forward_f64, "cufftExecD2Z");
  from.find(library.forward_f32, "cufftExecR2C");
  from.find(library.backward_f64, "cufftExecZ2D");
  from.find(library.backward_f32, "cufftExecC2R");
  from.find(library.complex_f64, "cufftExecZ2Z");
  from.find(library.complex_f32, "cufftExecC2C");
  return library;
}

}  // namespace

const CufftLibrary& cufft() {
  static const CufftLibrary library = load_cufft();
  return library;
}

}  // namespace holdfast
