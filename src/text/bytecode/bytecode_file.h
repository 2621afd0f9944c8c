#pragma once
/// The sections of a file of MLIR bytecode: strings, dialects, and where attributes, types and operations lie.

#include <string_view>
#include <vector>

#include "text/bytecode/byte_cursor.h"

namespace lowtide::engine {

struct BytecodeFile {
  /// Bytes of the file, and where they stand in it.
  struct Piece {
    std::string_view bytes;
    size_t place = 0;
  };
  struct Entry : Piece {
    std::string_view dialect;
    bool custom = false;  ///< in the dialect's own code; otherwise MLIR text
  };
  struct OperationName {
    std::string_view dialect, name;
  };
  /// Elements that stand beside the attributes.
  struct Resource {
    std::string_view name, bytes;
    bool is_there = false;  ///< else only its name is
  };

  uint64_t version = 0;
  std::string_view producer;  ///< "StableHLO_v1.17.0"
  std::vector<std::string_view> strings;
  std::vector<std::string_view> dialects;
  std::vector<OperationName> names;
  std::vector<Entry> attributes, types;
  std::vector<Piece> properties;
  std::vector<Resource> resources;  ///< of all dialects, by whose numbers attributes name them
  Piece operations;

  /// The string of this number; a fault at `cursor` where there is none.
  std::string_view string(uint64_t number, ByteCursor& cursor) const;
  ByteCursor cursor(const Piece& piece, BytecodeFault& fault) const { return {piece.bytes, piece.place, fault}; }
};

inline constexpr std::string_view kBytecodeMagic = "ML\xefR";

/// Views of `bytes`. What is wrong is raised in `fault`.
BytecodeFile read_bytecode_sections(std::string_view bytes, size_t place, BytecodeFault& fault);

}  // namespace lowtide::engine
