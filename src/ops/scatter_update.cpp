#include <algorithm>

#include "ops/element_rules.h"
#include "ops/folding.h"
#include "ops/infer.h"
#include "ops/inlined.h"
#include "ops/start_elements.h"

namespace lowtide::engine {
namespace {

/// Loops over the updates; loops whose iterations write different elements run in parallel.
class UpdateLoops {
 public:
  explicit UpdateLoops(NestBuilder& nest) : nest_(nest) {}
  Affine open(int64_t extent, bool parallel) {
    loops_.push_back(parallel ? nest_.begin_parallel(extent) : nest_.begin_sequential(extent, {}));
    parallel_.push_back(parallel);
    return nest_.index_of(loops_.back());
  }
  void close() {
    while (!loops_.empty()) {
      if (parallel_.back()) {
        nest_.end_parallel(loops_.back());
      } else {
        nest_.end_carrying(loops_.back(), {});
      }
      loops_.pop_back();
      parallel_.pop_back();
    }
  }

 private:
  NestBuilder& nest_;
  std::vector<int32_t> loops_;
  std::vector<bool> parallel_;
};

constexpr int64_t kWorthBranch = 8;  ///< elements of a window that are worth a branch

/// Where an update lands: an index that lies inside the operand, and whether its whole window fits.
struct Place {
  Index at;
  NodeId fits = kNoId;
};

}  // namespace

bool has_update_scatter(const Instruction& scatter) { return has_scalar_elements(*scatter.called[0]); }

int updated_operand_of_scatter(const Instruction&, int64_t leaf) { return static_cast<int>(leaf); }

void update_scatter(ElementContext& context, const Instruction& instruction) {
  NestBuilder& nest = context.nest;
  const auto& scatter = instruction.as<ScatterAttributes>();
  const size_t count = instruction.operands.size() / 2;
  const Instruction& indices = instruction.operand(count);
  const Dims& extents = instruction.operand(0).shape.dims;
  const Dims& updates = instruction.operand(count + 1).shape.dims;
  if (element_count(instruction.operand(0).shape) == 0 || element_count(instruction.operand(count + 1).shape) == 0) {
    return;
  }
  // The outermost loops are parallel: dimensions whose windows never overlap. Then windows in sequence, and innermost
  // the elements of a window in parallel.
  const auto batch_place = [&](int64_t d) { return static_cast<size_t>(d < scatter.index_vector_dim ? d : d - 1); };
  Dims batch_dims;  // the updates' dimensions along the batch of index vectors
  for (int64_t d = 0; d < static_cast<int64_t>(updates.size()); ++d) {
    if (!contains(scatter.update_window_dims, d)) batch_dims.push_back(d);
  }
  std::vector<bool> is_own(batch_dims.size(), scatter.unique_indices);
  for (const int64_t d : scatter.scatter_indices_batching_dims) is_own[batch_place(d)] = true;
  UpdateLoops loops(nest);
  Index from(updates.size()), batch(batch_dims.size());
  for (const bool parallel : {true, false}) {
    for (size_t k = 0; k < batch_dims.size(); ++k) {
      if (is_own[k] != parallel) continue;
      batch[k] = loops.open(updates[batch_dims[k]], parallel);
      from[batch_dims[k]] = batch[k];
    }
  }
  Place place{Index(extents.size(), NestBuilder::fixed(0)), kNoId};
  Dims sizes(extents.size(), 1);
  size_t next_window = 0;
  Dims window_of(extents.size(), -1);  // the dimension of the updates that walks it
  for (size_t d = 0; d < extents.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (contains(scatter.inserted_window_dims, dim) || contains(scatter.input_batching_dims, dim)) continue;
    window_of[d] = scatter.update_window_dims[next_window++];
    sizes[d] = updates[window_of[d]];
  }
  for (size_t k = 0; k < scatter.scatter_dims_to_operand_dims.size(); ++k) {
    const auto d = static_cast<size_t>(scatter.scatter_dims_to_operand_dims[k]);
    const int64_t last = extents[d] - sizes[d];
    const Affine start = index_value(nest, index_vector_element(context, indices, scatter.index_vector_dim, batch, k));
    place.fits = both(nest, place.fits, nest.within(start, 0, last));
    place.at[d] = nest.clamp(start, 0, last);
  }
  for (size_t k = 0; k < scatter.input_batching_dims.size(); ++k) {
    place.at[scatter.input_batching_dims[k]] = batch[batch_place(scatter.scatter_indices_batching_dims[k])];
  }
  for (size_t d = 0; d < extents.size(); ++d) {
    if (window_of[d] < 0) continue;
    const Affine offset = loops.open(sizes[d], true);
    from[window_of[d]] = offset;
    place.at[d] = nest.plus(place.at[d], offset);
  }
  const int64_t window_elements = element_count(Shape::array(instruction.operand(0).shape.type, sizes));
  const Affine position = nest.position(place.at, extents);
  std::vector<NodeId> arguments;
  for (size_t k = 0; k < count; ++k) {
    arguments.push_back(nest.load(context.buffer_of(instruction, static_cast<int64_t>(k)), position, true));
  }
  for (size_t k = 0; k < count; ++k) {
    arguments.push_back(
        nest.convert(context.element(instruction.operand(count + 1 + k), from), instruction.operand(k).shape.type));
  }
  std::vector<NodeId> taken;  // arguments in the precision in which they are combined
  const std::vector<Instruction*> parameters = instruction.called[0]->parameters();
  for (size_t k = 0; k < 2 * count; ++k) taken.push_back(nest.convert(arguments[k], parameters[k]->shape.type));
  const std::vector<NodeId> combined = context.call(*instruction.called[0], taken);
  for (size_t k = 0; k < count; ++k) {
    const ElementType type = instruction.operand(k).shape.type;
    NodeId value = nest.convert(combined[k], type), guard = place.fits;
    // An update of few elements that doesn't fit stores the old ones back at the nearest window: a branch per update
    // costs ten times that. Not if other updates may write there at the same time, or a load and a store may change a
    // NaN.
    const bool is_narrow_float = is_floating(type) && type_bits(type) < 32;
    if (guard != kNoId && !scatter.unique_indices && !is_narrow_float && window_elements < kWorthBranch) {
      value = nest.select(guard, value, arguments[k]);
      guard = kNoId;
    }
    nest.store(context.buffer_of(instruction, static_cast<int64_t>(k)), position, value, guard);
  }
  loops.close();
}

}  // namespace lowtide::engine
