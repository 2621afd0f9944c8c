#include "ops/dimensions.h"

namespace lowtide::engine {

Status read_dimensions(AttributeReader& reader, Instruction& instruction) {
  LT_ASSIGN_OR_RETURN(Dims dimensions, reader.take_dims("dimensions"));
  instruction.attributes = DimensionsAttributes{std::move(dimensions)};
  return {};
}

Status read_dimensions_or_none(AttributeReader& reader, Instruction& instruction) {
  LT_ASSIGN_OR_RETURN(Dims dimensions, reader.take_dims_or("dimensions", {}));
  instruction.attributes = DimensionsAttributes{std::move(dimensions)};
  return {};
}

void print_dimensions(const Instruction& instruction, AttributeWriter& writer) {
  writer.dims("dimensions", instruction.as<DimensionsAttributes>().dimensions);
}

}  // namespace lowtide::engine
