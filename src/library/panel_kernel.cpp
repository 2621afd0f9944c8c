#include "library/panel_kernel.h"

#include <algorithm>
#include <cstring>

#include "library/vectors.h"
#include "ops/numbers.h"

namespace lowtide::engine {
namespace {

/// One body for all instruction sets: vectors of `Bytes`, which the function it is inlined into maps to registers.
/// Values whose indices are constant after unrolling stay in registers.
template <class S, int Bytes, int kAtOnce>
[[gnu::always_inline]] inline void multiply(std::span<const RowRun<S>> runs, const S* right, S* sums, int64_t stride,
                                            Joining joining) {
  using Vector = lowtide::engine::Vector<S, Bytes>;
  constexpr int kLanes = VectorOf<S, Bytes>::kLanes, kSums = static_cast<int>(kPanelRows) * kAtOnce;
  Vector sum[kSums];
  LT_UNROLL for (int i = 0; i < kSums; ++i) sum[i] = Vector{};
  if (joining == Joining::kInOrder) {
    LT_UNROLL for (int i = 0; i < kSums; ++i) {
      std::memcpy(&sum[i], sums + i / kAtOnce * stride + i % kAtOnce * kLanes, sizeof(Vector));
    }
  }
  const S* b = right;
  for (const RowRun<S>& run : runs) {
    const S* a[kPanelRows];
    LT_UNROLL for (int i = 0; i < kPanelRows; ++i) a[i] = run.rows[i];
    for (int64_t k = 0, at = 0; k < run.depth; ++k, at += run.step, b += kPanelColumns<S>) {
      Vector row[kAtOnce];
      LT_UNROLL for (int v = 0; v < kAtOnce; ++v) std::memcpy(&row[v], b + v * kLanes, sizeof(Vector));
      LT_UNROLL for (int i = 0; i < kSums; ++i) sum[i] += a[i / kAtOnce][at] * row[i % kAtOnce];
    }
  }
  LT_UNROLL for (int i = 0; i < kSums; ++i) {
    S* to = sums + i / kAtOnce * stride + i % kAtOnce * kLanes;
    if (joining == Joining::kAsPart) {
      Vector old;
      std::memcpy(&old, to, sizeof(Vector));
      sum[i] = old + sum[i];
    }
    std::memcpy(to, &sum[i], sizeof(Vector));
  }
}

/// Two vectors at a time: with a row of the right panel, their sums fit into 16 registers.
template <class S, int Bytes>
[[gnu::always_inline]] inline void multiply_all(std::span<const RowRun<S>> runs, const S* right,
                                                const PanelSums<S>& sums, Joining joining) {
  constexpr int64_t kLanes = Bytes / static_cast<int>(sizeof(S));
  static_assert(kPanelBytes % (2 * Bytes) == 0);
  const int64_t columns = std::min(sums.columns, kPanelColumns<S>);
  for (int64_t first = 0; first < columns; first += 2 * kLanes) {
    if (columns - first <= kLanes) {
      multiply<S, Bytes, 1>(runs, right + first, sums.at + first, sums.stride, joining);
    } else {
      multiply<S, Bytes, 2>(runs, right + first, sums.at + first, sums.stride, joining);
    }
  }
}

/// Without the C standard's recovery of infinities, as in XLA.
template <class R>
void multiply_complex(std::span<const RowRun<std::complex<R>>> runs, const std::complex<R>* right,
                      const PanelSums<std::complex<R>>& sums, Joining joining) {
  constexpr int kColumns = static_cast<int>(kPanelColumns<std::complex<R>>);
  const auto columns = static_cast<int>(std::min<int64_t>(sums.columns, kColumns));
  for (int row = 0; row < kPanelRows; ++row) {
    R real[kColumns] = {}, imaginary[kColumns] = {};
    std::complex<R>* const row_sums = sums.at + row * sums.stride;
    for (int j = 0; joining == Joining::kInOrder && j < columns; ++j) {
      real[j] = row_sums[j].real(), imaginary[j] = row_sums[j].imag();
    }
    const std::complex<R>* b = right;
    for (const RowRun<std::complex<R>>& run : runs) {
      for (int64_t k = 0; k < run.depth; ++k, b += kColumns) {
        const std::complex<R> a = run.rows[row][k * run.step];
        for (int j = 0; j < kColumns; ++j) {
          real[j] += a.real() * b[j].real() - a.imag() * b[j].imag();
          imaginary[j] += a.real() * b[j].imag() + a.imag() * b[j].real();
        }
      }
    }
    for (int j = 0; j < columns; ++j) {
      const std::complex<R> sum(real[j], imaginary[j]);
      row_sums[j] = joining == Joining::kAsPart ? row_sums[j] + sum : sum;
    }
  }
}

}  // namespace

template <class S>
void multiply_rows(std::span<const RowRun<S>> runs, const S* right, const PanelSums<S>& sums, Joining joining) {
  with_vectors([&]<int Bytes>() LT_INLINE { multiply_all<S, Bytes>(runs, right, sums, joining); });
}

template <class S>
void multiply_lines(const S* left, int64_t pitch, int64_t panels, const S* right, int64_t depth,
                    const PanelSums<S>& sums, Joining joining) {
  const auto for_panels = [&](auto&& multiply_panel) LT_INLINE {
    RowRun<S> run{.step = pitch, .depth = depth};
    PanelSums<S> part = sums;
    for (int64_t p = 0; p < panels; ++p, left += kPanelRows, part.at += kPanelRows * part.stride) {
      for (size_t i = 0; i < run.rows.size(); ++i) run.rows[i] = left + i;
      multiply_panel(std::span<const RowRun<S>>(&run, 1), part);
    }
  };
  if constexpr (is_complex_v<S>) {
    for_panels([&](auto run, const auto& part) { multiply_complex(run, right, part, joining); });
  } else {
    with_vectors([&]<int Bytes>() LT_INLINE {
      for_panels([&](auto run, const auto& part) LT_INLINE { multiply_all<S, Bytes>(run, right, part, joining); });
    });
  }
}

template <>
void multiply_rows(std::span<const RowRun<std::complex<float>>> runs, const std::complex<float>* right,
                   const PanelSums<std::complex<float>>& sums, Joining joining) {
  multiply_complex(runs, right, sums, joining);
}

template <>
void multiply_rows(std::span<const RowRun<std::complex<double>>> runs, const std::complex<double>* right,
                   const PanelSums<std::complex<double>>& sums, Joining joining) {
  multiply_complex(runs, right, sums, joining);
}

template void multiply_rows(std::span<const RowRun<float>>, const float*, const PanelSums<float>&, Joining);
template void multiply_rows(std::span<const RowRun<double>>, const double*, const PanelSums<double>&, Joining);
template void multiply_rows(std::span<const RowRun<uint32_t>>, const uint32_t*, const PanelSums<uint32_t>&, Joining);
template void multiply_rows(std::span<const RowRun<uint64_t>>, const uint64_t*, const PanelSums<uint64_t>&, Joining);

#define LT_LINES(S) \
  template void multiply_lines(const S*, int64_t, int64_t, const S*, int64_t, const PanelSums<S>&, Joining)
LT_LINES(float);
LT_LINES(double);
LT_LINES(uint32_t);
LT_LINES(uint64_t);
LT_LINES(std::complex<float>);
LT_LINES(std::complex<double>);
#undef LT_LINES

}  // namespace lowtide::engine
