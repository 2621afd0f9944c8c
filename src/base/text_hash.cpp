#include "base/text_hash.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>

namespace lowtide::engine {
namespace {

uint64_t mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// The linker's hash of the whole object, if there is a note with it.
std::string id_in_note(const char* at, const char* end) {
  const auto padded = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const char* const name = at + sizeof note;
    const char* const bytes = name + padded(note.n_namesz);
    at = bytes + padded(note.n_descsz);
    if (at <= end && note.n_type == NT_GNU_BUILD_ID &&
        std::string_view(name, note.n_namesz) == std::string_view("GNU", 4))
      return {bytes, note.n_descsz};
  }
  return {};
}

struct Search {
  ElfW(Addr) place = 0;  ///< of this code
  std::string id;
};

/// A callback of dl_iterate_phdr: returns 0 to continue with the next object.
int look_into(dl_phdr_info* object, size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  const auto* const first = object->dlpi_phdr;
  const auto* const last = first + object->dlpi_phnum;
  const bool is_this = std::any_of(first, last, [&](const auto& part) {
    const auto begin = object->dlpi_addr + part.p_vaddr;
    return part.p_type == PT_LOAD && begin <= search.place && search.place < begin + part.p_memsz;
  });
  if (!is_this) return 0;
  for (const auto* part = first; part != last && search.id.empty(); ++part) {
    if (part->p_type != PT_NOTE) continue;
    const auto* const at = reinterpret_cast<const char*>(object->dlpi_addr + part->p_vaddr);
    search.id = id_in_note(at, at + part->p_memsz);
  }
  return 1;
}

}  // namespace

TextHash hash_text(std::string_view text) {
  uint64_t low = 0x9e3779b97f4a7c15 ^ text.size(), high = 0xc2b2ae3d27d4eb4f;
  for (size_t at = 0; at < text.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min<size_t>(8, text.size() - at));
    low = mix(low ^ word, 0xa0761d6478bd642f) + at;
    high = mix(high + word, 0xe7037ed1a0b428db) ^ (high << 23 | high >> 41);
  }
  return {mix(low, 0x8ebc6af09c88c6e3), mix(high ^ low, 0x589965cc75374cc3)};
}

const std::string& build_id() {
  static const std::string kId = [] {
    Search search{.place = reinterpret_cast<ElfW(Addr)>(&look_into), .id = {}};
    ::dl_iterate_phdr(look_into, &search);
    return search.id;
  }();
  return kId;
}

}  // namespace lowtide::engine
