#pragma once
/// The operations from which all others are composed. Operands must have the right shapes and types: broadcasting and
/// promotion are done by the callers (ops_*.cpp).

#include <functional>

#include "arrays/graph.h"
#include "arrays/lowering.h"

namespace lowtide::lazy {

/// Elementwise operations, on operands of one shape; each has a row in elementwise.cpp.
enum class Op : uint8_t {
  kAbs,
  kNegate,
  kSign,
  kCeil,
  kFloor,
  kRound,
  kSqrt,
  kRsqrt,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kLogistic,
  kErf,
  kErfinv,
  kNot,
  kIsFinite,
  kReal,
  kImag,
  kConvert,
  kBitcast,
  kSameValue,
  kStopGradient,
  kBarrier,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kPower,
  kMaximum,
  kMinimum,
  kRemainder,
  kAtan2,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
  kComplex,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kSelect,
  kUniformOfBits,
  kRounded,
  kErfOfGolden,
  kLogOfGolden,
  kLog1pOfGolden,
  kExpOfGolden,
};
inline constexpr int kOps = static_cast<int>(Op::kExpOfGolden) + 1;
array elementwise(Op op, std::vector<array> inputs, Dtype dtype, StreamOrDevice s = {});
inline array elementwise(Op op, const array& a, StreamOrDevice s = {}) { return elementwise(op, {a}, a.dtype(), s); }
std::shared_ptr<const Primitive> same_value();

array constant(double value, Dtype dtype, const Shape& shape = {}, StreamOrDevice s = {});
array counter(const Shape& shape, Dtype dtype, int64_t dimension, StreamOrDevice s = {});  ///< iota

using Dims = std::vector<int64_t>;

inline size_t at(int64_t dimension) { return static_cast<size_t>(dimension); }
/// The numbers of these dimensions after a batch dimension is inserted at the front.
inline Dims shifted(Dims dimensions) {
  for (int64_t& d : dimensions) ++d;
  return dimensions;
}
inline Dims in_front(int64_t first, Dims rest) {
  rest.insert(rest.begin(), first);
  return rest;
}
array broadcast_in(const array& a, const Shape& shape, const Dims& dimensions, StreamOrDevice s = {});
array reshape_to(const array& a, const Shape& shape, StreamOrDevice s = {});
array permute(const array& a, const Dims& permutation, StreamOrDevice s = {});
array slice_of(const array& a, const Dims& starts, const Dims& stops, const Dims& strides, StreamOrDevice s = {});
array update_slice(const array& a, const array& update, const Dims& starts, StreamOrDevice s = {});
array pad_with(const array& a, const array& scalar, const Dims& low, const Dims& high, const Dims& interior,
               StreamOrDevice s = {});
array join(const std::vector<array>& parts, int64_t dimension, StreamOrDevice s = {});
array reverse(const array& a, const Dims& dimensions, StreamOrDevice s = {});

array reduce(const array& a, Reducer reducer, const Dims& dimensions, StreamOrDevice s = {});
array arg_reduce(const array& a, int64_t dimension, bool most, StreamOrDevice s = {});  ///< uint32, without dimension
enum class Running : uint8_t { kSum, kProduct, kMaximum, kMinimum };
array running(const array& a, Running fold, int64_t dimension, bool backwards, StreamOrDevice s = {});
/// Sorts along a dimension by the first array, and permutes the others alike; stable.
std::vector<array> sort_by(const std::vector<array>& arrays, int64_t dimension, StreamOrDevice s = {});

struct DotDims {
  Dims contract_a, contract_b, batch_a, batch_b;
};
/// The result has the batch dimensions, then a's free dimensions, then b's.
array dot(const array& a, const array& b, const DotDims& dims, Dtype dtype, StreamOrDevice s = {});

struct ConvolutionDims {
  Dims stride, low, high, kernel_dilation, input_dilation;
  int64_t groups = 1, batch_groups = 1;
  bool flip = false;
  std::string input, kernel, output;  ///< "b0f", "o0i", "b0f"
};
array convolution(const array& input, const array& kernel, const ConvolutionDims& dims, const Shape& shape,
                  StreamOrDevice s = {});

/// HLO's gather and scatter, with the index vectors along the last dimension of the indices.
struct GatherDims {
  Dims offset_dims, collapsed, start_index_map, batching, index_batching;
  Dims slice_sizes;
};
array gather_slices(const array& a, const array& indices, const GatherDims& dims, const Shape& shape,
                    StreamOrDevice s = {});
enum class Scatter : uint8_t { kReplace, kAdd, kMultiply, kMaximum, kMinimum };
array scatter_slices(const array& a, const array& indices, const array& updates, Scatter kind, const GatherDims& dims,
                     StreamOrDevice s = {});

/// Fourier transforms over the last one to three dimensions, one for each of `lengths`: float32 and complex64.
enum class Fourier : uint8_t { kForward, kBackward, kOfReal, kToReal };
array fourier(const array& a, Fourier kind, const Dims& lengths, StreamOrDevice s = {});

/// The lower factor L of a = L L^T, with symmetric gradients. Here and below matrices are in the last two dimensions,
/// with floats or complex64.
array cholesky_factor(const array& a, StreamOrDevice s = {});
struct TriangleDims {
  bool left = true, lower = true, unit = false, transposed = false;
};
/// Solves op(a) x = b, or x op(a) = b, for x; leading dimensions are equal.
array triangular_solve(const array& a, const array& b, const TriangleDims& dims, StreamOrDevice s = {});
enum class Factors : uint8_t {
  kLu,               ///< L below U in one matrix; pivots, counted from 0, int32
  kQr,               ///< at most as many columns as rows: Q has the matrix's shape, R is square
  kSymmetric,        ///< eigenvalues ascending, eigenvectors in columns; reads the lower triangle
  kSymmetricValues,  ///< the values alone
  kSingular,         ///< U, singular values descending, V^T; U and V are square
  kSingularValues,   ///< the values alone
  kGeneral,          ///< complex64 eigenvalues, right eigenvectors in columns
  kGeneralValues     ///< the values alone
};
std::vector<array> factors_of(const array& a, Factors kind, StreamOrDevice s = {});
/// The row that the exchanges in `pivots` move to each place of a matrix with `rows` rows: int32.
array permutation_of(const array& pivots, int64_t rows, StreamOrDevice s = {});

/// How words of 32 random bits are generated: in MLX's layout (halves), or each from its own 64-bit index.
enum class Words : uint8_t { kHalves, kPartitionable, kPhilox, kPairs };
array random_words(const array& keys, const Shape& shape, Words words);
array random_bits(const array& key, const Shape& shape, StreamOrDevice s = {});  ///< by this thread's generator

/// Adds a leading batch dimension of extent `count`, unless `batched`.
array with_batch(const array& a, bool batched, int64_t count);

}  // namespace lowtide::lazy
