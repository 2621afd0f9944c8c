// Instructions that MLIR says otherwise than by their row.
#include <fmt/format.h>

#include <algorithm>

#include "text/stablehlo/dense.h"
#include "text/stablehlo/mlir_types.h"
#include "text/stablehlo/printer.h"

namespace lowtide {
namespace {

bool is_row_major(const Shape& shape) {
  if (!shape.layout) return true;
  const Dims& order = shape.layout->minor_to_major;
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(order.size() - 1 - i)) return false;
  }
  return true;
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

Result<bool> StableHloPrinter::print_special(const Instruction& i) {
  const Names operands = operands_of(i);
  switch (i.opcode) {
    case Opcode::kCopy:  // of no meaning outside the schedule it was made for
    case Opcode::kDomain: names_[&i] = operands; return true;
    case Opcode::kBitcast:
      if (!is_row_major(i.shape) || !is_row_major(i.operand(0).shape)) return unsupported(i);
      generic(i, i.shape.type == i.operand(0).shape.type ? "stablehlo.reshape" : "stablehlo.bitcast_convert", operands,
              operand_types(i), {});
      return true;
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
      Instruction product = i;  // the products, then what they are added to
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
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduceStart:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kCollectiveReduce:
    case Opcode::kRaggedAllToAll:
    case Opcode::kCopyStart:
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

}  // namespace lowtide
