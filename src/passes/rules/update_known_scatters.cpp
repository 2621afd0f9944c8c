#include "passes/rules/update_known_scatters.h"

#include <algorithm>

#include "ops/combiner.h"
#include "ops/infer.h"
#include "passes/in_place/slices.h"
#include "passes/rules/index_runs.h"
#include "passes/rules/integer_ranges.h"
#include "passes/rules/known_values.h"
#include "passes/rules/slice_known_gathers.h"

namespace lowtide::engine {
namespace {

class UpdateScatter {
 public:
  UpdateScatter(Instruction& scatter, const IntegerRanges& ranges, Maker& maker)
      : scatter_(scatter),
        a_(scatter.as<ScatterAttributes>()),
        updates_(scatter.operands[2]),
        ranges_(ranges),
        maker_(maker) {
    Instruction* x = scatter.operands[0];
    Dims sizes(x->shape.dims.size(), 1);
    size_t next = 0;
    for (size_t d = 0; d < sizes.size(); ++d) {
      const auto k = static_cast<int64_t>(d);
      if (contains(a_.inserted_window_dims, k) || contains(a_.input_batching_dims, k)) continue;
      sizes[d] = updates_->shape.dims[a_.update_window_dims[next++]];
      window_.push_back(sizes[d]);
    }
    windows_ = {x,
                scatter.operands[1],
                a_.scatter_dims_to_operand_dims,
                a_.input_batching_dims,
                a_.scatter_indices_batching_dims,
                a_.index_vector_dim,
                sizes};
  }

  Instruction* run() {
    const auto starts = known_starts(windows_);
    if (!starts && windows_.count() == 1) return at_one_place();
    if (!starts || starts->empty() || element_count(scatter_.operand(2).shape) == 0) return nullptr;
    const Dims &extents = scatter_.shape.dims, &sizes = windows_.sizes;
    for (const Dims& start : *starts) {
      for (size_t d = 0; d < start.size(); ++d) {
        if (start[d] < 0 || start[d] > extents[d] - sizes[d]) return nullptr;
      }
    }
    const int64_t repeats = summed_repeats(*starts);
    const auto runs = runs_of(each_once(*starts, repeats), sizes, kMostRuns);
    if (!runs || std::ranges::any_of(*runs, [](const IndexRun& run) { return run.count > 1 && run.step != 1; }))
      return nullptr;
    if (repeats > 1) updates_ = sums_of(repeats);
    Instruction* rows = windows_in_rows();
    Instruction* all = scatter_.operands[0];
    for (const IndexRun& run : *runs) all = updated(all, rows, run);
    return all;
  }

 private:
  /// How many updates in a row are added up at each place: 1 unless they are added to zeros, where their sum is the
  /// same as adding one after the other. A sum of several short floats would be rounded once instead of each time.
  int64_t summed_repeats(const std::vector<Dims>& starts) const {
    if (!is_addition(*scatter_.called[0], scatter_.shape.type) || !is_zero(scatter_.operand(0))) return 1;
    const int64_t repeats = windows_.batch_extents().size() == 1 ? repeats_of(starts) : 1;
    return repeats == 2 || stored_bytes(scatter_.shape.type) >= 4 ? repeats : 1;
  }

  Instruction* sums_of(int64_t repeats) {
    int64_t along = 0;
    while (contains(a_.update_window_dims, along)) ++along;
    Dims dims = updates_->shape.dims;
    dims[along] /= repeats;
    const Shape summed = Shape::array(updates_->shape.type, dims);
    dims.insert(dims.begin() + along + 1, repeats);
    Instruction* sums =
        maker_.make(Opcode::kReduce, summed, {maker_.reshape(updates_, dims), maker_.constant(summed.type, 0)},
                    DimensionsAttributes{{along + 1}});
    sums->called = {scatter_.called[0]};
    return sums;
  }
  /// Do the updates contain the zeros that they are added to?
  bool are_summed() const { return updates_ != scatter_.operands[2]; }

  /// The updates as [windows, window].
  Instruction* windows_in_rows() {
    Dims order;
    for (int64_t d = 0; d < updates_->shape.rank(); ++d) {
      if (!contains(a_.update_window_dims, d)) order.push_back(d);
    }
    Dims dims{1};
    for (const int64_t d : order) dims[0] *= updates_->shape.dims[d];
    order.insert(order.end(), a_.update_window_dims.begin(), a_.update_window_dims.end());
    dims.insert(dims.end(), window_.begin(), window_.end());
    return maker_.reshape(maker_.transpose(updates_, order), dims);
  }

  Instruction* updated(Instruction* all, Instruction* rows, const IndexRun& run) {
    Dims first(rows->shape.dims.size(), 0), part = rows->shape.dims, size = windows_.sizes;
    first[0] = run.first, part[0] = run.count;
    Instruction* row = box_of(rows, first, part, maker_);
    if (run.dim < 0) {
      row = maker_.reshape(row, size);
    } else {
      Dims front{run.count}, back(size.size());
      for (size_t k = 0, n = 1; k < size.size(); ++k) {
        const bool along = static_cast<int64_t>(k) == run.dim;
        if (!along) front.push_back(size[k]);
        back[k] = along ? 0 : static_cast<int64_t>(n++);
      }
      row = maker_.transpose(maker_.reshape(row, front), back);
      size[run.dim] = run.count;
    }
    if (combines() && !are_summed()) row = combined(box_of(all, run.start, size, maker_), row);
    return with_box(all, row, run.start, maker_);
  }

  /// For a single window at an unknown place that is certainly inside.
  Instruction* at_one_place() {
    Instruction *all = scatter_.operands[0], *indices = scatter_.operands[1];
    const Dims &extents = all->shape.dims, &sizes = windows_.sizes;
    const auto range = is_integral(indices->shape.type) ? ranges_.of(*indices) : std::nullopt;
    if (!range || range->least < 0 || element_count(scatter_.operand(2).shape) == 0) return nullptr;
    for (const int64_t d : windows_.places) {
      const auto k = static_cast<size_t>(d);
      if (range->greatest > extents[k] - sizes[k]) return nullptr;
    }
    const auto places = static_cast<int64_t>(windows_.places.size());
    Instruction* flat = maker_.reshape(indices, {places});
    std::vector<Instruction*> starts;
    for (int64_t d = 0; d < all->shape.rank(); ++d) {
      const auto at = std::ranges::find(windows_.places, d) - windows_.places.begin();
      starts.push_back(at == places ? maker_.constant(indices->shape.type, 0)
                                    : maker_.reshape(box_of(flat, {at}, {1}, maker_), {}));
    }
    Instruction* row = maker_.reshape(windows_in_rows(), sizes);
    const auto at_starts = [&](std::vector<Instruction*> operands) {
      operands.insert(operands.end(), starts.begin(), starts.end());
      return operands;
    };
    if (combines()) {
      row = combined(maker_.make(Opcode::kDynamicSlice, row->shape, at_starts({all}), DynamicSliceAttributes{sizes}),
                     row);
    }
    return maker_.make(Opcode::kDynamicUpdateSlice, all->shape, at_starts({all, row}));
  }

  bool combines() const {
    return recognise_combiner(*scatter_.called[0], scatter_.shape.type).kind == CombinerKind::kBinary;
  }

  Instruction* combined(Instruction* old, Instruction* row) {
    const Computation& combine = *scatter_.called[0];
    const bool turned = combine.root->operands[0] != combine.parameters()[0];
    return maker_.binary(combine.root->opcode, turned ? row : old, turned ? old : row);
  }

  Instruction& scatter_;
  const ScatterAttributes& a_;
  Instruction* updates_;  ///< or, once they are added up, their sums
  const IntegerRanges& ranges_;
  Maker& maker_;
  IndexedWindows windows_;
  Dims window_;  ///< extents of a window in the updates
};

bool is_plain(const Instruction& i) {
  if (i.operands.size() != 3 || !i.shape.dynamic.empty()) return false;
  return i.operand(0).shape.type == i.operand(2).shape.type &&
         recognise_combiner(*i.called[0], i.shape.type).kind != CombinerKind::kGeneral;
}

}  // namespace

Result<PassResult> update_known_scatters(Module& module) {
  if (!has_any(module, {Opcode::kScatter})) return PassResult{};
  const IntegerRanges ranges(module);
  return rewrite_each(
      module, {Opcode::kScatter},
      [&](Instruction& i, Maker& maker) -> Instruction* {
        return is_plain(i) ? UpdateScatter(i, ranges, maker).run() : nullptr;
      },
      "scatters are updates of boxes");
}

}  // namespace lowtide::engine
