#pragma once
/// The safetensors format's names of element types.

#include <optional>
#include <string_view>

#include "ir/element_type.h"

namespace lowtide::engine {

std::optional<ElementType> tensor_type_from_text(std::string_view text);
/// The type that represents `type` in a file: itself, or a byte for narrower integers; nullopt if there is none.
std::optional<ElementType> tensor_carrier(ElementType type);
std::string_view tensor_type_text(ElementType carrier);

}  // namespace lowtide::engine
