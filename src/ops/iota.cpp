/// iota: an array whose elements count along one dimension.
///   -> T[s], result[i] = i[d] for d = iota_dimension
///   (C1) the declared shape is an array of numbers  (C2) 0 <= iota_dimension < rank

#include <fmt/format.h>

#include "ops/infer.h"
#include "ops/op_rule.h"

namespace lowtide {
namespace {

Status read(AttributeReader& reader, Instruction& instruction) {
  LT_ASSIGN_OR_RETURN(const int64_t dimension, reader.take_integer("iota_dimension"));
  instruction.attributes = IotaAttributes{dimension};
  return {};
}

void print(const Instruction& instruction, AttributeWriter& writer) {
  writer.integer("iota_dimension", instruction.as<IotaAttributes>().dimension);
}

Result<Shape> infer(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_declared(instruction, "C1", kNumbers));
  const int64_t dimension = instruction.as<IotaAttributes>().dimension;
  if (dimension < 0 || dimension >= instruction.shape.rank()) {
    return broken(instruction, "C2",
                  fmt::format("iota_dimension must be a dimension of {}, got {}",
                              to_string_without_layout(instruction.shape), dimension));
  }
  return instruction.shape;
}

}  // namespace

const OpRule kIotaRule{.read = read, .print = print, .infer = infer};

}  // namespace lowtide
