/// fft: along one dimension after the other, blocks of lines at a time.
#include <algorithm>
#include <complex>

#include "library/fft_line.h"
#include "library/lanes.h"
#include "library/routines.h"

namespace lowtide::engine {
namespace {

/// Lines are transformed together as far as they fit here: what is beside each other in memory is read together.
constexpr int64_t kBlockBytes = int64_t{1} << 18;
constexpr int64_t kMostLines = 16;

struct Array {
  ElementType type = ElementType::kC64;
  Dims dims;
  int64_t bytes() const { return element_count(Shape::array(type, dims)) * stored_bytes(type); }
};

Wave load(const float* from) { return {static_cast<double>(*from), 0}; }
Wave load(const double* from) { return {*from, 0}; }
template <class R>
Wave load(const std::complex<R>* from) {
  return {static_cast<double>(from->real()), static_cast<double>(from->imag())};
}
void store(Wave wave, float* to) { *to = static_cast<float>(wave.re); }
void store(Wave wave, double* to) { *to = wave.re; }
template <class R>
void store(Wave wave, std::complex<R>* to) {
  *to = {static_cast<R>(wave.re), static_cast<R>(wave.im)};
}

template <class F>
void dispatch_wave(ElementType type, F&& f) {
  switch (type) {
    case ElementType::kF32: return f.template operator()<float>();
    case ElementType::kF64: return f.template operator()<double>();
    case ElementType::kC64: return f.template operator()<std::complex<float>>();
    default: return f.template operator()<std::complex<double>>();
  }
}

/// All lines along one dimension, from one array to another, which may be the same.
class FftPass {
 public:
  /// `mirrored`: the operand has the first half of each line, the other half is its conjugate.
  FftPass(Array from, Array to, size_t d, int64_t length, bool inverse, bool mirrored)
      : from_(std::move(from)), to_(std::move(to)), line_(length), inverse_(inverse), mirrored_(mirrored) {
    for (size_t i = 0; i < from_.dims.size(); ++i) (i < d ? outer_ : inner_) *= i == d ? 1 : from_.dims[i];
    read_ = from_.dims[d];
    written_ = to_.dims[d];
    const int64_t fit = kBlockBytes / (line_.room_size(1) * static_cast<int64_t>(sizeof(Wave)));
    lines_ = std::clamp<int64_t>(fit, 1, std::min(kMostLines, inner_ > 1 ? inner_ : outer_));
    blocks_ = inner_ > 1 ? (inner_ + lines_ - 1) / lines_ : 1;
    tasks_ = inner_ > 1 ? outer_ * blocks_ : (outer_ + lines_ - 1) / lines_;
    table_bytes_ = align_scratch(line_.table_size() * static_cast<int64_t>(sizeof(Wave)));
    lanes_ = Lanes(tasks_, line_.room_size(lines_) * static_cast<int64_t>(sizeof(Wave)));
  }

  int64_t scratch_bytes() const { return table_bytes_ + lanes_.scratch_bytes(); }

  void run(const void* from, void* to, void* scratch, ThreadPool& pool) const {
    auto* table = static_cast<Wave*>(scratch);
    line_.fill_table(table);
    dispatch_wave(from_.type, [&]<class From>() {
      dispatch_wave(to_.type, [&]<class To>() {
        lanes_.run(pool, static_cast<std::byte*>(scratch) + table_bytes_, [&](int64_t task, std::byte* room) {
          run_block(static_cast<const From*>(from), static_cast<To*>(to), task, table, reinterpret_cast<Wave*>(room));
        });
      });
    });
  }

 private:
  template <class From, class To>
  void run_block(const From* from, To* to, int64_t task, const Wave* table, Wave* room) const {
    // Lines beside each other where there are any, else one behind the other.
    const bool beside = inner_ > 1;
    const int64_t outer = beside ? task / blocks_ : task * lines_, inner = beside ? task % blocks_ * lines_ : 0;
    const int64_t lines = std::min(lines_, beside ? inner_ - inner : outer_ - outer);
    const From* first = from + outer * read_ * inner_ + inner;
    To* last = to + outer * written_ * inner_ + inner;
    const int64_t length = line_.length();
    for (int64_t i = 0; i < length; ++i) {
      const bool is_mirror = mirrored_ && i >= read_;
      const int64_t at = (is_mirror ? length - i : i) * inner_;
      for (int64_t b = 0; b < lines; ++b) {
        Wave wave = load(first + at + b * (beside ? 1 : read_));
        if (mirrored_ && (i == 0 || 2 * i == length)) wave.im = 0;
        if (inverse_ != is_mirror) wave.im = -wave.im;
        room[i * lines + b] = wave;
      }
    }
    const Wave* waves = line_.transform(table, lines, room);
    const double scale = inverse_ ? 1 / static_cast<double>(length) : 1;
    for (int64_t i = 0; i < written_; ++i) {
      for (int64_t b = 0; b < lines; ++b) {
        const Wave wave = waves[i * lines + b];
        store({wave.re * scale, (inverse_ ? -wave.im : wave.im) * scale},
              last + i * inner_ + b * (beside ? 1 : written_));
      }
    }
  }

  Array from_, to_;
  FftLine line_;
  bool inverse_, mirrored_;
  int64_t outer_ = 1, inner_ = 1, read_ = 0, written_ = 0;
  int64_t lines_ = 1, blocks_ = 1, tasks_ = 0, table_bytes_ = 0;
  Lanes lanes_;
};

class Fft : public LibraryRoutine {
 public:
  Fft(const Shape& operand, const Shape& result, FftType type, const Dims& length) {
    const bool inverse = type == FftType::kIfft || type == FftType::kIrfft;
    const size_t rank = operand.dims.size(), last = rank - 1;
    // Real numbers are transformed along the last dimension first, real results last; between two dimensions a real
    // result's waves stand apart.
    Array now{operand.type, operand.dims};
    const Array end{result.type, result.dims};
    const bool to_real = type == FftType::kIrfft;
    apart_bytes_ = to_real && length.size() > 1 ? align_scratch(now.bytes()) : 0;
    if (!to_real) {
      passes_.emplace_back(now, end, last, length.back(), inverse, false);
      now = end;
    }
    for (size_t d = rank - length.size(); d < last; ++d) {
      passes_.emplace_back(now, now, d, length[d - (rank - length.size())], inverse, false);
    }
    if (to_real) passes_.emplace_back(now, end, last, length.back(), inverse, true);
  }

  int64_t scratch_bytes() const override {
    int64_t most = 0;
    for (const FftPass& pass : passes_) most = std::max(most, pass.scratch_bytes());
    return apart_bytes_ + most;
  }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    void* between = apart_bytes_ > 0 ? scratch : results[0];
    void* room = static_cast<std::byte*>(scratch) + apart_bytes_;
    const void* from = operands[0];
    for (size_t k = 0; k < passes_.size(); ++k) {
      void* to = k + 1 == passes_.size() ? results[0] : between;
      passes_[k].run(from, to, room, pool);
      from = to;
    }
    return {};
  }

 private:
  std::vector<FftPass> passes_;
  int64_t apart_bytes_ = 0;
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_fft(const Instruction& fft) {
  const Shape &operand = fft.operand(0).shape, &result = fft.shape;
  const auto& [type, length] = fft.as<FftAttributes>();
  const auto is_empty = [](const Shape& shape) {
    return std::ranges::any_of(shape.dims, [](int64_t e) { return e < 1; });
  };
  if (is_empty(operand) || is_empty(result)) return nullptr;
  return std::make_unique<Fft>(operand, result, type, length);
}

}  // namespace lowtide::engine
