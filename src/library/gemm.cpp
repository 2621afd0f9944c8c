#include "library/gemm.h"

#include <cstring>

#include "library/convert.h"
#include "library/panel_kernel.h"

namespace lowtide {
namespace {

constexpr int64_t kTileRows = 96;  // a multiple of kPanelRows
constexpr int64_t kTileDepth = 512;
constexpr int64_t kTileColumnBytes = 1024;  // of sums; a multiple of kPanelBytes

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// Rows [first, first + count) and depths [from, from + depth) in panels of `width` rows, zeros behind the last.
template <class S>
void pack(const MatrixView& view, const StridedGroup& across, const StridedGroup& along, const void* data,
          int64_t origin, int64_t first, int64_t count, int64_t from, int64_t depth, int64_t width, S* to) {
  dispatch(view.type, [&]<class T>() {
    if constexpr (sums_in<T, S>) {
      const T* elements = static_cast<const T*>(data) + origin;
      for (int64_t panel = 0; panel < count; panel += width, to += width * depth) {
        const int64_t filled = std::min(width, count - panel);
        if (filled < width) std::memset(static_cast<void*>(to), 0, sizeof(S) * static_cast<size_t>(width * depth));
        const bool rows_near = across.is_one() && (across.stride() == 1 || across.dims.empty());
        if (rows_near) {
          const T* row = elements + across.offset(first + panel);
          for (int64_t k = 0; k < depth; ++k) {
            const T* at = row + along.offset(from + k);
            for (int64_t i = 0; i < filled; ++i) to[k * width + i] = to_sum<S>(at[i]);
          }
          continue;
        }
        for (int64_t i = 0; i < filled; ++i) {
          const T* row = elements + across.offset(first + panel + i);
          if (along.is_one()) {
            const int64_t stride = along.stride();
            const T* at = row + from * stride;
            for (int64_t k = 0; k < depth; ++k) to[k * width + i] = to_sum<S>(at[k * stride]);
          } else {
            for (int64_t k = 0; k < depth; ++k) to[k * width + i] = to_sum<S>(row[along.offset(from + k)]);
          }
        }
      }
    }
  });
}

}  // namespace

bool PanelGemm::supports(ElementType left, ElementType right, ElementType result) {
  const auto converts = [&](ElementType operand) {
    if (operand == result) return true;
    if (is_integral(result)) return is_integral(operand);
    const bool wider = result == ElementType::kF64 || (result == ElementType::kF32 && operand != ElementType::kF64);
    return is_floating(result) && is_floating(operand) && wider;
  };
  return is_array_type(result) && converts(left) && converts(right);
}

PanelGemm::PanelGemm(MatrixView left, MatrixView right, ElementType result)
    : left_(std::move(left)), right_(std::move(right)), result_(result) {
  m_ = left_.rows.extent;
  n_ = right_.columns.extent;
  k_ = left_.columns.extent;
  dispatch(result_, [&]<class T>() {
    using S = summed_t<T>;
    constexpr int64_t kColumns = kPanelColumns<S>;
    tile_m_ = std::min(kTileRows, round_up(std::max<int64_t>(m_, 1), kPanelRows));
    tile_n_ =
        std::min(kTileColumnBytes / static_cast<int64_t>(sizeof(S)), round_up(std::max<int64_t>(n_, 1), kColumns));
    tile_k_ = std::clamp<int64_t>(k_, 1, kTileDepth);
    tiles_m_ = (m_ + tile_m_ - 1) / tile_m_;
    tiles_n_ = (n_ + tile_n_ - 1) / tile_n_;
    const int64_t elements = tile_m_ * tile_k_ + 64 + tile_n_ * tile_k_ + 64 + tile_m_ * tile_n_;
    lanes_ = Lanes(left_.batch.extent * tiles_m_ * tiles_n_, elements * static_cast<int64_t>(sizeof(S)));
  });
}

template <class T, class S>
void PanelGemm::run_as(const void* left, const void* right, void* result, void* scratch, ThreadPool& pool) const {
  constexpr int64_t kColumns = kPanelColumns<S>;
  lanes_.run(pool, scratch, [&](int64_t task, std::byte* room) {
    const int64_t batch = task / (tiles_m_ * tiles_n_), tile = task % (tiles_m_ * tiles_n_);
    const int64_t row = tile / tiles_n_ * tile_m_, column = tile % tiles_n_ * tile_n_;
    const int64_t rows = std::min(tile_m_, m_ - row), columns = std::min(tile_n_, n_ - column);
    const int64_t left_bytes = align_scratch(tile_m_ * tile_k_ * static_cast<int64_t>(sizeof(S)));
    const int64_t right_bytes = align_scratch(tile_n_ * tile_k_ * static_cast<int64_t>(sizeof(S)));
    S* left_panels = reinterpret_cast<S*>(room);
    S* right_panels = reinterpret_cast<S*>(room + left_bytes);
    S* sums = reinterpret_cast<S*>(room + left_bytes + right_bytes);
    std::memset(static_cast<void*>(sums), 0, sizeof(S) * static_cast<size_t>(tile_m_ * tile_n_));
    for (int64_t from = 0; from < k_; from += tile_k_) {
      const int64_t depth = std::min(tile_k_, k_ - from);
      pack(left_, left_.rows, left_.columns, left, left_.batch.offset(batch), row, rows, from, depth, kPanelRows,
           left_panels);
      pack(right_, right_.columns, right_.rows, right, right_.batch.offset(batch), column, columns, from, depth,
           kColumns, right_panels);
      for (int64_t j = 0; j < columns; j += kColumns) {
        for (int64_t i = 0; i < rows; i += kPanelRows) {
          multiply_panels<S>(left_panels + i * depth, right_panels + j * depth, depth, sums + i * tile_n_ + j, tile_n_);
        }
      }
    }
    T* to = static_cast<T*>(result) + batch * m_ * n_;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        to[(row + i) * n_ + column + j] = from_sum<T>(sums[i * tile_n_ + j]);
      }
    }
  });
}

void PanelGemm::run(const void* left, const void* right, void* result, void* scratch, ThreadPool& pool) const {
  dispatch(result_, [&]<class T>() { run_as<T, summed_t<T>>(left, right, result, scratch, pool); });
}

}  // namespace lowtide
