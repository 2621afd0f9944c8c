#include "ops/evaluations.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

uint64_t attributes_hash(const Instruction& user) {
  uint64_t hash = static_cast<uint64_t>(user.opcode);
  if (const auto* a = user.if_as<DimensionsAttributes>()) hash = mixed(hash, a->dimensions);
  if (const auto* a = user.if_as<SliceAttributes>()) hash = mixed(mixed(mixed(hash, a->starts), a->limits), a->strides);
  if (const auto* a = user.if_as<PadAttributes>()) hash = mixed(mixed(mixed(hash, a->low), a->high), a->interior);
  if (const auto* a = user.if_as<DynamicSliceAttributes>()) hash = mixed(hash, a->sizes);
  if (const auto* a = user.if_as<GatherAttributes>()) hash = mixed(mixed(hash, a->slice_sizes), a->start_index_map);
  return hash;
}

/// Does the array that is read have the extents of one of the user's arrays?
bool has_extents_of_user(const OperandReads& reads) {
  bool same = false;
  for_each_leaf(reads.user().shape,
                [&](const ShapeIndex&, const Shape& leaf) { same |= leaf.dims == reads.read().dims; });
  return same;
}

}  // namespace

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccd;
}

uint64_t mixed(uint64_t hash, const Dims& dims) {
  hash = mixed(hash, dims.size());
  for (const int64_t d : dims) hash = mixed(hash, static_cast<uint64_t>(d));
  return hash;
}

double product_of_extents(const Dims& extents) {
  double all = 1;
  for (const int64_t d : extents) all *= static_cast<double>(std::max<int64_t>(d, 1));
  return all;
}

double elements_of(const Shape& shape) {
  double most = 0;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    if (leaf.is_array()) most = std::max(most, product_of_extents(leaf.dims));
  });
  return most;
}

OperandReads::OperandReads(const Evaluations& of_user, const Instruction& user, int32_t operand, const Shape& read)
    : user_(user),
      operand_(operand),
      read_(read),
      elements_(product_of_extents(read.dims)),
      of_user_(std::max(1.0, elements_of(user.shape))),
      repeats_(std::max(1.0, of_user.count / of_user_)),
      e_(of_user) {}

void OperandReads::through(double evaluations, bool ordered) {
  e_.map = mixed(mixed(mixed(e_.map, attributes_hash(user_)), read_.dims), user_.shape.dims);
  e_.count = evaluations;
  e_.walked_again = 0;
  e_.ordered = e_.ordered && ordered;
}

void OperandReads::in_own_loop(double evaluations) {
  through(evaluations, true);
  depends_on(static_cast<uint64_t>(user_.id));
  depends_on(static_cast<uint64_t>(operand_));
}

void reads_by_element(OperandReads& reads) {
  if (!has_extents_of_user(reads)) reads.in_own_loop(std::max(reads.evaluations().count, reads.elements()));
}

void reads_in_order(OperandReads& reads) { reads.through(reads.evaluations().count, true); }

void reads_anywhere(OperandReads& reads) {
  const double count = reads.evaluations().count;
  // A loop, or a branch, may read its invariant operands anywhere.
  return has_extents_of_user(reads) ? reads.through(count, true) : reads.in_own_loop(std::max(count, reads.elements()));
}

}  // namespace lowtide::engine
