// SPDX-License-Identifier: Apache-2.0
#include "runtime/buffer.hpp"

#include <new>

#include "runtime/recorder.hpp"

namespace holdfast {
namespace {

constexpr std::align_val_t host_alignment{64};  // a cache line, and the widest vector register

void* allocate_on_host(Ledger& ledger, std::size_t bytes, std::string_view site) {
  const auto wanted = static_cast<std::int64_t>(bytes);
  const auto limit = host_limits().memory_bytes;
  if (limit && ledger.live_bytes + wanted > *limit)
    throw Error(Fault::bad_input,
                text("failed to allocate ", bytes, " bytes for '", site, "': with ",
                     ledger.live_bytes, " bytes held this exceeds the limit of ", *limit,
                     " bytes; choose a smaller size or raise HOLDFAST_MEMORY_LIMIT_GB"));
  const Verb verb(ledger.recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::allocate, site, bytes);
  });
  ledger.allocated(wanted, site);
  void* memory = ::operator new(std::max<std::size_t>(bytes, 1), host_alignment, std::nothrow);
  if (memory) return memory;
  ledger.released(wanted, site);
  throw Error(Fault::bad_input, text("failed to allocate ", bytes, " bytes for '", site,
                                     "': this machine has no more; choose a smaller size"));
}

}  // namespace

void* allocate(Backend& backend, std::size_t bytes, std::string_view site) {
  if (backend.device) return backend.device->allocate(bytes, site);
  return allocate_on_host(backend.ledger, bytes, site);
}

void release(Backend& backend, void* memory, std::size_t bytes, std::string_view site) noexcept {
  if (backend.device) return backend.device->release(memory, bytes, site);
  const Verb verb(backend.ledger.recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::release, site, bytes);
  });
  ::operator delete(memory, host_alignment);
  backend.ledger.released(static_cast<std::int64_t>(bytes), site);
}

}  // namespace holdfast
