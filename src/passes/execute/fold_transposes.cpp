#include "passes/execute/fold_transposes.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/dimension_order.h"
#include "ops/dot_checks.h"

namespace lowtide::engine {
namespace {

bool is_plain_dot(const Instruction& i) {
  return i.opcode == Opcode::kDot && i.operands.size() == 2 && i.shape.is_array();
}

/// Does a library compute the product? Kernels read past transposes in any case.
bool is_in_library(const Instruction& i, const Target& target) {
  return is_plain_dot(i) && target.role_of(i) == OpRole::kLibrary;
}

/// Makes a dot read past the transpose of operand k; false: it would change the order of the result's dimensions.
bool read_past(Instruction& dot, size_t k) {
  Instruction& transpose = *dot.operands[k];
  if (transpose.opcode != Opcode::kTranspose || !transpose.control_predecessors.empty()) return false;
  const Dims& map = transpose.as<DimensionsAttributes>().dimensions;
  auto attributes = dot.as<DotAttributes>();
  Dims& contracting = k == 0 ? attributes.lhs_contracting_dims : attributes.rhs_contracting_dims;
  Dims& batch = k == 0 ? attributes.lhs_batch_dims : attributes.rhs_batch_dims;
  if (!std::ranges::is_sorted(entries_at(free_dims(transpose.shape.rank(), contracting, batch), map))) return false;
  contracting = entries_at(contracting, map);
  batch = entries_at(batch, map);
  dot.attributes = attributes;
  dot.operands[k] = transpose.operands[0];
  return true;
}

/// Does the transpose give the product of the dot's exchanged operands?
bool exchanges_sides(const Instruction& transpose, const Instruction& dot) {
  const auto& attributes = dot.as<DotAttributes>();
  const auto batches = static_cast<int64_t>(attributes.lhs_batch_dims.size());
  const int64_t rank = dot.shape.rank();
  const int64_t left =
      dot.operand(0).shape.rank() - batches - static_cast<int64_t>(attributes.lhs_contracting_dims.size());
  Dims exchanged;
  for (int64_t d = 0; d < batches; ++d) exchanged.push_back(d);
  for (int64_t d = batches + left; d < rank; ++d) exchanged.push_back(d);
  for (int64_t d = batches; d < batches + left; ++d) exchanged.push_back(d);
  return transpose.as<DimensionsAttributes>().dimensions == exchanged;
}

/// Turns a transpose of a dot without other readers into a dot.
bool become_dot(Instruction& transpose, const Uses& uses, const Target& target) {
  const Instruction& dot = transpose.operand(0);
  if (!is_in_library(dot, target) || uses.of(dot).size() != 1 || dot.parent->root == &dot) return false;
  if (!transpose.control_predecessors.empty() || !exchanges_sides(transpose, dot)) return false;
  const auto& old = dot.as<DotAttributes>();
  DotAttributes attributes = old;
  std::swap(attributes.lhs_batch_dims, attributes.rhs_batch_dims);
  std::swap(attributes.lhs_contracting_dims, attributes.rhs_contracting_dims);
  const std::vector<Instruction*> operands{dot.operands[1], dot.operands[0]};
  transpose.opcode = Opcode::kDot;
  transpose.attributes = attributes;
  transpose.operands = operands;
  return true;
}

}  // namespace

Result<PassResult> fold_transposes(Module& module, const Target& target) {
  if (!has_any(module, {Opcode::kDot})) return PassResult{};
  int64_t count = 0;
  const Uses uses(module);
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->opcode == Opcode::kTranspose && become_dot(*i, uses, target)) ++count;
      if (!is_in_library(*i, target)) continue;
      for (const size_t k : {size_t{0}, size_t{1}}) {
        while (read_past(*i, k)) ++count;
      }
    }
  }
  return rewritten(count, "transposes folded into products");
}

}  // namespace lowtide::engine
