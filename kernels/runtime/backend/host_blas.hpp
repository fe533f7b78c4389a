// SPDX-License-Identifier: Apache-2.0
// The kernels of the host's BLAS library.
#pragma once

namespace holdfast {

// Chooses the kernels of OpenBLAS by the processor, once per process. OpenBLAS takes SSE code
// ("Prescott") for models newer than itself, and a matrix product then takes up to five times as
// long: such a processor has the kernels of its instruction set. OPENBLAS_CORETYPE is ignored, with
// a warning: references that ran other kernels would not compare. Call it before any product.
void choose_blas_kernels();

}  // namespace holdfast
