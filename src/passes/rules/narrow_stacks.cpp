#include "passes/rules/narrow_stacks.h"

#include <algorithm>

#include "analysis/uses.h"
#include "passes/in_place/slices.h"
#include "passes/rules/saved_stacks.h"

namespace lowtide::engine {
namespace {

class StackNarrower {
 public:
  StackNarrower(Instruction& loop, const Uses& uses, const Callers& callers)
      : loop_(loop), uses_(uses), carry_(loop, callers) {}

  int64_t run() {
    if (!carry_.ok()) return 0;
    int64_t count = 0;
    const size_t given = carry_.size();
    for (size_t k = 0; k < given; ++k) {
      Instruction* result = result_of(k);
      Instruction* slice = result != nullptr ? narrow_slice(k) : nullptr;
      if (slice == nullptr) continue;
      narrow(k, *result, *slice);
      ++count;
    }
    return count;
  }

 private:
  /// The result after the loop, if all its readers can widen it on the fly.
  Instruction* result_of(size_t k) const {
    Instruction* result = nullptr;
    for (const Instruction* user : uses_.of(loop_)) {
      if (user->as<TupleIndexAttributes>().index != static_cast<int64_t>(k)) continue;
      if (result != nullptr || user == user->parent->root) return nullptr;
      result = const_cast<Instruction*>(user);
    }
    const auto widens = [](const Instruction* reader) {
      const MemoryClass kind = memory_class(reader->opcode);
      return kind == MemoryClass::kElementwise || kind == MemoryClass::kIndexMap || reader->opcode == Opcode::kReduce ||
             reader->opcode == Opcode::kReshape;
    };
    return result != nullptr && std::ranges::all_of(uses_.of(*result), widens) ? result : nullptr;
  }

  /// The value that each iteration writes, before it is widened; null if the carry is used otherwise.
  Instruction* narrow_slice(size_t k) const {
    Instruction* update = carry_.body().root->operands[k];
    if (carry_.is_tested(k) || carry_.reads(k).size() != 1 || !is_zero(carry_.initial(k))) return nullptr;
    if (update->opcode != Opcode::kDynamicUpdateSlice || &update->operand(0) != carry_.reads(k)[0]) return nullptr;
    if (uses_.of(*update).size() != 1 || uses_.of(update->operand(0)).size() != 1) return nullptr;
    Instruction* wide = update->operands[1];
    while (is_moved(*wide)) wide = wide->operands[0];
    if (wide->opcode != Opcode::kConvert) return nullptr;
    const ElementType from = wide->operand(0).shape.type, to = wide->shape.type;
    const bool is_wider =
        is_floating(from) && is_floating(to) && type_bits(from) >= 16 && type_bits(from) < type_bits(to);
    return is_wider ? wide->operands[0] : nullptr;
  }

  /// Are the elements only moved, for this reader alone?
  bool is_moved(const Instruction& i) const {
    return i.opcode == Opcode::kReshape || (i.opcode == Opcode::kTranspose && uses_.of(i.operand(0)).size() == 1);
  }

  /// `slice`, moved like the wide value.
  static Instruction* moved_alike(const Instruction& wide, Instruction& slice, Maker& inside) {
    if (wide.opcode == Opcode::kConvert) return &slice;
    Instruction* from = moved_alike(wide.operand(0), slice, inside);
    const Shape shape = Shape::array(slice.shape.type, wide.shape.dims);
    return inside.make(wide.opcode, shape, {from}, wide.attributes);
  }

  void narrow(size_t k, Instruction& result, Instruction& slice) {
    const ElementType type = slice.shape.type;
    const Dims all = result.shape.dims;
    Computation& parent = *loop_.parent;
    const std::vector<Instruction*> outer = instructions_of(parent);
    Maker outside(parent);
    Instruction* zeros = outside.filled(type, all, 0);
    const size_t element = carry_.size();
    Instruction* stack = carry_.add(*zeros);
    const size_t before = outside.order().size();
    Instruction* narrow = outside.element(loop_, element);
    Instruction* wide = outside.convert(narrow, result.shape.type);
    put_made(parent, outer, loop_.operands[0], outside.order(), before, &loop_);
    for (const Instruction* reader : uses_.of(result)) {
      for (Instruction*& operand : const_cast<Instruction*>(reader)->operands) {
        if (operand == &result) operand = wide;
      }
    }

    Instruction* update = carry_.body().root->operands[k];
    carry_.put_reads_first();
    const std::vector<Instruction*> inner = instructions_of(carry_.body());
    Maker inside(carry_.body());
    std::vector<Instruction*> operands{stack, moved_alike(update->operand(1), slice, inside)};
    operands.insert(operands.end(), update->operands.begin() + 2, update->operands.end());
    carry_.set_next(element, *inside.make(Opcode::kDynamicUpdateSlice, zeros->shape, operands));
    put_made(carry_.body(), inner, nullptr, inside.order(), 0, update);
  }

  Instruction& loop_;
  const Uses& uses_;
  LoopCarry carry_;
};

}  // namespace

Result<PassResult> narrow_stacks(Module& module) {
  if (!has_any(module, {Opcode::kWhile})) return PassResult{};
  int64_t count = 0;
  const Callers callers = count_callers(module);
  for (Instruction* loop : free_loops(module)) {
    const Uses uses(module);
    count += StackNarrower(*loop, uses, callers).run();
  }
  return rewritten(count, "stacks narrowed");
}

}  // namespace lowtide::engine
