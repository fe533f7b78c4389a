// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "runtime/backend/spoil.hpp"
#include "runtime/count/recorder.hpp"

namespace holdfast {
namespace {

constexpr std::size_t line = 64;  // of a cache, and the widest vector register
constexpr std::size_t page = 4096;

// A CPU compares addresses of loads and stores by their lowest twelve bits, so that a step may take
// a tenth longer where an array that is written lies a few lines ahead of one that is read, pages
// apart. Large arrays lie in pages of their own, each 23 lines further into its first one than the
// array before: where they lie follows from the program alone, not from what else was allocated,
// and neighbours keep clear of one another.
constexpr std::size_t large = 4 * page, lines_apart = 23;

bool has_own_pages(std::size_t bytes) {
  return bytes >= large && bytes <= std::numeric_limits<std::size_t>::max() - page;
}

// Null where there is no more.
void* take(Backend& backend, std::size_t bytes) {
  if (!has_own_pages(bytes))
    return ::operator new (std::max<std::size_t>(bytes, 1), std::align_val_t{line}, std::nothrow);
  void* const pages = ::operator new (bytes + page, std::align_val_t{page}, std::nothrow);
  if (!pages) return nullptr;
  return static_cast<std::byte*>(pages) + backend.large_arrays++ * lines_apart * line % page;
}

void give_back(void* memory, std::size_t bytes) noexcept {
  if (!has_own_pages(bytes)) return ::operator delete (memory, std::align_val_t{line});
  const auto into_page = reinterpret_cast<std::uintptr_t>(memory) % page;
  ::operator delete (static_cast<std::byte*>(memory) - into_page, std::align_val_t{page});
}

void* allocate_on_host(Backend& backend, std::size_t bytes, std::string_view site) {
  Ledger& ledger = backend.ledger;
  const auto wanted = static_cast<std::int64_t>(bytes);
  const Verb verb(ledger.recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::allocate, site, bytes);
  });
  ledger.allocated(wanted, site);
  if (void* const memory = take(backend, bytes)) return memory;
  ledger.released(wanted, site);
  throw Error(Fault::out_of_memory,
              text("failed to allocate '", site, "': it asks for ", bytes, " bytes where ",
                   ledger.live_bytes,
                   " are held, and this machine has no more; choose a smaller "
                   "size"));
}

}  // namespace

void* allocate(Backend& backend, std::size_t bytes, std::string_view site) {
  // Noted down before it is there: what fails later would lose the memory.
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
  give_back(memory, bytes);
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
  constexpr std::size_t block = 1 << 20;  // of a large result no copy is made
  const std::vector<unsigned char> ones(std::min(block, bytes), 0xff);
  const Counts counted = backend.ledger.counts;
  for (std::size_t at = 0; at < bytes; at += ones.size())
    backend.device->upload(begin + at, ones.data(), std::min(ones.size(), bytes - at));
  backend.ledger.counts = counted;
}

}  // namespace holdfast
