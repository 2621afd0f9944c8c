#pragma once
/// One operation in one place: what the text says of it, which shapes it allows, and what it computes.

#include <functional>
#include <span>

#include "base/status.h"
#include "ir/module.h"
#include "ops/attribute_text.h"
#include "ops/element.h"
#include "ops/element_arithmetic.h"
#include "ops/slicing.h"

namespace lowtide::engine {

/// What an operation's definition may ask of the interpreter that runs it.
class EvalContext {
 public:
  virtual ~EvalContext() = default;
  /// Runs a computation on these arguments: reducers, comparators, loop bodies, branches.
  virtual Result<Value> call(const Computation& computation, std::span<const Value> arguments) = 0;
  /// The counter of the generator that the program doesn't see; it moves on by `blocks`.
  virtual uint64_t advance_generator(uint64_t blocks) = 0;
};

// What many rows say of extents (ops/extents.h) and of how operands are evaluated (ops/evaluations.h).
class ExtentRelater;
void free_extents(ExtentRelater&);
void unknown_extents(ExtentRelater&);
void extents_by_roles(ExtentRelater&);
class OperandReads;
void reads_by_element(OperandReads&);
void reads_in_order(OperandReads&);
void reads_anywhere(OperandReads&);

using Operands = std::span<const Value>;

/// The rule of an opcode. A null entry means: no attributes of its own (read, print), the shape is as declared (infer),
/// not executable by the interpreter (eval).
struct OpRule {
  /// Takes this operation's attributes from the text; what it doesn't take stays in Instruction::extra.
  Status (*read)(AttributeReader&, Instruction&) = nullptr;
  /// Gives them back, in the order XLA prints them.
  void (*print)(const Instruction&, AttributeWriter&) = nullptr;
  /// The result's shape from operands and attributes, and where only the text can say it, from the declared shape.
  /// Faults end in the label of the broken constraint: "... (C2)". Layouts are not inferred.
  Result<Shape> (*infer)(const Instruction&) = nullptr;
  /// The definition, executed: slow, exact, the oracle for everything else.
  Result<Value> (*eval)(const Instruction&, Operands, EvalContext&) = nullptr;
  /// Its result at an index, one node per leaf (all leaves have one extent): a virtual value. Null: never virtual.
  void (*element)(ElementContext&, const Instruction&, const Index&, std::span<NodeId> leaves) = nullptr;
  /// The same for operations whose leaves differ in extents (while, rng-bit-generator): element `index` of leaf `leaf`.
  /// Sets leaves[leaf], and those others of the same extents that come without further work; the rest stays kNoId.
  void (*leaf_element)(ElementContext&, const Instruction&, int64_t leaf, const Index&,
                       std::span<NodeId> leaves) = nullptr;
  /// Can this instance be made by `element` or `leaf_element`? Null: every instance whose types are known to nests.
  bool (*has_element)(const Instruction&) = nullptr;
  /// As the root of a region: makes loops and stores of its own instead of one store per element. Where
  /// updated_operand says so, the output's buffer already holds that operand and only what changes is written.
  void (*update)(ElementContext&, const Instruction&) = nullptr;
  bool (*has_update)(const Instruction&) = nullptr;
  /// For leaf `leaf` of an update: the operand it overwrites; kNoId: none, the update writes every element.
  int (*updated_operand)(const Instruction&, int64_t leaf) = nullptr;

  // Here nothing has a default: a row that leaves it out doesn't compile.

  /// How it is made slice by slice.
  Slicing slicing;
  /// How the extents of operands and results depend on each other.
  Stated<void (*)(ExtentRelater&)> extents;
  /// How often a kernel that evaluates it evaluates its operands.
  Stated<void (*)(OperandReads&)> reads;
  /// What its arithmetic costs, and where it rounds.
  ElementArithmetic arithmetic;
};

#define OP(name, text, arity, memory) extern const OpRule k##name##Rule;
#include "ir/opcodes.def"

const OpRule& rule_of(Opcode opcode);

}  // namespace lowtide::engine
