// SPDX-License-Identifier: Apache-2.0
// The published benchmark of a device: the power of the two-dimensional Fourier transform of n x n
// samples of noise. It is not part of a fit.
#pragma once

#include <memory>

#include "computation.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::xpcs_fit {

// result(): sum |Y|^2, Y the transform of x_k, k = i n + j. The reference draws x in the step on a
// host, as published, and widens it to complex numbers; the optimized one transforms real numbers
// and counts twice the frequencies whose mirror it omits. start_again() takes other samples. Throws
// Error{bad_input} for n < 2.
std::unique_ptr<Computation> make_spectrum(int n, Backend& backend, Variant variant);

// The same power by Parseval: n^2 sum x^2.
double exact_power(int n, int input = 0);
Work spectrum_work(int n);

// Private to the workload.
using SpectrumFactory = std::unique_ptr<Computation>(int n, Backend& backend);
SpectrumFactory make_cuda_spectrum, make_cuda_plain_spectrum;
namespace isa_v3 {
SpectrumFactory make_host_spectrum, make_host_plain_spectrum;
}
namespace isa_v4 {
SpectrumFactory make_host_spectrum, make_host_plain_spectrum;
}

}  // namespace holdfast::xpcs_fit
