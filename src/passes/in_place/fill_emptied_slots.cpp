#include "passes/in_place/fill_emptied_slots.h"

#include <algorithm>
#include <optional>

#include "analysis/uses.h"
#include "passes/in_place/slices.h"
#include "passes/rules/saved_stacks.h"
#include "passes/stream/slot_indices.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kLeastPart = 64;    ///< filled stacks below this part of the emptied one stay separate
constexpr int64_t kMostUnfilled = 2;  ///< an emptied stack may be at most this many times what fills it

int64_t elements_from(const Dims& dims, size_t first) {
  int64_t count = 1;
  for (size_t d = first; d < dims.size(); ++d) count *= dims[d];
  return count;
}

/// A part of a stack whose elements are contiguous within each slot.
struct Box {
  Dims starts, sizes;  ///< start 0 and size 1 along the slots
};

/// Contiguous elements of one slot that form whole rows along one dimension.
struct Run {
  int64_t first = 0, elements = 0;
  size_t dimension = 0;  ///< of the stack
};

/// The unused parts of a slot.
class Slot {
 public:
  explicit Slot(const Dims& stack) : stack_(stack) {}

  /// Takes room for so many elements, in one box if possible; none: they aren't whole rows, or no room is left.
  std::optional<Run> take(int64_t elements) {
    size_t d = 1;
    while (d < stack_.size() && elements % row(d) != 0) ++d;
    if (d == stack_.size()) return std::nullopt;
    for (const bool whole : {true, false}) {
      for (int64_t first = 0; first + elements <= row(0);) {
        const Run run{first, elements, d};
        const int64_t end = taken_until(first, first + elements);
        if (end > first) {
          first = (end + row(d) - 1) / row(d) * row(d);
        } else if (whole && boxes(run).size() > 1) {
          first = (first / row(d - 1) + 1) * row(d - 1);
        } else {
          taken_.push_back(run);
          return run;
        }
      }
    }
    return std::nullopt;
  }

  /// Cuts the run into boxes, where it crosses a row of a more major dimension.
  std::vector<Box> boxes(const Run& run) const {
    std::vector<Box> all;
    const int64_t last = run.first + run.elements;
    for (int64_t at = run.first; at < last;) {
      size_t d = 1;
      while (at % row(d) != 0 || at + row(d) > last) ++d;
      const int64_t place = at / row(d) % stack_[d], count = std::min((last - at) / row(d), stack_[d] - place);
      Box& box = all.emplace_back(Box{Dims(stack_.size(), 0), stack_});
      for (size_t k = 0; k <= d; ++k) box.sizes[k] = 1;
      for (size_t k = 1; k <= d; ++k) box.starts[k] = at / row(k) % stack_[k];
      box.sizes[d] = count;
      at += count * row(d);
    }
    return all;
  }

 private:
  /// Elements of a row along a dimension; for dimension 0, of a slot.
  int64_t row(size_t d) const { return elements_from(stack_, d + 1); }

  /// The end of a taken run that overlaps [first, last); `first`: there is none.
  int64_t taken_until(int64_t first, int64_t last) const {
    for (const Run& run : taken_) {
      if (run.first < last && first < run.first + run.elements) return run.first + run.elements;
    }
    return first;
  }

  Dims stack_;
  std::vector<Run> taken_;
};

class Loop {
 public:
  Loop(Instruction& loop, const Uses& uses, const Callers& callers)
      : loop_(loop), uses_(uses), callers_(callers), carry_(loop, callers) {}

  int64_t run() {
    if (!carry_.ok() || uses_.of(loop_.operand(0)).size() != 1) return 0;
    std::vector<size_t> emptied, filled;
    for (size_t k = 0; k < carry_.size(); ++k) {
      if (is_emptied(k)) emptied.push_back(k);
      if (is_filled(k)) filled.push_back(k);
    }
    const auto larger = [&](size_t a, size_t b) { return elements(a) > elements(b); };
    std::ranges::stable_sort(emptied, larger);
    std::ranges::stable_sort(filled, larger);
    int64_t count = 0;
    for (const size_t stack : emptied) count += fill(stack, filled);
    return count;
  }

 private:
  struct Part {
    size_t element = 0;
    Run run;
    std::vector<Box> boxes;
  };

  int64_t elements(size_t k) const { return elements_from(carry_.initial(k).shape.dims, 0); }
  const Shape& shape(size_t k) const { return carry_.initial(k).shape; }
  const Instruction& next(size_t k) const { return carry_.body().root->operand(k); }

  /// The slot of each iteration; empty if unknown.
  std::vector<int64_t> slots(const Instruction& start, size_t k) const {
    return slots_of_trips(start, loop_, shape(k).dims[0] - 1);
  }

  /// Does each iteration write one slot of element k, and all iterations all slots, with readers after the loop that
  /// read only parts of slots at a time?
  bool is_filled(size_t k) const {
    const Instruction& update = next(k);
    if (carry_.is_tested(k) || carry_.reads(k).size() != 1 || !shape(k).is_array() || elements(k) == 0) return false;
    if (update.opcode != Opcode::kDynamicUpdateSlice || &update.operand(0) != carry_.reads(k)[0]) return false;
    if (uses_.of(update).size() != 1 || uses_.of(update.operand(0)).size() != 1) return false;
    Dims slot = shape(k).dims;
    slot[0] = 1;
    if (update.operand(1).shape.dims != slot) return false;
    for (size_t d = 1; d < slot.size(); ++d) {
      if (!is_zero(update.operand(2 + d))) return false;
    }
    std::vector<int64_t> written = slots(update.operand(2), k);
    std::ranges::sort(written);
    for (int64_t s = 0; s < shape(k).dims[0]; ++s) {
      if (std::ssize(written) != shape(k).dims[0] || written[s] != s) return false;
    }
    return is_read_as_it_goes(k);
  }

  bool is_read_as_it_goes(size_t k) const {
    const auto is_fine = [](const Instruction* reader) {
      const MemoryClass kind = memory_class(reader->opcode);
      return kind == MemoryClass::kElementwise || kind == MemoryClass::kIndexMap || reader->opcode == Opcode::kReduce ||
             reader->opcode == Opcode::kReshape;
    };
    const std::vector<Instruction*> results = results_of(k);
    return !results.empty() && std::ranges::all_of(results, [&](const Instruction* result) {
      return result != loop_.parent->root && std::ranges::all_of(uses_.of(*result), is_fine);
    });
  }

  std::vector<Instruction*> results_of(size_t k) const {
    std::vector<Instruction*> results;
    for (const Instruction* user : uses_.of(loop_)) {
      if (user->as<TupleIndexAttributes>().index == static_cast<int64_t>(k))
        results.push_back(const_cast<Instruction*>(user));
    }
    return results;
  }

  /// Is element k a stack that another loop computed and that only this loop reads, slot by slot?
  bool is_emptied(size_t k) const {
    const Instruction& start = carry_.initial(k);
    if (!start.shape.is_array() || start.shape.rank() < 2 || elements(k) == 0) return false;
    if (!carry_.is_invariant(k) || !results_of(k).empty()) return false;
    if (start.opcode != Opcode::kGetTupleElement || start.operand(0).opcode != Opcode::kWhile) return false;
    if (uses_.of(start).size() != 1 || start.parent->root == &start) return false;
    if (std::ranges::count(loop_.operand(0).operands, &start) != 1) return false;
    std::vector<const Instruction*> starts;
    for (const Instruction* read : carry_.reads(k)) {
      if (!gather_starts(*read, {}, starts)) return false;
    }
    return !starts.empty();
  }

  /// Collects the starts of the slices of a stack along its slots, as values of this loop's body. `within`: the nested
  /// loops that it was passed to; the body of the last one reads it here.
  bool gather_starts(const Instruction& stack, const std::vector<const LoopCarry*>& within,
                     std::vector<const Instruction*>& starts) const {
    for (const Instruction* user : uses_.of(stack)) {
      if (user == stack.parent->root) continue;  // loop-invariant
      if (user->opcode == Opcode::kDynamicSlice) {
        if (user->operands[0] != &stack) return false;
        if (user->shape.dims[0] == stack.shape.dims[0]) {  // a tile of each slot
          if (!gather_starts(*user, within, starts)) return false;
          continue;
        }
        const Instruction* start = brought_out(user->operand(1), within);
        if (user->shape.dims[0] != 1 || start == nullptr) return false;
        starts.push_back(start);
        continue;
      }
      if (user->opcode != Opcode::kTuple || uses_.of(*user).size() != 1) return false;
      Instruction* inner = const_cast<Instruction*>(uses_.of(*user)[0]);
      if (inner->opcode != Opcode::kWhile) return false;
      const LoopCarry carry(*inner, callers_);
      if (!carry.ok()) return false;
      for (size_t k = 0; k < carry.size(); ++k) {
        if (&carry.initial(k) != &stack) continue;
        const bool is_result = std::ranges::any_of(uses_.of(*inner), [&](const Instruction* u) {
          return u->as<TupleIndexAttributes>().index == static_cast<int64_t>(k);
        });
        if (!carry.is_invariant(k) || is_result) return false;
        std::vector<const LoopCarry*> further = within;
        further.push_back(&carry);
        for (const Instruction* read : carry.reads(k)) {
          if (!gather_starts(*read, further, starts)) return false;
        }
      }
    }
    return true;
  }

  /// The value of this loop's body with which a loop-invariant value of nested loops starts; null: it isn't invariant.
  const Instruction* brought_out(const Instruction& value, const std::vector<const LoopCarry*>& within) const {
    const Instruction* outer = &value;
    for (size_t depth = within.size(); depth > 0; --depth) {
      const LoopCarry& carry = *within[depth - 1];
      if (outer->opcode != Opcode::kGetTupleElement || &outer->operand(0) != carry.body().parameters()[0])
        return nullptr;
      const auto k = static_cast<size_t>(outer->as<TupleIndexAttributes>().index);
      if (!carry.is_invariant(k)) return nullptr;
      outer = &carry.initial(k);
    }
    return outer;
  }

  /// Is no slot of `emptied` read after the iteration that writes it?
  bool is_read_before(size_t emptied, size_t filled) const {
    std::vector<const Instruction*> starts;
    for (const Instruction* read : carry_.reads(emptied)) gather_starts(*read, {}, starts);
    const std::vector<int64_t> written = slots(next(filled).operand(2), filled);
    return std::ranges::all_of(starts, [&](const Instruction* start) {
      const std::vector<int64_t> read = slots(*start, emptied);
      for (size_t trip = 0; trip < read.size(); ++trip) {
        if (std::find(written.begin(), written.begin() + static_cast<std::ptrdiff_t>(trip), read[trip]) !=
            written.begin() + static_cast<std::ptrdiff_t>(trip))
          return false;
      }
      return !read.empty();
    });
  }

  /// Puts stacks of `filled` into the slots of `stack`, and removes them from `filled`; returns how many.
  int64_t fill(size_t stack, std::vector<size_t>& filled) {
    Slot slot(shape(stack).dims);
    std::vector<Part> parts;
    int64_t sum = 0;
    for (const size_t k : filled) {
      const bool fits = shape(k).type == shape(stack).type && shape(k).dims[0] == shape(stack).dims[0] &&
                        kLeastPart * elements(k) >= elements(stack) && is_read_before(stack, k);
      if (!fits) continue;
      if (const auto run = slot.take(elements_from(shape(k).dims, 1))) {
        parts.push_back({k, *run, slot.boxes(*run)});
        sum += elements(k);
      }
    }
    if (parts.empty() || kMostUnfilled * sum < elements(stack)) return 0;
    write_in_slots(stack, parts);
    read_from_slots(stack, parts);
    std::erase_if(filled, [&](size_t k) { return std::ranges::find(parts, k, &Part::element) != parts.end(); });
    return std::ssize(parts);
  }

  void write_in_slots(size_t stack, const std::vector<Part>& parts) {
    const std::vector<Instruction*> before = instructions_of(carry_.body());
    Maker maker(carry_.body());
    Instruction* whole = carry_.reads(stack)[0];
    for (const Part& part : parts) {
      const Instruction& update = next(part.element);
      int64_t first = 0;
      for (const Box& box : part.boxes) {
        Instruction* values = update.operands[1];
        const int64_t count = elements_from(box.sizes, 0);
        if (part.boxes.size() > 1) {
          values = maker.reshape(values, {part.run.elements});
          values = maker.make(Opcode::kSlice, Shape::array(values->shape.type, {count}), {values},
                              SliceAttributes{{first}, {first + count}, {1}});
          first += count;
        }
        std::vector<Instruction*> operands{whole, maker.reshape(values, box.sizes), update.operands[2]};
        for (size_t d = 1; d < box.starts.size(); ++d) {
          operands.push_back(maker.constant(update.operand(2).shape.type, box.starts[d]));
        }
        whole = maker.make(Opcode::kDynamicUpdateSlice, shape(stack), operands);
      }
      carry_.set_next(part.element, *carry_.reads(part.element)[0]);
    }
    carry_.set_next(stack, *whole);
    put_made(carry_.body(), before, carry_.body().root, maker.order(), maker.order().size(), nullptr);
  }

  void read_from_slots(size_t stack, const std::vector<Part>& parts) {
    const std::vector<Instruction*> before = instructions_of(*loop_.parent);
    Maker maker(*loop_.parent);
    Instruction* whole = maker.element(loop_, stack);
    for (const Part& part : parts) {
      // If the run has several boxes, the dimensions up to its own are merged.
      const Dims& dims = shape(stack).dims;
      const size_t merged = part.boxes.size() > 1 ? part.run.dimension : 1;
      Dims rows{dims[0], 1};
      for (size_t d = 1; d <= merged; ++d) rows[1] *= dims[d];
      rows.insert(rows.end(), dims.begin() + static_cast<std::ptrdiff_t>(merged) + 1, dims.end());
      SliceAttributes slice{Dims(rows.size(), 0), rows, Dims(rows.size(), 1)};
      if (part.boxes.size() > 1) {
        slice.starts[1] = part.run.first / elements_from(rows, 2);
        slice.limits[1] = slice.starts[1] + part.run.elements / elements_from(rows, 2);
      } else {
        slice.starts = part.boxes[0].starts;
        for (size_t d = 1; d < rows.size(); ++d) slice.limits[d] = slice.starts[d] + part.boxes[0].sizes[d];
      }
      Dims taken(rows.size());
      for (size_t d = 0; d < rows.size(); ++d) taken[d] = slice.limits[d] - slice.starts[d];
      Instruction* read =
          maker.make(Opcode::kSlice, Shape::array(shape(stack).type, taken), {maker.reshape(whole, rows)}, slice);
      read = maker.reshape(read, shape(part.element).dims);
      for (const Instruction* result : results_of(part.element)) {
        for (const Instruction* user : uses_.of(*result)) {
          for (Instruction*& operand : const_cast<Instruction*>(user)->operands) {
            if (operand == result) operand = read;
          }
        }
      }
    }
    put_made(*loop_.parent, before, nullptr, maker.order(), 0, &loop_);
  }

  Instruction& loop_;
  const Uses& uses_;
  const Callers& callers_;
  LoopCarry carry_;
};

}  // namespace

Result<PassResult> fill_emptied_slots(Module& module) {
  int64_t count = 0;
  if (!has_any(module, {Opcode::kWhile}) || is_partitioned(module)) return PassResult{};
  const Callers callers = count_callers(module);
  std::optional<Uses> uses;
  for (Instruction* loop : free_loops(module)) {
    if (!uses) uses.emplace(module);
    const int64_t filled = Loop(*loop, *uses, callers).run();
    if (filled > 0) uses.reset();
    count += filled;
  }
  return rewritten(count, "stacks in the slots of others");
}

}  // namespace lowtide::engine
