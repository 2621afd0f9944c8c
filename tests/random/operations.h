#pragma once
/// Makers of operations: each adds one operation, with what it needs, from the values of a scope.

#include <optional>

#include "scope.h"

namespace lowtide::engine {

/// Adds one operation that the gene's seed picks. Where its operands or facts forbid it, others are tried; at last
/// none.
void make_operation(Scope& scope, const Gene& gene);

/// The genes of a nested computation: the gene's own, or a few made from its seed.
std::vector<Gene> nested(const Gene& gene);
void grow(Scope& scope, const std::vector<Gene>& genes);
/// A value of the shape that a body computed last, else the one it was given. Floats come back into a range that they
/// can't leave however often the body runs.
Instruction* result_of_shape(Scope& body, Draws& choices, const Shape& shape);
/// What a body may rely on of a carried value: wider than its first value, and inexact if a float.
Fact fact_of_carry(const Shape& shape);

/// A computation of two scalars, for reductions and scatters.
Computation* reducer(Scope& scope, Opcode operation, ElementType type);
/// An operation that may reduce this type, with its identity.
struct Reduction {
  Opcode operation;
  double identity;
};
Reduction random_reduction(Draws& choices, ElementType type);

// Each returns whether it added its operation. One file per family.
bool make_unary(Scope&, Draws&);
bool make_binary(Scope&, Draws&);
bool make_compare(Scope&, Draws&);
bool make_select(Scope&, Draws&);
bool make_clamp(Scope&, Draws&);
bool make_convert(Scope&, Draws&);
bool make_source(Scope&, Draws&);

bool make_broadcast(Scope&, Draws&);
bool make_reshape(Scope&, Draws&);
bool make_transpose(Scope&, Draws&);
bool make_slice(Scope&, Draws&);
bool make_pad(Scope&, Draws&);
bool make_concatenate(Scope&, Draws&);
bool make_reverse(Scope&, Draws&);
bool make_dynamic_slice(Scope&, Draws&);
bool make_dynamic_update_slice(Scope&, Draws&);
bool make_gather(Scope&, Draws&);
bool make_scatter(Scope&, Draws&);

bool make_reduce(Scope&, Draws&);
bool make_largest_with_index(Scope&, Draws&);
bool make_reduce_window(Scope&, Draws&);
bool make_sort(Scope&, Draws&);
bool make_dot(Scope&, Draws&);
bool make_convolution(Scope&, Draws&);

bool make_batch_norm_training(Scope&, Draws&);
bool make_batch_norm_inference(Scope&, Draws&);
bool make_batch_norm_grad(Scope&, Draws&);
bool make_select_and_scatter(Scope&, Draws&);
/// From real numbers to complex ones and back.
bool make_complex(Scope&, Draws&);
bool make_fft(Scope&, Draws&);
bool make_triangular_solve(Scope&, Draws&);
bool make_cholesky(Scope&, Draws&);
bool make_random_bits(Scope&, Draws&);
bool make_inverse(Scope&, Draws&);
bool make_top_k(Scope&, Draws&);
bool make_scan(Scope&, Draws&);

bool make_call(Scope&, Draws&, const Gene&);
bool make_conditional(Scope&, Draws&, const Gene&);
bool make_while(Scope&, Draws&, const Gene&);
bool make_layers(Scope&, Draws&, const Gene&);
bool make_map(Scope&, Draws&, const Gene&);

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
bool make_complex_unary(Scope& scope, Draws& choices, Instruction* operand);
bool make_complex_binary(Scope& scope, Draws& choices, Instruction* a);

/// A value of this shape: one that is there, or a constant.
Instruction* value_of_shape(Scope& scope, Draws& choices, const Shape& shape);
/// A scalar integer to index with: from a value that is there, or a constant around [0, extent).
Instruction* index_value(Scope& scope, Draws& choices, ElementType type, int64_t extent);

}  // namespace lowtide::engine
