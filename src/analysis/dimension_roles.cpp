#include "analysis/dimension_roles.h"

#include <algorithm>

#include "ops/dot_checks.h"
#include "ops/infer.h"
#include "ops/window.h"

namespace lowtide::engine {
namespace {

using Roles = std::vector<OperandDimension>;

OperandDimension pointwise(int64_t result_dimension, int64_t stride = 1, int64_t offset = 0) {
  return {.role = DimensionRole::kPointwise, .result_dimension = result_dimension, .stride = stride, .offset = offset};
}

OperandDimension windowed(int64_t result_dimension, int64_t stride, int64_t offset, int64_t reach) {
  if (reach == 0) return pointwise(result_dimension, stride, offset);
  OperandDimension window = pointwise(result_dimension, stride, offset);
  window.role = DimensionRole::kWindowed;
  window.reach = reach;
  return window;
}

OperandDimension reduced(int64_t fold) { return {.role = DimensionRole::kReduced, .fold = fold}; }

const Shape& first_leaf(const Shape& shape) {
  return shape.is_tuple() && !shape.elements.empty() ? first_leaf(shape.elements[0]) : shape;
}

/// Result dimension d is operand dimension d.
Roles identity(const Shape& operand, const Shape& result) {
  Roles roles(operand.dims.size());
  if (operand.dims.size() != result.dims.size()) return roles;
  for (size_t d = 0; d < roles.size(); ++d) {
    if (operand.dims[d] == result.dims[d]) roles[d] = pointwise(static_cast<int64_t>(d));
  }
  return roles;
}

/// Dimensions that a reshape keeps: those with equal products of the leading and of the trailing extents on both sides.
Roles reshaped(const Shape& operand, const Shape& result) {
  Roles roles(operand.dims.size());
  int64_t before = 1, result_before = 1;
  size_t r = 0;
  for (size_t d = 0; d < roles.size(); ++d) {
    if (operand.dims[d] != 1) {
      while (r < result.dims.size() && (result_before < before || result.dims[r] == 1))
        result_before *= result.dims[r++];
      if (r < result.dims.size() && result_before == before && result.dims[r] == operand.dims[d]) {
        roles[d] = pointwise(static_cast<int64_t>(r));
      }
    }
    before *= operand.dims[d];
  }
  return roles;
}

/// The window over an undilated base; holes leave no fixed step.
OperandDimension under_window(const Window& window, size_t w, int64_t result_dimension) {
  if (window.lhs_dilate[w] != 1) return {};
  return windowed(result_dimension, window.stride[w], -window.pad_low[w],
                  dilated(window.size[w], window.rhs_dilate[w]) - 1);
}

Roles of_dot(const Instruction& dot, size_t operand) {
  const auto& a = dot.as<DotAttributes>();
  const bool left = operand == 0;
  const Shape& shape = dot.operand(operand).shape;
  const Dims& batch = left ? a.lhs_batch_dims : a.rhs_batch_dims;
  const Dims& contracting = left ? a.lhs_contracting_dims : a.rhs_contracting_dims;
  Roles roles(shape.dims.size());
  for (size_t k = 0; k < batch.size(); ++k) roles[static_cast<size_t>(batch[k])] = pointwise(static_cast<int64_t>(k));
  for (size_t k = 0; k < contracting.size(); ++k) {
    roles[static_cast<size_t>(contracting[k])] = reduced(static_cast<int64_t>(k));
  }
  auto next = static_cast<int64_t>(batch.size());
  if (!left) {
    next += dot.operand(0).shape.rank() - next - static_cast<int64_t>(a.lhs_contracting_dims.size());
  }
  for (const int64_t d : free_dims(shape.rank(), contracting, batch)) roles[static_cast<size_t>(d)] = pointwise(next++);
  return roles;
}

Roles of_convolution(const Instruction& convolution, size_t operand) {
  const auto& a = convolution.as<ConvolutionAttributes>();
  Roles roles(convolution.operand(operand).shape.dims.size());
  const auto at = [&](int64_t d) -> OperandDimension& { return roles[static_cast<size_t>(d)]; };
  if (a.dim_labels.find('?') != std::string::npos) return roles;
  if (operand == 1) {
    if (a.batch_group_count == 1) at(a.kernel_output_feature) = pointwise(a.output_feature);
    at(a.kernel_input_feature) = reduced(0);
    for (size_t w = 0; w < a.kernel_spatial.size(); ++w) at(a.kernel_spatial[w]) = reduced(static_cast<int64_t>(w) + 1);
    return roles;
  }
  if (a.batch_group_count == 1) at(a.input_batch) = pointwise(a.output_batch);
  // Groups of the batch have all features, as in the gradient of a depthwise kernel.
  if (a.feature_group_count == 1) at(a.input_feature) = reduced(0);
  for (size_t w = 0; w < a.input_spatial.size(); ++w) {
    at(a.input_spatial[w]) = under_window(a.window, w, a.output_spatial[w]);
  }
  return roles;
}

Roles of_gather(const Instruction& instruction, size_t operand) {
  const auto& gather = instruction.as<GatherAttributes>();
  const Shape& shape = instruction.operand(operand).shape;
  Roles roles(shape.dims.size());
  Dims batch;  // result dimensions along the batch of index vectors
  for (int64_t d = 0; d < instruction.shape.rank(); ++d) {
    if (!contains(gather.offset_dims, d)) batch.push_back(d);
  }
  const auto place = [&](int64_t d) { return batch[static_cast<size_t>(d < gather.index_vector_dim ? d : d - 1)]; };
  if (operand == 1) {
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (d != gather.index_vector_dim) roles[static_cast<size_t>(d)] = pointwise(place(d));
    }
    return roles;
  }
  for (size_t k = 0; k < gather.operand_batching_dims.size(); ++k) {
    roles[static_cast<size_t>(gather.operand_batching_dims[k])] =
        pointwise(place(gather.start_indices_batching_dims[k]));
  }
  size_t next = 0;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (contains(gather.collapsed_slice_dims, d) || contains(gather.operand_batching_dims, d)) continue;
    const int64_t along = gather.offset_dims[next++];
    const bool whole = gather.slice_sizes[static_cast<size_t>(d)] == shape.dims[static_cast<size_t>(d)];
    if (whole) roles[static_cast<size_t>(d)] = pointwise(along);
  }
  return roles;
}

Roles of_scatter(const Instruction& instruction, size_t operand) {
  const auto& scatter = instruction.as<ScatterAttributes>();
  const size_t count = instruction.operands.size() / 2;
  const Shape& base = instruction.operand(0).shape;
  const Shape& shape = instruction.operand(operand).shape;
  Roles roles(shape.dims.size());
  if (operand < count) {
    for (int64_t d = 0; d < base.rank(); ++d) roles[static_cast<size_t>(d)] = pointwise(d);
    return roles;
  }
  const auto batched = [&](int64_t d) -> int64_t {  // dimension of the result that this one of the indices follows
    const Dims& dims = scatter.scatter_indices_batching_dims;
    const auto at = std::find(dims.begin(), dims.end(), d);
    return at == dims.end() ? -1 : scatter.input_batching_dims[static_cast<size_t>(at - dims.begin())];
  };
  if (operand == count) {
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (d == scatter.index_vector_dim) continue;
      roles[static_cast<size_t>(d)] = batched(d) >= 0 ? pointwise(batched(d)) : reduced(d);
    }
    return roles;
  }
  int64_t next_batch = 0;
  Dims walked;  // operand dimensions that windows walk
  for (int64_t d = 0; d < base.rank(); ++d) {
    if (!contains(scatter.inserted_window_dims, d) && !contains(scatter.input_batching_dims, d)) walked.push_back(d);
  }
  size_t next_window = 0;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    OperandDimension& role = roles[static_cast<size_t>(d)];
    if (contains(scatter.update_window_dims, d)) {
      const int64_t along = walked[next_window++];
      const bool whole = shape.dims[static_cast<size_t>(d)] == base.dims[static_cast<size_t>(along)];
      if (whole) role = pointwise(along);
      continue;
    }
    const int64_t of_indices = next_batch < scatter.index_vector_dim ? next_batch : next_batch + 1;
    ++next_batch;
    role = batched(of_indices) >= 0 ? pointwise(batched(of_indices)) : reduced(of_indices);
  }
  return roles;
}

Roles of_reduce(const Instruction& reduce, size_t operand) {
  Roles roles(reduce.operand(operand).shape.dims.size());
  const Dims& dimensions = reduce.as<DimensionsAttributes>().dimensions;
  int64_t kept = 0;
  for (size_t d = 0; d < roles.size(); ++d) {
    const auto place = static_cast<int64_t>(d);
    roles[d] = contains(dimensions, place) ? reduced(place) : pointwise(kept++);
  }
  return roles;
}

Roles of_slices(const Instruction& instruction, size_t operand) {
  const Shape& shape = instruction.operand(operand).shape;
  Roles roles(shape.dims.size());
  for (size_t d = 0; d < roles.size(); ++d) {
    const auto same = static_cast<int64_t>(d);
    switch (instruction.opcode) {
      case Opcode::kSlice: {
        const auto& slice = instruction.as<SliceAttributes>();
        roles[d] = pointwise(same, slice.strides[d], slice.starts[d]);
        break;
      }
      case Opcode::kPad: {
        const auto& pad = instruction.as<PadAttributes>();
        if (pad.interior[d] == 0) roles[d] = pointwise(same, 1, -pad.low[d]);
        break;
      }
      case Opcode::kConcatenate: {
        const int64_t along = instruction.as<DimensionsAttributes>().dimensions[0];
        int64_t before = 0;
        for (size_t k = 0; same == along && k < operand; ++k) before += instruction.operand(k).shape.dims[d];
        roles[d] = pointwise(same, 1, -before);
        break;
      }
      case Opcode::kReverse: {
        const bool turned = contains(instruction.as<DimensionsAttributes>().dimensions, same);
        roles[d] = turned ? pointwise(same, -1, shape.dims[d] - 1) : pointwise(same);
        break;
      }
      default:  // dynamic-slice, dynamic-update-slice: along the dimensions that they take whole
        if (shape.dims[d] == instruction.shape.dims[d]) roles[d] = pointwise(same);
    }
  }
  return roles;
}

Roles of_windows(const Instruction& instruction, size_t operand) {
  const Window& window = instruction.as<WindowAttributes>().window;
  Roles roles(instruction.operand(operand).shape.dims.size());
  for (size_t d = 0; d < roles.size(); ++d) {
    const bool whole =
        window.size[d] == 1 && window.stride[d] == 1 && window.pad_low[d] == 0 && window.pad_high[d] == 0;
    if (instruction.opcode == Opcode::kReduceWindow) {
      roles[d] = under_window(window, d, static_cast<int64_t>(d));
    } else if (whole && window.lhs_dilate[d] == 1) {
      roles[d] = pointwise(static_cast<int64_t>(d));
    }
  }
  return roles;
}

Roles of_dimensions(const Instruction& instruction) {
  const Dims& dimensions = instruction.as<DimensionsAttributes>().dimensions;
  Roles roles(instruction.operand(0).shape.dims.size());
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (instruction.opcode == Opcode::kBroadcast) {
      const auto along = static_cast<size_t>(dimensions[d]);
      const bool walks = instruction.operand(0).shape.dims[d] == instruction.shape.dims[along];
      if (walks) roles[d] = pointwise(dimensions[d]);
    } else {
      roles[static_cast<size_t>(dimensions[d])] = pointwise(static_cast<int64_t>(d));
    }
  }
  return roles;
}

}  // namespace

std::vector<OperandDimension> operand_roles(const Instruction& instruction, size_t operand) {
  const Shape& shape = instruction.operand(operand).shape;
  if (!shape.is_array()) return {};
  const Shape& result = first_leaf(instruction.shape);
  switch (instruction.opcode) {
    case Opcode::kBroadcast:
    case Opcode::kTranspose: return of_dimensions(instruction);
    case Opcode::kReshape:
    case Opcode::kBitcast: return reshaped(shape, result);
    case Opcode::kBitcastConvert: return identity(shape, result);
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kConcatenate: return of_slices(instruction, operand);
    case Opcode::kPad:
    case Opcode::kDynamicSlice: return operand == 0 ? of_slices(instruction, 0) : Roles(shape.dims.size());
    case Opcode::kDynamicUpdateSlice: return operand < 2 ? of_slices(instruction, operand) : Roles(shape.dims.size());
    case Opcode::kGather: return of_gather(instruction, operand);
    case Opcode::kScatter: return of_scatter(instruction, operand);
    case Opcode::kReduce: return 2 * operand < instruction.operands.size() ? of_reduce(instruction, operand) : Roles();
    case Opcode::kReduceWindow:
      return 2 * operand < instruction.operands.size() ? of_windows(instruction, operand) : Roles();
    case Opcode::kSelectAndScatter: return operand < 2 ? of_windows(instruction, operand) : Roles();
    case Opcode::kDot:
      return instruction.operands.size() == 2 ? of_dot(instruction, operand) : Roles(shape.dims.size());
    case Opcode::kConvolution: return of_convolution(instruction, operand);
    case Opcode::kSort: {
      Roles roles = identity(shape, result);
      roles[static_cast<size_t>(instruction.as<SortAttributes>().dimension)] = {};
      return roles;
    }
    case Opcode::kTopK:
    case Opcode::kFft:
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve: {
      // Batches of lines or matrices, the innermost dimensions.
      Roles roles = identity(shape, result);
      const bool lines = instruction.opcode == Opcode::kTopK;
      const size_t whole = lines                                ? 1
                           : instruction.opcode == Opcode::kFft ? instruction.as<FftAttributes>().length.size()
                                                                : 2;
      for (size_t d = roles.size() - std::min(whole, roles.size()); d < roles.size(); ++d) roles[d] = {};
      return roles;
    }
    default: break;
  }
  if (memory_class(instruction.opcode) != MemoryClass::kElementwise) return Roles(shape.dims.size());
  return identity(shape, result);
}

bool can_slice_result(const Instruction& instruction, int64_t d) {
  // A dimension along which something is opaque is made whole; one that no operand names is made as it pleases.
  switch (memory_class(instruction.opcode)) {
    case MemoryClass::kControl:
    case MemoryClass::kCollective:
    case MemoryClass::kAsync: return false;
    default: break;
  }
  if (instruction.opcode == Opcode::kCustomCall || instruction.opcode == Opcode::kRngBitGenerator) return false;
  for (size_t k = 0; k < instruction.operands.size(); ++k) {
    const Shape& shape = instruction.operand(k).shape;
    const Roles roles = operand_roles(instruction, k);
    if (!shape.is_array() || shape.rank() != first_leaf(instruction.shape).rank() || roles.empty()) continue;
    const bool same_line = instruction.opcode == Opcode::kSort || instruction.opcode == Opcode::kFft ||
                           instruction.opcode == Opcode::kTopK || instruction.opcode == Opcode::kCholesky ||
                           instruction.opcode == Opcode::kTriangularSolve;
    if (same_line && roles[static_cast<size_t>(d)].role == DimensionRole::kOpaque) return false;
  }
  return true;
}

}  // namespace lowtide::engine
