#pragma once
/// Makers of operations: each adds one operation, with what it needs, from the values of a scope.

#include <optional>

#include "scope.h"

namespace lowtide {

/// Adds one operation that the gene's seed picks. Where its operands or facts forbid it, others are tried; at last
/// none.
void make_operation(Scope& scope, const Gene& gene);

/// A computation of two scalars, for reductions and scatters.
Computation* reducer(Scope& scope, Opcode operation, ElementType type);
/// An operation that may reduce this type, with its identity.
struct Reduction {
  Opcode operation;
  double identity;
};
Reduction random_reduction(Choices& choices, ElementType type);

// Each returns whether it added its operation. One file per family.
bool make_unary(Scope&, Choices&);
bool make_binary(Scope&, Choices&);
bool make_compare(Scope&, Choices&);
bool make_select(Scope&, Choices&);
bool make_clamp(Scope&, Choices&);
bool make_convert(Scope&, Choices&);
bool make_source(Scope&, Choices&);

bool make_broadcast(Scope&, Choices&);
bool make_reshape(Scope&, Choices&);
bool make_transpose(Scope&, Choices&);
bool make_slice(Scope&, Choices&);
bool make_pad(Scope&, Choices&);
bool make_concatenate(Scope&, Choices&);
bool make_reverse(Scope&, Choices&);
bool make_dynamic_slice(Scope&, Choices&);
bool make_dynamic_update_slice(Scope&, Choices&);
bool make_gather(Scope&, Choices&);
bool make_scatter(Scope&, Choices&);

bool make_reduce(Scope&, Choices&);
bool make_largest_with_index(Scope&, Choices&);
bool make_reduce_window(Scope&, Choices&);
bool make_sort(Scope&, Choices&);
bool make_dot(Scope&, Choices&);
bool make_convolution(Scope&, Choices&);

bool make_batch_norm_training(Scope&, Choices&);
bool make_batch_norm_inference(Scope&, Choices&);
bool make_batch_norm_grad(Scope&, Choices&);
bool make_select_and_scatter(Scope&, Choices&);
/// From real numbers to complex ones and back.
bool make_complex(Scope&, Choices&);
bool make_fft(Scope&, Choices&);
bool make_triangular_solve(Scope&, Choices&);
bool make_cholesky(Scope&, Choices&);
bool make_random_bits(Scope&, Choices&);
bool make_inverse(Scope&, Choices&);
bool make_top_k(Scope&, Choices&);
bool make_scan(Scope&, Choices&);

bool make_call(Scope&, Choices&, const Gene&);
bool make_conditional(Scope&, Choices&, const Gene&);
bool make_while(Scope&, Choices&, const Gene&);
bool make_map(Scope&, Choices&, const Gene&);

inline constexpr int64_t kLargestResult = 4000;  ///< elements

inline bool is_any(const Scope::Entry&) { return true; }
inline bool is_not_empty(const Scope::Entry& entry) { return element_count(entry.instruction->shape) > 0; }
inline auto has_rank(int64_t least) {
  return [least](const Scope::Entry& e) { return e.instruction->shape.rank() >= least && is_not_empty(e); };
}
inline auto has_shape(const Shape& shape) {
  return [shape](const Scope::Entry& e) { return same_shape(e.instruction->shape, shape); };
}
inline bool is_integer_value(const Scope::Entry& e) { return is_integral(e.instruction->shape.type); }

inline bool is_complex_value(const Scope::Entry& e) { return is_complex(e.instruction->shape.type); }
/// Where a window of this size, stride, padding and dilation fits: the extent of the result.
std::optional<int64_t> windowed(int64_t extent, const Window& window, size_t dimension);

/// An operation on this complex value, or on it and another.
bool make_complex_unary(Scope& scope, Choices& choices, Instruction* operand);
bool make_complex_binary(Scope& scope, Choices& choices, Instruction* a);

/// A value of this shape: one that is there, or a constant.
Instruction* value_of_shape(Scope& scope, Choices& choices, const Shape& shape);
/// A scalar integer to index with: from a value that is there, or a constant around [0, extent).
Instruction* index_value(Scope& scope, Choices& choices, ElementType type, int64_t extent);

}  // namespace lowtide
