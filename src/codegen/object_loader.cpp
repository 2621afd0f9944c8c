#include "codegen/object_loader.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

namespace lowtide::engine {
namespace {

Status refused(const std::string& what) { return {Fault::kInternal, "can't load a kernel's object: " + what}; }

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// The largest size and alignment of a section: a kernel has kilobytes. The sum over all sections that a file can list
/// doesn't overflow.
constexpr uint64_t kMostObjectBytes = uint64_t{1} << 30, kMostAlignment = 4096;

/// The string at this offset, up to its zero or the end of the table; empty if it begins past the end.
std::string_view text_at(std::string_view table, uint64_t at) {
  if (at >= table.size()) return {};
  table.remove_prefix(at);
  return table.substr(0, table.find('\0'));
}

/// Copies a structure from the file, with any alignment; false if it extends past the end.
template <class T>
bool read_at(std::string_view object, uint64_t offset, T& into) {
  if (offset > object.size() || object.size() - offset < sizeof(T)) return false;
  std::memcpy(&into, object.data() + offset, sizeof(T));
  return true;
}

class Loader {
 public:
  explicit Loader(std::string_view object) : object_(object) {}
  Result<LoadedObject> load(std::string_view symbol);

 private:
  Status read_sections();
  Status place();
  Status relocate(const Elf64_Shdr& table);
  Result<uint64_t> address_of(uint64_t symbol_index, const Elf64_Shdr& symbols) const;
  Result<uint64_t> entry_of(uint64_t symbol_index, const Elf64_Shdr& symbols) const;
  Result<uint64_t> find(std::string_view symbol) const;
  bool holds(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS) return section.sh_size <= kMostObjectBytes;
    return section.sh_offset <= object_.size() && section.sh_size <= object_.size() - section.sh_offset;
  }
  /// The section's bytes in the file.
  std::string_view bytes_of(const Elf64_Shdr& section) const {
    return section.sh_type == SHT_NOBITS ? std::string_view() : object_.substr(section.sh_offset, section.sh_size);
  }
  /// Unwind tables are not needed: a kernel neither throws nor is thrown through.
  static bool is_loaded(const Elf64_Shdr& section) {
    return (section.sh_flags & SHF_ALLOC) != 0 && section.sh_type != SHT_X86_64_UNWIND && section.sh_size > 0;
  }

  std::string_view object_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<std::string_view> names_;
  std::vector<uint64_t> offsets_;  // in the mapping, per section
  std::shared_ptr<void> pages_;
  uint64_t base_ = 0, code_bytes_ = 0, all_bytes_ = 0;
};

Status Loader::read_sections() {
  Elf64_Ehdr header;
  if (!read_at(object_, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_machine != EM_X86_64 || header.e_type != ET_REL || header.e_shentsize != sizeof(Elf64_Shdr)) {
    return refused("it is no relocatable x86-64 ELF file");
  }
  sections_.resize(header.e_shnum);
  for (size_t i = 0; i < sections_.size(); ++i) {
    if (header.e_shoff > object_.size() || !read_at(object_, header.e_shoff + i * sizeof(Elf64_Shdr), sections_[i]) ||
        !holds(sections_[i])) {
      return refused("a section lies beyond its end");
    }
  }
  if (header.e_shstrndx >= sections_.size()) return refused("section names are missing");
  const std::string_view strings = bytes_of(sections_[header.e_shstrndx]);
  for (const auto& section : sections_) names_.push_back(text_at(strings, section.sh_name));
  return {};
}

Status Loader::place() {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  offsets_.assign(sections_.size(), 0);
  uint64_t end = 0;
  for (const bool code : {true, false}) {
    for (size_t i = 0; i < sections_.size(); ++i) {
      const Elf64_Shdr& section = sections_[i];
      if (!is_loaded(section) || names_[i] == ".eh_frame" || ((section.sh_flags & SHF_EXECINSTR) != 0) != code)
        continue;
      if ((section.sh_flags & SHF_WRITE) != 0 && !names_[i].starts_with(".data.rel.ro")) {
        return refused(fmt::format("section {} is writable", names_[i]));
      }
      if (section.sh_addralign > kMostAlignment) return refused("a section is aligned to more than a page");
      end = round_up(end, std::max<uint64_t>(section.sh_addralign, 1));
      offsets_[i] = end + 1;  // 0: not loaded
      end += section.sh_size;
    }
    end = round_up(end, page);
    if (code) code_bytes_ = end;
  }
  all_bytes_ = end;
  if (all_bytes_ > kMostObjectBytes) return refused("it takes more than any kernel");
  if (code_bytes_ == 0) return refused("it has no code");
  void* pages = ::mmap(nullptr, all_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return refused("no memory");
  pages_ = std::shared_ptr<void>(pages, [bytes = all_bytes_](void* p) { ::munmap(p, bytes); });
  base_ = reinterpret_cast<uint64_t>(pages);
  for (size_t i = 0; i < sections_.size(); ++i) {
    if (offsets_[i] == 0 || sections_[i].sh_type == SHT_NOBITS) continue;
    std::memcpy(static_cast<char*>(pages) + offsets_[i] - 1, object_.data() + sections_[i].sh_offset,
                sections_[i].sh_size);
  }
  return {};
}

Result<uint64_t> Loader::address_of(uint64_t index, const Elf64_Shdr& symbols) const {
  Elf64_Sym symbol;
  const std::string_view table = bytes_of(symbols);
  if (index >= table.size() / sizeof(Elf64_Sym) || !read_at(table, index * sizeof(Elf64_Sym), symbol)) {
    return refused("a relocation names no symbol");
  }
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= sections_.size() || offsets_[symbol.st_shndx] == 0) {
    std::string_view name;
    if (symbols.sh_link < sections_.size()) name = text_at(bytes_of(sections_[symbols.sh_link]), symbol.st_name);
    return refused(
        fmt::format("it needs {}, which lies outside of it", name.empty() ? "a symbol without a name" : name));
  }
  if (symbol.st_value > sections_[symbol.st_shndx].sh_size) return refused("a symbol lies beyond its section");
  return base_ + offsets_[symbol.st_shndx] - 1 + symbol.st_value;
}

/// A function's address; an error if it is outside the code.
Result<uint64_t> Loader::entry_of(uint64_t index, const Elf64_Shdr& symbols) const {
  LT_ASSIGN_OR_RETURN(const uint64_t address, address_of(index, symbols));
  if (address - base_ >= code_bytes_) return refused("its function lies outside of its code");
  return address;
}

Status Loader::relocate(const Elf64_Shdr& table) {
  if (table.sh_info >= sections_.size() || table.sh_link >= sections_.size())
    return refused("a relocation table is wrong");
  if (offsets_[table.sh_info] == 0) return {};  // its section, of unwind or debug tables, isn't loaded
  const Elf64_Shdr& target = sections_[table.sh_info];
  const std::string_view entries = bytes_of(table);
  Elf64_Rela entry;
  for (uint64_t at = 0; read_at(entries, at, entry); at += sizeof entry) {
    LT_ASSIGN_OR_RETURN(const uint64_t symbol, address_of(ELF64_R_SYM(entry.r_info), sections_[table.sh_link]));
    const uint32_t type = ELF64_R_TYPE(entry.r_info);
    const uint64_t width = type == R_X86_64_64 ? 8 : 4;
    if (entry.r_offset > target.sh_size || target.sh_size - entry.r_offset < width) {
      return refused("a relocation lies beyond its section");
    }
    const uint64_t place = base_ + offsets_[table.sh_info] - 1 + entry.r_offset;
    const uint64_t value = symbol + static_cast<uint64_t>(entry.r_addend);
    switch (type) {
      case R_X86_64_64: std::memcpy(reinterpret_cast<void*>(place), &value, 8); break;
      case R_X86_64_PC32:
      case R_X86_64_PLT32: {
        const auto distance = static_cast<int64_t>(value - place);
        if (distance != static_cast<int32_t>(distance)) return refused("a relocation reaches too far");
        const auto low = static_cast<int32_t>(distance);
        std::memcpy(reinterpret_cast<void*>(place), &low, 4);
        break;
      }
      default: return refused(fmt::format("relocation type {}", type));
    }
  }
  return {};
}

Result<uint64_t> Loader::find(std::string_view wanted) const {
  for (const auto& table : sections_) {
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= sections_.size()) continue;
    const std::string_view strings = bytes_of(sections_[table.sh_link]), symbols = bytes_of(table);
    Elf64_Sym symbol;
    for (uint64_t i = 0; read_at(symbols, i * sizeof symbol, symbol); ++i) {
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && text_at(strings, symbol.st_name) == wanted)
        return entry_of(i, table);
    }
  }
  return refused(fmt::format("it lacks {}", wanted));
}

Result<LoadedObject> Loader::load(std::string_view symbol) {
  LT_RETURN_IF_ERROR(read_sections());
  LT_RETURN_IF_ERROR(place());
  for (const auto& section : sections_) {
    if (section.sh_type == SHT_RELA) LT_RETURN_IF_ERROR(relocate(section));
    if (section.sh_type == SHT_REL) return refused("a relocation table of the kind without addends");
  }
  LT_ASSIGN_OR_RETURN(const uint64_t address, find(symbol));
  if (::mprotect(pages_.get(), code_bytes_, PROT_READ | PROT_EXEC) != 0)
    return refused("its pages can't be made executable");
  if (all_bytes_ > code_bytes_ &&
      ::mprotect(static_cast<char*>(pages_.get()) + code_bytes_, all_bytes_ - code_bytes_, PROT_READ) != 0) {
    return refused("its pages can't be made read-only");
  }
  return LoadedObject{pages_, reinterpret_cast<const void*>(address)};
}

}  // namespace

Result<LoadedObject> load_object(std::string_view object, std::string_view symbol) {
  return Loader(object).load(symbol);
}

}  // namespace lowtide::engine
