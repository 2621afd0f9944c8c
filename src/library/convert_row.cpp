#include "library/convert_row.h"

#include <cstring>

namespace lowtide::engine {
namespace {

template <int64_t kLanes>
struct Vectors {
  typedef uint16_t Halves [[gnu::vector_size(kLanes * sizeof(uint16_t))]];
  typedef uint32_t Words [[gnu::vector_size(kLanes * sizeof(uint32_t))]];
};
/// Lanes of the widest vectors; the remainder of a row uses vectors of fewer.
constexpr int64_t kLanes = 16, kFewerLanes = 4;
using Halves = Vectors<kLanes>::Halves;
using Words = Vectors<kLanes>::Words;

/// One body for all instruction sets: the function that it is inlined into maps vectors to registers.
[[gnu::always_inline]] inline void widen(const BFloat16* from, int64_t count, float* to) {
  int64_t i = 0;
  const auto widen_by = [&]<int64_t kCount>() __attribute__((always_inline)) {
    for (; i + kCount <= count; i += kCount) {
      typename Vectors<kCount>::Halves halves;
      std::memcpy(&halves, from + i, sizeof(halves));
      const auto words = __builtin_convertvector(halves, typename Vectors<kCount>::Words) << 16;
      std::memcpy(to + i, &words, sizeof(words));
    }
  };
  widen_by.template operator()<kLanes>();
  widen_by.template operator()<kFewerLanes>();
  for (; i < count; ++i) to[i] = from[i];
}

[[gnu::always_inline]] inline void narrow(const float* from, int64_t count, BFloat16* to) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Words words;
    std::memcpy(&words, from + i, sizeof(words));
    const Words high = words >> 16;
    const Words rounded = (words + 0x7fffu + (high & 1u)) >> 16;
    const Words is_nan = reinterpret_cast<Words>((words & 0x7fffffffu) > 0x7f800000u);
    const Halves halves = __builtin_convertvector((is_nan & (high | 0x40u)) | (~is_nan & rounded), Halves);
    std::memcpy(static_cast<void*>(to + i), &halves, sizeof(halves));
  }
  for (; i < count; ++i) to[i] = BFloat16(from[i]);
}

#define LT_AVX512 [[gnu::target("avx512f,avx512bw,avx512vl")]]
#define LT_AVX2 [[gnu::target("avx2")]]
LT_AVX512 void widen_avx512(const BFloat16* from, int64_t count, float* to) { widen(from, count, to); }
LT_AVX512 void narrow_avx512(const float* from, int64_t count, BFloat16* to) { narrow(from, count, to); }
LT_AVX2 void widen_avx2(const BFloat16* from, int64_t count, float* to) { widen(from, count, to); }
LT_AVX2 void narrow_avx2(const float* from, int64_t count, BFloat16* to) { narrow(from, count, to); }
#undef LT_AVX512
#undef LT_AVX2
void widen_plain(const BFloat16* from, int64_t count, float* to) { widen(from, count, to); }
void narrow_plain(const float* from, int64_t count, BFloat16* to) { narrow(from, count, to); }

template <class F>
F pick(F avx512, F avx2, F plain) {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return avx512;
  }
  return __builtin_cpu_supports("avx2") ? avx2 : plain;
}

}  // namespace

void convert_row(const BFloat16* from, int64_t count, float* to) {
  static const auto kBest = pick(widen_avx512, widen_avx2, widen_plain);
  kBest(from, count, to);
}

void convert_row(const float* from, int64_t count, BFloat16* to) {
  static const auto kBest = pick(narrow_avx512, narrow_avx2, narrow_plain);
  kBest(from, count, to);
}

}  // namespace lowtide::engine
