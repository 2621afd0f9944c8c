#include "library/panel_kernel.h"

#include <cstring>

namespace lowtide::engine {
namespace {

#ifdef __clang__
#define LT_UNROLL _Pragma("clang loop unroll(full)")
#else
#define LT_UNROLL _Pragma("GCC unroll 16")
#endif

/// One body for all instruction sets: vectors of `Bytes`, which the function it is inlined into maps to registers. What
/// has constant indices after unrolling stays in them.
template <class S, int Bytes>
[[gnu::always_inline]] inline void multiply(const S* left, const S* right, int64_t depth, S* sums, int64_t stride,
                                            Joining joining) {
  typedef S Vector [[gnu::vector_size(Bytes)]];
  constexpr int kVectors = static_cast<int>(kPanelBytes) / Bytes, kLanes = Bytes / static_cast<int>(sizeof(S));
  // Vectors at a time that, with a row of the right panel, fit into 16 registers.
  constexpr int kAtOnce = 2, kSums = static_cast<int>(kPanelRows) * kAtOnce;
  static_assert(kVectors % kAtOnce == 0);
  for (int first = 0; first < kVectors; first += kAtOnce) {
    Vector sum[kSums];
    LT_UNROLL for (int i = 0; i < kSums; ++i) sum[i] = Vector{};
    if (joining == Joining::kInOrder) {
      LT_UNROLL for (int i = 0; i < kSums; ++i) {
        std::memcpy(&sum[i], sums + i / kAtOnce * stride + (first + i % kAtOnce) * kLanes, sizeof(Vector));
      }
    }
    const S* a = left;
    const S* b = right + first * kLanes;
    for (int64_t k = 0; k < depth; ++k, a += kPanelRows, b += kPanelColumns<S>) {
      Vector row[kAtOnce];
      LT_UNROLL for (int v = 0; v < kAtOnce; ++v) std::memcpy(&row[v], b + v * kLanes, sizeof(Vector));
      LT_UNROLL for (int i = 0; i < kSums; ++i) sum[i] += a[i / kAtOnce] * row[i % kAtOnce];
    }
    LT_UNROLL for (int i = 0; i < kSums; ++i) {
      S* to = sums + i / kAtOnce * stride + (first + i % kAtOnce) * kLanes;
      if (joining == Joining::kAsPart) {
        Vector old;
        std::memcpy(&old, to, sizeof(Vector));
        sum[i] = old + sum[i];
      }
      std::memcpy(to, &sum[i], sizeof(Vector));
    }
  }
}
#undef LT_UNROLL

template <class S>
[[gnu::target("avx512f,avx512dq,avx512vl,avx512bw")]] void multiply_avx512(const S* left, const S* right, int64_t depth,
                                                                           S* sums, int64_t stride, Joining joining) {
  multiply<S, 64>(left, right, depth, sums, stride, joining);
}

template <class S>
[[gnu::target("avx2,fma")]] void multiply_avx2(const S* left, const S* right, int64_t depth, S* sums, int64_t stride,
                                               Joining joining) {
  multiply<S, 32>(left, right, depth, sums, stride, joining);
}

template <class S>
void multiply_plain(const S* left, const S* right, int64_t depth, S* sums, int64_t stride, Joining joining) {
  multiply<S, 16>(left, right, depth, sums, stride, joining);
}

/// Without the C standard's rescue of infinities, as XLA.
template <class R>
void multiply_complex(const std::complex<R>* left, const std::complex<R>* right, int64_t depth, std::complex<R>* sums,
                      int64_t stride, Joining joining) {
  constexpr int kColumns = static_cast<int>(kPanelColumns<std::complex<R>>);
  for (int row = 0; row < kPanelRows; ++row) {
    R real[kColumns] = {}, imaginary[kColumns] = {};
    std::complex<R>* const row_sums = sums + row * stride;
    for (int j = 0; joining == Joining::kInOrder && j < kColumns; ++j) {
      real[j] = row_sums[j].real(), imaginary[j] = row_sums[j].imag();
    }
    for (int64_t k = 0; k < depth; ++k) {
      const std::complex<R> a = left[k * kPanelRows + row];
      const std::complex<R>* b = right + k * kColumns;
      for (int j = 0; j < kColumns; ++j) {
        real[j] += a.real() * b[j].real() - a.imag() * b[j].imag();
        imaginary[j] += a.real() * b[j].imag() + a.imag() * b[j].real();
      }
    }
    for (int j = 0; j < kColumns; ++j) {
      const std::complex<R> sum(real[j], imaginary[j]);
      row_sums[j] = joining == Joining::kInOrder ? sum : row_sums[j] + sum;
    }
  }
}

template <class S>
using Multiply = void (*)(const S*, const S*, int64_t, S*, int64_t, Joining);

template <class S>
Multiply<S> pick() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw")) {
    return multiply_avx512<S>;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return multiply_avx2<S>;
  return multiply_plain<S>;
}

}  // namespace

template <class S>
void multiply_panels(const S* left, const S* right, int64_t depth, S* sums, int64_t stride, Joining joining) {
  static const Multiply<S> kBest = pick<S>();
  kBest(left, right, depth, sums, stride, joining);
}

template <>
void multiply_panels(const std::complex<float>* left, const std::complex<float>* right, int64_t depth,
                     std::complex<float>* sums, int64_t stride, Joining joining) {
  multiply_complex(left, right, depth, sums, stride, joining);
}

template <>
void multiply_panels(const std::complex<double>* left, const std::complex<double>* right, int64_t depth,
                     std::complex<double>* sums, int64_t stride, Joining joining) {
  multiply_complex(left, right, depth, sums, stride, joining);
}

template void multiply_panels(const float*, const float*, int64_t, float*, int64_t, Joining);
template void multiply_panels(const double*, const double*, int64_t, double*, int64_t, Joining);
template void multiply_panels(const uint32_t*, const uint32_t*, int64_t, uint32_t*, int64_t, Joining);
template void multiply_panels(const uint64_t*, const uint64_t*, int64_t, uint64_t*, int64_t, Joining);

}  // namespace lowtide::engine
