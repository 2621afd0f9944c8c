/// fft: along one dimension after another.
#include <algorithm>
#include <bit>

#include "library/fft_lanes.h"
#include "library/fft_pass.h"
#include "library/fft_roots.h"
#include "library/lanes.h"
#include "library/routines.h"

namespace lowtide::engine {
namespace {

/// By lanes if lines are interleaved, or so short that a few of them fit a cache; by single lines if there are too few
/// to fill the lanes, or so many at once would need too much scratch.
template <class R>
std::unique_ptr<FftPass> make_pass(const FftAlong& along) {
  constexpr int64_t kLanes = LaneFft<R>::kLanes, kMostBeside = int64_t{1} << 15, kMostApart = int64_t{1} << 10;
  const int64_t length = along.complex_length();
  const bool suits_lanes = along.inner > 1 ? length <= kMostBeside : length <= kMostApart && 4 * along.outer >= kLanes;
  return suits_lanes && has_fft_factors(length) ? make_fft_by_lanes<R>(along) : make_fft_by_lines<R>(along);
}

class Fft : public LibraryRoutine {
 public:
  Fft(const Shape& operand, const Shape& result, FftType type, const Dims& length) {
    const size_t rank = operand.dims.size(), last = rank - 1;
    const bool is_single = operand.type == ElementType::kF32 || operand.type == ElementType::kC64;
    // Real operands are transformed along the last dimension first, real results along it last; the complex numbers
    // between two dimensions of a real result are stored in scratch.
    const bool to_real = type == FftType::kIrfft;
    if (to_real && length.size() > 1) apart_bytes_ = align_scratch(element_count(operand) * stored_bytes(operand.type));
    const auto add = [&](size_t d, const Dims& extents, FftAlong::Numbers numbers) {
      FftAlong along;
      along.numbers = numbers;
      along.inverse = type == FftType::kIfft || to_real;
      along.length = length[d - (rank - length.size())];
      for (size_t i = 0; i < rank; ++i) (i < d ? along.outer : along.inner) *= i == d ? 1 : extents[i];
      passes_.push_back(is_single ? make_pass<float>(along) : make_pass<double>(along));
    };
    const Dims& waves = to_real ? operand.dims : result.dims;
    if (!to_real) {
      add(last, waves, type == FftType::kRfft ? FftAlong::Numbers::kFromReal : FftAlong::Numbers::kComplex);
    }
    for (size_t d = rank - length.size(); d < last; ++d) add(d, waves, FftAlong::Numbers::kComplex);
    if (to_real) add(last, waves, FftAlong::Numbers::kToReal);
  }

  int64_t scratch_bytes() const override {
    int64_t most = 0;
    for (const auto& pass : passes_) most = std::max(most, pass->scratch_bytes());
    return apart_bytes_ + most;
  }

  void prepare() override {
    for (const auto& pass : passes_) pass->prepare();
  }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    void* between = apart_bytes_ > 0 ? scratch : results[0];
    void* room = static_cast<std::byte*>(scratch) + apart_bytes_;
    const void* from = operands[0];
    for (size_t k = 0; k < passes_.size(); ++k) {
      void* to = k + 1 == passes_.size() ? results[0] : between;
      passes_[k]->run(from, to, room, pool);
      from = to;
    }
    return {};
  }

 private:
  std::vector<std::unique_ptr<FftPass>> passes_;
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
