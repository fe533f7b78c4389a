// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulation/static_shared.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::emulation {
namespace {

// Within the thread-local variables of the program.
struct Place {
  std::size_t begin = 0, bytes = 0;
};

template <class T>
std::span<const T> table(const std::string& program, std::size_t begin, std::size_t count) {
  return {reinterpret_cast<const T*>(program.data() + begin), count};
}

// A mangled name: of a variable within a function, with the shim's tag.
bool names_static_shared(std::string_view name) {
  return name.starts_with("_ZZ") && name.find("B12block_shared") != name.npos;
}

std::vector<Place> find_places() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string program(std::istreambuf_iterator<char>(file), {});
  const auto& header = table<Elf64_Ehdr>(program, 0, 1)[0];
  const auto sections = table<Elf64_Shdr>(program, header.e_shoff, header.e_shnum);
  std::vector<Place> places;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB) continue;
    const char* names = program.data() + sections[section.sh_link].sh_offset;
    const auto count = section.sh_size / sizeof(Elf64_Sym);
    for (const Elf64_Sym& symbol : table<Elf64_Sym>(program, section.sh_offset, count))
      if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS && names_static_shared(names + symbol.st_name))
        places.push_back({symbol.st_value, symbol.st_size});
  }
  return places;
}

// Of the program itself, which is the first that the linker names.
unsigned char* thread_locals() {
  unsigned char* begin = nullptr;
  const auto take = [](dl_phdr_info* of, std::size_t, void* taken) {
    *static_cast<unsigned char**>(taken) = static_cast<unsigned char*>(of->dlpi_tls_data);
    return 1;
  };
  (void)dl_iterate_phdr(take, static_cast<void*>(&begin));
  return begin;
}

const std::vector<Place>& places() {
  static const std::vector<Place> found = find_places();
  return found;
}

unsigned char* own_thread_locals() {
  static thread_local unsigned char* const own = thread_locals();
  return own;
}

}  // namespace

void spoil_static_shared() {
  for (const Place& place : places())
    std::fill_n(own_thread_locals() + place.begin, place.bytes, 0xff);
}

bool is_static_shared(const void* at) {
  // As numbers, because places of different variables have no order.
  const auto offset =
      reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(own_thread_locals());
  return std::ranges::any_of(
      places(), [&](const Place& place) { return offset - place.begin < place.bytes; });
}

}  // namespace holdfast::emulation
