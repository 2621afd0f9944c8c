#include "library/gemm.h"

#include "library/convert.h"

namespace lowtide::engine {
namespace {

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
  dispatch(result_, [&]<class T>() {
    using S = summed_t<T>;
    tiles_ = PanelTiles::of<S>(left_.rows.extent, right_.columns.extent, left_.columns.extent);
    lanes_ = Lanes(left_.batch.extent * tiles_.count(), tiles_.room_bytes<S>());
  });
}

template <class T, class S>
void PanelGemm::run_as(const void* left, const void* right, void* result, void* scratch, ThreadPool& pool, bool adds,
                       Joining joining) const {
  lanes_.run(pool, scratch, [&](int64_t task, std::byte* room) {
    const int64_t batch = task / tiles_.count();
    const auto pack_left = [&](int64_t row, int64_t rows, int64_t from, int64_t depth, S* to) {
      pack(left_, left_.rows, left_.columns, left, left_.batch.offset(batch), row, rows, from, depth, kPanelRows, to);
    };
    const auto pack_right = [&](int64_t column, int64_t columns, int64_t from, int64_t depth, S* to) {
      pack(right_, right_.columns, right_.rows, right, right_.batch.offset(batch), column, columns, from, depth,
           kPanelColumns<S>, to);
    };
    const auto store = [&](int64_t row, int64_t column, int64_t columns, const S* sums) {
      T* to = static_cast<T*>(result) + (batch * tiles_.m + row) * tiles_.n + column;
      const bool joined = !adds || joining == Joining::kInOrder;
      for (int64_t j = 0; j < columns; ++j) to[j] = from_sum<T>(joined ? sums[j] : to_sum<S>(to[j]) + sums[j]);
    };
    const auto begin = [&](int64_t row, int64_t column, int64_t columns, S* sums) {
      const T* from = static_cast<const T*>(result) + (batch * tiles_.m + row) * tiles_.n + column;
      for (int64_t j = 0; adds && j < columns; ++j) sums[j] = to_sum<S>(from[j]);
    };
    tiles_.multiply<S>(task % tiles_.count(), room, pack_left, pack_right, store, joining, begin);
  });
}

void PanelGemm::run(const void* left, const void* right, void* result, void* scratch, ThreadPool& pool, bool adds,
                    Joining joining) const {
  dispatch(result_, [&]<class T>() { run_as<T, summed_t<T>>(left, right, result, scratch, pool, adds, joining); });
}

}  // namespace lowtide::engine
