// SPDX-License-Identifier: Apache-2.0
// Where a computation runs. One factory; a workload asks `device` whether there is a GPU and
// nothing else.
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

// Memory that a backend holds, and who asked for it.
struct Holding {
  std::size_t bytes = 0;
  std::string site = {};
};

struct Backend {
  std::string name = {};                    // "host", "cuda", "cuda:1", "cuda-dry:sm_90"
  Ledger ledger = {};                       // outlives device and compiler
  std::map<void*, Holding> holdings = {};   // of all buffers that live; outlives them too
  std::size_t large_arrays = 0;             // of a host, placed so far
  std::unique_ptr<Device> device = {};      // null on host
  std::unique_ptr<Compiler> compiler = {};  // null on host

  bool executes() const { return device == nullptr || device->executes(); }
};

// Throws Error{bad_input} for what is neither "host", "cuda", "cuda:N" nor "cuda-dry:sm_NN".
void check_device(std::string_view name);

// Throws as check_device() does, and Error{no_device} with the reason where this build or machine
// cannot open it.
std::unique_ptr<Backend> open_backend(std::string_view name);

// Throws Error{no_device}: of a workload whose device code this build has not.
[[noreturn]] void refuse_device_code();

// "host-x86_64-v4-2t", "cuda-dry-sm_90", "nvidia-h200": what a baseline is kept for.
std::string device_class(const Backend& backend);

}  // namespace holdfast
