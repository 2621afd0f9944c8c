#pragma once
/// All rules of one operation in one place: its attributes as text, the shapes it allows, and what it computes.

#include <functional>
#include <span>

#include "base/status.h"
#include "ir/module.h"
#include "ops/attribute_text.h"
#include "ops/element.h"
#include "ops/element_arithmetic.h"
#include "ops/slicing.h"
#include "ops/split_dimensions.h"

namespace lowtide::engine {

/// The services of the interpreter for an operation's definition.
class EvalContext {
 public:
  virtual ~EvalContext() = default;
  /// Runs a computation on these arguments: reducers, comparators, loop bodies, branches.
  virtual Result<Value> call(const Computation& computation, std::span<const Value> arguments) = 0;
  /// Returns the counter of the hidden generator behind `rng`, and advances it by `blocks`.
  virtual uint64_t advance_generator(uint64_t blocks) = 0;
};

// Shared by many rules, for extents (ops/extents.h) and for how operands are evaluated (ops/evaluations.h).
class ExtentRelater;
void free_extents(ExtentRelater&);
void unknown_extents(ExtentRelater&);
void extents_by_roles(ExtentRelater&);
class OperandReads;
void reads_by_element(OperandReads&);
void reads_in_order(OperandReads&);
void reads_anywhere(OperandReads&);

using Operands = std::span<const Value>;

/// The rule of an opcode. A null entry means: it has no attributes of its own (read, print), its shape is as declared
/// (infer), the interpreter can't execute it (eval).
struct OpRule {
  /// Takes this operation's attributes from the text; the others are kept in Instruction::extra.
  Status (*read)(AttributeReader&, Instruction&) = nullptr;
  /// Writes them, in the order in which XLA prints them.
  void (*print)(const Instruction&, AttributeWriter&) = nullptr;
  /// The result's shape from operands and attributes and, if these don't determine it, from the declared shape. Errors
  /// end in the label of the broken constraint: "... (C2)". Layouts are not inferred.
  Result<Shape> (*infer)(const Instruction&) = nullptr;
  /// Evaluates the operation by its definition: slow and exact, the reference for compiled code.
  Result<Value> (*eval)(const Instruction&, Operands, EvalContext&) = nullptr;
  /// Its result at an index as a virtual value, one node per leaf (all leaves have equal extents). Null: never virtual.
  void (*element)(ElementContext&, const Instruction&, const Index&, std::span<NodeId> leaves) = nullptr;
  /// The same for operations whose leaves differ in extents (while, rng-bit-generator): element `index` of leaf `leaf`.
  /// Sets leaves[leaf], and other leaves of the same extents if they need no further work; the rest stay kNoId.
  void (*leaf_element)(ElementContext&, const Instruction&, int64_t leaf, const Index&,
                       std::span<NodeId> leaves) = nullptr;
  /// Can `element` or `leaf_element` compute this instance? Null: every instance whose types nests support.
  bool (*has_element)(const Instruction&) = nullptr;
  /// As the root of a region, makes its own loops and stores instead of one store per element. If updated_operand names
  /// an operand, the output's buffer already holds that operand, and only changed elements are written.
  void (*update)(ElementContext&, const Instruction&) = nullptr;
  /// The same for updates that store one element at each index of a box, in any order: these extents, and the store.
  /// Updates of equal boxes share their loops. `update` is null.
  const Dims& (*stored_box)(const Instruction&) = nullptr;
  ElementStore (*store)(ElementContext&, const Instruction&, const Index&) = nullptr;
  bool (*has_update)(const Instruction&) = nullptr;
  /// For leaf `leaf` of an update: the operand it overwrites; kNoId: none, the update writes every element.
  int (*updated_operand)(const Instruction&, int64_t leaf) = nullptr;

  /// Adapts the attributes for dimensions that are split, of which each is read whole and corresponds, by its role, to
  /// one of the result or is folded; false: not this instance. Null: its dimensions can't be split.
  bool (*split)(SplitOperation&, Attributes&) = nullptr;

  // The members below have no default: a rule that omits one doesn't compile.

  /// How it is computed slice by slice.
  Slicing slicing;
  /// How the extents of operands and results depend on each other.
  Stated<void (*)(ExtentRelater&)> extents;
  /// How often a kernel that evaluates it evaluates its operands.
  Stated<void (*)(OperandReads&)> reads;
  /// The cost of its arithmetic, and where it rounds.
  ElementArithmetic arithmetic;
};

#define OP(name, text, arity, memory) extern const OpRule k##name##Rule;
#include "ir/opcodes.def"

const OpRule& rule_of(Opcode opcode);

}  // namespace lowtide::engine
