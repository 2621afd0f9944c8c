#include "ops/infer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lowtide::engine {

Kinds kind_of(ElementType type) {
  switch (type_kind(type)) {
    case TypeKind::kPredicate: return kPredicates;
    case TypeKind::kSigned: return kSignedIntegers;
    case TypeKind::kUnsigned: return kUnsignedIntegers;
    case TypeKind::kFloat: return kFloats;
    case TypeKind::kComplex: return kComplexes;
    case TypeKind::kNone: return 0;
  }
  return 0;
}

std::string describe(Kinds kinds) {
  if (kinds == kAnything) return "any element type";
  std::vector<std::string_view> words;
  if (kinds & kPredicates) words.push_back("predicates");
  if ((kinds & kIntegers) == kIntegers) {
    words.push_back("integers");
  } else if (kinds & kSignedIntegers) {
    words.push_back("signed integers");
  } else if (kinds & kUnsignedIntegers) {
    words.push_back("unsigned integers");
  }
  if (kinds & kFloats) words.push_back("floats");
  if (kinds & kComplexes) words.push_back("complex numbers");
  return fmt::format("{}", fmt::join(words, " or "));
}

Status broken(const Instruction& instruction, std::string_view label, std::string_view sentence) {
  std::string message = fmt::format("{}: {}", opcode_name(instruction.opcode), sentence);
  if (!label.empty()) message += fmt::format(" ({})", label);
  return Status::input(std::move(message));
}

Status check_operands(const Instruction& instruction, std::string_view label, int count, Kinds kinds) {
  const size_t given = instruction.operands.size();
  if (count == kAnyArity ? given == 0 : given != static_cast<size_t>(count)) {
    const std::string expected = count == kAnyArity ? "at least one operand" : fmt::format("{} operands", count);
    return broken(instruction, label, fmt::format("expects {}, got {}", expected, given));
  }
  for (size_t i = 0; i < given; ++i) {
    const Shape& shape = instruction.operand(i).shape;
    if (!(kind_of(shape.type) & kinds)) {
      return broken(instruction, label,
                    fmt::format("operand {} must be an array of {}, got {}", i, describe(kinds),
                                to_string_without_layout(shape)));
    }
  }
  return {};
}

Status check_declared(const Instruction& instruction, std::string_view label, Kinds kinds) {
  if (!(kind_of(instruction.shape.type) & kinds)) {
    return broken(instruction, label,
                  fmt::format("the result must be an array of {}, got {}", describe(kinds),
                              to_string_without_layout(instruction.shape)));
  }
  return checked(instruction, instruction.shape).status();
}

Result<Shape> checked(const Instruction& instruction, Shape shape) {
  int64_t bytes = stored_bytes(shape.type);
  for (const int64_t extent : shape.dims) {
    if (extent == kUnboundedDim) continue;
    if (extent < 0) return broken(instruction, "", fmt::format("extent {} of the result is negative", extent));
    // An extent of zero must not hide an overflow of the others, because strides are products too.
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes)) {
      return broken(instruction, "", fmt::format("{} has more than 2^63 bytes", to_string_without_layout(shape)));
    }
  }
  return shape;
}

bool same_extents(const Shape& a, const Shape& b) {
  return std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(), agree);
}

bool are_distinct_dims(const Dims& dims, int64_t rank) {
  if (static_cast<int64_t>(dims.size()) > rank) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= rank) return false;
    if (std::find(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(i), dims[i]) !=
        dims.begin() + static_cast<std::ptrdiff_t>(i)) {
      return false;
    }
  }
  return true;
}

bool contains(const Dims& dims, int64_t dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

}  // namespace lowtide::engine
