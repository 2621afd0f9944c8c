#include "passes/rules/keep_rows_read_again.h"

#include <algorithm>
#include <map>

#include "analysis/uses.h"
#include "passes/rewrite.h"
#include "passes/rules/index_forms.h"
#include "passes/rules/known_values.h"
#include "passes/rules/saved_stacks.h"
#include "passes/rules/trip_places.h"

namespace lowtide::engine {
namespace {

/// A slice, in the body, of the row that was written so many iterations ago.
struct RowRead {
  Instruction* slice = nullptr;
  int64_t ago = 0;
};

/// A box of rows that is read after the loop.
struct RowsRead {
  Instruction* box = nullptr;
  Dims start;
};

class Windows {
 public:
  Windows(Instruction& loop, const Uses& uses, const Callers& callers)
      : loop_(loop), uses_(uses), carry_(loop, callers) {
    const auto count = trip_count(loop);
    if (carry_.ok() && count) trips_ = count->trips;
  }

  /// Rewrites one element of the carry.
  bool run() {
    if (trips_ < 2) return false;
    for (size_t k = 0; k < carry_.size(); ++k) {
      if (!find(k)) continue;
      rewrite(k);
      return true;
    }
    return false;
  }

 private:
  bool find(size_t k) {
    reads_.clear();
    results_.clear();
    rows_ = 1;
    update_ = carry_.body().root->operands[k];
    if (update_->opcode != Opcode::kDynamicUpdateSlice || carry_.is_tested(k) || carry_.reads(k).size() != 1)
      return false;
    const Instruction* before = carry_.reads(k)[0];
    if (&update_->operand(0) != before || &update_->operand(1) == before || !update_->shape.dynamic.empty() ||
        update_->sharding) {
      return false;
    }
    const auto at = trip_places(*update_, 2, update_->operand(1).shape, update_->shape, loop_, trips_);
    if (!at || std::abs(at->places.step) != 1) return false;
    at_ = *at;
    for (const Instruction* user : uses_.of(*before)) {
      if (user != update_ && !is_dead(*user) && !add_read(*user, *before, 1)) return false;
    }
    const auto& next = carry_.body().root->operands;
    if (std::ranges::count(next, update_) != 1) return false;
    for (const Instruction* user : uses_.of(*update_)) {
      if (user != carry_.body().root && !is_dead(*user) && !add_read(*user, *update_, 0)) return false;
    }
    for (const Instruction* user : uses_.of(loop_)) {
      if (user->as<TupleIndexAttributes>().index != static_cast<int64_t>(k)) continue;
      if (user == user->parent->root) return false;
      for (const Instruction* box : uses_.of(*user)) {
        if (!is_dead(*box) && !add_result(*box)) return false;
      }
    }
    const bool is_read = !reads_.empty() || !results_.empty();
    return is_read && kLeastWindows * rows_ <= extent();
  }

  bool is_dead(const Instruction& i) const { return uses_.of(i).empty() && &i != i.parent->root; }

  bool add_read(const Instruction& slice, const Instruction& array, int64_t least_ago) {
    if (slice.opcode != Opcode::kDynamicSlice || slice.operands[0] != &array || slice.sharding) return false;
    if (std::ranges::count(slice.operands, &array) != 1 || slice.shape.dims[at_.dimension] != 1) return false;
    const auto places = in_each_trip(slice.operand(1 + at_.dimension), loop_, trips_);
    if (!places || places->step != at_.places.step) return false;
    const int64_t last = places->start + places->step * (trips_ - 1);
    if (std::min(places->start, last) < 0 || std::max(places->start, last) >= extent()) return false;
    const int64_t ago = (at_.places.start - places->start) * at_.places.step;
    if (ago < least_ago) return false;
    reads_.push_back({const_cast<Instruction*>(&slice), ago});
    rows_ = std::max(rows_, ago);
    return true;
  }

  bool add_result(const Instruction& box) {
    RowsRead read{const_cast<Instruction*>(&box), {}};
    if (box.sharding || !box.shape.dynamic.empty()) return false;
    if (const auto* slice = box.if_as<SliceAttributes>(); slice != nullptr) {
      if (std::ranges::any_of(slice->strides, [](int64_t stride) { return stride != 1; })) return false;
      read.start = slice->starts;
    } else if (box.opcode == Opcode::kDynamicSlice) {
      const auto corner = known_corner(box, 1, box.shape.dims);
      if (!corner) return false;
      read.start = *corner;
    } else {
      return false;
    }
    for (int64_t k = 0; k < box.shape.dims[at_.dimension]; ++k) {
      const int64_t ago = ago_of(read.start[at_.dimension] + k);
      if (ago < 1 || ago > trips_) return false;
      rows_ = std::max(rows_, ago);
    }
    results_.push_back(read);
    return true;
  }

  int64_t extent() const { return update_->shape.dims[at_.dimension]; }
  /// How many iterations before the end of the loop a row was written; 1 for the last one.
  int64_t ago_of(int64_t row) const { return trips_ - (row - at_.places.start) * at_.places.step; }

  void rewrite(size_t k) {
    Computation& parent = *loop_.parent;
    Maker outside(parent);
    const bool ring = rows_ > kMostSeparateRows;
    Dims row = update_->shape.dims;
    row[at_.dimension] = 1;
    std::vector<Instruction*> start;  // the rows written 1, 2, ... iterations before the first one
    for (int64_t ago = 1; ago <= rows_; ++ago) {
      start.push_back(row_of(carry_.initial(k), at_.places.start - ago * at_.places.step, row, outside));
    }
    const size_t first = carry_.size();
    std::vector<Instruction*> given;
    if (ring) {
      given = {carry_.add(*joined({start.rbegin(), start.rend()}, outside))};
    } else {
      for (Instruction* one : start) given.push_back(carry_.add(*one));
    }
    Maker inside(carry_.body());
    if (ring) {
      write_ring(first, *given[0], inside);
    } else {
      for (const RowRead& read : reads_) {
        replace(*read.slice, *part_of_row(*read.slice, *row_ago(given, read.ago), inside));
      }
      for (size_t j = 0; j < given.size(); ++j)
        carry_.set_next(first + j, j == 0 ? *update_->operands[1] : *given[j - 1]);
    }
    carry_.put_reads_first();
    put_operands_first(carry_.body());

    std::vector<Instruction*> left;
    for (size_t j = 0; j < given.size(); ++j) left.push_back(outside.element(loop_, first + j));
    for (const RowsRead& read : results_) {
      std::vector<Instruction*> parts;
      for (int64_t n = 0; n < read.box->shape.dims[at_.dimension]; ++n) {
        const int64_t ago = ago_of(read.start[at_.dimension] + n);
        Dims from = read.start, size = read.box->shape.dims;
        size[at_.dimension] = 1;
        from[at_.dimension] = ring ? (trips_ - ago) % rows_ : 0;
        parts.push_back(box_of(ring ? left[0] : left[ago - 1], from, size, outside));
      }
      replace(*read.box, *joined(parts, outside));
    }
    put_operands_first(parent);
  }

  Instruction* row_ago(const std::vector<Instruction*>& given, int64_t ago) const {
    return ago == 0 ? update_->operands[1] : given[ago - 1];
  }

  void write_ring(size_t element, Instruction& ring, Maker& inside) {
    Instruction* place = update_->operands[2 + at_.dimension];
    const ElementType type = place->shape.type;
    Instruction* first = inside.constant(type, at_.places.start);
    Instruction* trip = at_.places.step > 0 ? inside.binary(Opcode::kSubtract, place, first)
                                            : inside.binary(Opcode::kSubtract, first, place);
    Instruction* size = inside.constant(type, rows_);
    const auto slot = [&](int64_t ago) {
      Instruction* shifted = inside.binary(Opcode::kAdd, trip, inside.constant(type, rows_ - ago));
      return inside.binary(Opcode::kRemainder, ago == 0 ? trip : shifted, size);
    };
    std::map<int64_t, Instruction*> slots;
    for (const RowRead& read : reads_) {
      if (read.ago == 0) {
        replace(*read.slice, *part_of_row(*read.slice, *update_->operands[1], inside));
        continue;
      }
      Instruction*& at = slots[read.ago];
      if (at == nullptr) at = slot(read.ago);
      std::vector<Instruction*> operands = read.slice->operands;
      operands[0] = &ring;
      operands[1 + at_.dimension] = at;
      replace(*read.slice, *inside.make(Opcode::kDynamicSlice, read.slice->shape, operands, read.slice->attributes));
    }
    std::vector<Instruction*> operands = update_->operands;
    operands[0] = &ring;
    operands[2 + at_.dimension] = slot(0);
    carry_.set_next(element, *inside.make(Opcode::kDynamicUpdateSlice, ring.shape, operands));
  }

  /// The part of its row that the slice reads.
  Instruction* part_of_row(const Instruction& slice, Instruction& row, Maker& inside) const {
    if (slice.shape.dims == row.shape.dims) return &row;
    std::vector<Instruction*> operands = slice.operands;
    operands[0] = &row;
    operands[1 + at_.dimension] = inside.constant(slice.operand(1 + at_.dimension).shape.type, 0);
    return inside.make(Opcode::kDynamicSlice, Shape::array(slice.shape.type, slice.shape.dims), operands,
                       slice.attributes);
  }

  /// A row of the carry's initial value; zeros if it is outside: nothing reads it then.
  Instruction* row_of(Instruction& all, int64_t place, const Dims& row, Maker& outside) const {
    Instruction* from = &all;
    Dims start(row.size(), 0);
    start[at_.dimension] = place;
    if (place < 0 || place >= extent()) return outside.filled(all.shape.type, row, 0);
    while (from->opcode == Opcode::kDynamicUpdateSlice && !from->sharding) {
      const Dims& part = from->operand(1).shape.dims;
      const auto corner = known_corner(*from, 2, part);
      if (!corner) break;
      const int64_t inside = place - (*corner)[at_.dimension];
      if (inside < 0 || inside >= part[at_.dimension]) {
        from = from->operands[0];
        continue;
      }
      bool whole = true;
      for (size_t d = 0; d < row.size(); ++d) whole &= d == at_.dimension || part[d] == row[d];
      if (!whole) break;
      start[at_.dimension] = inside;
      return box_of(from->operands[1], start, row, outside);
    }
    if (from->opcode == Opcode::kBroadcast && from->operand(0).shape.rank() == 0) {
      return outside.broadcast(from->operands[0], row, {});
    }
    return box_of(from, start, row, outside);
  }

  Instruction* joined(const std::vector<Instruction*>& rows, Maker& outside) const {
    if (rows.size() == 1) return rows[0];
    Dims all = rows[0]->shape.dims;
    all[at_.dimension] = static_cast<int64_t>(rows.size());
    return outside.make(Opcode::kConcatenate, Shape::array(rows[0]->shape.type, all), rows,
                        DimensionsAttributes{{static_cast<int64_t>(at_.dimension)}});
  }

  void replace(Instruction& old, Instruction& by) const {
    for (const Instruction* user : uses_.of(old)) {
      for (Instruction*& operand : const_cast<Instruction*>(user)->operands) {
        if (operand == &old) operand = &by;
      }
    }
    if (old.parent->root == &old) old.parent->root = &by;
  }

  Instruction& loop_;
  const Uses& uses_;
  LoopCarry carry_;
  int64_t trips_ = 0;

  // Of the current element:
  Instruction* update_ = nullptr;
  TripPlaces at_;
  std::vector<RowRead> reads_;
  std::vector<RowsRead> results_;
  int64_t rows_ = 0;  ///< how many are read again
};

}  // namespace

Result<PassResult> keep_rows_read_again(Module& module) {
  if (!has_any(module, {Opcode::kWhile})) return PassResult{};
  int64_t count = 0;
  const Callers callers = count_callers(module);
  std::vector<Instruction*> open = free_loops(module);
  std::optional<Uses> uses;
  while (!open.empty()) {
    if (!uses) uses.emplace(module);
    if (Windows(*open.back(), *uses, callers).run()) {
      ++count;
      uses.reset();
    } else {
      open.pop_back();
    }
  }
  return rewritten(count, "carries kept as few rows");
}

}  // namespace lowtide::engine
