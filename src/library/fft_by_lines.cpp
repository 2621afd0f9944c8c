/// Transforms one line after another. Complex lines, and real ones of even length, are read and written in place;
/// others, and those with large prime factors, are copied to a line of scratch first.
#include <algorithm>
#include <optional>

#include "library/fft_chirp.h"
#include "library/fft_halves.h"
#include "library/fft_line.h"
#include "library/fft_pass.h"
#include "library/lanes.h"

namespace lowtide::engine {
namespace {

template <class R>
class FftByLines : public FftPass {
 public:
  explicit FftByLines(const FftAlong& along)
      : along_(along), length_(along.complex_length()), has_chirp_(!has_fft_factors(length_)) {
    is_direct_ = along.inner == 1 && (along.numbers == FftAlong::Numbers::kComplex || along.by_halves());
    inner_ = has_chirp_ ? convolution_length(2 * length_ - 1) : length_;
    table_size_ = has_chirp_ ? in_lines(ChirpFft<R>::table_size(length_)) : 0;
    line_size_ = is_direct_ && !has_chirp_ ? 0 : in_lines(2 * inner_);
    const int64_t line_bytes = 2 * inner_ * static_cast<int64_t>(sizeof(R));
    is_shared_ = line_bytes > kOwnBytes || (along.lines() == 1 && line_bytes > kFewBytes);
    room_size_ = LineFft<R>::room_size(inner_, blocks());
    if (is_shared_) {
      lanes_.bytes = bytes_of(line_size_ + room_size_);
    } else {
      group_ = std::max<int64_t>(1, kFewBytes / line_bytes);
      lanes_ = Lanes((along.lines() + group_ - 1) / group_, bytes_of(line_size_ + room_size_), kSharedBytes);
    }
  }

  int64_t scratch_bytes() const override { return bytes_of(table_size_) + lanes_.scratch_bytes(); }

  void prepare() override {
    if (has_chirp_) {
      chirp_.emplace(length_, blocks());
    } else {
      transform_.emplace(inner_, blocks());
    }
    if (along_.by_halves()) halves_.emplace(length_);
  }

  void run(const void* from, void* to, void* scratch, ThreadPool& pool) override {
    R* const table = static_cast<R*>(scratch);
    std::byte* const rooms = static_cast<std::byte*>(scratch) + bytes_of(table_size_);
    if (has_chirp_) chirp_->fill_table(table, room_in(rooms, is_shared_ ? &pool : nullptr));
    const auto run_one = [&](int64_t line, std::byte* room, ThreadPool* sharing) {
      run_line(static_cast<const R*>(from), static_cast<R*>(to), line, table, reinterpret_cast<R*>(room),
               room_in(room, sharing));
    };
    if (is_shared_) {
      for (int64_t line = 0; line < along_.lines(); ++line) run_one(line, rooms, &pool);
      return;
    }
    lanes_.run(pool, rooms, [&](int64_t task, std::byte* room) {
      const int64_t end = std::min(along_.lines(), (task + 1) * group_);
      for (int64_t line = task * group_; line < end; ++line) run_one(line, room, nullptr);
    });
  }

 private:
  /// Threads share lines of more than kOwnBytes; a single line, of more than kFewBytes. Several short lines are one
  /// task.
  static constexpr int64_t kOwnBytes = int64_t{1} << 20, kFewBytes = int64_t{1} << 16;
  static constexpr int64_t kSharedBytes = int64_t{4} << 20;
  static constexpr int64_t kSharing = 16;  ///< lanes of a shared line
  int64_t blocks() const { return is_shared_ ? kSharing : 1; }

  static int64_t in_lines(int64_t numbers) {
    constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(R));
    return (numbers + kLine - 1) / kLine * kLine;
  }
  static int64_t bytes_of(int64_t numbers) { return numbers * static_cast<int64_t>(sizeof(R)); }

  /// A transform's part of a lane's scratch: everything after the line.
  FftRoom<R> room_in(std::byte* lane, ThreadPool* pool) const {
    return {reinterpret_cast<R*>(lane) + line_size_, pool, blocks()};
  }

  void run_line(const R* from, R* to, int64_t line, const R* table, R* own, const FftRoom<R>& room) const {
    if (is_direct_) return run_direct(from, to, line, table, own, room);
    const auto scale = static_cast<R>(along_.scale());
    for_parts(along_.length, room.pool, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) along_.load(from, line, i, own[i], own[inner_ + i]);
    });
    if (has_chirp_) {
      chirp_->run(table, own, room);
    } else {
      const LineView<R> parts{own, own + inner_, 1};
      transform_->run({parts.re, parts.im, 1}, R{1}, parts, room);
    }
    for_parts(along_.written(), room.pool, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) along_.store(scale * own[i], scale * own[inner_ + i], to, line, i);
    });
  }

  void run_direct(const R* from, R* to, int64_t line, const R* table, R* room_of_line, const FftRoom<R>& room) const {
    const auto scale = static_cast<R>(along_.scale());
    // Numbers of a line: in the complex transform, and in the stored half of a real one.
    const int64_t pairs = 2 * length_, stored = along_.by_halves() ? pairs + 2 : pairs;
    const bool joins = along_.numbers == FftAlong::Numbers::kToReal;
    const bool separates = along_.numbers == FftAlong::Numbers::kFromReal;
    const R* const own = from + line * (joins ? stored : pairs);
    R* const result = to + line * (separates ? stored : pairs);
    if (joins) {
      for_parts(halves_->couples(), room.pool,
                [&](int64_t first, int64_t last) { halves_->join(own, result, first, last); });
    }
    LineView<const R> read = pairs_at(joins ? static_cast<const R*>(result) : own);
    LineView<R> written = pairs_at(result);
    if (along_.inverse) read = read.exchanged(), written = written.exchanged();
    if (has_chirp_) {
      run_chirp(table, read, scale, written, room_of_line, room);
    } else {
      transform_->run(read, scale, written, room);
    }
    if (separates) {
      const R* const whole = result;
      for_parts(halves_->couples(), room.pool,
                [&](int64_t first, int64_t last) { halves_->separate(whole, result, first, last); });
    }
  }

  void run_chirp(const R* table, const LineView<const R>& from, R scale, const LineView<R>& to, R* own,
                 const FftRoom<R>& room) const {
    R *const re = own, *const im = own + inner_;
    for_parts(length_, room.pool, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) re[i] = from.re[i * from.step], im[i] = from.im[i * from.step];
    });
    chirp_->run(table, own, room);
    for_parts(length_, room.pool, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) to.re[i * to.step] = scale * re[i], to.im[i * to.step] = scale * im[i];
    });
  }

  /// Calls f(first, last) for parts of [0, count), in several threads if there is a pool.
  template <class F>
  static void for_parts(int64_t count, ThreadPool* pool, F&& f) {
    constexpr int64_t kPart = 1 << 14;
    if (!pool) return f(0, count);
    pool->run((count + kPart - 1) / kPart,
              [&](int64_t part, int) { f(part * kPart, std::min(count, (part + 1) * kPart)); });
  }

  FftAlong along_;
  int64_t length_;  ///< of the transform of complex numbers
  bool has_chirp_, is_direct_, is_shared_;
  int64_t inner_, table_size_, line_size_, room_size_, group_ = 1;
  Lanes lanes_;
  std::optional<LineFft<R>> transform_;
  std::optional<FftHalves<R>> halves_;
  std::optional<ChirpFft<R>> chirp_;
};

}  // namespace

template <class R>
std::unique_ptr<FftPass> make_fft_by_lines(const FftAlong& along) {
  return std::make_unique<FftByLines<R>>(along);
}
template std::unique_ptr<FftPass> make_fft_by_lines<float>(const FftAlong&);
template std::unique_ptr<FftPass> make_fft_by_lines<double>(const FftAlong&);

}  // namespace lowtide::engine
