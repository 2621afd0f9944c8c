#pragma once
/// Creates a rewrite's instructions at the place of the instruction that they replace.

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "passes/pass.h"
#include "passes/rewrite.h"

namespace lowtide::engine {

using InstructionMap = std::unordered_map<const Instruction*, Instruction*>;

/// The operands of `i`, replaced as in `now`, which must contain all of them.
std::vector<Instruction*> mapped(const Instruction& i, const InstructionMap& now);
/// Replaces the operands that `now` contains; others stay.
void read_instead(std::vector<Instruction*>& operands, const InstructionMap& now);

class Maker;
/// What replaces an instruction, or null.
using InstructionRewrite = std::function<Instruction*(Instruction&, Maker&)>;

class Maker {
 public:
  explicit Maker(Computation& computation) : computation_(computation), names_(computation) {}

  Instruction* make(Opcode opcode, Shape shape, std::vector<Instruction*> operands, Attributes attributes = {});
  /// The same operation with the same attributes on other operands, whose extents may differ; another compiler's
  /// information about its extents (backend_config, sharding) is dropped.
  Instruction* like(const Instruction& pattern, Shape shape, std::vector<Instruction*> operands);
  /// A copy of the instruction, with all attributes, on other operands of the same shapes.
  Instruction* copy(const Instruction& i, std::vector<Instruction*> operands);
  Instruction* copy(const Instruction& i, const InstructionMap& now) { return copy(i, mapped(i, now)); }
  /// Element k of a tuple.
  Instruction* element(Instruction& tuple, size_t k);

  Instruction* constant(ElementType type, int64_t number);  ///< a scalar
  Instruction* number(ElementType type, double number);     ///< a scalar of a floating type
  Instruction* filled(ElementType type, const Dims& dims, int64_t number);
  Instruction* broadcast(Instruction* x, const Dims& dims, Dims dimensions);
  Instruction* binary(Opcode opcode, Instruction* a, Instruction* b);
  Instruction* compare(Instruction* a, Instruction* b, CompareDirection direction);
  Instruction* select(Instruction* predicate, Instruction* a, Instruction* b);
  // These return x itself if nothing changes.
  Instruction* convert(Instruction* x, ElementType type);
  Instruction* reshape(Instruction* x, const Dims& dims);
  Instruction* transpose(Instruction* x, Dims permutation);

  /// The computation add(a, b) of two scalars, one of each type for the whole pass over a computation.
  Computation* addition(ElementType type);

  Computation& computation() { return computation_; }
  const std::vector<Instruction*>& order() const { return order_; }

 private:
  friend class EachRewriter;
  Computation& computation_;
  Names names_;
  std::vector<Instruction*> order_;
  std::map<ElementType, Computation*> additions_;
  const Instruction* origin_ = nullptr;
};

/// Offers every instruction of these opcodes, operands before users, to `rewrite`: the instruction is replaced by what
/// it returns, either new or an earlier instruction with the same layout; null leaves it, with the operands that it was
/// given and what was made for them before it. Instructions that control edges hold aren't offered. done: what the pass
/// says of its rewrites, as in rewritten().
Result<PassResult> rewrite_each(Module& module, const OpcodeSet& opcodes, const InstructionRewrite& rewrite,
                                std::string_view done);
/// Offers instructions of all opcodes.
Result<PassResult> rewrite_each(Module& module, const InstructionRewrite& rewrite, std::string_view done);

}  // namespace lowtide::engine
