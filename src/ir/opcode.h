#pragma once
/// The operations of HLO (opcodes.def is the table).

#include <cstdint>
#include <optional>
#include <string_view>

namespace lowtide::engine {

enum class Opcode : uint8_t {
#define OP(name, text, arity, memory) k##name,
#include "ir/opcodes.def"
};

/// How an operation's result relates to its operands' bytes; see opcodes.def.
enum class MemoryClass : uint8_t {
  kSource,
  kView,
  kElementwise,
  kIndexMap,
  kReduce,
  kContract,
  kControl,
  kCollective,
  kAsync,
  kOpaque,
};

inline constexpr int kAnyArity = -1;
extern const int kOpcodeCount;

std::string_view opcode_name(Opcode opcode);  ///< "dynamic-update-slice"
std::optional<Opcode> opcode_from_name(std::string_view name);
int opcode_arity(Opcode opcode);  ///< number of operands, or kAnyArity
MemoryClass memory_class(Opcode opcode);
/// Is the operation commutative, and associative up to rounding: add, multiply, maximum, and, ...?
bool is_commutative(Opcode opcode);

}  // namespace lowtide::engine
