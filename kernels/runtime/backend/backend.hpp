// SPDX-License-Identifier: Apache-2.0
// Where a computation runs, opened by one factory; a workload only asks `device` whether there is a
// GPU.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/backend/host_limits.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/count/ledger.hpp"
#include "runtime/device/device.hpp"

namespace holdfast {

// A live allocation of a backend, and its owner.
struct Holding {
  std::size_t bytes = 0;
  std::string site = {};
};

struct Backend {
  std::string name = {};                    // "host", "cuda", "cuda:1", "cuda-dry:sm_90"
  Ledger ledger = {};                       // outlives device and compiler
  std::map<void*, Holding> holdings = {};   // all live buffers; outlives them too
  std::size_t large_arrays = 0;             // placed so far, on a host
  std::unique_ptr<Device> device = {};      // null on host
  std::unique_ptr<Compiler> compiler = {};  // null on host

  bool executes() const { return device == nullptr || device->executes(); }
};

// Throws Error{bad_input} unless the name is "host", "cuda", "cuda:N" or "cuda-dry:sm_NN".
void check_device(std::string_view name);

// Throws as check_device() does, and Error{no_device} with the reason if this build or machine
// cannot open it.
std::unique_ptr<Backend> open_backend(std::string_view name);

// Throws Error{no_device} for a workload whose device code is missing from this build.
[[noreturn]] void refuse_device_code();

// "host-x86_64-v4-2t", "cuda-dry-sm_90", "nvidia-h200": the key of a baseline.
std::string device_class(const Backend& backend);

}  // namespace holdfast
