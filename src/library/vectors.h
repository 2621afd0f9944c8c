#pragma once
/// Code that is written once with vectors of `Bytes` bytes (GCC's and Clang's vector extension), compiled for each
/// register width, and selected at run time.

#include <cstdint>
#include <cstring>
#include <utility>

namespace lowtide::engine {

/// Required for a lambda that runs inside with_vectors, and for every function with vectors that it calls: code that
/// isn't inlined is compiled for the baseline machine.
#define LT_INLINE __attribute__((always_inline))

/// Bytes of the widest registers of any machine; scratch for vectors is sized by it.
inline constexpr int64_t kWidestVector = 64;

/// Unrolls loops over few elements that stay in registers.
#ifdef __clang__
#define LT_UNROLL _Pragma("clang loop unroll(full)")
#else
#define LT_UNROLL _Pragma("GCC unroll 16")
#endif

template <class R, int Bytes>
struct VectorOf {
  typedef R type [[gnu::vector_size(Bytes)]];
  static constexpr int kLanes = Bytes / static_cast<int>(sizeof(R));
};
template <class R, int Bytes>
using Vector = typename VectorOf<R, Bytes>::type;

template <class V, class R>
[[gnu::always_inline]] inline V load_vector(const R* from) {
  V vector;
  std::memcpy(&vector, from, sizeof(V));
  return vector;
}

template <class V, class R>
[[gnu::always_inline]] inline void store_vector(const V& vector, R* to) {
  std::memcpy(to, &vector, sizeof(V));
}

namespace widths {

template <class F>
[[gnu::noinline, gnu::target("avx512f,avx512dq,avx512vl,avx512bw,fma")]] void call_avx512(F& f) {
  f.template operator()<64>();
}
template <class F>
[[gnu::noinline, gnu::target("avx2,fma")]] void call_avx2(F& f) {
  f.template operator()<32>();
}
template <class F>
[[gnu::noinline]] void call_plain(F& f) {
  f.template operator()<16>();
}

}  // namespace widths

namespace squares {

/// Exchanges squares of kSide elements on both sides of the diagonal: in rows a and b, kSide apart, the upper right one
/// with the lower left one.
template <int kSide, class V, int... kLane>
LT_INLINE inline void exchange(V& a, V& b, std::integer_sequence<int, kLane...>) {
  constexpr int kLanes = static_cast<int>(sizeof...(kLane));
  const V upper = __builtin_shufflevector(a, b, ((kLane & kSide) == 0 ? kLane : kLanes + kLane - kSide)...);
  b = __builtin_shufflevector(a, b, ((kLane & kSide) == 0 ? kLane + kSide : kLanes + kLane)...);
  a = upper;
}

template <int kSide, class V, int kLanes>
LT_INLINE inline void turn(V (&rows)[kLanes]) {
  if constexpr (kSide < kLanes) {
    LT_UNROLL for (int i = 0; i < kLanes / 2; ++i) {
      const int upper = i / kSide * 2 * kSide + i % kSide;
      exchange<kSide>(rows[upper], rows[upper + kSide], std::make_integer_sequence<int, kLanes>());
    }
    turn<2 * kSide>(rows);
  }
}

}  // namespace squares

/// Transposes as many rows as a vector has lanes: element j of row i becomes element i of row j.
template <class V, int kLanes>
LT_INLINE inline void turn_square(V (&rows)[kLanes]) {
  squares::turn<1>(rows);
}

/// Bytes of this machine's widest registers that code is compiled for: 64, 32 or 16.
inline int widest_vector() {
  static const int kBytes = [] {
    const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    if (has_avx512) return 64;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 32 : 16;
  }();
  return kBytes;
}

/// Calls f.operator()<Bytes>() with the width of this machine's registers.
template <class F>
void with_vectors(F&& f) {
  switch (widest_vector()) {
    case 64: return widths::call_avx512(f);
    case 32: return widths::call_avx2(f);
    default: return widths::call_plain(f);
  }
}

}  // namespace lowtide::engine
