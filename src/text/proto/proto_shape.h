#pragma once
/// Reads ShapeProto and LiteralProto (xla_data.proto).

#include <optional>

#include "ir/literal.h"
#include "ir/shape.h"
#include "text/proto/wire.h"

namespace lowtide::engine {

/// A shape with its layout. An invalid shape (an unknown type, a layout of another rank, too many elements to count)
/// raises `fault`.
Shape shape_from_proto(const WireMessage& proto, WireFault& fault);

/// A constant's value, in logical order; Literal::unknown if the file lacks its elements; null if `fault` was raised.
Value literal_from_proto(const WireMessage& proto, WireFault& fault);

/// The type for a number of xla.PrimitiveType; nullopt if it is unknown.
std::optional<ElementType> element_type_from_proto(int64_t number);

}  // namespace lowtide::engine
