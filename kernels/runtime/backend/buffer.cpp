// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/backend/host_memory.hpp"
#include "runtime/backend/spoil.hpp"
#include "runtime/count/recorder.hpp"

namespace holdfast {
namespace {

void* allocate_on_host(Backend& backend, std::size_t bytes, std::string_view site) {
  Ledger& ledger = backend.ledger;
  const auto wanted = static_cast<std::int64_t>(bytes);
  const Verb verb(ledger.recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::allocate, site, bytes);
  });
  // What the machine refuses was never held: the peak it would have made is undone.
  std::optional<Ledger> before;
  if (ledger.live_bytes + wanted > ledger.peak_bytes) before = ledger;
  ledger.allocated(wanted, site);
  if (void* const memory = take_host_memory(bytes, backend.large_arrays)) return memory;
  if (before) {
    ledger = *std::move(before);
  } else {
    ledger.released(wanted, site);
    --ledger.counts.allocations;
  }
  throw Error(Fault::out_of_memory,
              text("failed to allocate '", site, "': it asks for ", bytes, " bytes where ",
                   ledger.live_bytes,
                   " are held, and this machine has no more; choose a smaller "
                   "size"));
}

}  // namespace

void* allocate(Backend& backend, std::size_t bytes, std::string_view site) {
  // The entry is made before the allocation: if it failed afterwards, the memory would leak.
  std::map<void*, Holding> noted;
  noted[nullptr] = {bytes, std::string(site)};
  auto note = noted.extract(noted.begin());
  note.key() = backend.device ? backend.device->allocate(bytes, site)
                              : allocate_on_host(backend, bytes, site);
  return backend.holdings.insert(std::move(note)).position->first;
}

void release(Backend& backend, void* memory, std::size_t bytes, std::string_view site) noexcept {
  backend.holdings.erase(memory);
  if (backend.device) return backend.device->release(memory, bytes, site);
  const Verb verb(backend.ledger.recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::release, site, bytes);
  });
  give_back_host_memory(memory, bytes);
  backend.ledger.released(static_cast<std::int64_t>(bytes), site);
}

std::size_t spoil(Backend& backend, std::string_view site) {
  std::size_t spoilt = 0;
  for (const auto& [memory, holding] : backend.holdings) {
    if (holding.site != site) continue;
    spoil(backend, memory, holding.bytes);
    spoilt += holding.bytes;
  }
  return spoilt;
}

void spoil(Backend& backend, void* memory, std::size_t bytes) {
  if (!backend.executes() || bytes == 0) return;
  auto* const begin = static_cast<unsigned char*>(memory);
  if (!backend.device) {
    std::memset(begin, 0xff, bytes);
    return;
  }
  constexpr std::size_t block = 1 << 20;  // avoids copying a large result whole
  const std::vector<unsigned char> ones(std::min(block, bytes), 0xff);
  const Counts counted = backend.ledger.counts;
  for (std::size_t at = 0; at < bytes; at += ones.size())
    backend.device->upload(begin + at, ones.data(), std::min(ones.size(), bytes - at));
  backend.ledger.counts = counted;
}

}  // namespace holdfast
