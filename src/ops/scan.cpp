// scan: applies a computation step by step along one dimension, with loop-carried values.
//   inputs with dimension d of extent n, initial carries; the computation takes one slice of each input and the
//   carries, and gives one slice of each output and the carries. Results: the outputs, then the final carries.
//   (C1) one dimension, which every input has, with one extent
//   (C2) the computation takes slices of the inputs and the carries, and gives slices of the declared outputs and
//        carries
//   (C3) there are no more carries than operands
#include <fmt/format.h>

#include "ir/shape_leaves.h"
#include "ops/checks.h"
#include "ops/extents.h"
#include "ops/index_space.h"
#include "ops/reducer.h"

namespace lowtide::engine {
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

Shape without_dimension(const Shape& shape, int64_t d) {
  Shape slice = bare(shape);
  slice.dims.erase(slice.dims.begin() + static_cast<std::ptrdiff_t>(d));
  return slice;
}

Result<Shape> infer_scan(const Instruction& scan) {
  const auto& attributes = scan.as<ScanAttributes>();
  const int64_t d = attributes.dimension;
  LT_RETURN_IF_ERROR(check_arrays(scan, 1));
  const auto operands = static_cast<int64_t>(scan.operands.size());
  LT_ASSIGN_OR_RETURN(const Signature callee, signature_of(scan, 0, 2));
  const int64_t carries = attributes.num_carries;
  if (carries < 0) return scan.shape;  // older texts don't state it
  if (carries > operands) {            // (C3)
    return broken(scan, 3, fmt::format("has {} carries and {} operands", carries, operands));
  }
  std::vector<Shape> given;
  for (int64_t k = 0; k < operands; ++k) {
    const Shape& operand = scan.operand(static_cast<size_t>(k)).shape;
    if (k >= operands - carries) {
      given.push_back(bare(operand));
      continue;
    }
    if (d < 0 || d >= operand.rank() || operand.dims[d] != scan.operand(0).shape.dims[d]) {  // (C1)
      return broken(scan, 1, fmt::format("inputs must share the extent of dimension {}", d));
    }
    given.push_back(without_dimension(operand, d));
  }
  std::vector<const Shape*> expected;
  for (const Shape& shape : given) expected.push_back(&shape);
  LT_RETURN_IF_ERROR(check_parameters(scan, callee, expected, 2));  // (C2)
  const std::vector<Shape>& made =
      callee.result->is_tuple() ? callee.result->elements : std::vector<Shape>{*callee.result};
  const auto outputs = static_cast<int64_t>(made.size()) - carries;
  if (!scan.shape.is_tuple() || scan.shape.elements.size() != made.size() || outputs < 0) {
    return broken(scan, 2, "the computation gives other parts than " + to_string_without_layout(scan.shape));
  }
  for (size_t k = 0; k < made.size(); ++k) {
    const Shape& declared = scan.shape.elements[k];
    const bool output = static_cast<int64_t>(k) < outputs;
    bool fits = !output || (declared.is_array() && d < declared.rank() && operands > carries);
    fits = fits && same_shape(made[k], output ? without_dimension(declared, d) : declared) &&
           (!output || declared.dims[d] == scan.operand(0).shape.dims[d]);
    if (!fits) {
      return broken(scan, 2,
                    fmt::format("the computation gives {} for {}", to_string_without_layout(made[k]),
                                to_string_without_layout(declared)));
    }
  }
  return scan.shape;
}

/// Slice i of an array along dimension d; the slice lacks that dimension.
Value slice_at(const Literal& array, size_t d, int64_t i) {
  Dims extents = array.shape().dims;
  const Dims strides = row_major_strides(extents);
  extents[d] = 1;
  Dims kept = extents;
  kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(d));
  auto slice = std::make_shared<Literal>(Shape::array(array.shape().type, kept));
  int64_t to = 0;
  for (const int64_t from : offsets_of(extents, strides)) copy_element(array, from + i * strides[d], *slice, to++);
  return slice;
}

void put_slice(const Literal& slice, Literal& array, size_t d, int64_t i) {
  Dims extents = array.shape().dims;
  const Dims strides = row_major_strides(extents);
  extents[d] = 1;
  int64_t from = 0;
  for (const int64_t to : offsets_of(extents, strides)) copy_element(slice, from++, array, to + i * strides[d]);
}

Result<Value> eval_scan(const Instruction& scan, Operands operands, EvalContext& context) {
  const auto& attributes = scan.as<ScanAttributes>();
  const auto d = static_cast<size_t>(attributes.dimension);
  if (attributes.num_carries < 0 || !scan.shape.is_tuple()) {
    return Status::unsupported("scan " + scan.name + ": its carries and outputs can't be told apart");
  }
  const auto carries = static_cast<size_t>(attributes.num_carries);
  const size_t inputs = operands.size() - carries;
  std::vector<Literal> results = results_for(scan.shape);
  const size_t outputs = results.size() - carries;
  const int64_t steps = inputs == 0 ? 0 : operands[0]->shape().dims[d];
  std::vector<Value> carried(operands.begin() + static_cast<std::ptrdiff_t>(inputs), operands.end());
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t i = attributes.is_reverse ? steps - 1 - step : step;
    std::vector<Value> arguments;
    for (size_t k = 0; k < inputs; ++k) arguments.push_back(slice_at(*operands[k], d, i));
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    LT_ASSIGN_OR_RETURN(const Value made, context.call(*scan.called[0], arguments));
    const std::vector<Value> parts = made->shape().is_tuple() ? made->parts() : std::vector<Value>{made};
    for (size_t k = 0; k < outputs; ++k) put_slice(*parts[k], results[k], d, i);
    carried.assign(parts.begin() + static_cast<std::ptrdiff_t>(outputs), parts.end());
  }
  std::vector<Value> all;
  for (size_t k = 0; k < outputs; ++k) all.push_back(std::make_shared<Literal>(std::move(results[k])));
  all.insert(all.end(), carried.begin(), carried.end());
  return Value(std::make_shared<Literal>(std::move(all)));
}

/// Slices lack the scanned dimension; carries keep their extents.
void extents_of_scan(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  const auto& a = i.as<ScanAttributes>();
  const std::vector<Instruction*> parameters = i.called[0]->parameters();
  if (a.num_carries < 0 || parameters.size() != i.operands.size()) return unknown_extents(r);
  const auto along = static_cast<size_t>(a.dimension), carries = static_cast<size_t>(a.num_carries);
  const size_t inputs = i.operands.size() - carries;
  const Instruction& root = *i.called[0]->root;
  const int64_t results = leaf_count(i.shape), outputs = results - a.num_carries;
  const auto slice = [&](const Instruction& whole, int64_t leaf, const Instruction& part) {
    const auto& dims = r.leaf_of(whole, leaf);
    const auto& kept = r.leaf_of(part, &part == &root ? leaf : 0);
    for (size_t d = 0; d < dims.size(); ++d) r.unite(dims[d], d == along ? r.of_operand(0, d) : kept[d - (d > along)]);
  };
  for (size_t k = 0; k < inputs; ++k) slice(i.operand(k), 0, *parameters[k]);
  for (int64_t leaf = 0; leaf < outputs; ++leaf) slice(i, leaf, root);
  for (size_t k = 0; k < carries; ++k) {
    const auto leaf = outputs + static_cast<int64_t>(k);
    const Instruction& first = i.operand(inputs + k);
    r.same(first, 0, *parameters[inputs + k], 0);
    r.same(i, leaf, first, 0);
    r.same(i, leaf, root, leaf);
  }
}

}  // namespace

const OpRule kScanRule{.read = read_scan,
                       .print = print_scan,
                       .infer = infer_scan,
                       .eval = eval_scan,
                       .slicing = kNotSliced,
                       .extents = extents_of_scan,
                       .reads = reads_anywhere,
                       .arithmetic = kOneOperation};

}  // namespace lowtide::engine
