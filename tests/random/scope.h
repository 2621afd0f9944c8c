#pragma once
/// A computation in the making: the values that operations may choose from, with what is known of each.

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "facts.h"
#include "genes.h"
#include "ir/module.h"

namespace lowtide::engine {

class Scope {
 public:
  /// `for_xla`: leave out what XLA:CPU has no code for.
  Scope(Module& module, int depth, bool for_xla)
      : module_(&module), computation_(&module, ""), depth_(depth), for_xla_(for_xla) {}

  struct Entry {
    Instruction* instruction;
    Fact fact;
    uint64_t tag;  ///< which gene made it: what operands are chosen by
    bool choosable;
  };
  using Test = std::function<bool(const Entry&)>;

  Module& module() { return *module_; }
  int depth() const { return depth_; }  ///< 0: the entry
  bool for_xla() const { return for_xla_; }
  /// Of a computation that is called from this one.
  Scope nested() const { return Scope(*module_, depth_ + 1, for_xla_); }
  const std::vector<Entry>& entries() const { return entries_; }

  /// Every value appended from here on comes from this gene.
  void begin_gene(uint64_t tag) {
    tag_ = tag;
    made_by_gene_ = 0;
  }

  /// A value that passes the test; null when there is none. Which one depends on each candidate's own tag, so that
  /// taking another candidate out of the program changes nothing.
  Instruction* choose(Draws& choices, const Test& test);
  const Fact& fact(const Instruction* instruction) const { return entries_[index_.at(instruction)].fact; }

  Instruction* parameter(int64_t number, const Shape& shape, const Fact& fact);
  /// Appends the operation, unless its facts forbid it: then null. `choosable`: later genes may use it.
  Instruction* append(Opcode opcode, Shape shape, std::vector<Instruction*> operands, Attributes attributes = {},
                      std::vector<Computation*> called = {}, bool choosable = true);
  /// The same of an operation that gives a tuple, and its parts; false where nothing was appended.
  bool append_parts(Opcode opcode, const Shape& shape, std::vector<Instruction*> operands, Attributes attributes = {},
                    std::vector<Computation*> called = {});
  Instruction* element_of(Instruction* tuple, int64_t index);
  Instruction* tuple(const std::vector<Instruction*>& parts);

  Instruction* constant(ElementType type, double value);
  /// Now and then with numbers at the ends of their type.
  Instruction* constant_array(const Shape& shape, Draws& choices);
  Instruction* broadcast(Instruction* operand, const Dims& result, const Dims& dimensions);

  /// Moves the instructions into a computation of the module. Called computations are finished before their callers, so
  /// that the text defines them before use.
  Computation* finish(const std::string& name, Instruction* root);

 private:
  Module* module_;
  Computation computation_;
  int depth_;
  bool for_xla_;
  uint64_t tag_ = 0, made_by_gene_ = 0;
  std::vector<Entry> entries_;
  std::unordered_map<const Instruction*, size_t> index_;
};

inline Shape with_dims(const Shape& shape, Dims dims) { return Shape::array(shape.type, std::move(dims)); }
inline Shape with_type(const Shape& shape, ElementType type) { return Shape::array(type, shape.dims); }

/// A random array shape of few elements; now and then one without any.
Shape random_shape(Draws& choices, ElementType type);
ElementType random_type(Draws& choices);  ///< of real numbers
ElementType random_complex_type(Draws& choices);

}  // namespace lowtide::engine
