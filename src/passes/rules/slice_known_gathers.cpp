#include "passes/rules/slice_known_gathers.h"

#include <algorithm>
#include <numeric>

#include "ops/infer.h"
#include "passes/rules/index_runs.h"
#include "passes/rules/known_values.h"

namespace lowtide::engine {
namespace {

class SliceGather {
 public:
  SliceGather(Instruction& gather, Maker& maker)
      : gather_(gather), a_(gather.as<GatherAttributes>()), x_(gather.operands[0]), maker_(maker) {
    windows_ = {x_,
                gather.operands[1],
                a_.start_index_map,
                a_.operand_batching_dims,
                a_.start_indices_batching_dims,
                a_.index_vector_dim,
                a_.slice_sizes};
    for (size_t d = 0; d < a_.slice_sizes.size(); ++d) {
      const auto k = static_cast<int64_t>(d);
      const bool gone = contains(a_.collapsed_slice_dims, k) || contains(a_.operand_batching_dims, k);
      if (!gone) window_.push_back(a_.slice_sizes[d]);
    }
  }

  Instruction* run() {
    if (element_count(gather_.shape) == 0 || element_count(x_->shape) == 0) return nullptr;
    auto starts = known_starts(windows_);
    if (!starts) return windows_.count() == 1 ? at_one_place() : nullptr;
    for (Dims& start : *starts) {
      for (size_t d = 0; d < start.size(); ++d) {
        start[d] = std::clamp<int64_t>(start[d], 0, x_->shape.dims[d] - a_.slice_sizes[d]);
      }
    }
    batch_ = windows_.batch_extents();
    int64_t repeats = batch_.size() == 1 ? repeats_of(*starts) : 1;
    if (repeats == std::ssize(*starts)) repeats = 1;  // one place, which is a run of its own
    if (repeats > 1) batch_[0] /= repeats;
    const auto runs = runs_of(each_once(*starts, repeats), a_.slice_sizes, kMostRuns);
    if (!runs) return nullptr;
    std::vector<Instruction*> rows;
    for (const IndexRun& run : *runs) rows.push_back(row(run));
    return repeated(in_place_of_gather(joined(rows)), repeats);
  }

 private:
  /// The windows of a run, as [count, window].
  Instruction* row(const IndexRun& run) {
    Dims size = a_.slice_sizes, start = run.start, all{run.count};
    all.insert(all.end(), window_.begin(), window_.end());
    if (run.dim < 0) {
      Instruction* box = maker_.reshape(box_of(x_, start, size, maker_), window_);
      Dims map(window_.size());
      std::iota(map.begin(), map.end(), int64_t{1});
      return run.count == 1 ? maker_.reshape(box, all) : maker_.broadcast(box, all, map);
    }
    const auto d = static_cast<size_t>(run.dim);
    const int64_t step = std::abs(run.step);
    if (run.step < 0) start[d] += run.step * (run.count - 1);
    Dims limits = start;
    for (size_t k = 0; k < size.size(); ++k) limits[k] += size[k];
    limits[d] = start[d] + step * (run.count - 1) + 1;
    size[d] = run.count;
    Dims strides(size.size(), 1);
    strides[d] = step;
    Instruction* box = x_;
    if (size != x_->shape.dims) {
      box = maker_.make(Opcode::kSlice, Shape::array(x_->shape.type, size), {x_},
                        SliceAttributes{start, limits, strides});
    }
    if (run.step < 0) box = maker_.make(Opcode::kReverse, box->shape, {box}, DimensionsAttributes{{run.dim}});
    Dims first{run.dim};
    for (int64_t k = 0; k < x_->shape.rank(); ++k) {
      if (k != run.dim) first.push_back(k);
    }
    return maker_.reshape(maker_.transpose(box, first), all);
  }

  Instruction* joined(const std::vector<Instruction*>& rows) {
    if (rows.size() == 1) return rows[0];
    Dims all = rows[0]->shape.dims;
    for (size_t k = 1; k < rows.size(); ++k) all[0] += rows[k]->shape.dims[0];
    return maker_.make(Opcode::kConcatenate, Shape::array(x_->shape.type, all), rows, DimensionsAttributes{{0}});
  }

  /// Transposes [windows, window] to the gather's order of dimensions.
  Instruction* in_place_of_gather(Instruction* all) {
    Dims dims = batch_, order;
    int64_t batch = 0, inside = static_cast<int64_t>(dims.size());
    dims.insert(dims.end(), window_.begin(), window_.end());
    for (int64_t d = 0; d < gather_.shape.rank(); ++d) {
      order.push_back(contains(a_.offset_dims, d) ? inside++ : batch++);
    }
    return maker_.transpose(maker_.reshape(all, dims), order);
  }

  /// Repeats each window: the only dimension of windows is that of the result which is no window's.
  Instruction* repeated(Instruction* once, int64_t repeats) {
    if (repeats == 1) return once;
    int64_t along = 0;
    while (contains(a_.offset_dims, along)) ++along;
    Dims dims = once->shape.dims, dimensions(dims.size());
    std::iota(dimensions.begin(), dimensions.end(), int64_t{0});
    for (size_t d = along + 1; d < dimensions.size(); ++d) ++dimensions[d];
    dims.insert(dims.begin() + along + 1, repeats);
    return maker_.reshape(maker_.broadcast(once, dims, dimensions), gather_.shape.dims);
  }

  Instruction* at_one_place() {
    Instruction* indices = gather_.operands[1];
    if (!is_integral(indices->shape.type)) return nullptr;
    const auto places = static_cast<int64_t>(a_.start_index_map.size());
    Instruction* flat = maker_.reshape(indices, {places});
    std::vector<Instruction*> operands{x_};
    for (int64_t d = 0; d < x_->shape.rank(); ++d) {
      const auto at = std::ranges::find(a_.start_index_map, d) - a_.start_index_map.begin();
      operands.push_back(at == places ? maker_.constant(indices->shape.type, 0)
                                      : maker_.reshape(box_of(flat, {at}, {1}, maker_), {}));
    }
    Instruction* box = maker_.make(Opcode::kDynamicSlice, Shape::array(x_->shape.type, a_.slice_sizes), operands,
                                   DynamicSliceAttributes{a_.slice_sizes});
    return maker_.reshape(box, gather_.shape.dims);
  }

  Instruction& gather_;
  const GatherAttributes& a_;
  Instruction* x_;
  Maker& maker_;
  IndexedWindows windows_;
  Dims batch_;   ///< extents of the windows' dimensions, without repetitions
  Dims window_;  ///< extents of a window in the result
};

}  // namespace

Result<PassResult> slice_known_gathers(Module& module) {
  return rewrite_each(
      module, {Opcode::kGather},
      [](Instruction& i, Maker& maker) -> Instruction* {
        if (!i.shape.dynamic.empty() || !i.operand(0).shape.dynamic.empty()) return nullptr;
        return SliceGather(i, maker).run();
      },
      "gathers are slices");
}

}  // namespace lowtide::engine
