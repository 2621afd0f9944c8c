#include "ops/dot_checks.h"

#include <fmt/format.h>

#include <algorithm>

namespace lowtide::engine {

Status read_dot(AttributeReader& reader, Instruction& dot) {
  DotAttributes attributes;
  LT_ASSIGN_OR_RETURN(attributes.lhs_contracting_dims, reader.take_dims_or("lhs_contracting_dims", {}));
  LT_ASSIGN_OR_RETURN(attributes.rhs_contracting_dims, reader.take_dims_or("rhs_contracting_dims", {}));
  LT_ASSIGN_OR_RETURN(attributes.lhs_batch_dims, reader.take_dims_or("lhs_batch_dims", {}));
  LT_ASSIGN_OR_RETURN(attributes.rhs_batch_dims, reader.take_dims_or("rhs_batch_dims", {}));
  LT_ASSIGN_OR_RETURN(attributes.lhs_ragged_dims, reader.take_dims_or("lhs_ragged_dims", {}));
  LT_ASSIGN_OR_RETURN(attributes.rhs_group_dims, reader.take_dims_or("rhs_group_dims", {}));
  dot.attributes = std::move(attributes);
  return {};
}

void print_dot(const Instruction& dot, AttributeWriter& writer) {
  const auto& attributes = dot.as<DotAttributes>();
  if (!attributes.lhs_batch_dims.empty()) writer.dims("lhs_batch_dims", attributes.lhs_batch_dims);
  writer.dims("lhs_contracting_dims", attributes.lhs_contracting_dims);
  if (!attributes.rhs_batch_dims.empty()) writer.dims("rhs_batch_dims", attributes.rhs_batch_dims);
  writer.dims("rhs_contracting_dims", attributes.rhs_contracting_dims);
  if (!attributes.lhs_ragged_dims.empty()) writer.dims("lhs_ragged_dims", attributes.lhs_ragged_dims);
  if (!attributes.rhs_group_dims.empty()) writer.dims("rhs_group_dims", attributes.rhs_group_dims);
}

Status check_dot_dims(const Instruction& dot, const Shape& lhs, const Shape& rhs) {
  const auto& attributes = dot.as<DotAttributes>();
  const auto both = [](Dims a, const Dims& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  LT_RETURN_IF_ERROR(check_dims(dot, both(attributes.lhs_batch_dims, attributes.lhs_contracting_dims), lhs.rank(),
                                "lhs_batch_dims with lhs_contracting_dims", 2));
  return check_dims(dot, both(attributes.rhs_batch_dims, attributes.rhs_contracting_dims), rhs.rank(),
                    "rhs_batch_dims with rhs_contracting_dims", 2);
}

Status check_paired_extents(const Instruction& dot, const Shape& lhs, const Shape& rhs, const Dims& lhs_dims,
                            const Dims& rhs_dims, std::string_view what, int constraint) {
  if (lhs_dims.size() != rhs_dims.size()) {
    return broken(dot, constraint,
                  fmt::format("lhs and rhs name {} and {} {} dimensions", lhs_dims.size(), rhs_dims.size(), what));
  }
  for (size_t i = 0; i < lhs_dims.size(); ++i) {
    const int64_t l = lhs.dims[lhs_dims[i]];
    const int64_t r = rhs.dims[rhs_dims[i]];
    if (l != r) {
      return broken(
          dot, constraint,
          fmt::format("{} dimension {} of lhs has extent {}, {} of rhs {}", what, lhs_dims[i], l, rhs_dims[i], r));
    }
  }
  return {};
}

Dims free_dims(int64_t rank, const Dims& contracting, const Dims& batch) {
  const auto in = [](const Dims& list, int64_t d) { return std::find(list.begin(), list.end(), d) != list.end(); };
  Dims free;
  for (int64_t d = 0; d < rank; ++d) {
    if (!in(contracting, d) && !in(batch, d)) free.push_back(d);
  }
  return free;
}

Dims dot_result_dims(const DotAttributes& attributes, const Shape& lhs, const Shape& rhs) {
  Dims dims;
  for (const int64_t d : attributes.lhs_batch_dims) dims.push_back(lhs.dims[d]);
  for (const int64_t d : free_dims(lhs.rank(), attributes.lhs_contracting_dims, attributes.lhs_batch_dims)) {
    dims.push_back(lhs.dims[d]);
  }
  for (const int64_t d : free_dims(rhs.rank(), attributes.rhs_contracting_dims, attributes.rhs_batch_dims)) {
    dims.push_back(rhs.dims[d]);
  }
  return dims;
}

}  // namespace lowtide::engine
