/// Transforms as many lines at once as a vector has lanes: element i of all lines is a row, which is read and written
/// as a whole if the lines are interleaved in memory, and transposed if they are contiguous.
#include <optional>

#include "library/fft_halves.h"
#include "library/fft_lanes.h"
#include "library/fft_pass.h"
#include "library/fft_rows.h"
#include "library/lanes.h"

namespace lowtide::engine {
namespace {

template <class R>
class FftByLanes : public FftPass {
 public:
  explicit FftByLanes(const FftAlong& along) : along_(along) {
    const bool beside = along.inner >= kLanes;
    // Real lines of half a row each fill a square of lanes by twos.
    const bool by_twos =
        along.by_halves() && along.inner == 1 && 2 * along.complex_length() == kLanes && along.lines() % 2 == 0;
    joined_ = by_twos ? 2 : 1;
    const int64_t lines = joined_ * kLanes;
    blocks_ = ((beside ? along.inner : along.lines()) + lines - 1) / lines;
    const int64_t tasks = beside ? along.outer * blocks_ : blocks_;
    // Elements of real transforms have rows of their own, in addition to those that are transformed.
    rows_ = joined_ * (along.complex_length() + (along.by_halves() ? along.complex_length() + 1 : 0));
    lanes_ = Lanes(tasks, rows_ * kRow * static_cast<int64_t>(sizeof(R)), kSharedBytes);
  }

  int64_t scratch_bytes() const override { return lanes_.scratch_bytes(); }

  void prepare() override {
    transform_.emplace(along_.complex_length());
    if (along_.by_halves()) halves_.emplace(along_.complex_length());
  }

  void run(const void* from, void* to, void* scratch, ThreadPool& pool) override {
    lanes_.run(pool, scratch, [&](int64_t task, std::byte* room) {
      const bool beside = along_.inner >= kLanes;
      const int64_t lines = joined_ * kLanes;
      const int64_t first = beside ? task / blocks_ * along_.inner + task % blocks_ * kLanes : task * lines;
      const int64_t end = beside ? (task / blocks_ + 1) * along_.inner : along_.lines();
      run_block(static_cast<const R*>(from), static_cast<R*>(to), first, std::min(lines, end - first),
                reinterpret_cast<R*>(room));
    });
  }

 private:
  static constexpr int64_t kLanes = LaneFft<R>::kLanes, kRow = LaneFft<R>::kRow;
  static constexpr int64_t kSharedBytes = int64_t{2} << 20;

  /// Transforms lines [first, first + count).
  void run_block(const R* from, R* to, int64_t first, int64_t count, R* rows) const {
    const int64_t length = along_.complex_length();
    const auto place = [&](int64_t k) { return transform_->place(k); };
    const auto scale = static_cast<R>(along_.scale());
    if (along_.inner >= kLanes) {
      read_beside(from, first, count, rows);
      transform_->run(rows);
      write_beside(rows, first, count, scale, to);
    } else if (along_.inner > 1 || (along_.numbers != FftAlong::Numbers::kComplex && !along_.by_halves())) {
      read_elements(from, first, count, rows);
      transform_->run(rows);
      write_elements(rows, first, count, scale, to);
    } else if (along_.numbers == FftAlong::Numbers::kComplex) {
      read_turned(from, first, count, length, along_.inverse, rows);
      transform_->run(rows);
      write_turned(rows, place, first, count, length, along_.inverse, scale, to);
    } else {
      run_real(from, to, first / joined_, count / joined_, rows);
    }
  }

  /// Transforms real lines, each of `joined_` lines in memory.
  void run_real(const R* from, R* to, int64_t first, int64_t count, R* rows) const {
    const int64_t length = along_.complex_length(), half = length + 1;
    R* const apart = rows + joined_ * length * kRow;
    const auto scale = static_cast<R>(along_.scale());
    if (along_.numbers == FftAlong::Numbers::kFromReal) {
      read_turned(from, first, count, joined_ * length, false, rows);
      for (int64_t k = 0; k < joined_; ++k) {
        transform_->run(rows + k * length * kRow);
        halves_->separate_rows(rows + k * length * kRow, *transform_, apart + k * half * kRow);
      }
      write_turned(apart, [](int64_t k) { return k; }, first, count, joined_ * half, false, scale, to);
    } else {
      read_turned(from, first, count, joined_ * half, false, apart);
      for (int64_t k = 0; k < joined_; ++k) {
        halves_->join_rows(apart + k * half * kRow, rows + k * length * kRow);
        transform_->run(rows + k * length * kRow);
      }
      const auto place = [&](int64_t k) {
        return k < length ? transform_->place(k) : length + transform_->place(k - length);
      };
      write_turned(rows, place, first, count, joined_ * length, true, scale, to);
    }
  }

  void read_beside(const R* from, int64_t first, int64_t count, R* rows) const {
    const LineView<const R> line = pairs_at(from + 2 * along_.first_element(first, along_.length));
    const LineView<const R> view = along_.inverse ? line.exchanged() : line;
    with_vectors([&]<int Bytes>() LT_INLINE {
      for (int64_t i = 0; i < along_.length; ++i) read_row<Bytes>(view.from(i * along_.inner), count, rows + i * kRow);
    });
  }
  void write_beside(const R* rows, int64_t first, int64_t count, R scale, R* to) const {
    const LineView<R> line = pairs_at(to + 2 * along_.first_element(first, along_.length));
    const LineView<R> view = along_.inverse ? line.exchanged() : line;
    with_vectors([&]<int Bytes>() LT_INLINE {
      for (int64_t k = 0; k < along_.length; ++k) {
        write_row<Bytes>(rows + transform_->place(k) * kRow, count, scale, view.from(k * along_.inner));
      }
    });
  }

  void read_elements(const R* from, int64_t first, int64_t count, R* rows) const {
    std::fill_n(rows, along_.length * kRow, R{});
    for (int64_t lane = 0; lane < count; ++lane) {
      for (int64_t i = 0; i < along_.length; ++i) {
        R* row = rows + i * kRow + lane;
        along_.load(from, first + lane, i, row[0], row[kLanes]);
      }
    }
  }
  void write_elements(const R* rows, int64_t first, int64_t count, R scale, R* to) const {
    for (int64_t lane = 0; lane < count; ++lane) {
      for (int64_t k = 0; k < along_.written(); ++k) {
        const R* row = rows + transform_->place(k) * kRow + lane;
        along_.store(scale * row[0], scale * row[kLanes], to, first + lane, k);
      }
    }
  }

  /// Lines of a real transform end with a pair of their own, or two of them, for which no square is turned.
  static int64_t squares_of(int64_t extent) { return extent % kLanes <= 2 ? extent / kLanes * kLanes : extent; }

  /// Reads contiguous lines of `extent` pairs each.
  void read_turned(const R* from, int64_t first, int64_t count, int64_t extent, bool exchanged, R* rows) const {
    const int64_t squares = squares_of(extent);
    with_vectors([&]<int Bytes>() LT_INLINE {
      alignas(64) R square[kLanes * kRow];
      std::fill(square + count * kRow, square + kLanes * kRow, R{});
      for (int64_t i = 0; i < squares; i += kLanes) {
        const int64_t width = std::min(kLanes, squares - i);
        for (int64_t line = 0; line < count; ++line) {
          const LineView<const R> view = pairs_at(from + 2 * ((first + line) * extent + i));
          read_row<Bytes>(exchanged ? view.exchanged() : view, width, square + line * kRow);
        }
        turn_rows<Bytes>(square, width, rows + i * kRow);
      }
    });
    for (int64_t i = squares; i < extent; ++i) {
      R* const row = rows + i * kRow;
      std::fill_n(row, kRow, R{});
      for (int64_t line = 0; line < count; ++line) {
        const R* const pair = from + 2 * ((first + line) * extent + i);
        row[line] = pair[exchanged], row[kLanes + line] = pair[!exchanged];
      }
    }
  }
  template <class Place>
  void write_turned(const R* rows, Place&& place, int64_t first, int64_t count, int64_t extent, bool exchanged, R scale,
                    R* to) const {
    const int64_t squares = squares_of(extent), whole = squares / kLanes * kLanes;
    // Whole squares and a part of one are separate functions: one for both would keep less in registers.
    const auto write = [&]<int Bytes>(int64_t k, int64_t width) LT_INLINE {
      alignas(64) R square[kLanes * kRow], lines[kLanes * kRow];
      for (int64_t i = 0; i < kLanes; ++i) {
        const R* row = rows + (i < width ? place(k + i) : 0) * kRow;
        std::copy_n(row, kRow, square + i * kRow);
      }
      turn_rows<Bytes>(square, count, lines);
      for (int64_t line = 0; line < count; ++line) {
        const LineView<R> view = pairs_at(to + 2 * ((first + line) * extent + k));
        write_row<Bytes>(lines + line * kRow, width, scale, exchanged ? view.exchanged() : view);
      }
    };
    with_vectors([&]<int Bytes>() LT_INLINE {
      for (int64_t k = 0; k < whole; k += kLanes) write.template operator()<Bytes>(k, kLanes);
    });
    if (whole < squares) {
      with_vectors([&]<int Bytes>() LT_INLINE { write.template operator()<Bytes>(whole, squares - whole); });
    }
    for (int64_t k = squares; k < extent; ++k) {
      const R* const row = rows + place(k) * kRow;
      for (int64_t line = 0; line < count; ++line) {
        R* const pair = to + 2 * ((first + line) * extent + k);
        pair[exchanged] = scale * row[line], pair[!exchanged] = scale * row[kLanes + line];
      }
    }
  }

  FftAlong along_;
  int64_t joined_ = 1;  ///< lines in memory that are read and written as one
  int64_t blocks_, rows_;
  Lanes lanes_;
  std::optional<LaneFft<R>> transform_;
  std::optional<FftHalves<R>> halves_;
};

}  // namespace

template <class R>
std::unique_ptr<FftPass> make_fft_by_lanes(const FftAlong& along) {
  return std::make_unique<FftByLanes<R>>(along);
}
template std::unique_ptr<FftPass> make_fft_by_lanes<float>(const FftAlong&);
template std::unique_ptr<FftPass> make_fft_by_lanes<double>(const FftAlong&);

}  // namespace lowtide::engine
