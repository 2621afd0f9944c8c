// Prints instructions that need another form than that of their row.
#include <fmt/format.h>

#include <algorithm>

#include "text/stablehlo/dense.h"
#include "text/stablehlo/mlir_types.h"
#include "text/stablehlo/printer.h"

namespace lowtide::engine {
namespace {

Dims major_to_minor(const Shape& shape) {
  Dims order;
  for (int64_t d = 0; d < shape.rank(); ++d) order.push_back(d);
  if (shape.layout) order.assign(shape.layout->minor_to_major.rbegin(), shape.layout->minor_to_major.rend());
  return order;
}

}  // namespace

Status StableHloPrinter::unsupported(const Instruction& i) const {
  const Status status =
      Status::unsupported(fmt::format("{} '{}' has no form in StableHLO", opcode_name(i.opcode), i.name));
  return module_.source && !module_.source->text.empty() ? status.at(*module_.source, i.place) : status;
}

Status StableHloPrinter::print_constant(const Instruction& constant) {
  const Value& value = constant.as<ConstantAttributes>().value;
  if (!constant.shape.is_array()) {
    if (constant.shape.is_tuple() && constant.shape.elements.empty()) return names_[&constant].clear(), Status();
    return unsupported(constant);
  }
  const std::string left = begin(constant);
  line(fmt::format("{}stablehlo.constant {} : {}{}", left, dense_text(*value), mlir_type_text(constant.shape),
                   location(constant)));
  return {};
}

/// A bitcast reinterprets the same bytes in another shape: both sides are brought to the order of their layouts.
Status StableHloPrinter::print_bitcast(const Instruction& bitcast) {
  const Shape& from = bitcast.operand(0).shape;
  const char* reshape = from.type == bitcast.shape.type ? "stablehlo.reshape" : "stablehlo.bitcast_convert";
  if (is_row_major(from) && is_row_major(bitcast.shape)) {
    const bool padded = from.type == bitcast.shape.type && element_count(from) != element_count(bitcast.shape);
    if (padded) return unsupported(bitcast);  // one side's elements are the other's padding
    generic(bitcast, reshape, operands_of(bitcast), operand_types(bitcast), {});
    return {};
  }
  const auto is_plain = [](const Shape& shape) { return !shape.layout || shape.layout->tiles.empty(); };
  if (from.type != bitcast.shape.type || !is_plain(from) || !is_plain(bitcast.shape)) return unsupported(bitcast);
  const Dims source = major_to_minor(from), target = major_to_minor(bitcast.shape);
  Shape bytes = Shape::array(from.type, {}), seen = bytes;
  Dims back(target.size());
  for (const int64_t d : source) bytes.dims.push_back(from.dims[d]);
  for (size_t d = 0; d < target.size(); ++d) {
    seen.dims.push_back(bitcast.shape.dims[target[d]]);
    back[target[d]] = static_cast<int64_t>(d);
  }
  const auto step = [&](const std::string& operand, const char* operation, const std::string& properties,
                        const Shape& type, const Shape& result) {
    const std::string name = '%' + fresh(bitcast.name + ".bytes");
    line(fmt::format("{} = \"{}\"({}){} : ({}) -> {}", name, operation, operand, properties, mlir_type_text(type),
                     mlir_type_text(result)));
    return name;
  };
  const auto order = [](const Dims& dims) { return fmt::format(" <{{permutation = {}}}>", mlir_array(dims)); };
  const std::string moved = step(operands_of(bitcast).front(), "stablehlo.transpose", order(source), from, bytes);
  const std::string shaped = step(moved, reshape, "", bytes, seen);
  generic(bitcast, "stablehlo.transpose", {shaped}, {seen}, {{"permutation", mlir_array(back)}});
  return {};
}

/// An asynchronous operation is printed at its start, as the synchronous operation.
Status StableHloPrinter::print_start(const Instruction& start) {
  Instruction work = start;
  size_t before = 0;  // leaves of the start's result before those of the operation: its operands
  const auto take = [&](Opcode opcode, size_t element) {
    work.opcode = opcode;
    if (element > 0) before = leaves(start.shape.elements[0]).size();
    work.shape = start.shape.elements[element];
  };
  const bool tuple = start.shape.is_tuple() && start.shape.elements.size() > 1;
  if (start.opcode != Opcode::kAllReduceStart && !tuple) return unsupported(start);
  switch (start.opcode) {
    case Opcode::kAllGatherStart: take(Opcode::kAllGather, 1); break;
    case Opcode::kCollectivePermuteStart: take(Opcode::kCollectivePermute, 1); break;
    case Opcode::kCopyStart: take(Opcode::kCopy, 0); break;
    case Opcode::kAllReduceStart: work.opcode = Opcode::kAllReduce; break;
    default: {
      const auto* named = start.if_as<std::shared_ptr<const AsyncAttributes>>();
      take(named ? (*named)->wrapped : Opcode::kCall, 1);
      work.attributes = named ? (*named)->inner : Attributes();
    }
  }
  LT_RETURN_IF_ERROR(print_instruction(work));
  Names all = operands_of(start);
  all.resize(before);
  const Names& made = names_[&work];
  all.insert(all.end(), made.begin(), made.end());
  all.resize(std::max(leaves(start.shape).size(), all.size()), start.opcode == Opcode::kCopyStart ? made.front() : "");
  names_.erase(&work);
  names_[&start] = std::move(all);
  return {};
}

Result<bool> StableHloPrinter::print_special(const Instruction& i) {
  const Names operands = operands_of(i);
  switch (i.opcode) {
    case Opcode::kCopy:  // meaningless outside of its schedule, unless it changes the precision
      if (!same_shape(i.shape, i.operand(0).shape)) {
        generic(i, "stablehlo.convert", operands, operand_types(i), {});
        return true;
      }
      [[fallthrough]];
    case Opcode::kDomain: names_[&i] = operands; return true;
    case Opcode::kBroadcast:
      if (i.shape.type != i.operand(0).shape.type) return unsupported(i);  // occurs only in scheduled programs
      return false;
    case Opcode::kBitcast: LT_RETURN_IF_ERROR(print_bitcast(i)); return true;
    case Opcode::kOptBarrier:
      if (!operands.empty()) generic(i, "stablehlo.optimization_barrier", operands, operand_types(i), {});
      return true;
    case Opcode::kAfterAll:
      generic(i, operands.empty() ? "stablehlo.create_token" : "stablehlo.after_all", operands, operand_types(i), {});
      return true;
    case Opcode::kTopK: {
      const auto& top = i.as<TopKAttributes>();
      std::vector<MlirText> properties = {{"k", fmt::format("{} : i64", top.k)}};
      if (!top.largest) properties.push_back({"largest", "false"});
      generic(i, top.largest ? "chlo.top_k" : "mhlo.topk", operands, operand_types(i), properties);
      return true;
    }
    case Opcode::kSort:
      for (const Instruction* parameter : i.called[0]->parameters()) {  // others occur only in scheduled programs
        const auto number = static_cast<size_t>(parameter->as<ParameterAttributes>().number) / 2;
        if (number < i.operands.size() && parameter->shape.type != i.operand(number).shape.type) return unsupported(i);
      }
      return false;
    case Opcode::kRng: {
      const std::string extents = '%' + fresh(i.name + ".shape");
      const Shape type = Shape::array(ElementType::kS64, {i.shape.rank()});
      Literal dims(type);
      for (size_t d = 0; d < i.shape.dims.size(); ++d) dims.data<int64_t>()[d] = i.shape.dims[d];
      line(fmt::format("{} = stablehlo.constant {} : {}", extents, dense_text(dims), mlir_type_text(type)));
      Names all = operands;
      all.push_back(extents);
      std::vector<Shape> types = operand_types(i);
      types.push_back(type);
      generic(i, "stablehlo.rng", all, types, mlir_attributes(*spelling_of(Opcode::kRng), i));
      return true;
    }
    case Opcode::kDot: {
      if (i.operands.size() == 2) return false;
      if (i.operands.size() != 3 || !same_shape(i.operand(2).shape, i.shape)) return unsupported(i);
      Instruction product = i;  // prints the products, then the addition of the third operand
      product.operands.pop_back();
      product.name += ".products";
      generic(product, "stablehlo.dot_general", operands_of(product), operand_types(product),
              mlir_attributes(*spelling_of(Opcode::kDot), product));
      const std::string products = names_[&product].front();
      names_.erase(&product);
      const std::string left = begin(i);
      line(fmt::format("{}stablehlo.add {}, {} : {}", left, products, operands[2], mlir_type_text(i.shape)));
      return true;
    }
    case Opcode::kScan: {
      const auto& scan = i.as<ScanAttributes>();
      const auto outputs = static_cast<int64_t>(leaves(i.shape).size());
      const auto inputs = static_cast<int64_t>(i.operands.size());
      if (scan.num_carries < 0 || scan.num_carries > std::min(inputs, outputs)) return unsupported(i);
      std::vector<MlirText> properties = mlir_attributes(*spelling_of(Opcode::kScan), i);
      for (const auto& [key, count] : {std::pair{"operandSegmentSizes", inputs}, {"resultSegmentSizes", outputs}}) {
        properties.push_back({key, fmt::format("array<i32: {}, {}>", count - scan.num_carries, scan.num_carries)});
      }
      LT_ASSIGN_OR_RETURN(const std::string body, region(*i.called[0], true));
      generic(i, "chlo.scan", operands, operand_types(i), properties, body);
      return true;
    }
    case Opcode::kAllToAll: {
      const auto& collective = i.as<CollectiveAttributes>();
      const int64_t parts = collective.replica_groups.group_size;
      if (collective.dimensions.size() != 1 || parts == 0) return unsupported(i);
      std::vector<MlirText> properties = mlir_attributes(*spelling_of(Opcode::kCollectiveBroadcast), i);
      for (const char* key : {"split_dimension", "concat_dimension"}) {
        properties.push_back({key, fmt::format("{} : i64", collective.dimensions[0])});
      }
      properties.push_back({"split_count", fmt::format("{} : i64", parts)});
      generic(i, "stablehlo.all_to_all", operands, operand_types(i), properties);
      return true;
    }
    case Opcode::kAsyncStart:
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduceStart:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kCopyStart: LT_RETURN_IF_ERROR(print_start(i)); return true;
    case Opcode::kAsyncUpdate: names_[&i] = operands; return true;
    case Opcode::kAsyncDone:
    case Opcode::kAllGatherDone:
    case Opcode::kCollectivePermuteDone:
    case Opcode::kAllReduceDone:
    case Opcode::kCopyDone: {
      const bool behind = i.opcode != Opcode::kAllReduceDone && i.opcode != Opcode::kCopyDone;
      const auto first = static_cast<ptrdiff_t>(behind ? leaves(i.operand(0).shape.elements[0]).size() : 0);
      const auto count = static_cast<ptrdiff_t>(leaves(i.shape).size());
      names_[&i] = Names(operands.begin() + first, operands.begin() + first + count);
      return true;
    }
    case Opcode::kCollectiveReduce:
    case Opcode::kRaggedAllToAll:
    case Opcode::kScaledDot:
    case Opcode::kShuffle:
    case Opcode::kDynamicReshape:
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kRngGetAndUpdateState: return unsupported(i);
    default:
      if (memory_class(i.opcode) == MemoryClass::kAsync) return unsupported(i);
      return false;
  }
}

}  // namespace lowtide::engine
