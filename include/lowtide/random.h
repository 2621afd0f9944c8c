#pragma once
/// Random numbers, MLX's to the bit. A key is two words, an ordinary array of uint32; every number is a function of the
/// key and its own index, so it can be generated where it is read, and need not be stored. Without a key the next one
/// of the thread's sequence is used. Shapes and types are checked at once (std::invalid_argument); floats are float32,
/// float16 or bfloat16. docs/arrays.md says which generator has which library's bits.

#include <optional>
#include <vector>

#include "lowtide/array.h"
#include "lowtide/ops.h"

namespace lowtide::random {

/// Bounds are numbers or arrays, in any mixture.
template <class T>
concept Bound = Scalar<T> || std::is_same_v<T, array>;

LOWTIDE_PUBLIC array key(uint64_t seed);  ///< (2,) uint32
LOWTIDE_PUBLIC void seed(uint64_t seed);  ///< of this thread's sequence
/// The generator of random words. Mlx: Threefry, laid out in two halves, with a 32-bit counter: beyond 2^32 words they
/// repeat, as MLX's do. The others compute word i from the 64-bit number i alone, so a shorter draw is a prefix of a
/// longer one. Partitionable: Threefry as JAX lays it out (jax_threefry_partitionable), bits and split to the bit.
/// Philox: Philox-4x32-10, word i % 4 of block i / 4. Each narrow integer is then the lowest bits of a word.
enum class Bits : uint8_t { Mlx, Partitionable, Philox };
/// While it lives, all draws of this thread use these words; such objects may be nested. A function that was traced
/// before (compile) keeps the generator with which it was traced.
class LOWTIDE_PUBLIC UseBits {
 public:
  explicit UseBits(Bits bits);
  ~UseBits();
  UseBits(const UseBits&) = delete;
  UseBits& operator=(const UseBits&) = delete;

 private:
  Bits before_;
};

/// Two keys, or num of them as (num, 2), with sequences independent of each other's and of the original key's.
LOWTIDE_PUBLIC std::pair<array, array> split(const array& key, StreamOrDevice s = {});
LOWTIDE_PUBLIC array split(const array& key, int num, StreamOrDevice s = {});
/// Random unsigned integers of `width` bytes: 4, 2 or 1.
LOWTIDE_PUBLIC array bits(const Shape& shape, int width, const std::optional<array>& key = {}, StreamOrDevice s = {});
inline array bits(const Shape& shape, const std::optional<array>& key = {}, StreamOrDevice s = {}) {
  return bits(shape, 4, key, s);
}

/// Uniform between low and high, which are broadcast to the shape. The result is high where low + (high - low) u rounds
/// to it.
LOWTIDE_PUBLIC array uniform(const array& low, const array& high, const Shape& shape, Dtype dtype = float32,
                             const std::optional<array>& key = {}, StreamOrDevice s = {});
template <Bound T, Bound U>
array uniform(const T& low, const U& high, const Shape& shape, Dtype dtype = float32,
              const std::optional<array>& key = {}, StreamOrDevice s = {}) {
  return uniform(array(low), array(high), shape, dtype, key, s);
}
LOWTIDE_PUBLIC array uniform(const Shape& shape, Dtype dtype, const std::optional<array>& key = {},
                             StreamOrDevice s = {});
inline array uniform(const Shape& shape, const std::optional<array>& key = {}, StreamOrDevice s = {}) {
  return uniform(shape, float32, key, s);
}

/// The same, but never high: what rounds to high becomes the next lower number. Not in MLX.
LOWTIDE_PUBLIC array half_open(const array& low, const array& high, const Shape& shape, Dtype dtype = float32,
                               const std::optional<array>& key = {}, StreamOrDevice s = {});
template <Bound T, Bound U>
array half_open(const T& low, const U& high, const Shape& shape, Dtype dtype = float32,
                const std::optional<array>& key = {}, StreamOrDevice s = {}) {
  return half_open(array(low), array(high), shape, dtype, key, s);
}

/// loc + scale z; complex64 has independent parts, each of variance scale^2 / 2.
LOWTIDE_PUBLIC array normal(const Shape& shape, Dtype dtype, const std::optional<array>& loc,
                            const std::optional<array>& scale, const std::optional<array>& key, StreamOrDevice s = {});
inline array normal(const Shape& shape, Dtype dtype, const float loc, const float scale,
                    const std::optional<array>& key = {}, StreamOrDevice s = {}) {
  const auto given = [&](float value, float usual) {
    return value == usual ? std::nullopt : std::optional(array(value, dtype));
  };
  return normal(shape, dtype, given(loc, 0), given(scale, 1), key, s);
}
inline array normal(const Shape& shape, const float loc, const float scale, const std::optional<array>& key = {},
                    StreamOrDevice s = {}) {
  return normal(shape, float32, loc, scale, key, s);
}
inline array normal(const Shape& shape, const Dtype dtype, const std::optional<array>& key = {},
                    StreamOrDevice s = {}) {
  return normal(shape, dtype, 0.0F, 1.0F, key, s);
}
inline array normal(const Shape& shape, const std::optional<array>& key = {}, StreamOrDevice s = {}) {
  return normal(shape, float32, 0.0F, 1.0F, key, s);
}
/// mean (..., n) + a standard normal vector times the square root of cov (..., n, n), which is symmetric and has no
/// negative eigenvalue; float32. shape: that of the draws, to which the dimensions before n are broadcast.
LOWTIDE_PUBLIC array multivariate_normal(const array& mean, const array& cov, const Shape& shape, Dtype dtype = float32,
                                         const std::optional<array>& key = {}, StreamOrDevice s = {});

/// Integers in [low, high), computed from a float32 uniform, so in ranges beyond 2^24 some never occur.
LOWTIDE_PUBLIC array randint(const array& low, const array& high, const Shape& shape, Dtype dtype = int32,
                             const std::optional<array>& key = {}, StreamOrDevice s = {});
template <Bound T, Bound U>
array randint(const T& low, const U& high, const Shape& shape, Dtype dtype = int32,
              const std::optional<array>& key = {}, StreamOrDevice s = {}) {
  return randint(array(low), array(high), shape, dtype, key, s);
}

/// Integers in [low, high), which are broadcast to the shape: all equally likely, in any range of the type. Each is
/// made from 64 bits, with rejection of draws that would cause bias. Not in MLX.
LOWTIDE_PUBLIC array integers(const array& low, const array& high, const Shape& shape, Dtype dtype = int64,
                              const std::optional<array>& key = {}, StreamOrDevice s = {});
template <Bound T, Bound U>
array integers(const T& low, const U& high, const Shape& shape, Dtype dtype = int64,
               const std::optional<array>& key = {}, StreamOrDevice s = {}) {
  return integers(array(low), array(high), shape, dtype, key, s);
}

/// bool, true with probability p.
LOWTIDE_PUBLIC array bernoulli(const array& p, const Shape& shape, const std::optional<array>& key = {},
                               StreamOrDevice s = {});
LOWTIDE_PUBLIC array bernoulli(const array& p, const std::optional<array>& key = {}, StreamOrDevice s = {});
template <Scalar T>
array bernoulli(T p, const std::optional<array>& key = {}, StreamOrDevice s = {}) {
  return bernoulli(array(p), key, s);
}
template <Scalar T>
array bernoulli(T p, const Shape& shape, const std::optional<array>& key = {}, StreamOrDevice s = {}) {
  return bernoulli(array(p), shape, key, s);
}
LOWTIDE_PUBLIC array bernoulli(const std::optional<array>& key = {}, StreamOrDevice s = {});  ///< p = 1/2, a scalar

LOWTIDE_PUBLIC array truncated_normal(const array& lower, const array& upper, const Shape& shape, Dtype dtype = float32,
                                      const std::optional<array>& key = {}, StreamOrDevice s = {});
LOWTIDE_PUBLIC array truncated_normal(const array& lower, const array& upper, Dtype dtype = float32,
                                      const std::optional<array>& key = {}, StreamOrDevice s = {});
LOWTIDE_PUBLIC array gumbel(const Shape& shape, Dtype dtype = float32, const std::optional<array>& key = {},
                            StreamOrDevice s = {});
LOWTIDE_PUBLIC array laplace(const Shape& shape, Dtype dtype, const float loc, const float scale,
                             const std::optional<array>& key = {}, StreamOrDevice s = {});
inline array laplace(const Shape& shape, const float loc, const float scale, const std::optional<array>& key = {},
                     StreamOrDevice s = {}) {
  return laplace(shape, float32, loc, scale, key, s);
}
inline array laplace(const Shape& shape, const Dtype dtype, const std::optional<array>& key = {},
                     StreamOrDevice s = {}) {
  return laplace(shape, dtype, 0.0F, 1.0F, key, s);
}
inline array laplace(const Shape& shape, const std::optional<array>& key = {}, StreamOrDevice s = {}) {
  return laplace(shape, float32, 0.0F, 1.0F, key, s);
}

/// Samples indices along an axis of unnormalised log probabilities, uint32: one for each element of `shape`, to which
/// the other dimensions of logits are broadcast, or num_samples in a new last dimension.
LOWTIDE_PUBLIC array categorical(const array& logits, int axis, const Shape& shape,
                                 const std::optional<array>& key = {}, StreamOrDevice s = {});
LOWTIDE_PUBLIC array categorical(const array& logits, int axis, int num_samples, const std::optional<array>& key = {},
                                 StreamOrDevice s = {});
LOWTIDE_PUBLIC array categorical(const array& logits, int axis = -1, const std::optional<array>& key = {},
                                 StreamOrDevice s = {});
LOWTIDE_PUBLIC array permutation(const array& x, int axis = 0, const std::optional<array>& key = {},
                                 StreamOrDevice s = {});
LOWTIDE_PUBLIC array permutation(int x, const std::optional<array>& key = {},
                                 StreamOrDevice s = {});  ///< a permutation of [0, x), uint32

}  // namespace lowtide::random
