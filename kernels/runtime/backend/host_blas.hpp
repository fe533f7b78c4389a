// SPDX-License-Identifier: Apache-2.0
// The kernels of the host's BLAS library.
#pragma once

namespace holdfast {

// OpenBLAS chooses its kernels by the processor's model, and takes SSE code ("Prescott") for models
// newer than itself: a matrix product then takes six times as long. This chooses the kernels of the
// instruction set instead, once per process, unless OPENBLAS_CORETYPE is set. Call it before any
// product.
void choose_blas_kernels();

}  // namespace holdfast
