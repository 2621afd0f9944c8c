#include "ir/opcode.h"

#include <algorithm>
#include <iterator>

namespace lowtide::engine {
namespace {

struct OpcodeRow {
  std::string_view text;
  int arity;
  MemoryClass memory;
};

constexpr OpcodeRow kOpcodeRows[] = {
#define OP(name, text, arity, memory) {text, arity, MemoryClass::k##memory},
#include "ir/opcodes.def"
};

static_assert(std::is_sorted(std::begin(kOpcodeRows), std::end(kOpcodeRows),
                             [](const OpcodeRow& a, const OpcodeRow& b) { return a.text < b.text; }),
              "opcodes.def must be sorted by text: opcode_from_name searches by bisection");

const OpcodeRow& row(Opcode opcode) { return kOpcodeRows[static_cast<size_t>(opcode)]; }

}  // namespace

std::string_view opcode_name(Opcode opcode) { return row(opcode).text; }
int opcode_arity(Opcode opcode) { return row(opcode).arity; }
MemoryClass memory_class(Opcode opcode) { return row(opcode).memory; }

std::optional<Opcode> opcode_from_name(std::string_view name) {
  const auto* found = std::lower_bound(std::begin(kOpcodeRows), std::end(kOpcodeRows), name,
                                       [](const OpcodeRow& r, std::string_view text) { return r.text < text; });
  if (found == std::end(kOpcodeRows) || found->text != name) return std::nullopt;
  return static_cast<Opcode>(found - std::begin(kOpcodeRows));
}

bool is_commutative(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor: return true;
    default: return false;
  }
}

}  // namespace lowtide::engine
