#include "library/copy_block.h"

#include <algorithm>
#include <array>
#include <complex>

#include "library/convert_row.h"
#include "library/vectors.h"

namespace lowtide::engine {
namespace {

/// Transposes by squares whose sides are cache lines: each line of either side is then touched once, where strides that
/// are powers of two would evict half of them before they are used up.
template <class To, class From>
void transpose(const From* from, int64_t stride, int64_t rows, int64_t columns, To* to, int64_t to_stride) {
  constexpr auto kSide = static_cast<int64_t>(64 / sizeof(From));
  std::array<std::array<From, kSide>, kSide> square;
  for (int64_t j = 0; j < columns; j += kSide) {
    const int64_t width = std::min(kSide, columns - j);
    for (int64_t i = 0; i < rows; i += kSide) {
      const int64_t height = std::min(kSide, rows - i);
      for (int64_t b = 0; b < width; ++b) {
        const From* line = from + (j + b) * stride + i;
        for (int64_t a = 0; a < height; ++a) square[a][b] = line[a];
      }
      for (int64_t a = 0; a < height; ++a) {
        convert_row(square[a].data(), width, to + (i + a) * to_stride + j);
      }
    }
  }
}

/// The same by squares in registers, as far as there are whole ones; the rest by the squares above.
template <int kBytes, class T>
LT_INLINE inline void transpose_in_registers(const T* from, int64_t stride, int64_t rows, int64_t columns, T* to,
                                             int64_t to_stride) {
  using Vector = lowtide::engine::Vector<T, kBytes>;
  constexpr int kSide = kBytes / static_cast<int>(sizeof(T));
  const int64_t some_rows = rows / kSide * kSide, some_columns = columns / kSide * kSide;
  for (int64_t j = 0; j < some_columns; j += kSide) {
    for (int64_t i = 0; i < some_rows; i += kSide) {
      Vector square[kSide];
      LT_UNROLL for (int b = 0; b < kSide; ++b) square[b] = load_vector<Vector>(from + (j + b) * stride + i);
      turn_square(square);
      LT_UNROLL for (int a = 0; a < kSide; ++a) store_vector(square[a], to + (i + a) * to_stride + j);
    }
  }
  if (some_rows < rows)
    transpose(from + some_rows, stride, rows - some_rows, some_columns, to + some_rows * to_stride, to_stride);
  if (some_columns < columns)
    transpose(from + some_columns * stride, stride, rows, columns - some_columns, to + some_columns, to_stride);
}

template <class T>
void transpose_same(const T* from, int64_t stride, int64_t rows, int64_t columns, T* to, int64_t to_stride) {
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    constexpr int64_t kLeast = 32 / sizeof(T);
    const int64_t least = std::min(rows, columns);
    if (least >= kLeast) {
      with_vectors([&]<int kBytes>() LT_INLINE {
        if constexpr (kBytes > 32) {
          if (least < 2 * kLeast) return transpose_in_registers<32>(from, stride, rows, columns, to, to_stride);
        }
        transpose_in_registers<kBytes>(from, stride, rows, columns, to, to_stride);
      });
      return;
    }
  }
  transpose(from, stride, rows, columns, to, to_stride);
}

template <class To, class From>
void copy(const StridedGroup& outer, const StridedGroup& inner, const From* from, IndexRange rows, IndexRange columns,
          To* to) {
  if (is_near(outer) && inner.is_one() && !is_near(inner)) {
    const From* first = from + rows.first + columns.first * inner.stride();
    transpose(first, inner.stride(), rows.count, columns.count, to, columns.count);
    return;
  }
  for (int64_t i = rows.first; i < rows.first + rows.count; ++i, to += columns.count) {
    const From* row = from + outer.offset(i);
    // one stretch of inner's last dimension at a time
    const int64_t line = inner.dims.empty() ? 1 : inner.dims.back().extent;
    for (int64_t j = 0; j < columns.count;) {
      const int64_t column = columns.first + j, count = std::min(columns.count - j, line - column % line);
      const From* part = row + inner.offset(column);
      if (inner.stride() == 1 || count == 1) {
        convert_row(part, count, to + j);
      } else {
        for (int64_t k = 0; k < count; ++k) to[j + k] = static_cast<To>(part[k * inner.stride()]);
      }
      j += count;
    }
  }
}

}  // namespace

void copy_block(int64_t element_bytes, const StridedGroup& outer, const StridedGroup& inner, const void* data,
                int64_t origin, IndexRange outer_range, IndexRange inner_range, std::byte* block) {
  const auto of = [&]<class Element>(Element) {
    copy(outer, inner, static_cast<const Element*>(data) + origin, outer_range, inner_range,
         reinterpret_cast<Element*>(block));
  };
  switch (element_bytes) {
    case 1: return of(uint8_t{});
    case 2: return of(uint16_t{});
    case 4: return of(uint32_t{});
    case 8: return of(uint64_t{});
    default: return of(std::complex<double>{});
  }
}

void widen_block(const StridedGroup& outer, const StridedGroup& inner, const BFloat16* data, IndexRange outer_range,
                 IndexRange inner_range, float* block) {
  copy(outer, inner, data, outer_range, inner_range, block);
}

void copy_transposed(int64_t element_bytes, const std::byte* from, int64_t stride, int64_t rows, int64_t columns,
                     std::byte* to, int64_t to_stride) {
  const auto of = [&]<class Element>(Element) {
    transpose_same(reinterpret_cast<const Element*>(from), stride, rows, columns, reinterpret_cast<Element*>(to),
                   to_stride);
  };
  switch (element_bytes) {
    case 2: return of(uint16_t{});
    case 4: return of(uint32_t{});
    case 8: return of(uint64_t{});
    default: return of(std::complex<double>{});
  }
}

}  // namespace lowtide::engine
