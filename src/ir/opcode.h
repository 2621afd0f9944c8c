#pragma once
/// The operations of HLO (opcodes.def is the table).

#include <array>
#include <cstdint>
#include <initializer_list>
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
inline constexpr int kOpcodeCount = 0
#define OP(name, text, arity, memory) +1
#include "ir/opcodes.def"
    ;

std::string_view opcode_name(Opcode opcode);  ///< "dynamic-update-slice"
std::optional<Opcode> opcode_from_name(std::string_view name);
int opcode_arity(Opcode opcode);  ///< number of operands, or kAnyArity
MemoryClass memory_class(Opcode opcode);

/// A set of operations, one bit each.
class OpcodeSet {
 public:
  constexpr OpcodeSet() = default;
  constexpr OpcodeSet(std::initializer_list<Opcode> opcodes) {
    for (const Opcode opcode : opcodes) insert(opcode);
  }
  constexpr void insert(Opcode opcode) { word_of(opcode) |= bit_of(opcode); }
  constexpr bool contains(Opcode opcode) const { return (words_[index_of(opcode)] & bit_of(opcode)) != 0; }

 private:
  static constexpr size_t index_of(Opcode opcode) { return static_cast<size_t>(opcode) / 64; }
  static constexpr uint64_t bit_of(Opcode opcode) { return uint64_t{1} << (static_cast<unsigned>(opcode) % 64); }
  constexpr uint64_t& word_of(Opcode opcode) { return words_[index_of(opcode)]; }

  std::array<uint64_t, (kOpcodeCount + 63) / 64> words_{};
};

/// Is the operation commutative, and associative up to rounding: add, multiply, maximum, and, ...?
bool is_commutative(Opcode opcode);

}  // namespace lowtide::engine
