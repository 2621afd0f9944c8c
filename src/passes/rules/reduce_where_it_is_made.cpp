#include "passes/rules/reduce_where_it_is_made.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/leaf_bytes.h"
#include "analysis/uses.h"
#include "ops/combiner.h"
#include "passes/rules/saved_stacks.h"
#include "passes/rules/trip_places.h"
#include "passes/stream/keep_order.h"
#include "passes/stream/stream_loop.h"
#include "passes/stream/walk.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostMembers = 64;
/// Stacks from this size on may cost so many times the time that their bytes are worth: they decide whether the program
/// fits.
constexpr double kLarge = 16 << 20, kLargePrice = 16;

/// An element of the carry that each trip fills a slice of.
struct Stack {
  size_t element = 0;
  TripPlaces at;
  Instruction* update = nullptr;
  Instruction* result = nullptr;  ///< behind the loop
};

/// What is made in the loop instead of behind it.
struct Moved {
  int64_t dimension = 0;  ///< of the slices; kSummed
  bool is_open = false;   ///< too large to be stacked: all that reads it is made in the loop, too
  bool is_asked = false;  ///< reads what is open; others are only made again for those
};

class Reducer {
 public:
  Reducer(Instruction& loop, const Uses& uses, const Callers& callers, const std::vector<bool>& ordered,
          const Target& target)
      : loop_(loop), uses_(uses), ordered_(ordered), target_(target), carry_(loop, callers) {
    const auto count = trip_count(loop);
    if (!carry_.ok() || !count || count->trips < 2) return;
    trips_ = count->trips;
    for (size_t k = 0; k < carry_.size(); ++k) add_stack(k);
  }

  /// Rewrites one stack, with what else its readers take with them.
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

  /// By id: is it made of what the loop makes?
  void find_dependents() {
    depends_.assign(static_cast<size_t>(loop_.parent->module().id_limit()), false);
    int32_t place = 0;
    for (const auto& i : loop_.parent->instructions()) {
      place_[i.get()] = place++;
      const bool depends = std::ranges::any_of(i->operands, [&](const Instruction* operand) {
        return operand == &loop_ || depends_[static_cast<size_t>(operand->id)];
      });
      depends_[static_cast<size_t>(i->id)] = depends;
    }
  }
  bool depends(const Instruction& i) const { return depends_[static_cast<size_t>(i.id)]; }
  bool in_order() const { return loop_.parent->module().sums_in_order; }

  bool plan(const Stack& stack) {
    moved_.clear();
    whole_.clear();
    sliced_.clear();
    at_ = &stack;
    bytes_ = static_cast<double>(safe_logical_bytes(stack.result->shape));
    std::vector<Instruction*> open{stack.result};
    moved_[stack.result] = {static_cast<int64_t>(stack.at.dimension), true, true};
    while (!open.empty()) {
      const Instruction& made = *open.back();
      open.pop_back();
      if (uses_.of(made).empty() || &made == made.parent->root) return false;
      for (const Instruction* const_user : uses_.of(made)) {
        auto* user = const_cast<Instruction*>(const_user);
        if (moved_.contains(user) && moved_.at(user).is_asked) continue;
        if (!move_reader(*user, made)) return false;
        Moved& moved = moved_.at(user);
        moved.is_asked = true;
        moved.is_open = moved.dimension != kSummed && kLeftPart * bytes_of(*user) > bytes_;
        if (moved.is_open) open.push_back(user);
      }
    }
    return pays();
  }

  static double bytes_of(const Instruction& i) { return static_cast<double>(safe_logical_bytes(i.shape)); }

  /// Makes slice by slice what reads slices of `made`, or folds them.
  bool move_reader(Instruction& user, const Instruction& made) {
    if (!may_move(user)) return false;
    const int64_t mine = moved_.at(&made).dimension;
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
    return !ordered_[static_cast<size_t>(i.id)] && i.shape.is_array() && i.shape.dynamic.empty() && !i.sharding &&
           moved_.size() < kMostMembers;
  }

  bool move(Instruction& i, int64_t d) {
    if (const auto known = moved_.find(&i); known != moved_.end()) return known->second.dimension == d;
    if (!may_move(i) || !can_be_made_by_slices(i, d) || i.shape.dims[static_cast<size_t>(d)] != trips_) return false;
    if (i.opcode == Opcode::kScatter || i.opcode == Opcode::kSort || i.opcode == Opcode::kTopK) return false;
    if (in_order() && !rows_keep_order(i, d, target_)) return false;
    moved_[&i] = {d};
    for (size_t k = 0; k < i.operands.size(); ++k) {
      int64_t j = -1;
      if (!take_operand(*i.operands[k], operand_in_step(i, k, d, j) == InStep::kYes ? j : kWhole)) return false;
    }
    return true;
  }

  bool move_fold(Instruction& reduce, int64_t d) {
    const std::optional<Fold> fold = folded_along(reduce, 0, d);
    if (!fold || moved_.contains(&reduce)) return false;
    const ElementType type = reduce.shape.type;
    const bool order_free = is_order_free(*reduce.called[0], type);
    if (!order_free && (in_order() || type_bits(type) < 32)) return false;
    moved_[&reduce] = {kSummed};
    return take_operand(reduce.operand(1), kWhole, false);
  }

  /// Has the loop this operand, or a slice of it along j, when a trip needs it?
  bool take_operand(const Instruction& operand, int64_t j, bool in_body = true) {
    auto* i = const_cast<Instruction*>(&operand);
    if (j == kWhole) {
      if (depends(*i) || !i->shape.is_array()) return false;
      if (in_body) whole_.push_back(i);
      return true;
    }
    if (moved_.contains(i)) return moved_.at(i).dimension == j;
    for (const Stack& stack : stacks_) {
      if (stack.result != i) continue;
      const bool same = static_cast<int64_t>(stack.at.dimension) == j &&
                        stack.at.places.start == at_->at.places.start && stack.at.places.step == at_->at.places.step;
      if (same) moved_[i] = {j};
      return same;
    }
    const bool is_cheap = i->opcode == Opcode::kBroadcast || i->opcode == Opcode::kIota;
    if (depends(*i) || is_cheap) return move(*i, j);
    sliced_.push_back({i, j});
    return true;
  }

  /// What is stacked, or carried, in the place of the stack.
  bool is_output(const Instruction& i) const {
    const Moved& moved = moved_.at(&i);
    if (!moved.is_asked || moved.is_open) return false;
    if (&i == i.parent->root) return true;
    return std::ranges::any_of(uses_.of(i), [&](const Instruction* user) {
      const auto reader = moved_.find(user);
      return reader == moved_.end() || !reader->second.is_asked;
    });
  }

  bool pays() const {
    double left = 0, kernels = 0;
    for (const auto& [i, moved] : moved_) {
      if (is_output(*i)) left += bytes_of(*i), ++kernels;
    }
    const Cost& cost = target_.cost();
    const double saved = bytes_ - left, price = bytes_ >= kLarge ? kLargePrice : 1;
    return kernels > 0 && 2 * saved >= bytes_ &&
           price * saved * (2 * cost.byte_ns() + cost.stored_byte_ns()) >=
               kernels * static_cast<double>(trips_) * cost.kernel_start_ns();
  }

  void rewrite(const Stack& stack) {
    Computation& parent = *loop_.parent;
    Maker outside(parent);
    std::vector<Instruction*> order;
    for (const auto& [i, moved] : moved_) order.push_back(const_cast<Instruction*>(i));
    std::ranges::sort(order, {}, [&](const Instruction* i) { return place_.at(i); });

    // The carry first: names in the body are looked up once.
    struct Output {
      size_t element;
      Instruction* read;
    };
    std::map<Instruction*, Output> outputs;
    for (Instruction* i : order) {
      if (!is_output(*i)) continue;
      const bool sums = moved_.at(i).dimension == kSummed;
      const Dims& dims = i->shape.dims;
      Instruction* start = sums ? outside.broadcast(i->operands[1], dims, {}) : outside.filled(i->shape.type, dims, 0);
      const size_t element = carry_.size();
      outputs[i] = {element, carry_.add(*start)};
    }
    std::map<Instruction*, Instruction*> given;
    const auto give = [&](Instruction* i) {
      if (i->opcode != Opcode::kConstant && !given.contains(i)) given[i] = carry_.invariant(*i);
    };
    for (Instruction* i : whole_) give(i);
    for (const auto& [i, j] : sliced_) give(i);

    Computation& body = carry_.body();
    Maker inside(body);
    place_in_trip_ = stack.update->operands[2 + stack.at.dimension];
    made_.clear();
    for (const auto& [i, j] : sliced_) {
      Dims part = i->shape.dims;
      part[static_cast<size_t>(j)] = 1;
      made_[i] = inside.make(Opcode::kDynamicSlice, Shape::array(i->shape.type, part),
                             starts({given_of(i, given, inside)}, *i, j, inside), DynamicSliceAttributes{part});
    }
    for (Instruction* i : whole_) {
      if (!made_.contains(i)) made_[i] = given_of(i, given, inside);
    }
    for (Instruction* i : order) {
      const Moved& moved = moved_.at(i);
      const auto output = outputs.find(i);
      if (moved.dimension == kSummed) {
        if (output == outputs.end()) continue;
        carry_.set_next(output->second.element, *folded(*i, output->second.read, inside));
        continue;
      }
      made_[i] = slice_of(*i, moved.dimension, inside);
      if (output == outputs.end()) continue;
      std::vector<Instruction*> operands = starts({output->second.read, made_[i]}, *i, moved.dimension, inside);
      carry_.set_next(output->second.element,
                      *inside.make(Opcode::kDynamicUpdateSlice, output->second.read->shape, operands));
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

  static Instruction* given_of(Instruction* i, const std::map<Instruction*, Instruction*>& given, Maker& inside) {
    return i->opcode == Opcode::kConstant ? inside.like(*i, i->shape, {}) : given.at(i);
  }

  /// The operands, and where this trip's slice begins.
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
    shape.dims[static_cast<size_t>(d)] = 1;
    Instruction* made = clone(i, shape, inside);
    adapt_to_slice(i, d, 1, made->attributes);
    if (i.opcode != Opcode::kIota || i.as<IotaAttributes>().dimension != d) return made;
    Instruction* from = inside.broadcast(inside.convert(place_in_trip_, i.shape.type), shape.dims, {});
    return inside.binary(Opcode::kAdd, made, from);
  }

  Instruction* clone(const Instruction& i, const Shape& shape, Maker& inside) {
    return inside.like(i, shape, mapped(i, made_));
  }

  /// The sum, or whatever is folded, with this trip's slice.
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
  LoopCarry carry_;
  int64_t trips_ = 0;
  std::vector<Stack> stacks_;
  std::vector<bool> depends_;  ///< by id
  std::map<const Instruction*, int32_t> place_;

  // Of the stack that is looked at.
  const Stack* at_ = nullptr;
  double bytes_ = 0;
  std::map<const Instruction*, Moved> moved_;
  std::vector<Instruction*> whole_;                       ///< what trips read of what stands before the loop
  std::vector<std::pair<Instruction*, int64_t>> sliced_;  ///< the same slice by slice, along which dimension
  Instruction* place_in_trip_ = nullptr;
  InstructionMap made_;  ///< in the body
};

}  // namespace

Result<PassResult> reduce_where_it_is_made(Module& module, const Target& target) {
  PassResult result;
  const Callers callers = count_callers(module);
  std::vector<Instruction*> open = free_loops(module);
  std::optional<Uses> uses;
  std::vector<bool> ordered;
  while (!open.empty()) {
    if (!uses) uses.emplace(module), ordered = ordered_instructions(module);
    if (Reducer(*open.back(), *uses, callers, ordered, target).run()) {
      ++result.count;
      uses.reset();
    } else {
      open.pop_back();
    }
  }
  result.changed = result.count > 0;
  result.note = fmt::format("{} stacks reduced where they are made", result.count);
  return result;
}

}  // namespace lowtide::engine
