// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/backend.hpp"

#include <cctype>
#include <charconv>
#include <optional>

#include "base/machine.hpp"
#include "runtime/backend/host_blas.hpp"
#include "runtime/backend/host_threads.hpp"
#include "runtime/backend/settings.hpp"
#include "runtime/base/error.hpp"
#include "runtime/cuda/cuda_device.hpp"
#include "runtime/device/dry_device.hpp"

namespace holdfast {
namespace {

constexpr std::string_view dry_prefix = "cuda-dry:sm_", ordinal_prefix = "cuda:";

std::optional<int> number_after(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return {};
  const auto digits = name.substr(prefix.size());
  int value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failure != std::errc{} || end != digits.data() + digits.size() || value < 0) return {};
  return value;
}

// "NVIDIA H200 NVL" -> "nvidia-h200-nvl"
std::string slug(std::string_view words) {
  std::string result;
  for (const char letter : words) {
    if (std::isalnum(static_cast<unsigned char>(letter)))
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    else if (!result.empty() && result.back() != '-')
      result += '-';
  }
  if (result.ends_with('-')) result.pop_back();
  return result;
}

}  // namespace

void check_device(std::string_view name) {
  if (name == "host" || name == "cuda" || number_after(ordinal_prefix, name)) return;
  const auto sm = number_after(dry_prefix, name);
  if (!sm)
    throw Error(Fault::bad_input,
                text("there is no device '", name,
                     "': use host, cuda, cuda:N (the N-th GPU) or cuda-dry:sm_NN (sm_90 ...)"));
  (void)architecture(*sm);
}

std::unique_ptr<Backend> open_backend(std::string_view name) {
  check_settings();
  check_device(name);
  auto backend = std::make_unique<Backend>();
  backend->name = name;
  choose_blas_kernels();
  use_host_threads(host_limits().threads);
  if (name == "host") {
    if (const auto bytes = host_limits().memory_bytes)
      backend->ledger.limit_to(*bytes, "choose a smaller size or raise HOLDFAST_MEMORY_LIMIT_GB");
    return backend;
  }
  if (name == "cuda")
    backend->device = make_cuda_device(backend->ledger, 0);
  else if (const auto ordinal = number_after(ordinal_prefix, name))
    backend->device = make_cuda_device(backend->ledger, *ordinal);
  else
    backend->device =
        make_dry_device(backend->ledger, architecture(number_after(dry_prefix, name).value()));
  backend->compiler = std::make_unique<Compiler>(*backend->device);
  return backend;
}

void refuse_device_code() {
  throw Error(Fault::no_device, "this build has no device code; open the backend \"host\"");
}

std::string device_class(const Backend& backend) {
  if (!backend.device) {
    const auto& limits = host_limits();
    return host_class(limits.isa, limits.threads);
  }
  if (!backend.device->executes()) return text("cuda-dry-sm_", backend.device->architecture().sm);
  return slug(backend.device->name());
}

}  // namespace holdfast
