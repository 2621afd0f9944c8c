/// Discrete Fourier transforms of small lines.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "families.h"
#include "numbers.h"
#include "operations.h"

namespace lowtide::engine {
namespace {

ElementType other_side(ElementType type) {
  switch (type) {
    case ElementType::kF32: return ElementType::kC64;
    case ElementType::kF64: return ElementType::kC128;
    case ElementType::kC64: return ElementType::kF32;
    default: return ElementType::kF64;
  }
}

double product_of(const Dims& extents) {
  double all = 1;
  for (const int64_t extent : extents) all *= static_cast<double>(extent);
  return all;
}

}  // namespace

/// Each part of a result is a sum of n products of a number with a root of unity. Any fast transform rounds no more
/// often than the sum itself, and its roots are right to the last places.
Maybe fact_of_fft(const Instruction& i, const Facts& operands) {
  const auto& a = i.as<FftAttributes>();
  const bool inverse = a.type == FftType::kIfft || a.type == FftType::kIrfft;
  const double count = product_of(a.length), terms = inverse ? 1 : count;
  const double size = std::numbers::sqrt2 * terms;
  Fact result = interval(-size * operands[0].magnitude(), size * operands[0].magnitude(), size * operands[0].error);
  return rounded(i.shape, result, 8 + 8 * std::log2(count) + 2 * static_cast<double>(a.length.back()));
}

bool make_fft(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, [](const auto& e) {
    const ElementType type = e.instruction->shape.type;
    return has_rank(1)(e) && (type == ElementType::kF32 || type == ElementType::kF64 || is_complex(type));
  });
  if (!operand) return false;
  const ElementType type = operand->shape.type;
  constexpr FftType kComplexTypes[] = {FftType::kFft, FftType::kIfft, FftType::kIrfft};
  FftAttributes a{is_complex(type) ? choices.of(kComplexTypes) : FftType::kRfft, {}};
  const Dims& dims = operand->shape.dims;
  a.length.assign(dims.end() - choices.between(1, std::min<int64_t>(3, operand->shape.rank())), dims.end());
  Shape result = operand->shape;
  if (a.type == FftType::kRfft) {
    result = with_type(result, other_side(type));
    result.dims.back() = a.length.back() / 2 + 1;
  }
  if (a.type == FftType::kIrfft) {
    result = with_type(result, other_side(type));
    const int64_t stored = a.length.back();
    a.length.back() = stored == 1 ? 1 : 2 * (stored - 1) + choices.below(2);
    result.dims.back() = a.length.back();
  }
  return scope.append(Opcode::kFft, result, {operand}, a) != nullptr;
}

}  // namespace lowtide::engine
