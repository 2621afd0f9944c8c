#pragma once
/// ShapeProto and LiteralProto (xla_data.proto).

#include <optional>

#include "ir/literal.h"
#include "ir/shape.h"
#include "text/proto/wire.h"

namespace lowtide::engine {

/// A shape with its layout. What no shape can be (a type unknown here, a layout of another rank, more elements than
/// can be counted) raises `fault`.
Shape shape_from_proto(const WireMessage& proto, WireFault& fault);

/// A constant's value, in logical order. Without elements in the file: Literal::unknown. Null where `fault` was raised.
Value literal_from_proto(const WireMessage& proto, WireFault& fault);

/// xla.PrimitiveType; nullopt for numbers not known here.
std::optional<ElementType> element_type_from_proto(int64_t number);

}  // namespace lowtide::engine
