// custom-call: the target determines its meaning. Its shape is as declared.
//   (C1) output_to_operand_aliasing names operands and results that exist, of equal shapes
//   Sharding, SPMDFullToShardShape, SPMDShardToFullShape, annotate_device_placement and the xla.sdy.* annotations
//   return their operand; TopK is topk; check.expect_* compare their operands (check_calls.h).
//   lapack_<letter><routine>_ffi is that routine of LAPACK (lapack_call.h), as JAX calls it on CPUs:
//   (C2) the dictionary has the routine's letters and flags, with known values
//   (C3) operands are the routine's arrays: matrices in the last two dimensions, after equal batches, one element type
//   (C4) so are results
//   (C5) operand_layout_constraints, and layouts of results, have matrices column-major, batches outermost
//   lowtide.host.<name> calls that host function (host_call.h); so do other targets for which the host has a function,
//   whose arrays may have other layouts.
//   (C6) the arrays of lowtide.host.<name> are row-major
#include <fmt/format.h>

#include "ops/check_calls.h"
#include "ops/checks.h"
#include "ops/extents.h"
#include "ops/host_call.h"
#include "ops/lapack_call.h"
#include "ops/op_rule.h"
#include "ops/runnable.h"
#include "ops/stand_in.h"
#include "ops/topk.h"
#include "ops/zeros.h"

namespace lowtide::engine {
namespace {

Status read_custom_call(AttributeReader& reader, Instruction& call) {
  CustomCallAttributes attributes;
  LT_ASSIGN_OR_RETURN(attributes.target, reader.take_string("custom_call_target"));
  LT_ASSIGN_OR_RETURN(attributes.api_version, reader.take_word_or("api_version", ""));
  LT_ASSIGN_OR_RETURN(attributes.has_side_effect, reader.take_bool_or("custom_call_has_side_effect", false));
  LT_ASSIGN_OR_RETURN(attributes.output_to_operand_aliasing, reader.take_aliases_or_none("output_to_operand_aliasing"));
  for (const std::string_view key : {"called_computations", "to_apply", "calls"}) {
    if (!reader.has(key)) continue;
    LT_ASSIGN_OR_RETURN(const std::vector<Computation*> called, reader.take_computations(key));
    call.called.insert(call.called.end(), called.begin(), called.end());
  }
  call.attributes = std::move(attributes);
  return {};
}

void print_custom_call(const Instruction& call, AttributeWriter& writer) {
  const auto& attributes = call.as<CustomCallAttributes>();
  writer.string("custom_call_target", attributes.target);
  if (attributes.has_side_effect) writer.boolean("custom_call_has_side_effect", true);
  if (!attributes.output_to_operand_aliasing.empty()) {
    writer.aliases("output_to_operand_aliasing", attributes.output_to_operand_aliasing);
  }
  if (!attributes.api_version.empty()) writer.text("api_version", attributes.api_version);
  if (!call.called.empty()) writer.computations("called_computations", call.called);
}

const Shape* part_of(const Shape& shape, const ShapeIndex& index) {
  const Shape* part = &shape;
  for (const int64_t i : index) {
    if (i < 0 || i >= static_cast<int64_t>(part->elements.size())) return nullptr;
    part = &part->elements[i];
  }
  return part;
}

Result<Shape> infer_custom_call(const Instruction& call) {
  for (const AliasEntry& alias : call.as<CustomCallAttributes>().output_to_operand_aliasing) {
    const bool known = alias.operand >= 0 && alias.operand < static_cast<int64_t>(call.operands.size());
    const Shape* from =
        known ? part_of(call.operand(static_cast<size_t>(alias.operand)).shape, alias.operand_index) : nullptr;
    const Shape* to = part_of(call.shape, alias.output);
    if (!from || !to || !same_shape(*from, *to)) {  // (C1)
      return broken(call, 1,
                    fmt::format("result {} can't live in operand {} {}", to_string(alias.output), alias.operand,
                                to_string(alias.operand_index)));
    }
  }
  if (is_lapack_call(call) && !has_unbounded(call)) LT_RETURN_IF_ERROR(read_lapack_call(call).status());
  if (is_host_call(call)) LT_RETURN_IF_ERROR(check_host_call(call));
  return call.shape;
}

bool is_annotation(std::string_view target) {
  return target == "Sharding" || target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape" ||
         target == "annotate_device_placement" || target == "MoveToDevice" || target == "MoveToHost" ||
         target == "LayoutConstraint" || target.starts_with("xla.sdy.");
}

std::string unknown_target(const Instruction& call) {
  return fmt::format("custom-call {}: the interpreter doesn't know the target \"{}\"", call.name,
                     call.as<CustomCallAttributes>().target);
}

Result<Value> eval_custom_call(const Instruction& call, Operands operands, EvalContext&) {
  const std::string& target = call.as<CustomCallAttributes>().target;
  if (is_check_call(target) && operands.size() == 2) {
    LT_RETURN_IF_ERROR(check_values(target, call.backend_config, *operands[0], *operands[1]));
    return zeros_of(call.shape);
  }
  if (is_lapack_call(call) && !has_unbounded(call)) return eval_lapack_call(call, operands);
  if (is_host_call(call)) return eval_host_call(call, operands);
  if (is_annotation(target)) {
    if (operands.size() == 1 && same_shape(operands[0]->shape(), call.shape)) return operands[0];
    const Value all = std::make_shared<Literal>(std::vector<Value>(operands.begin(), operands.end()));
    if (same_shape(all->shape(), call.shape)) return all;
  }
  if (target == "TopK" && operands.size() == 1 && call.shape.is_tuple() && !call.shape.elements.empty() &&
      call.shape.elements[0].rank() > 0) {
    LT_ASSIGN_OR_RETURN(const Value top, top_k(*operands[0], call.shape.elements[0].dims.back(), true));
    if (same_shape(top->shape(), call.shape)) return top;
  }
  if (target == kStandIn) return stand_in_for(call.shape, operands);
  return Status::unsupported(unknown_target(call));
}

/// Relates batches, and extents of calls with square matrices of one extent, or with any right-hand sides (trsm, gtsv).
/// False for others: whichever number of rows or columns is the smaller must stay it.
bool relate_factors(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  const Result<LapackCall> call = read_lapack_call(i);
  if (!call.ok()) return false;
  const LapackProblem& p = call->problem;
  const bool free_vectors = p.routine == LapackRoutine::kTrsm || p.routine == LapackRoutine::kGtsv;
  const auto one_extent = [&](const LapackArray& array) {
    return std::ranges::all_of(array.extents, [&](int64_t extent) { return extent == p.n; });
  };
  if (!free_vectors &&
      !(std::ranges::all_of(call->operands, one_extent) && std::ranges::all_of(call->results, one_extent))) {
    return false;
  }
  if (p.routine == LapackRoutine::kGehrd) return false;  // its attributes contain row numbers
  std::vector<Product> batch, extents;
  const auto relate = [&](const LapackArray& array, const std::vector<Product>& dims) {
    const size_t leading = dims.size() - array.extents.size();
    for (size_t d = 0; d < leading; ++d) {
      if (d == batch.size()) batch.push_back(dims[d]);
      r.unite(batch[d], dims[d]);
    }
    for (size_t d = leading; d < dims.size(); ++d) {
      for (const Product& other : extents) r.unite(other, dims[d]);
      extents.push_back(dims[d]);
    }
  };
  for (size_t k = 0; k < call->operands.size(); ++k) relate(call->operands[k], r.leaf_of(i.operand(k), 0));
  for (size_t n = 0; n < call->results.size(); ++n) {
    relate(call->results[n], r.leaf_of(i, static_cast<int64_t>(n)));
  }
  return true;
}

void extents_of_custom_call(ExtentRelater& r) {
  const Instruction& call = r.instruction();
  const std::string& target = call.as<CustomCallAttributes>().target;
  if (target == kStandIn) return;  // it takes and gives arrays of any extents
  const bool names = target == "Sharding" || target == "LayoutConstraint" || target == "annotate_device_placement" ||
                     target == "MoveToHost" || target == "MoveToDevice" || target.starts_with("xla.sdy.");
  if (names && call.operands.size() == 1 && same_shape(call.shape, call.operand(0).shape)) return r.same_as_operand(0);
  if (!is_lapack_call(call) || !relate_factors(r)) unknown_extents(r);
}

}  // namespace

std::string why_custom_call_not_run(const Instruction& call) {
  const std::string& target = call.as<CustomCallAttributes>().target;
  const bool known = is_check_call(target) || is_annotation(target) || target == "TopK" || target == kStandIn ||
                     is_host_call(call) || (is_lapack_call(call) && !has_unbounded(call));
  return known ? "" : unknown_target(call);
}

const OpRule kCustomCallRule{.read = read_custom_call,
                             .print = print_custom_call,
                             .infer = infer_custom_call,
                             .eval = eval_custom_call,
                             .slicing = kNotSliced,
                             .extents = extents_of_custom_call,
                             .reads = reads_anywhere,
                             .arithmetic = kOneOperation};

}  // namespace lowtide::engine
