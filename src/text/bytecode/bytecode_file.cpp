#include "text/bytecode/bytecode_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lowtide::engine {
namespace {

constexpr uint64_t kNewestVersion = 6;
constexpr uint8_t kBlob = 0;  // the other kinds of resources are booleans and strings

enum Section : uint8_t {
  kStrings,
  kDialects,
  kEntries,
  kEntryOffsets,
  kOperations,
  kResources,
  kResourceOffsets,
  kDialectVersions,
  kProperties,
  kSections
};

class SectionReader {
 public:
  SectionReader(std::string_view bytes, size_t place, BytecodeFault& fault)
      : cursor_(bytes, place, fault), begin_(place), fault_(fault) {}

  BytecodeFile read() {
    if (cursor_.bytes(kBytecodeMagic.size()) != kBytecodeMagic) cursor_.raise("found no MLIR bytecode");
    file_.version = cursor_.varint();
    if (file_.version > kNewestVersion) {
      fault_.raise(
          cursor_.place(),
          fmt::format("MLIR bytecode of version {} is not known, but those to {} are", file_.version, kNewestVersion),
          Fault::kUnsupported);
    }
    file_.producer = cursor_.terminated();
    while (!cursor_.done()) index_section();
    for (const Section needed : {kStrings, kDialects, kEntries, kEntryOffsets, kOperations}) {
      if (!seen_[needed]) cursor_.raise(fmt::format("found no section {} before the end", static_cast<int>(needed)));
    }
    read_strings();
    read_dialects();
    read_entries();
    if (seen_[kProperties]) read_properties();
    if (seen_[kResourceOffsets]) read_resources();
    file_.operations = sections_[kOperations];
    return std::move(file_);
  }

 private:
  void index_section() {
    const size_t place = cursor_.place();
    const uint8_t head = cursor_.byte();
    constexpr uint8_t kAligned = 0x80;
    const uint8_t id = head & static_cast<uint8_t>(~kAligned);
    const uint64_t length = cursor_.varint();
    if ((head & kAligned) != 0) {
      // Aligned relative to the beginning of the bytecode, which may be embedded in another file.
      const uint64_t alignment = cursor_.varint();
      skip_padding(alignment);
    }
    if (id >= kSections || seen_[id]) {
      return fault_.raise(place, id < kSections ? fmt::format("found section {} twice", id)
                                                : fmt::format("found a section {}, expected 0 to 8", id));
    }
    const size_t begin = cursor_.place();
    sections_[id] = {cursor_.bytes(length), begin};
    seen_[id] = true;
  }

  void skip_padding(uint64_t alignment) {
    constexpr uint64_t kLargest = 1 << 20;
    if (alignment == 0 || alignment > kLargest)
      return cursor_.raise(fmt::format("found an alignment of {}", alignment));
    while (!fault_.found() && (cursor_.place() - begin_) % alignment != 0) {
      if (cursor_.byte() != 0xcb) cursor_.raise("found no padding where a section is aligned");
    }
  }

  ByteCursor open(Section section) { return file_.cursor(sections_[section], fault_); }

  void read_strings() {
    ByteCursor cursor = open(kStrings);
    const size_t n = cursor.count("strings");
    std::vector<uint64_t> sizes(n);  // stored in reverse order
    for (size_t i = n; i-- > 0;) sizes[i] = cursor.varint();
    file_.strings.resize(n);
    for (size_t i = 0; i < n; ++i) {
      const std::string_view text = cursor.bytes(sizes[i]);
      if (text.empty() || text.back() != '\0') return cursor.raise("found a string that doesn't end in a zero byte");
      file_.strings[i] = text.substr(0, text.size() - 1);
    }
  }

  void read_dialects() {
    ByteCursor cursor = open(kDialects);
    const size_t n = cursor.count("dialects");
    for (size_t i = 0; i < n && !fault_.found(); ++i) {
      bool versioned = false;
      const uint64_t name = file_.version >= 1 ? cursor.flagged(versioned) : cursor.varint();
      file_.dialects.push_back(file_.string(name, cursor));
      if (!versioned) continue;
      const uint8_t id = cursor.byte();
      if (id != kDialectVersions) cursor.raise(fmt::format("found section {} as a dialect's version", id));
      cursor.bytes(cursor.varint());
    }
    if (file_.version >= 4) (void)cursor.varint();  // the total number of names
    while (!cursor.done()) {
      const std::string_view dialect = dialect_of(cursor.varint(), cursor);
      const size_t count = cursor.count("names of operations");
      for (size_t i = 0; i < count && !fault_.found(); ++i) {
        bool registered = false;
        const uint64_t name = file_.version >= 5 ? cursor.flagged(registered) : cursor.varint();
        file_.names.push_back({dialect, file_.string(name, cursor)});
      }
    }
  }

  std::string_view dialect_of(uint64_t number, ByteCursor& cursor) {
    if (number < file_.dialects.size()) return file_.dialects[number];
    cursor.raise(fmt::format("found dialect {} of {}", number, file_.dialects.size()));
    return {};
  }

  void read_entries() {
    ByteCursor offsets = open(kEntryOffsets), data = open(kEntries);
    const size_t attributes = offsets.varint(), types = offsets.varint();
    if (attributes > data.left() || types > data.left()) offsets.raise("found more attributes or types than bytes");
    const auto read = [&](std::vector<BytecodeFile::Entry>& entries, size_t n) {
      while (entries.size() < n && !fault_.found()) {
        const std::string_view dialect = dialect_of(offsets.varint(), offsets);
        const size_t count = offsets.count("entries");
        if (count == 0 || count > n - entries.size()) offsets.raise("found a group of no, or too many, entries");
        for (size_t i = 0; i < count && !fault_.found(); ++i) {
          BytecodeFile::Entry entry;
          const uint64_t size = offsets.flagged(entry.custom);
          entry.place = data.place();
          entry.bytes = data.bytes(size);
          entry.dialect = dialect;
          entries.push_back(entry);
        }
      }
    };
    read(file_.attributes, attributes);
    read(file_.types, types);
  }

  void read_properties() {
    ByteCursor cursor = open(kProperties);
    const size_t n = cursor.count("properties");
    for (size_t i = 0; i < n && !fault_.found(); ++i) {
      const uint64_t size = cursor.varint();
      const size_t place = cursor.place();
      file_.properties.push_back({cursor.bytes(size), place});
    }
  }

  void read_resources() {
    ByteCursor offsets = open(kResourceOffsets), data = open(kResources);
    const auto read_group = [&](bool is_kept) {
      const size_t n = offsets.count("resources");
      for (size_t i = 0; i < n && !fault_.found(); ++i) {
        BytecodeFile::Resource resource;
        resource.name = file_.string(offsets.varint(), offsets);
        const uint64_t size = offsets.varint();
        const uint8_t kind = offsets.byte();
        BytecodeFile::Piece piece;
        piece.place = data.place();
        piece.bytes = data.bytes(size);
        if (!is_kept) continue;
        if (size > 0) {
          if (kind != kBlob) return offsets.raise(fmt::format("found a resource of kind {}, expected bytes", kind));
          resource.bytes = blob_of(file_.cursor(piece, fault_));
          resource.is_there = true;
        }
        file_.resources.push_back(resource);
      }
    };
    const size_t tools = offsets.count("groups of resources");  // the producer's own: options, passes
    for (size_t i = 0; i < tools && !fault_.found(); ++i) {
      (void)offsets.varint();
      read_group(false);
    }
    while (!offsets.done()) {
      (void)dialect_of(offsets.varint(), offsets);
      read_group(true);
    }
    if (!data.done()) data.raise("found bytes behind the resources");
  }

  /// Reads a blob. Its padding aligned it in the original file, which may be embedded at any offset.
  std::string_view blob_of(ByteCursor cursor) {
    const uint64_t alignment = cursor.varint(), size = cursor.varint();
    if (size > cursor.left() || cursor.left() - size >= std::max<uint64_t>(alignment, 1)) {
      cursor.raise(
          fmt::format("found {} bytes, expected {} and what aligns them to {}", cursor.left(), size, alignment));
      return {};
    }
    while (cursor.left() > size) {
      if (cursor.byte() != 0xcb)
        return cursor.raise("found no padding where a resource is aligned"), std::string_view();
    }
    return cursor.bytes(size);
  }

  ByteCursor cursor_;
  size_t begin_;
  BytecodeFault& fault_;
  BytecodeFile file_;
  std::array<BytecodeFile::Piece, kSections> sections_;
  std::array<bool, kSections> seen_ = {};
};

}  // namespace

std::string_view BytecodeFile::string(uint64_t number, ByteCursor& cursor) const {
  if (number < strings.size()) return strings[number];
  cursor.raise(fmt::format("found string {} of {}", number, strings.size()));
  return {};
}

BytecodeFile read_bytecode_sections(std::string_view bytes, size_t place, BytecodeFault& fault) {
  return SectionReader(bytes, place, fault).read();
}

}  // namespace lowtide::engine
