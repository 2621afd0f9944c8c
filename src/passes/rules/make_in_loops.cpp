#include "passes/rules/make_in_loops.h"

#include <algorithm>
#include <map>

#include "analysis/leaf_bytes.h"
#include "analysis/uses.h"
#include "ops/combiner.h"
#include "passes/rewrite.h"
#include "passes/rules/recipe.h"
#include "passes/rules/saved_stacks.h"
#include "passes/rules/trip_places.h"
#include "passes/stream/keep_order.h"
#include "passes/stream/walk.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostMembers = 64;
constexpr double kLeftPart = 4;  ///< readers of values above 1/kLeftPart of the stack's bytes move into the loop, too
/// Stacks of at least kLarge bytes decide whether the program fits: they may cost kLargePrice times the time that their
/// bytes are worth.
constexpr double kLarge = 16 << 20, kLargePrice = 16;

/// An element of the carry of which each iteration writes a slice.
struct Stack {
  size_t element = 0;
  TripPlaces at;
  Instruction* update = nullptr;
  Instruction* result = nullptr;  ///< after the loop
};

/// Work that is moved from after the loop into it.
struct Moved {
  int64_t dimension = 0;  ///< of the slices; kSummed
  bool is_open = false;   ///< too large to be stacked: all of its readers move into the loop, too
  bool is_asked = false;  ///< reads an open value; other members are only recomputed for such ones
  bool is_kept = false;   ///< stacked although it is open, for readers that stay after the loop
};

/// An array, and the dimension along which it is sliced.
using SlicedArray = std::pair<Instruction*, int64_t>;

/// The plan for one stack.
struct Move {
  std::map<const Instruction*, Moved> members;
  std::vector<Instruction*> whole;  ///< values from before the loop that iterations read whole
  std::vector<SlicedArray> sliced;  ///< those that they read slice by slice, each in only one way
};

class MakerInLoop {
 public:
  MakerInLoop(Instruction& loop, const Uses& uses, const Callers& callers, const std::vector<bool>& ordered,
              const Target& target, MadeInLoops what)
      : loop_(loop), uses_(uses), ordered_(ordered), target_(target), what_(what), carry_(loop, callers) {
    const auto count = trip_count(loop);
    if (!carry_.ok() || !count || count->trips < 2) return;
    trips_ = count->trips;
    for (size_t k = 0; k < carry_.size(); ++k) add_stack(k);
  }

  /// Rewrites one stack, together with the values that its readers need.
  bool run() {
    if (stacks_.empty()) return false;
    find_dependents();
    for (const Stack& stack : stacks_) {
      if (!plan(stack)) continue;
      rewrite(stack);
      return true;
    }
    return false;
  }

 private:
  void add_stack(size_t k) {
    Instruction* update = carry_.body().root->operands[k];
    if (update->opcode != Opcode::kDynamicUpdateSlice || carry_.is_tested(k) || carry_.reads(k).size() != 1) return;
    if (&update->operand(0) != carry_.reads(k)[0] || uses_.of(update->operand(0)).size() != 1) return;
    if (uses_.of(*update).size() != 1 || !update->shape.dynamic.empty() || update->sharding) return;
    const auto at = trip_places(*update, 2, update->operand(1).shape, update->shape, loop_, trips_);
    if (!at || std::abs(at->places.step) != 1 || update->shape.dims[at->dimension] != trips_) return;
    Stack stack{k, *at, update, nullptr};
    for (const Instruction* user : uses_.of(loop_)) {
      if (user->as<TupleIndexAttributes>().index != static_cast<int64_t>(k)) continue;
      if (stack.result != nullptr || user == user->parent->root) return;
      stack.result = const_cast<Instruction*>(user);
    }
    if (stack.result != nullptr) stacks_.push_back(stack);
  }

  /// By id: does the instruction depend on the loop?
  void find_dependents() {
    depends_.assign(static_cast<size_t>(loop_.parent->module().id_limit()), false);
    int32_t place = 0;
    for (const auto& i : loop_.parent->instructions()) {
      place_[i.get()] = place++;
      const bool depends = std::ranges::any_of(
          i->operands, [&](const Instruction* operand) { return operand == &loop_ || depends_[operand->id]; });
      depends_[i->id] = depends;
    }
  }
  std::map<const Instruction*, Moved>& members() { return move_.members; }
  const std::map<const Instruction*, Moved>& members() const { return move_.members; }
  bool depends(const Instruction& i) const { return depends_[i.id]; }
  bool in_order() const { return loop_.parent->module().sums_in_order; }

  bool plan(const Stack& stack) {
    move_ = {};
    at_ = &stack;
    bytes_ = static_cast<double>(safe_logical_bytes(stack.result->shape));
    std::vector<Instruction*> open{stack.result};
    members()[stack.result] = {static_cast<int64_t>(stack.at.dimension), true, true};
    while (!open.empty()) {
      const Instruction& made = *open.back();
      open.pop_back();
      if (uses_.of(made).empty() || &made == made.parent->root) return false;
      for (const Instruction* const_user : uses_.of(made)) {
        auto* user = const_cast<Instruction*>(const_user);
        if (members().contains(user) && members().at(user).is_asked) continue;
        Move before = move_;
        if (!move_reader(*user, made)) {
          if (what_ != MadeInLoops::kUpdates || &made == stack.result) return false;
          move_ = std::move(before);
          members().at(&made).is_kept = true;
          continue;
        }
        Moved& moved = members().at(user);
        moved.is_asked = true;
        moved.is_open = moved.dimension != kSummed && kLeftPart * bytes_of(*user) > bytes_;
        if (moved.is_open) open.push_back(user);
      }
    }
    if (what_ == MadeInLoops::kUpdates) find_overwritten();
    return pays();
  }

  static double bytes_of(const Instruction& i) { return static_cast<double>(safe_logical_bytes(i.shape)); }

  /// Moves a reader of slices of `made` into the loop, where it computes slices, or folds them.
  bool move_reader(Instruction& user, const Instruction& made) {
    if (!may_move(user)) return false;
    const int64_t mine = members().at(&made).dimension;
    for (size_t k = 0; k < user.operands.size(); ++k) {
      if (user.operands[k] != &made) continue;
      for (int64_t r = 0; r < user.shape.rank(); ++r) {
        int64_t j = -1;
        if (operand_in_step(user, k, r, j) == InStep::kYes && j == mine) return move(user, r);
      }
      if (user.opcode == Opcode::kReduce && k == 0) return move_fold(user, mine);
    }
    return false;
  }

  bool may_move(const Instruction& i) const {
    return !ordered_[i.id] && i.shape.is_array() && i.shape.dynamic.empty() && !i.sharding &&
           members().size() < kMostMembers;
  }

  bool move(Instruction& i, int64_t d) {
    if (const auto known = members().find(&i); known != members().end()) return known->second.dimension == d;
    if (!may_move(i) || !can_be_made_by_slices(i, d) || i.shape.dims[d] != trips_) return false;
    if (i.opcode == Opcode::kScatter || i.opcode == Opcode::kSort || i.opcode == Opcode::kTopK) return false;
    if (in_order() && !rows_keep_order(i, d, target_)) return false;
    members()[&i] = {d};
    for (size_t k = 0; k < i.operands.size(); ++k) {
      int64_t j = -1;
      if (!take_operand(*i.operands[k], operand_in_step(i, k, d, j) == InStep::kYes ? j : kWhole)) return false;
    }
    return true;
  }

  bool move_fold(Instruction& reduce, int64_t d) {
    const std::optional<Fold> fold = folded_along(reduce, 0, d);
    if (!fold || members().contains(&reduce)) return false;
    const ElementType type = reduce.shape.type;
    const bool order_free = is_order_free(*reduce.called[0], type);
    if (!order_free && (in_order() || type_bits(type) < 32)) return false;
    members()[&reduce] = {kSummed};
    return take_operand(reduce.operand(1), kWhole, false);
  }

  /// Makes this operand, or its slices along j, available to iterations; false: it can't be.
  bool take_operand(const Instruction& operand, int64_t j, bool in_body = true) {
    auto* i = const_cast<Instruction*>(&operand);
    if (j == kWhole) {
      if (depends(*i) || !i->shape.is_array()) return false;
      if (!in_body) return true;
      if (std::ranges::find(move_.sliced, i, &SlicedArray::first) != move_.sliced.end()) return false;
      move_.whole.push_back(i);
      return true;
    }
    if (members().contains(i)) return members().at(i).dimension == j;
    for (const Stack& stack : stacks_) {
      if (stack.result != i) continue;
      const bool same = is_in_step(stack.at, j);
      if (same) members()[i] = {j};
      return same;
    }
    const bool is_cheap = i->opcode == Opcode::kBroadcast || i->opcode == Opcode::kIota;
    if (depends(*i) || is_cheap) return move(*i, j);
    if (what_ == MadeInLoops::kUpdates && is_light(*i)) {  // the updated value may be scaled first
      Move before = move_;
      if (move(*i, j)) return true;
      move_ = std::move(before);
    }
    // In only one way: an iteration that overwrites slices of it must not read it otherwise.
    const auto known = std::ranges::find(move_.sliced, i, &SlicedArray::first);
    if (known != move_.sliced.end()) return known->second == j;
    if (std::ranges::find(move_.whole, i) != move_.whole.end()) return false;
    move_.sliced.push_back({i, j});
    return true;
  }

  /// Does each iteration access the same slice of an array, along d, as of the stack?
  bool is_in_step(const TripPlaces& at, int64_t d) const {
    const Progression &mine = at.places, &theirs = at_->at.places;
    return static_cast<int64_t>(at.dimension) == d && mine.start == theirs.start && mine.step == theirs.step;
  }

  /// Is the value stacked, or loop-carried, in place of the stack?
  bool is_output(const Instruction& i) const {
    const Moved& moved = members().at(&i);
    if (!moved.is_asked || (moved.is_open && !moved.is_kept)) return false;
    if (&i == i.parent->root || moved.is_kept) return true;
    return std::ranges::any_of(uses_.of(i), [&](const Instruction* user) {
      const auto reader = members().find(user);
      return reader == members().end() || !reader->second.is_asked;
    });
  }

  bool pays() const {
    double left = 0, kernels = 0;
    for (const auto& [i, moved] : members()) {
      if (!is_output(*i)) continue;
      ++kernels;
      if (!overwritten_.contains(i)) left += bytes_of(*i);
    }
    const double saved = bytes_ - left;
    if (kernels == 0 || 2 * saved < bytes_) return false;
    if (what_ == MadeInLoops::kUpdates) return true;  // plans with it and without it are compared
    const Cost& cost = target_.cost();
    const double price = bytes_ >= kLarge ? kLargePrice : 1;
    return price * saved * (2 * cost.byte_ns() + cost.stored_byte_ns()) >=
           kernels * static_cast<double>(trips_) * cost.kernel_start_ns();
  }

  /// Finds arrays that die slice by slice while outputs are computed from them: one output overwrites each, preferably
  /// the result that is declared as its alias.
  void find_overwritten() {
    overwritten_.clear();
    std::vector<const Instruction*> outputs;
    for (const auto& [i, moved] : members()) {
      if (is_output(*i) && moved.dimension != kSummed) outputs.push_back(i);
    }
    std::ranges::sort(outputs, {}, [&](const Instruction* i) { return place_.at(i); });
    std::vector<SlicedArray> free;
    std::ranges::copy_if(move_.sliced, std::back_inserter(free),
                         [&](const auto& array) { return is_consumed(*array.first, array.second); });
    for (const bool declared : {true, false}) {
      for (const Instruction* i : outputs) {
        if (overwritten_.contains(i)) continue;
        const auto fits = std::ranges::find_if(free, [&](const auto& array) {
          return array.second == members().at(i).dimension && same_shape(array.first->shape, i->shape) &&
                 (!(declared || element_carried(*array.first)) || is_declared(*array.first, *i));
        });
        if (fits == free.end()) continue;
        overwritten_[i] = fits->first;
        std::erase_if(free, [&](const auto& array) { return array.first == overwritten_.at(i); });
      }
    }
  }

  /// Is the program's result i declared as an alias of this argument, or does it continue this carry of the loop in
  /// whose body it is?
  bool is_declared(const Instruction& argument, const Instruction& i) const {
    if (const auto carried = element_carried(argument)) return i.parent->root->operands[*carried] == &i;
    const Module& module = i.parent->module();
    if (argument.opcode != Opcode::kParameter || module.entry->root->opcode != Opcode::kTuple) return false;
    return std::ranges::any_of(module.input_output_alias, [&](const AliasEntry& alias) {
      return alias.operand == argument.as<ParameterAttributes>().number && alias.output.size() == 1 &&
             module.entry->root->operands[alias.output[0]] == &i;
    });
  }

  /// The element of the carry of the loop in whose body this loop is.
  std::optional<size_t> element_carried(const Instruction& array) const {
    const Computation& parent = *loop_.parent;
    const bool is_element = array.opcode == Opcode::kGetTupleElement && array.operand(0).opcode == Opcode::kParameter;
    if (!is_element || &parent == parent.module().entry || parent.root->opcode != Opcode::kTuple) return {};
    if (!same_shape(parent.root->shape, array.operand(0).shape)) return {};
    return static_cast<size_t>(array.as<TupleIndexAttributes>().index);
  }

  /// May the array be overwritten slice by slice, along d? All its other readers must run before the loop, be gone
  /// afterwards, or read in each iteration the slice of that iteration.
  bool is_consumed(const Instruction& array, int64_t d) const {
    if (array.opcode == Opcode::kConstant) return false;
    if (loop_.parent != loop_.parent->module().entry && !element_carried(array)) return false;
    if (array.opcode == Opcode::kParameter && !is_donated(array)) return false;
    const Instruction& start = loop_.operand(0);
    for (const Instruction* user : uses_.of(array)) {
      if (!is_gone(*user) && user != &start && place_.at(user) >= place_.at(&loop_)) return false;
    }
    for (size_t k = 0; k < carry_.size(); ++k) {
      if (start.operands[k] == &array && !is_read_by_trip(k, d)) return false;
    }
    return true;
  }

  /// Has it no readers left after the loop?
  bool is_gone(const Instruction& i) const {
    const auto known = members().find(&i);
    if (known == members().end()) return false;
    return known->second.is_asked ||
           std::ranges::all_of(uses_.of(i), [&](const Instruction* user) { return is_gone(*user); });
  }

  /// Is element k loop-invariant, and does each iteration read only the slice at the place where it writes the stack?
  bool is_read_by_trip(size_t k, int64_t d) const {
    if (!carry_.is_invariant(k)) return false;
    for (const Instruction* user : uses_.of(loop_)) {
      if (user->as<TupleIndexAttributes>().index == static_cast<int64_t>(k)) return false;
    }
    for (const Instruction* read : carry_.reads(k)) {
      for (const Instruction* user : uses_.of(*read)) {
        if (user == carry_.body().root) continue;
        if (user->opcode != Opcode::kDynamicSlice) return false;
        const auto at = trip_places(*user, 1, user->shape, read->shape, loop_, trips_);
        if (!at || !is_in_step(*at, d)) return false;
      }
    }
    return true;
  }

  void rewrite(const Stack& stack) {
    Computation& parent = *loop_.parent;
    Maker outside(parent);
    std::vector<Instruction*> order;
    for (const auto& [i, moved] : members()) order.push_back(const_cast<Instruction*>(i));
    std::ranges::sort(order, {}, [&](const Instruction* i) { return place_.at(i); });

    // The carry first: names in the body are looked up once.
    struct Output {
      size_t element;
      Instruction* read;
    };
    std::map<Instruction*, Output> outputs;
    for (Instruction* i : order) {
      if (!is_output(*i)) continue;
      const size_t element = carry_.size();
      outputs[i] = {element, carry_.add(*start_of(*i, outside))};
    }
    std::map<Instruction*, Instruction*> given;
    for (const auto& [i, array] : overwritten_) {
      given[array] = outputs.at(const_cast<Instruction*>(i)).read;
      read_instead(*array, *given[array]);
    }
    const auto give = [&](Instruction* i) {
      if (i->opcode != Opcode::kConstant && !given.contains(i)) given[i] = carry_.invariant(*i);
    };
    for (Instruction* i : move_.whole) give(i);
    for (const auto& [i, j] : move_.sliced) give(i);

    Computation& body = carry_.body();
    Maker inside(body);
    place_in_trip_ = stack.update->operands[2 + stack.at.dimension];
    made_.clear();
    for (const auto& [i, j] : move_.sliced) {
      Dims part = i->shape.dims;
      part[j] = 1;
      made_[i] = inside.make(Opcode::kDynamicSlice, Shape::array(i->shape.type, part),
                             starts({given_of(i, given, inside)}, *i, j, inside), DynamicSliceAttributes{part});
    }
    for (Instruction* i : move_.whole) {
      if (!made_.contains(i)) made_[i] = given_of(i, given, inside);
    }
    for (Instruction* i : order) {
      const Moved& moved = members().at(i);
      const auto output = outputs.find(i);
      if (moved.dimension == kSummed) {
        if (output == outputs.end()) continue;
        carry_.set_next(output->second.element, *folded(*i, output->second.read, inside));
        continue;
      }
      made_[i] = slice_of(*i, moved.dimension, inside);
      if (output == outputs.end()) continue;
      Instruction* stacked = inside.make(Opcode::kDynamicUpdateSlice, output->second.read->shape,
                                         starts({output->second.read, made_[i]}, *i, moved.dimension, inside));
      carry_.set_next(output->second.element, *stacked);
      if (!moved.is_kept) continue;
      // Other values read the slice from the stack: recomputing it for them would have to come before its operand is
      // overwritten.
      const Shape slice = made_[i]->shape;
      made_[i] = inside.make(Opcode::kDynamicSlice, slice, starts({stacked}, *i, moved.dimension, inside),
                             DynamicSliceAttributes{slice.dims});
    }
    carry_.put_reads_first();
    put_operands_first(body);

    for (Instruction* i : order) {
      const auto made = outputs.find(i);
      if (made == outputs.end()) continue;
      const Output& output = made->second;
      Instruction* result = outside.element(loop_, output.element);
      for (const Instruction* user : uses_.of(*i)) {
        for (Instruction*& operand : const_cast<Instruction*>(user)->operands) {
          if (operand == i) operand = result;
        }
      }
      if (parent.root == i) parent.root = result;
    }
    put_operands_first(parent);
  }

  /// The initial value of an output's element of the carry.
  Instruction* start_of(const Instruction& i, Maker& outside) const {
    if (members().at(&i).dimension == kSummed) return outside.broadcast(i.operands[1], i.shape.dims, {});
    const auto place = overwritten_.find(&i);
    return place != overwritten_.end() ? place->second : outside.filled(i.shape.type, i.shape.dims, 0);
  }

  /// Makes the body's slices of an array read the element that overwrites it.
  void read_instead(const Instruction& array, Instruction& read) {
    for (size_t k = 0; k < carry_.size(); ++k) {
      if (&carry_.initial(k) != &array || !carry_.is_invariant(k) || carry_.reads(k)[0] == &read) continue;
      for (const Instruction* before : carry_.reads(k)) {
        for (const Instruction* user : uses_.of(*before)) {
          if (user->opcode == Opcode::kDynamicSlice) const_cast<Instruction*>(user)->operands[0] = &read;
        }
      }
    }
  }

  static Instruction* given_of(Instruction* i, const std::map<Instruction*, Instruction*>& given, Maker& inside) {
    return i->opcode == Opcode::kConstant ? inside.like(*i, i->shape, {}) : given.at(i);
  }

  /// The operands, and the start of this iteration's slice.
  std::vector<Instruction*> starts(std::vector<Instruction*> operands, const Instruction& all, int64_t d,
                                   Maker& inside) const {
    for (int64_t k = 0; k < all.shape.rank(); ++k) {
      operands.push_back(k == d ? place_in_trip_ : inside.constant(place_in_trip_->shape.type, 0));
    }
    return operands;
  }

  Instruction* slice_of(Instruction& i, int64_t d, Maker& inside) {
    for (const Stack& stack : stacks_) {
      if (stack.result == &i) return stack.update->operands[1];
    }
    Shape shape = Shape::array(i.shape.type, i.shape.dims);
    shape.dims[d] = 1;
    Instruction* made = clone(i, shape, inside);
    adapt_to_slice(i, d, 1, made->attributes);
    return count_result_from(i, d, made, place_in_trip_,
                             [&](Opcode opcode, Shape part, std::vector<Instruction*> operands, Attributes attributes) {
                               return inside.make(opcode, std::move(part), std::move(operands), std::move(attributes));
                             });
  }

  Instruction* clone(const Instruction& i, const Shape& shape, Maker& inside) {
    return inside.like(i, shape, mapped(i, made_));
  }

  /// Folds this iteration's slice into the sum, or other fold, before it.
  Instruction* folded(const Instruction& reduce, Instruction* before, Maker& inside) {
    const Opcode combine = reduce.called[0]->root->opcode;
    const ElementType type = reduce.shape.type;
    Instruction* neutral =
        inside.make(Opcode::kConstant, Shape::scalar(type), {}, ConstantAttributes{neutral_element(combine, type)});
    Instruction* slice =
        inside.like(reduce, Shape::array(type, reduce.shape.dims), {made_.at(reduce.operands[0]), neutral});
    slice->called = reduce.called;
    return inside.binary(combine, before, slice);
  }

  Instruction& loop_;
  const Uses& uses_;
  const std::vector<bool>& ordered_;
  const Target& target_;
  const MadeInLoops what_;
  LoopCarry carry_;
  int64_t trips_ = 0;
  std::vector<Stack> stacks_;
  std::vector<bool> depends_;  ///< by id
  std::map<const Instruction*, int32_t> place_;

  // Of the current stack:
  const Stack* at_ = nullptr;
  double bytes_ = 0;
  Move move_;
  std::map<const Instruction*, Instruction*> overwritten_;  ///< stacked values -> the arrays that they overwrite
  Instruction* place_in_trip_ = nullptr;
  InstructionMap made_;  ///< copies in the body
};

}  // namespace

Result<PassResult> make_in_loops(Module& module, const Target& target, MadeInLoops what) {
  if (!has_any(module, {Opcode::kWhile})) return PassResult{};
  int64_t count = 0;
  const Callers callers = count_callers(module);
  std::vector<Instruction*> open = free_loops(module);
  std::optional<Uses> uses;
  std::vector<bool> ordered;
  while (!open.empty()) {
    if (!uses) uses.emplace(module), ordered = ordered_instructions(module);
    if (MakerInLoop(*open.back(), *uses, callers, ordered, target, what).run()) {
      ++count;
      uses.reset();
    } else {
      open.pop_back();
    }
  }
  const bool reduces = what == MadeInLoops::kReductions;
  return rewritten(count, reduces ? "stacks reduced where they are made" : "stacks consumed where they are made");
}

}  // namespace lowtide::engine
