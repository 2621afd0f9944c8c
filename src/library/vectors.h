#pragma once
/// Code written once with vectors of `Bytes` bytes (GCC's and Clang's vector extension), compiled for each width of
/// registers and chosen when it runs.

#include <cstring>
#include <utility>

namespace lowtide::engine {

/// What a lambda needs that runs inside of with_vectors, and all that it calls with vectors in hand: code that stays
/// outside is compiled for the plain machine.
#define LT_INLINE __attribute__((always_inline))

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

inline int widest() {
  static const int kBytes = [] {
    const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    if (has_avx512) return 64;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 32 : 16;
  }();
  return kBytes;
}

}  // namespace widths

/// Calls f.operator()<Bytes>() with the width of this machine's widest registers: 64, 32 or 16.
template <class F>
void with_vectors(F&& f) {
  switch (widths::widest()) {
    case 64: return widths::call_avx512(f);
    case 32: return widths::call_avx2(f);
    default: return widths::call_plain(f);
  }
}

}  // namespace lowtide::engine
