#include "text/hlo/shape_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace lowtide::engine {
namespace {

constexpr int kDeepestTuple = 64;
// Larger sizes occur in no real program; with these limits sums are far from overflow.
constexpr int64_t kMostBits = int64_t{1} << 53;        // one array: 1 PiB
constexpr int64_t kMostPaddedBits = int64_t{1} << 59;  // one array, padded to whole tiles in every dimension
constexpr int64_t kWidestElement = 128;                // E(n), bits

/// a * b, or most + 1 if the product is larger than `most`; neither factor is negative.
int64_t product_up_to(int64_t a, int64_t b, int64_t most) {
  if (b == 0) return 0;
  return a > most / b ? most + 1 : a * b;
}

Status read_extents(Scanner& scanner, Shape& shape) {
  if (!scanner.eat("[")) return scanner.expected("'[' and the extents");
  while (scanner.peek() != ']') {
    const Offset place = scanner.place();
    int64_t extent = kUnboundedDim;
    const bool bounded = scanner.eat("<=");
    const bool unbounded = !bounded && scanner.eat("?");
    if (!unbounded) {
      const std::optional<int64_t> value = scanner.integer();
      if (!value) return scanner.expected("an extent, '?' or ']'");
      if (*value < 0) return scanner.fault(place, fmt::format("found the extent {}, expected none below 0", *value));
      extent = *value;
    }
    if (bounded || unbounded) {
      shape.dynamic.resize(shape.dims.size(), false);
      shape.dynamic.push_back(true);
    } else if (!shape.dynamic.empty()) {
      shape.dynamic.push_back(false);
    }
    shape.dims.push_back(extent);
    if (!scanner.eat(",")) break;
  }
  if (!scanner.eat("]")) return scanner.expected("',' or ']'");
  return {};
}

Result<int64_t> read_parenthesised(Scanner& scanner, int64_t most) {
  const std::optional<int64_t> value = scanner.eat("(") ? scanner.integer() : std::nullopt;
  if (!value || *value < 0 || *value > most || !scanner.eat(")")) {
    return scanner.expected(fmt::format("an integer up to {} in parentheses", most));
  }
  return *value;
}

/// The unparsed text in (...), without the parentheses.
Result<std::string> read_raw(Scanner& scanner) {
  const std::string_view text = scanner.peek() == '(' ? scanner.bracketed() : std::string_view();
  if (text.empty()) return scanner.expected("(...)");
  return std::string(text.substr(1, text.size() - 2));
}

Status read_tiles(Scanner& scanner, Layout& layout) {
  if (scanner.peek() != '(') return scanner.expected("'(' and the extents of a tile");
  while (scanner.eat("(")) {
    Dims tile;
    while (scanner.peek() != ')') {
      const std::optional<int64_t> extent = scanner.eat("*") ? std::optional(kCombineTile) : scanner.integer();
      if (!extent || (*extent < 1 && *extent != kCombineTile)) return scanner.expected("the extent of a tile, or '*'");
      tile.push_back(*extent);
      if (!scanner.eat(",")) break;
    }
    if (!scanner.eat(")")) return scanner.expected("',' or ')'");
    layout.tiles.push_back(std::move(tile));
  }
  return {};
}

Status read_layout_attributes(Scanner& scanner, Layout& layout) {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  RareLayout rare;
  while (scanner.peek() != '}') {
    if (scanner.eat("SC")) {
      LT_ASSIGN_OR_RETURN(const std::string text, read_raw(scanner));
      rare.split_config += "SC(" + text + ")";
    } else if (scanner.eat("D")) {
      LT_ASSIGN_OR_RETURN(rare.dim_levels, read_raw(scanner));
    } else if (scanner.eat("T")) {
      LT_RETURN_IF_ERROR(read_tiles(scanner, layout));
    } else if (scanner.eat("L")) {
      LT_ASSIGN_OR_RETURN(rare.tail_alignment, read_parenthesised(scanner, kAny));
    } else if (scanner.eat("#")) {
      LT_ASSIGN_OR_RETURN(rare.index_type, read_raw(scanner));
    } else if (scanner.eat("*")) {
      LT_ASSIGN_OR_RETURN(rare.pointer_type, read_raw(scanner));
    } else if (scanner.eat("E")) {
      LT_ASSIGN_OR_RETURN(layout.element_bits, read_parenthesised(scanner, kWidestElement));
    } else if (scanner.eat("S")) {
      LT_ASSIGN_OR_RETURN(layout.memory_space, read_parenthesised(scanner, kAny));
    } else if (scanner.eat("P")) {
      LT_ASSIGN_OR_RETURN(rare.physical_shape, read_raw(scanner));
    } else if (scanner.eat("M")) {
      LT_ASSIGN_OR_RETURN(rare.metadata_bytes, read_parenthesised(scanner, kAny));
    } else {
      return scanner.expected("an attribute of the layout: D, T, L, #, *, E, S, SC, P, M, or '}'");
    }
  }
  if (!(rare == RareLayout{})) layout.rare = std::make_shared<const RareLayout>(std::move(rare));
  return {};
}

Status read_layout(Scanner& scanner, Shape& shape) {
  const Offset place = scanner.place();
  scanner.eat("{");
  Layout layout;
  while (is_digit(scanner.peek())) {
    const std::optional<int64_t> dimension = scanner.integer();
    if (!dimension) return scanner.expected("a dimension");
    layout.minor_to_major.push_back(*dimension);
    if (!scanner.eat(",")) break;
  }
  if (scanner.eat(":")) LT_RETURN_IF_ERROR(read_layout_attributes(scanner, layout));
  if (!scanner.eat("}")) return scanner.expected("a dimension, ':' or '}' in a layout");

  std::vector<bool> seen(shape.dims.size(), false);
  bool permutation = layout.minor_to_major.size() == shape.dims.size();
  for (const int64_t d : layout.minor_to_major) {
    permutation = permutation && d >= 0 && d < shape.rank() && !seen[d];
    if (permutation) seen[d] = true;
  }
  if (!permutation) {
    return scanner.fault(
        place, fmt::format("the layout of an array of {} dimensions must name each of them once", shape.rank()));
  }
  shape.layout = std::move(layout);
  return {};
}

Status check_size(Scanner& scanner, const Shape& shape, Offset place) {
  int64_t bits = std::max(type_bits(shape.type), 8);
  if (shape.layout) bits = std::max(bits, shape.layout->element_bits);
  for (const int64_t extent : shape.dims) bits = product_up_to(bits, std::max<int64_t>(extent, 1), kMostBits);
  if (bits > kMostBits) {
    return Status(Fault::kLimit, "this array has more than 1 PiB").at(scanner.source(), place);
  }
  if (!shape.layout) return {};
  for (const Dims& tile : shape.layout->tiles) {
    for (const int64_t extent : tile) bits = product_up_to(bits, std::max<int64_t>(extent, 1), kMostPaddedBits);
  }
  return bits > kMostPaddedBits ? scanner.fault(place, "this array's tiles are too large") : Status();
}

Result<Shape> read_nested(Scanner& scanner, BraceBehind brace, int depth) {
  if (depth > kDeepestTuple) return scanner.expected("tuples nested less deeply");
  scanner.peek();
  const Offset place = scanner.place();
  if (scanner.eat("(")) {
    Shape tuple = Shape::tuple({});
    while (scanner.peek() != ')') {
      LT_ASSIGN_OR_RETURN(Shape element, read_nested(scanner, BraceBehind::kLayout, depth + 1));
      tuple.elements.push_back(std::move(element));
      if (!scanner.eat(",")) break;
    }
    if (!scanner.eat(")")) return scanner.expected("',' or ')' in a tuple shape");
    return tuple;
  }
  if (!is_name_start(scanner.peek())) return scanner.expected("a shape");
  const std::string_view word = scanner.word();
  if (word == "b" && scanner.eat("(")) {
    Shape buffer;
    buffer.type = ElementType::kBuffer;
    LT_ASSIGN_OR_RETURN(Shape referent, read_nested(scanner, BraceBehind::kLayout, depth + 1));
    buffer.elements.push_back(std::move(referent));
    if (!scanner.eat(")")) return scanner.expected("')' behind the shape of a buffer");
    return buffer;
  }
  const std::optional<ElementType> type = type_from_name(word);
  if (!type) {
    return scanner.fault(place,
                         fmt::format("found '{}', expected an element type such as f32, bf16, s32 or pred", word));
  }
  Shape shape;
  shape.type = *type;
  LT_RETURN_IF_ERROR(read_extents(scanner, shape));
  if (scanner.peek() == '{') {
    Scanner ahead = scanner;
    ahead.eat("{");
    const char next = ahead.peek();
    if (is_digit(next) || next == ':' || (brace == BraceBehind::kLayout && next == '}')) {
      LT_RETURN_IF_ERROR(read_layout(scanner, shape));
    }
  }
  LT_RETURN_IF_ERROR(check_size(scanner, shape, place));
  return shape;
}

}  // namespace

Result<Shape> read_shape(Scanner& scanner, BraceBehind brace) { return read_nested(scanner, brace, 0); }

bool shape_follows(Scanner& scanner) {
  if (scanner.peek() == '(') return true;
  if (!is_name_start(scanner.peek())) return false;
  Scanner ahead = scanner;
  const std::string_view word = ahead.word();
  return ahead.peek() == '[' || (word == "b" && ahead.peek() == '(');
}

}  // namespace lowtide::engine
