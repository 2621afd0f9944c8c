#pragma once
/// Rewrites a nest so that every node is *plain*: one or a few machine instructions, with nothing left to decide. Small
/// floats become f32 with explicit rounding, complex numbers become pairs of reals, functions polynomials, and HLO's
/// special cases selects. The result is equivalent, and ops/execute.h can execute it, too.
///
/// The plain set. Types of values: pred, s8 s16 s32 s64, u8 u16 u32 u64, f32, f64; f16 only between two converts.
///
///   kConstant kArgument kLoopIndex kAffine kCarried kResult     of these types
///   kLoad                of pred, integers, f32 and f64; a pred in memory is a byte, 0 or 1
///   kFma                 f32, f64
///   kTable               of at most 32 bits an element, and 256 elements
///   f32, f64             add subtract multiply divide sqrt negate abs floor ceil round-nearest-even;
///                        maximum minimum, which propagate NaN and order zeros (llvm.maximum, llvm.minimum)
///   integers             add subtract multiply and or xor not maximum minimum popcnt count-leading-zeros;
///                        overflow wraps, signedness is the type's
///                        divide remainder: the divisor is not 0, nor -1 if signed; of 64 bits unless it is constant
///                        shift-left shift-right-arithmetic shift-right-logical: the opcode says which, not the type; a
///                        count outside [0, width) gives any value, and never traps
///   pred                 and or xor not
///   compare              f32, f64: ordered but NE, which holds with NaN; integers: by the type's signedness; never of
///                        predicates; compare.type is kDefault
///   select               a predicate and two values of one type, predicates included
///   convert              integer -> integer: truncated, or extended by the operand's signedness
///                        s32 s64 u32 u64 -> f32 f64: rounded to nearest even
///                        f32 f64 -> s32 s64 u32 u64: truncated; any value if out of range or NaN, never traps
///                        f32 -> f64, f64 -> f32, f16 -> f32, f32 -> f16: rounded to nearest even (vcvtph2ps,
///                        vcvtps2ph)
///   bitcast-convert      of equal widths: integers, f32, f64; f16 from and to u16 and s16
///
/// There are three exceptions to equivalence, the first as in XLA:CPU: an f32 product whose only use is a sum is not
/// rounded (LegaliseOptions::contract_products), unless the sum has three terms or fewer; with that option, f32(f64(x)
/// * f64(y) + f64(z)) is rounded once, not twice; and operations that bounds and facts (plain/facts.h) prove redundant
/// are left out: roundings of exact values, comparisons that always hold.
///
/// Buffers: bf16 and f16 become u16, f8* and f4* u8, s1 s2 s4 become s8, u1 u2 u4 become u8 (one byte an element,
/// extended by its sign); c64 and c128 become f32 and f64 with twice as many elements, real part first. Loops are
/// unchanged; a complex loop-carried value becomes two. Rare slow paths (sines of huge numbers, remainders with huge
/// quotients) are kWhile loops that usually make no iteration.

#include <string>

#include "nest/nest.h"

namespace lowtide::engine {

struct LegaliseOptions {
  /// Sums of floats are computed from the first term to the last, each product rounded: no partial sums in lanes, and
  /// no unrounded products as above. A nest's results are then the same bits however values were divided among nests.
  bool sums_in_order = false;
  bool contract_products = true;  ///< products may stay unrounded, as above
};
Nest legalise(const Nest& nest, const LegaliseOptions& options = {});

/// Empty, or a sentence with the first node, load or buffer that is not plain.
std::string check_plain(const Nest& nest);

}  // namespace lowtide::engine
