#pragma once
/// What most rewrites need: who stands in for whom, unused names, copies of instructions, and what must not be touched.

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/module.h"
#include "ir/side_effects.h"

namespace lowtide::engine {

/// Instructions that other ones stand in for. A pass walks a computation from its first to its last instruction, calls
/// apply_to() on each, then may replace() it, and ends with finish().
class Replacements {
 public:
  explicit Replacements(const Module& module) : by_(static_cast<size_t>(module.id_limit()), nullptr) {}
  /// All uses of `old` that come later read `by`, which stands before them and has the same shape.
  void replace(const Instruction& old, Instruction& by);
  Instruction* resolve(Instruction* instruction) const;
  bool is_replaced(const Instruction& instruction) const;
  /// Points the operands and control predecessors of `user` to the stand-ins.
  void apply_to(Instruction& user) const;
  /// At the end of the walk: points the root to its stand-in and removes what was replaced.
  void finish(Computation& computation) const;
  int64_t count() const { return count_; }

 private:
  std::vector<Instruction*> by_;  ///< by id
  int64_t count_ = 0;
};

/// Instruction names of one computation.
class Names {
 public:
  /// Looks at the computation when first asked.
  explicit Names(const Computation& computation) : computation_(&computation) {}
  /// `base`, or `base.1`, `base.2`, ...; taken from now on.
  std::string unused(const std::string& base);

 private:
  const Computation* computation_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  ///< first number to try for a base
};

/// What Names would answer, once: `base` or the first of `base.1`, `base.2`, ... that no instruction has.
std::string unused_name(const Computation& computation, const std::string& base);

/// For each instruction of a computation, by id: is it someone's control predecessor, or has it such.
/// A rewrite that dropped such an instruction would drop an order that the program asked for.
std::vector<bool> ordered_instructions(const Module& module);

/// The layout says the same; an absent one is row major.
bool same_layout(const Shape& a, const Shape& b);

/// Same shape and, leaf by leaf, same layout and dynamic flags: a value of one may stand for the other.
bool interchangeable(const Shape& a, const Shape& b);

/// Do layouts say more than how a value happens to be stored? A scheduled module has its layouts, and a bitcast means
/// the bytes. Elsewhere elements are asked for by index, and the compiler that reads the text chooses layouts anew.
bool layouts_matter(const Module& module);

/// May a value of shape a stand for one of shape b: interchangeable, or only in another layout where none matters?
bool same_elements(const Shape& a, const Shape& b, bool layouts_matter);

/// More than one device runs this: by the header, or, where the header lost it, by the largest sharding.
bool is_partitioned(const Module& module);

/// The constant's value where it is known, else null.
const Literal* known_constant(const Instruction& instruction);

/// Makes another operation of what stands here under its name and with its shape; what it ran and was told goes.
void turn_into(Instruction& instruction, Opcode opcode, std::vector<Instruction*> operands, Attributes attributes = {});

/// A copy of `instruction` without a name, operands still those of the original.
std::unique_ptr<Instruction> copy_of(const Instruction& instruction);

/// What an instruction does to its operands, as text: all that decides its value beyond opcode, shape, operands and the
/// computations that it calls. Two with equal texts do the same.
std::string text_of_operation(const Instruction& instruction);

}  // namespace lowtide::engine
