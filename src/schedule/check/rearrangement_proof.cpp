#include <algorithm>
#include <optional>

#include "ir/element_type.h"
#include "schedule/check/copied_boxes.h"
#include "schedule/check/moves_proof.h"

namespace lowtide::engine {
namespace {

/// The address of an array's byte as digits of a mixed-radix number, with the address it must have in the end: a
/// constant plus, for each digit, `target` times its value. Moves permute the digits until strides equal targets.
class Digits {
 public:
  struct Digit {
    int64_t extent = 0, target = 0;
  };

  explicit Digits(std::vector<Digit> digits) : digits_(std::move(digits)) {}

  /// False if the move splits the array at no digit boundary; then nothing changes.
  bool apply(const ArrayMove& move) {
    const std::vector<Digit> before = digits_;
    const bool reverses = move.kind == ArrayMove::kReverse;
    const auto unit = cut(0, move.unit), columns = unit ? cut(*unit, move.columns) : std::nullopt,
               rows = columns ? cut(*columns, reverses ? 1 : move.rows) : std::nullopt,
               batch = rows ? cut(*rows, move.batch) : std::nullopt;
    if (!batch || *batch != digits_.size()) {
      digits_ = before;
      return false;
    }
    const auto place = [&](size_t after) { return digits_.end() - static_cast<std::ptrdiff_t>(after); };
    if (reverses) {
      for (auto digit = place(*columns); digit != place(*unit); ++digit) {
        constant_ += digit->target * (digit->extent - 1);
        digit->target = -digit->target;
      }
    } else {
      std::rotate(place(*rows), place(*columns), place(*unit));
    }
    return true;
  }

  /// Is every byte at its final address?
  bool are_in_order() const {
    int64_t stride = 1;
    for (size_t k = digits_.size(); k-- > 0; stride *= digits_[k].extent) {
      if (digits_[k].extent > 1 && digits_[k].target != stride) return false;
    }
    return constant_ == 0;
  }

  void start_at(int64_t constant) { constant_ = constant; }

 private:
  /// Splits before the last `after` digits, so that the preceding ones count to `count`: the digit there is split in
  /// two if needed. Returns the number of digits after the split; none if the split isn't at a digit boundary.
  std::optional<size_t> cut(size_t after, int64_t count) {
    if (count <= 0) return {};
    while (count > 1) {
      if (after == digits_.size()) return {};
      const size_t at = digits_.size() - 1 - after;
      const Digit digit = digits_[at];
      if (count % digit.extent == 0) {
        count /= digit.extent;
      } else if (digit.extent % count == 0) {
        digits_[at] = {digit.extent / count, digit.target * count};
        digits_.insert(digits_.begin() + static_cast<std::ptrdiff_t>(at) + 1, {count, digit.target});
        count = 1;
      } else {
        return {};
      }
      ++after;
    }
    return after;
  }

  std::vector<Digit> digits_;
  int64_t constant_ = 0;
};

/// Combines two transpositions, of panels of rows or of columns, into one.
///   [b p][r][c][u] -> [b p][c][r][u], then [b][p][c][r u] -> [b][c][p][r u]: [b][p r][c][u] -> [b][c][p r][u]
///   [b][r][p][c u] -> [b][p][r][c u], then [b p][r][c][u] -> [b p][c][r][u]: [b][r][p c][u] -> [b][p c][r][u]
std::optional<ArrayMove> as_one(const ArrayMove& one, const ArrayMove& two) {
  if (one.kind != ArrayMove::kTranspose || two.kind != ArrayMove::kTranspose) return {};
  if (one.columns == two.columns && two.unit == one.rows * one.unit && one.batch == two.batch * two.rows)
    return ArrayMove{ArrayMove::kTranspose, two.batch, one.rows * two.rows, one.columns, one.unit};
  if (one.rows == two.rows && one.unit == two.columns * two.unit && two.batch == one.batch * one.columns)
    return ArrayMove{ArrayMove::kTranspose, one.batch, one.rows, one.columns * two.columns, two.unit};
  return {};
}

/// The operand's digits, with the targets of the kernel's one store. Nothing if the kernel is no rearrangement.
std::optional<Digits> digits_of(const PlacedKernel& kernel) {
  const Nest& nest = kernel.touches.nest();
  if (nest.stores.size() != 1 || kernel.buffers.size() != 2 || kernel.inputs != 1) return {};
  const Store& store = nest.stores[0];
  const Node& value = nest.nodes[store.value];
  const NestBuffer &from = nest.buffers[0], &to = nest.buffers[1];
  const int64_t width = stored_bytes(to.type);
  const auto& touches = kernel.touches.all();
  const auto stored = std::ranges::find(touches, true, &Touch::stores);
  const bool copies = value.kind == NodeKind::kLoad && value.buffer == 0 && from.type == to.type &&
                      from.elements == to.elements && kernel.place(0) == kernel.place(1) &&
                      times_stored(kernel.touches, *stored) == Int128{to.elements};
  if (!copies) return {};
  struct Axis {
    int64_t from = 0, to = 0, extent = 0;
  };
  std::vector<Axis> axes;
  size_t counted = 0;
  for (const int32_t id : stored->loops) {
    const Loop& loop = nest.loops[id];
    Axis axis{0, 0, loop.extent};
    for (const auto& term : value.affine.terms) {
      if (term.atom == loop.index) axis.from = term.coefficient, ++counted;
    }
    for (const auto& term : store.index.terms) {
      if (term.atom == loop.index) axis.to = term.coefficient, ++counted;
    }
    if (axis.extent > 1) axes.push_back(axis);
  }
  if (counted != value.affine.terms.size() + store.index.terms.size()) return {};
  // Walk the axes so that the operand's addresses ascend.
  int64_t first_read = value.affine.constant, first_stored = store.index.constant;
  for (Axis& axis : axes) {
    if (axis.from > 0) continue;
    first_read += axis.from * (axis.extent - 1);
    first_stored += axis.to * (axis.extent - 1);
    axis = {-axis.from, -axis.to, axis.extent};
  }
  std::ranges::sort(axes, std::greater(), &Axis::from);
  int64_t stride = 1;
  for (size_t k = axes.size(); k-- > 0; stride *= axes[k].extent) {
    if (axes[k].from != stride) return {};
  }
  if (stride != from.elements || first_read != 0) return {};
  std::vector<Digits::Digit> digits;
  for (const Axis& axis : axes) digits.push_back({axis.extent, axis.to * width});
  digits.push_back({width, 1});
  Digits made(std::move(digits));
  made.start_at(first_stored * width);
  return made;
}

}  // namespace

std::string fault_of_rearrangement(const PlacedKernel& kernel, const Rearrangement& rearrangement) {
  std::optional<Digits> digits = digits_of(kernel);
  if (!digits) return "it does more than move its operand";
  const std::vector<ArrayMove>& moves = rearrangement.moves;
  for (size_t k = 0; k < moves.size(); ++k) {
    if (scratch_of(moves[k]) > rearrangement.scratch_bytes) return "a move has too little scratch";
    if (digits->apply(moves[k])) continue;
    const auto both = k + 1 < moves.size() ? as_one(moves[k], moves[k + 1]) : std::nullopt;
    if (!both || !digits->apply(*both) || scratch_of(moves[k + 1]) > rearrangement.scratch_bytes)
      return "its moves cut the array elsewhere than the kernel";
    ++k;
  }
  return digits->are_in_order() ? "" : "its moves end in another order than the kernel's";
}

}  // namespace lowtide::engine
