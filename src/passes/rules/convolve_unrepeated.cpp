#include "passes/rules/convolve_unrepeated.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "analysis/uses.h"
#include "ops/combiner.h"
#include "ops/convolution_labels.h"
#include "passes/in_place/slices.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kLeastBytes = int64_t{1} << 20;
constexpr int64_t kLeastRatio = 4;  ///< of the array that isn't stored to the wider kernel that is

/// How the dimensions of a shorter array are those of a longer one: dimension d of the short array is dimension
/// `first[d]` of the long one, followed by one of `times[d]` elements if that is more than 1.
struct Blocks {
  Dims first, times;
};

/// None unless the long array splits some of the short one's dimensions in two, and has the others as they are.
std::optional<Blocks> blocks_of(const Dims& whole, const Dims& split) {
  Blocks blocks;
  size_t k = 0;
  for (const int64_t extent : whole) {
    if (k == split.size()) return std::nullopt;
    blocks.first.push_back(static_cast<int64_t>(k));
    blocks.times.push_back(1);
    if (split[k] == extent) {
      ++k;
    } else if (k + 1 < split.size() && split[k] * split[k + 1] == extent) {
      blocks.times.back() = split[k + 1];
      k += 2;
    } else {
      return std::nullopt;
    }
  }
  return k == split.size() ? std::optional(blocks) : std::nullopt;
}

/// An array whose elements are those of `from`, dimension d repeated times[d] times in a row.
struct Repeated {
  Instruction* from;
  Dims times;
};

/// Traces a value through repetitions: reshape(broadcast(x)), where the reshape merges each new dimension with the one
/// before it.
Repeated behind_repetitions(Instruction* value) {
  Repeated repeated{value, Dims(value->shape.dims.size(), 1)};
  while (is_plain_array(*repeated.from) && repeated.from->opcode == Opcode::kReshape) {
    const Instruction& spread = repeated.from->operand(0);
    if (spread.opcode != Opcode::kBroadcast || !is_plain_array(spread)) break;
    const auto blocks = blocks_of(repeated.from->shape.dims, spread.shape.dims);
    if (!blocks || blocks->first != spread.as<DimensionsAttributes>().dimensions) break;
    for (size_t d = 0; d < repeated.times.size(); ++d) repeated.times[d] *= blocks->times[d];
    repeated.from = spread.operands[0];
  }
  return repeated;
}

bool is_unit(const Window& window, size_t w) {
  return window.stride[w] == 1 && window.lhs_dilate[w] == 1 && window.rhs_dilate[w] == 1;
}

bool saves(int64_t bytes, int64_t kernel_bytes) { return bytes >= std::max(kLeastBytes, kLeastRatio * kernel_bytes); }

/// A convolution, and how often its base or its result is repeated or summed along each dimension of its window.
class Convolver {
 public:
  Convolver(const Instruction& convolution, Maker& maker)
      : convolution_(convolution), a_(convolution.as<ConvolutionAttributes>()), maker_(maker) {}

  Instruction* of_repeated_base() {
    const Repeated base = behind_repetitions(convolution_.operands[0]);
    if (base.from == convolution_.operands[0] || !takes(base.times, a_.input_spatial)) return nullptr;
    const int64_t bytes = logical_bytes(convolution_.operand(0).shape);
    const int64_t kernel_bytes = logical_bytes(widened_shape(convolution_.operand(1).shape, a_.kernel_spatial));
    const int64_t result_bytes = logical_bytes(widened_shape(convolution_.shape, a_.output_spatial));
    if (result_bytes < kernel_bytes) return saves(bytes, result_bytes) ? kernel_gradient(base.from) : nullptr;
    return saves(bytes, kernel_bytes) ? dilated(base.from) : nullptr;
  }

  /// `times`: the extents of blocks of the result, of which `blocks` are the sums.
  Instruction* in_strides(const Dims& times, const Shape& blocks) {
    if (!takes(times, a_.output_spatial)) return nullptr;
    if (!saves(logical_bytes(convolution_.shape),
               logical_bytes(widened_shape(convolution_.operand(1).shape, a_.kernel_spatial)))) {
      return nullptr;
    }
    Instruction* kernel = widened(convolution_.operands[1]);
    ConvolutionAttributes a = a_;
    for (size_t w = 0; w < times_.size(); ++w) {
      a.window.size[w] += times_[w] - 1;
      a.window.stride[w] *= times_[w];
    }
    return with_attributes(Shape::array(blocks.type, blocks.dims), {convolution_.operands[0], kernel}, a);
  }

 private:
  /// Notes `times`, which are for the dimensions of an array, for those of the window; false if others are repeated, or
  /// if the window moves there in strides.
  bool takes(const Dims& times, const Dims& spatial) {
    times_.assign(spatial.size(), 1);
    for (size_t d = 0; d < times.size(); ++d) {
      if (times[d] == 1) continue;
      const auto w = static_cast<size_t>(std::ranges::find(spatial, static_cast<int64_t>(d)) - spatial.begin());
      if (w == spatial.size() || !is_unit(a_.window, w)) return false;
      times_[w] = times[d];
    }
    return true;
  }

  Shape widened_shape(const Shape& shape, const Dims& spatial) const {
    Dims dims = shape.dims;
    for (size_t w = 0; w < times_.size(); ++w) dims[spatial[w]] += times_[w] - 1;
    return Shape::array(shape.type, dims);
  }

  /// The sums of boxes of times_ elements, `pad` of which may lie outside at either end.
  Instruction* box_sums(Instruction* x, const Dims& spatial, bool padded) {
    const size_t rank = x->shape.dims.size();
    const Dims ones(rank, 1), zeros(rank, 0);
    Window window{ones, ones, zeros, zeros, ones, ones, std::vector<bool>(rank, false)};
    Dims dims = x->shape.dims;
    for (size_t w = 0; w < times_.size(); ++w) {
      const auto d = static_cast<size_t>(spatial[w]);
      const int64_t more = times_[w] - 1;
      window.size[d] = times_[w];
      if (padded) window.pad_low[d] = window.pad_high[d] = more;
      dims[d] += padded ? more : -more;
    }
    Instruction* sums = maker_.make(Opcode::kReduceWindow, Shape::array(x->shape.type, dims),
                                    {x, maker_.constant(x->shape.type, 0)}, WindowAttributes{window});
    sums->called = {maker_.addition(x->shape.type)};
    return sums;
  }

  Instruction* widened(Instruction* kernel) { return box_sums(kernel, a_.kernel_spatial, true); }

  Instruction* dilated(Instruction* base) {
    Instruction* kernel = widened(convolution_.operands[1]);
    ConvolutionAttributes a = a_;
    for (size_t w = 0; w < times_.size(); ++w) {
      const int64_t more = times_[w] - 1;
      a.window.size[w] += more;
      a.window.pad_low[w] += more;
      a.window.pad_high[w] += more;
      a.window.lhs_dilate[w] *= times_[w];
    }
    return with_attributes(convolution_.shape, {base, kernel}, a);
  }

  /// The base u takes the place of a layer's input, the window that of its result's gradient g, and what is computed
  /// that of the kernel's gradient. Element q of that is the sum over the elements i of x, and over t < r, of
  /// x[i] g[r i + t + low - q]: box sums of a convolution of g with x, dilated by r, in reverse.
  Instruction* kernel_gradient(Instruction* base) {
    const auto is_simple = [&](size_t w) { return is_unit(a_.window, w) && !a_.window.rhs_reversal[w]; };
    if (a_.feature_group_count != 1 || a_.batch_group_count != 1) return nullptr;
    Shape wide = widened_shape(convolution_.shape, a_.output_spatial);
    ConvolutionAttributes a = a_;
    a.input_batch = a_.kernel_output_feature, a.input_feature = a_.kernel_input_feature;
    a.kernel_input_feature = a_.input_feature, a.kernel_output_feature = a_.input_batch;
    std::swap(a.input_spatial, a.kernel_spatial);
    std::swap(a.output_batch, a.output_feature);
    a.dim_labels = dim_labels_of(a);
    Instruction* gradient = convolution_.operands[1];
    for (size_t w = 0; w < times_.size(); ++w) {
      if (!is_simple(w)) return nullptr;
      const int64_t extent = base->shape.dims[a_.input_spatial[w]];
      const int64_t taps = convolution_.shape.dims[a_.output_spatial[w]];
      const int64_t reach = times_[w] * (extent - 1) + 1;
      a.window.size[w] = extent;
      a.window.rhs_dilate[w] = times_[w];
      a.window.pad_low[w] = taps - 1 - a_.window.pad_low[w];
      a.window.pad_high[w] = wide.dims[a_.output_spatial[w]] - 1 + reach - a.window.pad_low[w] -
                             gradient->shape.dims[a_.kernel_spatial[w]];
    }
    Instruction* sums = box_sums(with_attributes(wide, {gradient, base}, a), a_.output_spatial, false);
    return maker_.make(Opcode::kReverse, sums->shape, {sums}, DimensionsAttributes{a_.output_spatial});
  }

  Instruction* with_attributes(const Shape& shape, std::vector<Instruction*> operands, ConvolutionAttributes a) {
    Instruction* made = maker_.like(convolution_, Shape::array(shape.type, shape.dims), std::move(operands));
    made->attributes = std::move(a);
    return made;
  }

  const Instruction& convolution_;
  const ConvolutionAttributes& a_;
  Maker& maker_;
  Dims times_;
};

bool is_rounded_once(const Instruction& i) { return is_plain_array(i) && is_wide_float(i.shape.type); }

bool is_sum(const Instruction& i) {
  return i.opcode == Opcode::kReduce && i.operands.size() == 2 && is_plain_array(i) && is_zero(i.operand(1)) &&
         is_addition(*i.called[0], i.shape.type);
}

/// The extents of the blocks, in the dimensions of the array that `sum` reads split, that it adds up.
std::optional<Dims> summed_blocks(const Instruction& sum) {
  const Instruction& split = sum.operand(0);
  if (split.opcode != Opcode::kReshape || !is_plain_array(split)) return std::nullopt;
  const auto blocks = blocks_of(split.operand(0).shape.dims, split.shape.dims);
  if (!blocks) return std::nullopt;
  Dims inner;
  for (size_t d = 0; d < blocks->first.size(); ++d) {
    if (blocks->times[d] > 1) inner.push_back(blocks->first[d] + 1);
  }
  Dims reduced = sum.as<DimensionsAttributes>().dimensions;
  std::ranges::sort(reduced);
  return reduced == inner ? std::optional(blocks->times) : std::nullopt;
}

class Rule {
 public:
  explicit Rule(const Module& module) : uses_(module), limit_(module.id_limit()) {}

  Instruction* operator()(Instruction& i, Maker& maker) {
    if (i.opcode == Opcode::kConvolution && is_rounded_once(i)) return Convolver(i, maker).of_repeated_base();
    if (!is_sum(i)) return nullptr;
    const auto times = summed_blocks(i);
    if (!times) return nullptr;  // the sum's operand may have none itself
    const Instruction& convolution = i.operand(0).operand(0);
    if (convolution.opcode != Opcode::kConvolution || !is_rounded_once(convolution)) return nullptr;
    if (!is_read_once(i.operand(0)) || !is_read_once(convolution)) return nullptr;
    Instruction* made = Convolver(convolution, maker).in_strides(*times, i.shape);
    if (made && is_read_once(i)) made_once_.insert(made);
    return made;
  }

 private:
  /// Also of what took the place of a sum that is.
  bool is_read_once(const Instruction& i) const {
    return made_once_.contains(&i) || (i.id < limit_ && uses_.of(i).size() == 1);
  }

  const Uses uses_;
  const int32_t limit_;  ///< of the instructions that uses_ knows
  std::unordered_set<const Instruction*> made_once_;
};

}  // namespace

Result<PassResult> convolve_unrepeated(Module& module) {
  if (module.sums_in_order || !has_any(module, {Opcode::kConvolution})) return PassResult{};
  return rewrite_each(module, {Opcode::kConvolution, Opcode::kReduce}, Rule(module),
                      "convolutions of what isn't repeated");
}

}  // namespace lowtide::engine
