#pragma once
/// Constants as HLO text: `1.5`, `{ {1, 2}, {3, 4} }`, `(1, {2})`, `{...}`. Elements are in logical row-major order.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/literal.h"

namespace lowtide::engine {

/// Reads a value of this shape; numbers are rounded once, to the element type. `{...}` gives Literal::unknown.
/// Errors point into `source`, in which `text` begins at `place`.
Result<Value> parse_literal(std::string_view text, const Shape& shape, const Source& source, Offset place);

enum class LargeConstants : uint8_t {
  kWhole,
  kShort,  ///< arrays of more than ten elements are abbreviated as `{...}`, as unknown ones always are
  kNamed,  ///< arrays of more than 4,096 are replaced by a hash of their bytes, for texts that aren't read back
};

/// Appends the shortest text that reads back as the same value, unless it is abbreviated.
void print_literal(const Literal& value, LargeConstants large, std::string& out);

/// One element as text: `1.5`, `true`, `(0, -1)`, `nan`.
std::string element_text(const Literal& array, int64_t element);

}  // namespace lowtide::engine
