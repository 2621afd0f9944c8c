// scan: a computation carried along one dimension.
//   inputs with dimension d of extent n, initial carries; the computation takes one slice of each input and the
//   carries, and gives one slice of each output and the carries. Results: the outputs, then the final carries. (C1) one
//   dimension, in every input's rank (C2) the computation takes as many arguments as there are operands, and ends in
//   the carries it takes
#include <fmt/format.h>

#include "ops/checks.h"
#include "ops/op_rule.h"

namespace lowtide {
namespace {

Status read_scan(AttributeReader& reader, Instruction& scan) {
  ScanAttributes attributes;
  LT_ASSIGN_OR_RETURN(const Dims dimensions, reader.take_dims("dimensions"));
  if (dimensions.size() != 1) return reader.fault_at("dimensions", "expected one dimension");
  attributes.dimension = dimensions[0];
  LT_ASSIGN_OR_RETURN(attributes.is_reverse, reader.take_bool_or("is_reverse", false));
  LT_ASSIGN_OR_RETURN(attributes.is_associative, reader.take_word_or("is_associative", ""));
  LT_ASSIGN_OR_RETURN(attributes.num_carries, reader.take_integer_or("num_carries", -1));
  LT_ASSIGN_OR_RETURN(Computation * callee, reader.take_computation("to_apply"));
  scan.called = {callee};
  scan.attributes = std::move(attributes);
  return {};
}

void print_scan(const Instruction& scan, AttributeWriter& writer) {
  const auto& attributes = scan.as<ScanAttributes>();
  writer.dims("dimensions", {attributes.dimension});
  if (attributes.num_carries >= 0) writer.integer("num_carries", attributes.num_carries);
  if (attributes.is_reverse) writer.boolean("is_reverse", true);
  if (!attributes.is_associative.empty()) writer.text("is_associative", attributes.is_associative);
  writer.computation("to_apply", *scan.called[0]);
}

Result<Shape> infer_scan(const Instruction& scan) {
  const auto& attributes = scan.as<ScanAttributes>();
  LT_RETURN_IF_ERROR(check_arrays(scan, 1));
  if (scan.operands.empty() || attributes.dimension < 0 ||
      attributes.dimension >= scan.operand(0).shape.rank()) {  // (C1)
    return broken(scan, 1, fmt::format("dimension {} is not one of the first input", attributes.dimension));
  }
  LT_ASSIGN_OR_RETURN(const Signature callee, signature_of(scan, 0, 2));
  if (callee.parameters.size() != scan.operands.size()) {  // (C2)
    return broken(scan, 2,
                  fmt::format("gives {} operands to a computation of {} parameters", scan.operands.size(),
                              callee.parameters.size()));
  }
  if (attributes.num_carries > static_cast<int64_t>(scan.operands.size())) {  // (C3)
    return broken(scan, 3, fmt::format("has {} carries and {} operands", attributes.num_carries, scan.operands.size()));
  }
  return scan.shape;
}

}  // namespace

const OpRule kScanRule{read_scan, print_scan, infer_scan, nullptr};

}  // namespace lowtide
