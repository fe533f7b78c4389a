// SPDX-License-Identifier: Apache-2.0
#include "runtime/buffer.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "runtime/recorder.hpp"
#include "runtime/spoil.hpp"

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

// Who holds which memory, of all backends.
class Holders {
 public:
  struct Held {
    std::size_t bytes = 0;
    std::string site = {};
  };

  void add(const Backend& backend, void* memory, std::size_t bytes, std::string_view site) {
    const std::lock_guard guard(mutex_);
    held_[{&backend, memory}] = {bytes, std::string(site)};
  }
  void remove(const Backend& backend, void* memory) noexcept {
    const std::lock_guard guard(mutex_);
    held_.erase({&backend, memory});
  }
  std::map<void*, std::size_t> of(const Backend& backend, std::string_view site) {
    const std::lock_guard guard(mutex_);
    std::map<void*, std::size_t> found;
    for (const auto& [where, held] : held_)
      if (where.first == &backend && held.site == site) found[where.second] = held.bytes;
    return found;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const Backend*, void*>, Held> held_ = {};
};

Holders& holders() {
  static Holders all;
  return all;
}

}  // namespace

void* allocate(Backend& backend, std::size_t bytes, std::string_view site) {
  void* memory = backend.device ? backend.device->allocate(bytes, site)
                                : allocate_on_host(backend.ledger, bytes, site);
  holders().add(backend, memory, bytes, site);
  return memory;
}

void release(Backend& backend, void* memory, std::size_t bytes, std::string_view site) noexcept {
  holders().remove(backend, memory);
  if (backend.device) return backend.device->release(memory, bytes, site);
  const Verb verb(backend.ledger.recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::release, site, bytes);
  });
  ::operator delete(memory, host_alignment);
  backend.ledger.released(static_cast<std::int64_t>(bytes), site);
}

std::size_t spoil(Backend& backend, std::string_view site) {
  if (!backend.executes()) return 0;
  std::size_t spoilt = 0;
  const Counts counted = backend.ledger.counts;
  for (const auto& [memory, bytes] : holders().of(backend, site)) {
    if (backend.device)
      backend.device->upload(memory, std::vector<unsigned char>(bytes, 0xff).data(), bytes);
    else
      std::memset(memory, 0xff, bytes);
    spoilt += bytes;
  }
  backend.ledger.counts = counted;
  return spoilt;
}

}  // namespace holdfast
