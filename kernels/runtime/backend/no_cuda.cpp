// SPDX-License-Identifier: Apache-2.0
// Replaces devices and compiler in a build without the CUDA toolkit, by an error that says so.
#include "runtime/base/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/compile/program_cache.hpp"
#include "runtime/compile/toolkit.hpp"
#include "runtime/cuda/cuda_device.hpp"
#include "runtime/device/dry_device.hpp"

namespace holdfast {
namespace {

[[noreturn]] void refuse(std::string_view what) {
  throw Error(Fault::no_device, text("cannot open ", what, ": ", HOLDFAST_CUDA_ABSENT));
}

}  // namespace

std::unique_ptr<Device> make_cuda_device(Ledger&, int ordinal) {
  refuse(text("GPU ", ordinal));
}

std::unique_ptr<Device> make_dry_device(Ledger&, const Architecture& arch) {
  refuse(text("cuda-dry:sm_", arch.sm));
}

Compiler::Compiler(Device& device) : device_(device) {
  refuse("a compiler");
}
Compiler::~Compiler() = default;

Module Compiler::compile(const Program& program) {
  refuse(program.code.name);
}

Function& Module::find(std::string_view entry, const std::type_info&) const {
  refuse(entry);
}

void forget_cached_programs() {}

ToolkitVersions toolkit_versions() {
  return {};
}

}  // namespace holdfast
