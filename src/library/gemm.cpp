#include "library/gemm.h"

#include <array>
#include <type_traits>

#include "library/convert.h"
#include "library/copy_block.h"
#include "library/vectors.h"

namespace lowtide::engine {
namespace {

/// Packs adjacent rows: for each depth, the elements of all rows at once.
template <int64_t kWidth, class T, class S>
void pack_near_rows(const T* rows, const StridedGroup& along, int64_t count, int64_t from, int64_t depth, S* to) {
  const int64_t whole = count / kWidth * kWidth;
  for (int64_t k = 0; k < depth; ++k) {
    const T* at = rows + along.offset(from + k);
    S* panel = to + k * kWidth;
    for (int64_t first = 0; first < whole; first += kWidth, panel += kWidth * depth) {
      for (int64_t i = 0; i < kWidth; ++i) panel[i] = to_sum<S>(at[first + i]);
    }
    if (whole == count) continue;
    for (int64_t i = 0; i < count - whole; ++i) panel[i] = to_sum<S>(at[whole + i]);
    std::fill(panel + (count - whole), panel + kWidth, S{});
  }
}

/// Packs a full panel of rows with contiguous terms by transposing squares in registers: one cache line of terms at a
/// time, for as many rows as a square has, then for the next ones, so that lines that are read and written stay in
/// cache.
template <int64_t kWidth, class S>
void turn_panel(const std::array<const S*, kWidth>& rows, int64_t depth, S* to) {
  with_vectors([&]<int kBytes>() LT_INLINE {
    using V = Vector<S, kBytes>;
    constexpr int kLanes = VectorOf<S, kBytes>::kLanes;
    constexpr int64_t kLine = kWidestVector / static_cast<int64_t>(sizeof(S));
    static_assert(kWidth % kLanes == 0);
    int64_t line = 0;
    for (; line + kLine <= depth; line += kLine) {
      for (int64_t i = 0; i < kWidth; i += kLanes) {
        for (int64_t k = line; k < line + kLine; k += kLanes) {
          V square[kLanes];
          LT_UNROLL for (int r = 0; r < kLanes; ++r) square[r] = load_vector<V>(rows[i + r] + k);
          turn_square(square);
          LT_UNROLL for (int r = 0; r < kLanes; ++r) store_vector(square[r], to + (k + r) * kWidth + i);
        }
      }
    }
    for (; line < depth; ++line) {
      for (int64_t i = 0; i < kWidth; ++i) to[line * kWidth + i] = rows[i][line];
    }
  });
}

/// Packs rows that are far apart, one cache line of each at a time: lines that are written meanwhile stay in cache.
template <int64_t kWidth, class T, class S>
void pack_far_rows(const T* elements, const StridedGroup& across, const StridedGroup& along, int64_t first,
                   int64_t count, int64_t from, int64_t depth, S* to) {
  constexpr auto kLine = static_cast<int64_t>(64 / sizeof(T));
  constexpr bool kTurns = std::is_same_v<T, S> && std::is_floating_point_v<S> && kWidth == kPanelColumns<S>;
  for (int64_t panel = 0; panel < count; panel += kWidth, to += kWidth * depth) {
    const int64_t filled = std::min(kWidth, count - panel);
    if constexpr (kTurns) {
      if (filled == kWidth && is_near(along)) {
        std::array<const S*, kWidth> rows;
        for (int64_t i = 0; i < kWidth; ++i) {
          rows[i] = elements + across.offset(first + panel + i) + along.offset(from);
        }
        turn_panel<kWidth>(rows, depth, to);
        continue;
      }
    }
    if (filled < kWidth) std::memset(static_cast<void*>(to), 0, sizeof(S) * static_cast<size_t>(kWidth * depth));
    for (int64_t begin = 0; begin < depth; begin += kLine) {
      const int64_t end = std::min(begin + kLine, depth);
      for (int64_t i = 0; i < filled; ++i) {
        const T* row = elements + across.offset(first + panel + i);
        if (along.is_one()) {
          const int64_t stride = along.stride();
          const T* at = row + from * stride;
          for (int64_t k = begin; k < end; ++k) to[k * kWidth + i] = to_sum<S>(at[k * stride]);
        } else {
          for (int64_t k = begin; k < end; ++k) to[k * kWidth + i] = to_sum<S>(row[along.offset(from + k)]);
        }
      }
    }
  }
}

/// Packs rows [first, first + count) and depths [from, from + depth) in panels of kWidth rows, padded with zeros.
template <int64_t kWidth, class S>
void pack(const MatrixView& view, const StridedGroup& across, const StridedGroup& along, const void* data,
          int64_t origin, int64_t first, int64_t count, int64_t from, int64_t depth, S* to) {
  dispatch(view.type, [&]<class T>() {
    if constexpr (sums_in<T, S>) {
      const T* elements = static_cast<const T*>(data) + origin;
      if (is_near(across)) {
        pack_near_rows<kWidth>(elements + across.offset(first), along, count, from, depth, to);
      } else {
        pack_far_rows<kWidth>(elements, across, along, first, count, from, depth, to);
      }
    }
  });
}

/// A matrix of results, of any type whose sums have type S.
struct ResultMatrix {
  void* elements = nullptr;
  ElementType type;
  int64_t origin = 0, row_step = 0, column_step = 0;

  template <class T>
  T* at(int64_t row, int64_t column) const {
    return static_cast<T*>(elements) + origin + row * row_step + column * column_step;
  }
};

/// Stores sums that begin at `row` and `column`, rows of them `pitch` apart; `adds`: adds them to what is there.
template <class S>
[[gnu::noinline]] void store_sums(const S* sums, int64_t pitch, int64_t row, int64_t rows, int64_t column,
                                  int64_t columns, bool adds, const ResultMatrix& result) {
  dispatch(result.type, [&]<class T>() {
    if constexpr (std::is_same_v<summed_t<T>, S>) {
      const auto joined = [&](const T& before, S sum) { return from_sum<T>(adds ? to_sum<S>(before) + sum : sum); };
      if (result.column_step == 1) {
        for (int64_t i = 0; i < rows; ++i, sums += pitch) {
          T* to = result.at<T>(row + i, column);
          for (int64_t j = 0; j < columns; ++j) to[j] = joined(to[j], sums[j]);
        }
      } else {  // along the result's rows
        for (int64_t j = 0; j < columns; ++j) {
          T* to = result.at<T>(row, column + j);
          for (int64_t i = 0; i < rows; ++i) to[i] = joined(to[i], sums[i * pitch + j]);
        }
      }
    }
  });
}

/// The results of a row from `column` on, as sums to continue.
template <class S>
[[gnu::noinline]] void load_sums(const ResultMatrix& result, int64_t row, int64_t column, int64_t columns, S* sums) {
  dispatch(result.type, [&]<class T>() {
    if constexpr (std::is_same_v<summed_t<T>, S>) {
      const T* from = result.at<T>(row, column);
      for (int64_t j = 0; j < columns; ++j) sums[j] = to_sum<S>(from[j * result.column_step]);
    }
  });
}

/// Is the transposed product cheaper: few rows times a large matrix with contiguous columns? These become rows, which
/// are read in place, and only the few rows are packed.
template <class S>
bool is_better_turned(const MatrixView& left, const MatrixView& right) {
  const int64_t rows = left.rows.extent;
  const bool is_few = rows <= kPanelColumns<S> || (rows <= 3 * kPanelColumns<S> && right.columns.extent >= 4 * rows);
  return is_few && is_near(right.rows) && !is_near(right.columns);
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
    const bool is_plain = std::is_same_v<T, S> && right_.type == result_;
    turned_ = is_plain && is_better_turned<S>(left_, right_);
    if (turned_) {
      std::swap(left_, right_);
      std::swap(left_.rows, left_.columns);
      std::swap(right_.rows, right_.columns);
    }
    const bool in_place = std::is_same_v<T, S> && left_.type == result_ && is_near(left_.columns);
    constexpr int64_t kTasks = 4;  // enough for nearly equal shares of threads
    const int64_t few = kTasks / std::max<int64_t>(1, left_.batch.extent);
    tiles_ = PanelTiles::of<S>(left_.rows.extent, right_.columns.extent, left_.columns.extent, in_place, few);
    // Several small matrices are one task.
    constexpr int64_t kProductsOfTask = 1 << 17;
    const int64_t products = std::max<int64_t>(1, tiles_.m * tiles_.n * tiles_.k);
    matrices_ = tiles_.count() == 1 ? std::max<int64_t>(1, kProductsOfTask / products) : 1;
    const int64_t groups = (left_.batch.extent + matrices_ - 1) / matrices_;
    // A lane pays, beside its memory, for being handed to a thread.
    constexpr int64_t kProductsOfLane = 1 << 20;
    const int64_t paying = products * left_.batch.extent / kProductsOfLane;
    lanes_ = Lanes(groups * tiles_.count(), tiles_.room_bytes<S>());
    lanes_.count = std::min(lanes_.count, std::max<int64_t>(2, paying));
  });
}

template <class S>
void PanelGemm::run_as(const void* left, const void* right, void* result, void* scratch, ThreadPool& pool, bool adds,
                       Joining joining) const {
  const auto multiply = [&](int64_t batch, int64_t tile, std::byte* room) {
    const auto pack_left = [&](int64_t row, int64_t rows, int64_t from, int64_t depth, S* to) {
      pack<kPanelRows>(left_, left_.rows, left_.columns, left, left_.batch.offset(batch), row, rows, from, depth, to);
    };
    const auto row_at = [&](int64_t row, int64_t from) {
      return static_cast<const S*>(left) + left_.batch.offset(batch) + left_.rows.offset(row) + from;
    };
    const auto pack_right = [&](int64_t column, int64_t columns, int64_t from, int64_t depth, S* to) {
      pack<kPanelColumns<S>>(right_, right_.columns, right_.rows, right, right_.batch.offset(batch), column, columns,
                             from, depth, to);
    };
    const ResultMatrix matrix{result, result_, batch * tiles_.m * tiles_.n, turned_ ? 1 : tiles_.n,
                              turned_ ? tiles_.m : 1};
    const auto store = [&](int64_t row, int64_t rows, int64_t column, int64_t columns, const S* sums) {
      const bool joins = adds && joining != Joining::kInOrder;
      store_sums(sums, tiles_.columns, row, rows, column, columns, joins, matrix);
    };
    const auto begin = [&](int64_t row, int64_t column, int64_t columns, S* sums) {
      if (adds) load_sums(matrix, row, column, columns, sums);
    };
    tiles_.multiply<S>(tile, room, pack_left, row_at, pack_right, store, joining, begin);
  };
  if (turned_) std::swap(left, right);
  lanes_.run(pool, scratch, [&](int64_t task, std::byte* room) {
    const int64_t first = task / tiles_.count() * matrices_;
    for (int64_t batch = first; batch < std::min(first + matrices_, left_.batch.extent); ++batch) {
      multiply(batch, task % tiles_.count(), room);
    }
  });
}

void PanelGemm::run(const void* left, const void* right, void* result, void* scratch, ThreadPool& pool, bool adds,
                    Joining joining) const {
  dispatch(result_, [&]<class T>() { run_as<summed_t<T>>(left, right, result, scratch, pool, adds, joining); });
}

}  // namespace lowtide::engine
