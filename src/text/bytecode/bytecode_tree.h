#pragma once
/// The operations of an MLIR bytecode file as a tree: of any dialect, independent of their meaning.

#include <cstdint>
#include <optional>
#include <vector>

#include "text/bytecode/bytecode_file.h"

namespace lowtide::engine {

struct BytecodeOperation;

/// A region with one block or none.
struct BytecodeRegion {
  struct Argument {
    uint32_t value = 0;
    std::optional<uint64_t> location;
  };
  std::vector<Argument> arguments;
  std::vector<BytecodeOperation> operations;
};

struct BytecodeOperation {
  std::string_view dialect, name;
  size_t place = 0;
  uint64_t location = 0;               ///< number of an attribute
  std::optional<uint64_t> attributes;  ///< number of an attribute, a dictionary
  std::optional<uint64_t> properties;  ///< index in BytecodeFile::properties
  std::vector<uint32_t> operands;      ///< numbers of values
  uint32_t first_result = 0;           ///< number of the first result's value; the others' follow
  std::vector<uint64_t> types;         ///< the results' types
  std::vector<BytecodeRegion> regions;
};

struct BytecodeTree {
  std::vector<BytecodeOperation> operations;  ///< the module
  std::vector<uint64_t> value_types;          ///< by the value's number, which is unique in the whole file
};

BytecodeTree read_bytecode_tree(const BytecodeFile& file, BytecodeFault& fault);

}  // namespace lowtide::engine
