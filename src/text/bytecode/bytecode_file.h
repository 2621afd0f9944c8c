#pragma once
/// The sections of an MLIR bytecode file: strings, dialects, and the places of attributes, types and operations.

#include <string_view>
#include <vector>

#include "text/bytecode/byte_cursor.h"

namespace lowtide::engine {

struct BytecodeFile {
  /// Bytes of the file, and their place in it.
  struct Piece {
    std::string_view bytes;
    size_t place = 0;
  };
  struct Entry : Piece {
    std::string_view dialect;
    bool custom = false;  ///< in the dialect's own encoding; otherwise MLIR text
  };
  struct OperationName {
    std::string_view dialect, name;
  };
  /// Elements stored separately from the attributes.
  struct Resource {
    std::string_view name, bytes;
    bool is_there = false;  ///< otherwise the file has only its name
  };

  uint64_t version = 0;
  std::string_view producer;  ///< "StableHLO_v1.17.0"
  std::vector<std::string_view> strings;
  std::vector<std::string_view> dialects;
  std::vector<OperationName> names;
  std::vector<Entry> attributes, types;
  std::vector<Piece> properties;
  std::vector<Resource> resources;  ///< of all dialects; attributes refer to them by number
  Piece operations;

  /// The string with this number; an error at `cursor` if there is none.
  std::string_view string(uint64_t number, ByteCursor& cursor) const;
  ByteCursor cursor(const Piece& piece, BytecodeFault& fault) const { return {piece.bytes, piece.place, fault}; }
};

inline constexpr std::string_view kBytecodeMagic = "ML\xefR";

/// Reads the sections as views of `bytes`. Errors are raised in `fault`.
BytecodeFile read_bytecode_sections(std::string_view bytes, size_t place, BytecodeFault& fault);

}  // namespace lowtide::engine
