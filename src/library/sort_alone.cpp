#include "library/sort_alone.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "library/ordered_bits.h"
#include "library/radix_in_place.h"
#include "library/routines.h"

namespace lowtide::engine {
namespace {

template <class Number>
class AloneSorter {
 public:
  AloneSorter(ElementType type, const SortKey& key, ScalarProgram* function, Number* line, int64_t count,
              ThreadPool* pool)
      : ordered_(type, key.descending),
        function_(key.joins_equals ? nullptr : function),
        joins_equals_(key.joins_equals),
        line_(line),
        count_(count),
        pool_(pool) {}

  void run() {
    if ((function_ != nullptr || joins_equals_) && !find_images()) return merge_sort(line_, line_ + count_);
    std::ranges::sort(images_, {}, [this](Number image) { return ordered_.of(image); });
    // Elements that f makes equal go to the end, in their input order; the others need no stable sort.
    int64_t rest = gather();
    if (images_.size() > 1) merge_sort(line_ + rest, line_ + count_);
    std::vector<int64_t> sizes(images_.size());
    for (size_t c = 0; c < images_.size(); ++c) {
      sizes[c] = std::count_if(line_ + rest, line_ + count_, [&](Number n) { return value(n) == images_[c]; });
    }
    for (int64_t i = 0; i < rest; ++i) line_[i] = ordered_.of(line_[i]);
    radix_sort_in_place(NumbersAlone<Number>{line_}, rest, 8 * (sizeof(Number) - 1), pool_);
    for (int64_t i = 0; i < rest; ++i) line_[i] = ordered_.bits_of(line_[i]);
    for (size_t c = 0; c < images_.size(); ++c) {
      const Number key = ordered_.of(images_[c]);
      const auto below = [&](Number element, Number k) { return ordered_.of(value(element)) < k; };
      Number* place = std::lower_bound(line_, line_ + rest, key, below);
      std::rotate(place, line_ + rest, line_ + rest + sizes[c]);
      rest += sizes[c];
    }
  }

 private:
  bool before(Number a, Number b) { return ordered_.of(value(a)) < ordered_.of(value(b)); }

  void merge_sort(Number* begin, Number* end) {
    if (end - begin < 2) return;
    Number* middle = begin + (end - begin) / 2;
    merge_sort(begin, middle);
    merge_sort(middle, end);
    merge(begin, middle, end);
  }

  /// Merges by rotations (Kim and Kutzner, Stable Minimum Storage Merging by Symmetric Comparisons, 2004, simplified).
  void merge(Number* begin, Number* middle, Number* end) {
    if (begin == middle || middle == end) return;
    if (end - begin == 2) {
      if (before(*middle, *begin)) std::swap(*begin, *middle);
      return;
    }
    Number *left, *right;
    if (middle - begin > end - middle) {
      left = begin + (middle - begin) / 2;
      right = std::lower_bound(middle, end, *left, [this](Number a, Number b) { return before(a, b); });
    } else {
      right = middle + (end - middle) / 2;
      left = std::upper_bound(begin, middle, *right, [this](Number a, Number b) { return before(a, b); });
    }
    Number* join = std::rotate(left, middle, right);
    merge(begin, left, join);
    merge(join, right, end);
  }

  Number value(Number bits) {
    if (joins_equals_) return ordered_.is_zero(bits) ? 0 : ordered_.is_nan(bits) ? ordered_.nan() : bits;
    if (!function_) return bits;
    std::memcpy(function_->parameter(0), &bits, sizeof(bits));
    function_->run();
    Number result;
    std::memcpy(&result, function_->result(0), sizeof(result));
    return result;
  }

  /// Finds the values that f returns for elements other than themselves.
  bool find_images() {
    for (int64_t i = 0; i < count_; ++i) {
      const Number image = value(line_[i]);
      if (image == line_[i] || std::ranges::find(images_, image) != images_.end()) continue;
      if (images_.size() == kMostMerged) return false;
      images_.push_back(image);
    }
    return true;
  }

  /// Moves the elements that f maps to one of the images to the end, keeping their order; returns where they begin.
  int64_t gather() {
    int64_t end = count_;
    for (int64_t i = end; i-- > 0 && !images_.empty();) {
      if (std::ranges::find(images_, value(line_[i])) != images_.end()) std::swap(line_[i], line_[--end]);
    }
    return end;
  }

  OrderedBits<Number> ordered_;
  ScalarProgram* function_;
  bool joins_equals_;
  Number* line_;
  int64_t count_;
  ThreadPool* pool_;
  std::vector<Number> images_;
};

/// Types whose elements are ordered by their bits, sign first.
bool has_ordered_bits(ElementType type) {
  switch (type) {
    case ElementType::kS8:
    case ElementType::kS16:
    case ElementType::kS32:
    case ElementType::kS64:
    case ElementType::kU8:
    case ElementType::kU16:
    case ElementType::kU32:
    case ElementType::kU64:
    case ElementType::kF16:
    case ElementType::kBF16:
    case ElementType::kF32:
    case ElementType::kF64: return true;
    default: return false;
  }
}

}  // namespace

bool sorts_alone(ElementType type, const SortKey& key) {
  if (!has_ordered_bits(type) || !key.total_order) return false;
  if (!key.function) return true;
  if (key.type != type) return false;
  if (key.joins_equals) return true;
  ScalarProgram function = *key.function;
  const auto width = static_cast<size_t>(type_bits(type) / 8);
  // Multiples of an odd number cover all exponents; a suitable function changes only few of them.
  constexpr int kProbes = 512, kMostChanged = 16;
  int changed = 0;
  for (int k = 1; k <= kProbes; ++k) {
    const uint64_t bits = static_cast<uint64_t>(k) * 0x9E3779B97F4A7C15 >> (64 - 8 * width);
    std::memcpy(function.parameter(0), &bits, width);
    function.run();
    changed += std::memcmp(function.result(0), &bits, width) != 0;
  }
  return changed <= kMostChanged;
}

void sort_alone(ElementType type, const SortKey& key, ScalarProgram* function, void* line, int64_t count,
                ThreadPool* pool) {
  with_bits(type, line, [&]<class Number>(Number* numbers) {
    AloneSorter<Number>(type, key, function, numbers, count, pool).run();
  });
}

}  // namespace lowtide::engine
