#pragma once
/// Helpers of most rewrites: replacing and copying instructions, unused names, and what must not be changed.

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/module.h"
#include "ir/side_effects.h"

namespace lowtide::engine {

/// Maps instructions to their replacements. A pass walks a computation from its first to its last instruction, calls
/// apply_to() on each, then may replace() it, and ends with finish().
class Replacements {
 public:
  explicit Replacements(const Module& module) : by_(static_cast<size_t>(module.id_limit()), nullptr) {}
  /// All later uses of `old` read `by`, which comes before them and has the same shape.
  void replace(const Instruction& old, Instruction& by);
  Instruction* resolve(Instruction* instruction) const;
  bool is_replaced(const Instruction& instruction) const;
  /// Points the operands and control predecessors of `user` to their replacements.
  void apply_to(Instruction& user) const;
  /// At the end of the walk: points the root to its replacement and removes the replaced instructions.
  void finish(Computation& computation) const;
  int64_t count() const { return count_; }

 private:
  std::vector<Instruction*> by_;  ///< by id
  int64_t count_ = 0;
};

/// Instruction names of one computation.
class Names {
 public:
  /// Reads the computation's names at the first request.
  explicit Names(const Computation& computation) : computation_(&computation) {}
  /// `base`, or `base.1`, `base.2`, ...; in use from now on.
  std::string unused(const std::string& base);

 private:
  const Computation* computation_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  ///< first number to try for a base
};

/// The first answer of Names: `base` or the first of `base.1`, `base.2`, ... that no instruction has.
std::string unused_name(const Computation& computation, const std::string& base);

/// For each instruction of a computation, by id: is it a control predecessor, or does it have one? A rewrite that
/// dropped such an instruction would drop an order that the program requires.
std::vector<bool> ordered_instructions(const Module& module);

/// Has the module any of these operations?
bool has_any(const Module& module, const OpcodeSet& opcodes);

/// Are the layouts equal? An absent one is row major.
bool same_layout(const Shape& a, const Shape& b);

/// Adds a computation that adds two scalars of a type, as a reduce calls it; its name begins with `name`.
Computation* add_addition(Module& module, ElementType type, const std::string& name);

/// Are they 0, 1, 2, ...? A transpose or broadcast of them keeps each dimension where it is.
bool counts_up(const Dims& dimensions);

/// Is it an array of fixed extents that no device and no control edge holds in its place?
bool is_plain_array(const Instruction& i);

/// Same shape and, leaf by leaf, same layout and dynamic flags: a value of one may replace the other.
bool interchangeable(const Shape& a, const Shape& b);

/// Do layouts state more than how a value happens to be stored? A scheduled module has its final layouts, and a bitcast
/// refers to the bytes. Elsewhere elements are addressed by index, and the compiler that reads the text chooses
/// layouts.
bool layouts_matter(const Module& module);

/// May a value of shape a replace one of shape b: interchangeable, or different only in unimportant layouts?
bool same_elements(const Shape& a, const Shape& b, bool layouts_matter);

/// Do several devices run this? By the header or, if the header lost it, by the largest sharding.
bool is_partitioned(const Module& module);

/// The constant's value if it is known, else null.
const Literal* known_constant(const Instruction& instruction);

/// Turns the instruction into another operation of the same name and shape, without called computations or notes.
void turn_into(Instruction& instruction, Opcode opcode, std::vector<Instruction*> operands, Attributes attributes = {});

/// Appends a new instruction. The name must be unused.
Instruction* append_new(Computation& computation, std::string name, Opcode opcode, Shape shape,
                        std::vector<Instruction*> operands, Attributes attributes = {});

/// A copy of `instruction` in no computation, with the original's operands.
std::unique_ptr<Instruction> copy_of(const Instruction& instruction);

/// Puts operands and control predecessors before their users, and keeps the order otherwise. False: there is a cycle,
/// and the order is as before.
bool put_operands_first(Computation& computation);

/// The operation that an instruction applies to its operands, as text: all that determines its value beyond opcode,
/// shape, operands and the computations that it calls. Instructions with equal texts compute the same.
std::string text_of_operation(const Instruction& instruction);

}  // namespace lowtide::engine
