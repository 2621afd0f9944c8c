#pragma once
/// The operations of a file of MLIR bytecode as a tree: of any dialect, before anything is known of what they mean.

#include <cstdint>
#include <optional>
#include <vector>

#include "text/bytecode/bytecode_file.h"

namespace lowtide::engine {

struct BytecodeOperation;

/// A region of one block or none.
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
  uint64_t location = 0;               ///< an attribute, as are all these numbers
  std::optional<uint64_t> attributes;  ///< a dictionary
  std::optional<uint64_t> properties;  ///< of BytecodeFile::properties
  std::vector<uint32_t> operands;      ///< values
  uint32_t first_result = 0;           ///< of values with following numbers
  std::vector<uint64_t> types;         ///< of the results
  std::vector<BytecodeRegion> regions;
};

struct BytecodeTree {
  std::vector<BytecodeOperation> operations;  ///< the module
  std::vector<uint64_t> value_types;          ///< by the number of a value, which is its own in the whole file
};

BytecodeTree read_bytecode_tree(const BytecodeFile& file, BytecodeFault& fault);

}  // namespace lowtide::engine
