#pragma once
/// Makes the instructions of a rewrite where the instruction that they stand for stood.

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "passes/pass.h"
#include "passes/rewrite.h"

namespace lowtide::engine {

using InstructionMap = std::unordered_map<const Instruction*, Instruction*>;

/// The operands of `i` as they now are; each must be there.
std::vector<Instruction*> mapped(const Instruction& i, const InstructionMap& now);

class Maker {
 public:
  explicit Maker(Computation& computation) : computation_(computation), names_(computation) {}

  Instruction* make(Opcode opcode, Shape shape, std::vector<Instruction*> operands, Attributes attributes = {});
  /// The same operation with the same attributes on other operands, whose extents may differ; what the compiler that
  /// wrote the text knew of its extents (backend_config, sharding) goes.
  Instruction* like(const Instruction& pattern, Shape shape, std::vector<Instruction*> operands);
  /// The instruction itself, with all that it was told, on other operands of the same shapes.
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
  // These give x back where nothing changes.
  Instruction* convert(Instruction* x, ElementType type);
  Instruction* reshape(Instruction* x, const Dims& dims);
  Instruction* transpose(Instruction* x, const Dims& permutation);

  /// The computation add(a, b) of two scalars.
  Computation* addition(ElementType type);

  Computation& computation() { return computation_; }
  const std::vector<Instruction*>& order() const { return order_; }

 private:
  friend Result<PassResult> rewrite_each(Module& module,
                                         const std::function<Instruction*(Instruction&, Maker&)>& rewrite);
  Computation& computation_;
  Names names_;
  std::vector<Instruction*> order_;
  const Instruction* origin_ = nullptr;
};

/// Offers every instruction, operands before users, to `rewrite`: what it returns, made just now or
/// standing before it in the same layout, stands in for it; null leaves it. Instructions that control edges hold aren't
/// offered.
Result<PassResult> rewrite_each(Module& module, const std::function<Instruction*(Instruction&, Maker&)>& rewrite);

}  // namespace lowtide::engine
