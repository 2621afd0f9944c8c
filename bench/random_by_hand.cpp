/// JAX's uniform and normal numbers (threefry2x32, partitionable counters) written by hand with AVX-512 intrinsics:
/// what compiled programs are measured against. Every value of a row-major array of N is made from the counter i alone.
///
///   random_by_hand KIND N REPEATS THREADS [FILE]     KIND: uniform_f32 uniform_bf16 normal_f32 normal_bf16
///
/// Prints the seconds of each repeat as JSON; the buffer is reused, in huge pages. With FILE the values are written
/// there.

#include <immintrin.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

namespace {

using V = __m512i;
using F = __m512;

struct Key {
  uint32_t k0 = 0, k1 = 0;
};

/// x0 ^ x1 of threefry2x32 for U vectors of counters at once: independent chains hide the latency of each.
template <int U>
inline void threefry(const Key& key, V high, V first, V (&bits)[U]) {
  const uint32_t words[3] = {key.k0, key.k1, key.k0 ^ key.k1 ^ 0x1BD11BDA};
  V x0[U], x1[U];
  const V start = _mm512_add_epi32(high, _mm512_set1_epi32(static_cast<int>(words[0])));
#pragma GCC unroll 16
  for (int u = 0; u < U; ++u) {
    x0[u] = start;
    x1[u] = _mm512_add_epi32(first, _mm512_set1_epi32(static_cast<int>(words[1] + 16 * u)));
  }
  const auto round = [&]<int r>() {
#pragma GCC unroll 16
    for (int u = 0; u < U; ++u) {
      x0[u] = _mm512_add_epi32(x0[u], x1[u]);
      x1[u] = _mm512_xor_si512(_mm512_rol_epi32(x1[u], r), x0[u]);
    }
  };
  const auto inject = [&]<int n>() {
#pragma GCC unroll 16
    for (int u = 0; u < U; ++u) {
      x0[u] = _mm512_add_epi32(x0[u], _mm512_set1_epi32(static_cast<int>(words[n % 3])));
      x1[u] = _mm512_add_epi32(x1[u], _mm512_set1_epi32(static_cast<int>(words[(n + 1) % 3] + n)));
    }
  };
  const auto four = [&]<int a, int b, int c, int d, int n>() {
    round.template operator()<a>();
    round.template operator()<b>();
    round.template operator()<c>();
    round.template operator()<d>();
    inject.template operator()<n>();
  };
  four.template operator()<13, 15, 26, 6, 1>();
  four.template operator()<17, 29, 16, 24, 2>();
  four.template operator()<13, 15, 26, 6, 3>();
  four.template operator()<17, 29, 16, 24, 4>();
  four.template operator()<13, 15, 26, 6, 5>();
#pragma GCC unroll 16
  for (int u = 0; u < U; ++u) bits[u] = _mm512_xor_si512(x0[u], x1[u]);
}

inline F set(float x) { return _mm512_set1_ps(x); }

/// [0, 1) from the upper 23 bits.
inline F unit(V bits) {
  const V one = _mm512_set1_epi32(0x3f800000);
  return _mm512_sub_ps(_mm512_castsi512_ps(_mm512_or_si512(_mm512_srli_epi32(bits, 9), one)), set(1));
}

/// log(1 + x) for -1 < x <= 0.
inline F log1p_below(F x) {
  const V raw = _mm512_castps_si512(_mm512_add_ps(x, set(1)));
  const V k = _mm512_and_si512(_mm512_sub_epi32(raw, _mm512_set1_epi32(0x3f400000)), _mm512_set1_epi32(-0x800000));
  const F power = _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_set1_epi32(0x40800000), k));
  const F moved = _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_castps_si512(x), k));
  const F f = _mm512_add_ps(moved, _mm512_fmadd_ps(power, set(0.25f), set(-1)));
  F p = set(-0.04490970099f);
  for (const float c : {0.104483414f, -0.1316223441f, 0.1448206085f, -0.166477669f, 0.1999060676f, -0.2500005458f,
                        0.3333345444f, -0.5000000082f}) {
    p = _mm512_fmadd_ps(p, f, set(c));
  }
  p = _mm512_fmadd_ps(_mm512_mul_ps(f, f), p, f);
  return _mm512_fmadd_ps(_mm512_cvtepi32_ps(k), set(0.69314718056f / 8388608), p);
}

/// sqrt(2) erf_inv(x), Giles' two polynomials as XLA has them.
inline F normal_of(F x) {
  const F w = _mm512_sub_ps(_mm512_setzero_ps(), log1p_below(_mm512_fnmadd_ps(x, x, _mm512_setzero_ps())));
  const __mmask16 central = _mm512_cmp_ps_mask(w, set(5), _CMP_LT_OQ);
  const F t = _mm512_mask_sub_ps(_mm512_sub_ps(_mm512_sqrt_ps(w), set(3)), central, w, set(2.5f));
  constexpr float a[9] = {2.81022636e-08f, 3.43273939e-07f, -3.5233877e-06f, -4.39150654e-06f, 0.00021858087f,
                          -0.00125372503f, -0.00417768164f, 0.246640727f,    1.50140941f};
  constexpr float b[9] = {-0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f, 0.00573950773f,
                          -0.0076224613f,   0.00943887047f,  1.00167406f,    2.83297682f};
  F p = _mm512_mask_mov_ps(set(b[0]), central, set(a[0]));
#pragma GCC unroll 8
  for (int i = 1; i < 9; ++i) p = _mm512_fmadd_ps(p, t, _mm512_mask_mov_ps(set(b[i]), central, set(a[i])));
  return _mm512_mul_ps(_mm512_mul_ps(p, x), set(1.41421356f));
}

/// (-1, 1) as JAX's normal draws it.
inline F symmetric(V bits) {
  const float low = -0x1.fffffep-1f;
  return _mm512_max_ps(_mm512_fmadd_ps(unit(bits), set(2), set(low)), set(low));
}

enum class Kind { kUniformF32, kUniformBf16, kNormalF32, kNormalBf16 };

/// The 128 normal numbers that bf16 has, from 7 random bits.
std::array<uint16_t, 128> bf16_normals() {
  std::array<uint16_t, 128> table{};
  alignas(64) float x[16], y[16];
  const auto round = [](float v) {
    uint32_t u;
    std::memcpy(&u, &v, 4);
    u += 0x7fff + ((u >> 16) & 1);
    u &= 0xffff0000;
    std::memcpy(&v, &u, 4);
    return v;
  };
  for (int block = 0; block < 8; ++block) {
    const float low = -0.99609375f;  // the bf16 above -1
    for (int i = 0; i < 16; ++i) {
      const float u = static_cast<float>(block * 16 + i) / 128;
      x[i] = std::max(low, round(round(u * round(1 - low)) + low));
    }
    _mm512_store_ps(y, normal_of(_mm512_load_ps(x)));
    for (int i = 0; i < 16; ++i) {
      const float v = round(round(y[i] / 1.41421356f) * 1.4140625f);
      uint32_t u;
      std::memcpy(&u, &v, 4);
      table[block * 16 + i] = static_cast<uint16_t>(u >> 16);
    }
  }
  return table;
}

/// Elements [begin, end) of an array of 4- or 2-byte elements; begin is a multiple of 16 U.
template <Kind kind, int U>
void fill(Key key, void* out, int64_t begin, int64_t end) {
  const std::array<uint16_t, 128> table = bf16_normals();
  V rows[4];
  std::memcpy(rows, table.data(), sizeof rows);
  const V lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  V bits[U];
  alignas(64) uint8_t rest[16 * U * 4];
  for (int64_t i = begin; i < end; i += 16 * U) {
    const V high = _mm512_set1_epi32(static_cast<int>(i >> 32));
    const V first = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(i)), lanes);
    threefry<U>(key, high, first, bits);
    const bool whole = i + 16 * U <= end;
    constexpr int kBytes = kind == Kind::kUniformF32 || kind == Kind::kNormalF32 ? 4 : 2;
    uint8_t* to = whole ? static_cast<uint8_t*>(out) + i * kBytes : rest;
#pragma GCC unroll 16
    for (int u = 0; u < U; ++u) {
      if constexpr (kind == Kind::kUniformF32) {
        _mm512_storeu_ps(to + 64 * u, unit(bits[u]));
      } else if constexpr (kind == Kind::kNormalF32) {
        _mm512_storeu_ps(to + 64 * u, normal_of(symmetric(bits[u])));
      } else if constexpr (kind == Kind::kUniformBf16) {
        // 7 of the low 8 bits: exact in f32, so its upper half is the bf16
        const V seven = _mm512_and_si512(_mm512_srli_epi32(bits[u], 1), _mm512_set1_epi32(127));
        const V mantissa = _mm512_or_si512(_mm512_slli_epi32(seven, 16), _mm512_set1_epi32(0x3f800000));
        const V value = _mm512_castps_si512(_mm512_sub_ps(_mm512_castsi512_ps(mantissa), set(1)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 32 * u),
                            _mm512_cvtepi32_epi16(_mm512_srli_epi32(value, 16)));
      } else if (u % 2 == 0) {
        const V both =
            _mm512_permutex2var_epi16(bits[u],
                                      _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32,
                                                       30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0),
                                      bits[u + 1]);
        const V at = _mm512_and_si512(_mm512_srli_epi16(both, 1), _mm512_set1_epi16(127));
        const V lower = _mm512_permutex2var_epi16(rows[0], at, rows[1]);
        const V upper = _mm512_permutex2var_epi16(rows[2], at, rows[3]);
        const __mmask32 is_upper = _mm512_test_epi16_mask(at, _mm512_set1_epi16(64));
        _mm512_storeu_si512(to + 32 * u, _mm512_mask_mov_epi16(lower, is_upper, upper));
      }
    }
    if (!whole) std::memcpy(static_cast<uint8_t*>(out) + i * kBytes, rest, static_cast<size_t>((end - i) * kBytes));
  }
}

using Fill = void (*)(Key, void*, int64_t, int64_t);

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return std::fputs("random_by_hand KIND N REPEATS THREADS [FILE]\n", stderr), 2;
  const std::string kind = argv[1];
  const int64_t n = std::atoll(argv[2]), repeats = std::atoll(argv[3]), threads = std::atoll(argv[4]);
  const bool narrow = kind.ends_with("bf16");
  const Fill function = kind == "uniform_f32"    ? fill<Kind::kUniformF32, 10>
                        : kind == "uniform_bf16" ? fill<Kind::kUniformBf16, 10>
                        : kind == "normal_f32"   ? fill<Kind::kNormalF32, 6>
                                                 : fill<Kind::kNormalBf16, 10>;
  const size_t bytes = (static_cast<size_t>(n) * (narrow ? 2 : 4) + (2 << 20)) & ~size_t{(2 << 20) - 1};
  void* out = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(out, bytes, MADV_HUGEPAGE);
  std::memset(out, 1, bytes);
  const Key key{0, 0};
  std::string times, cpu_times;
  const auto cpu_seconds = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  for (int64_t r = 0; r < repeats; ++r) {
    const double cpu_start = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> others;
    const int64_t granule = 16 * 120;  // a multiple of all strides above
    const int64_t part = (n / threads / granule + 1) * granule;
    for (int64_t t = 1; t < threads; ++t) {
      others.emplace_back([=] { function(key, out, std::min(n, t * part), std::min(n, (t + 1) * part)); });
    }
    function(key, out, 0, std::min(n, part));
    for (std::thread& other : others) other.join();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    cpu_times += (cpu_times.empty() ? "" : ", ") + std::to_string(cpu_seconds() - cpu_start);
    times += (times.empty() ? "" : ", ") + std::to_string(seconds);
  }
  std::printf("{\"run_seconds\": [%s], \"cpu_seconds\": [%s]}\n", times.c_str(), cpu_times.c_str());
  if (argc > 5) {
    FILE* file = std::fopen(argv[5], "wb");
    std::fwrite(out, narrow ? 2 : 4, static_cast<size_t>(n), file);
    std::fclose(file);
  }
}
