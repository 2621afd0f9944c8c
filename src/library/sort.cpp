/// sort: by keys if the comparator is "f(a) < f(b)", the least significant key first if there are several, otherwise by
/// merging; each line separately, or many short lines at once.
#include <array>
#include <cstring>
#include <numeric>

#include "library/comparator.h"
#include "library/lanes.h"
#include "library/order_key.h"
#include "library/radix_in_place.h"
#include "library/routines.h"
#include "library/sort_alone.h"
#include "library/sort_lines.h"
#include "library/sort_with_places.h"
#include "library/strided.h"
#include "ops/index_space.h"

namespace lowtide::engine {
namespace {

/// Up to this count, sorting without separate keys saves nothing.
constexpr int64_t kFewKeys = 1024;
/// Fewer lines are sorted one by one.
constexpr int64_t kFewLines = 4;
/// Scratch of all groups of lines that are sorted together at once: at most this, and this part of what is sorted.
constexpr int64_t kTogetherBytes = int64_t{1} << 20, kTogetherPart = 8;

/// A number that orders elements as the comparator does; false: the element is a NaN, which it leaves unordered.
template <class T>
bool make_key(const SortKey& by, const std::byte* element, size_t width, ScalarProgram* function, order_key_t<T>& key) {
  if (by.function && !by.joins_equals) {
    std::memcpy(function->parameter(0), element, width);
    function->run();
    element = function->result(0);
  }
  T value;
  std::memcpy(&value, element, sizeof(T));
  const bool nan = is_nan(value);
  if (nan && !by.total_order) return false;
  key = order_key(value, !by.total_order || by.joins_equals);
  if (nan && by.joins_equals) key = ~order_key_t<T>{0};
  if (by.descending) key = static_cast<order_key_t<T>>(~key);
  return true;
}

/// Bottom-up merge sort, as in the definition: the same result even for inconsistent comparators.
template <class ComesBefore>
void merge_sort(uint32_t* order, uint32_t* room, int64_t count, ComesBefore&& comes_before) {
  uint32_t *from = order, *to = room;
  for (int64_t run = 1; run < count; run *= 2) {
    for (int64_t begin = 0; begin < count; begin += 2 * run) {
      const int64_t middle = std::min(begin + run, count), end = std::min(begin + 2 * run, count);
      int64_t left = begin, right = middle;
      for (int64_t at = begin; at < end; ++at) {
        const bool take_right = left == middle || (right < end && comes_before(from[right], from[left]));
        to[at] = take_right ? from[right++] : from[left++];
      }
    }
    std::swap(from, to);
  }
  if (from != order) std::copy(from, from + count, order);
}

class Sort : public LibraryRoutine {
 public:
  Sort(const Instruction& sort, ScalarProgram comparator, std::vector<SortKey> keys) : keys_(std::move(keys)) {
    const Dims& extents = sort.operand(0).shape.dims;
    const int64_t d = sort.as<SortAttributes>().dimension;
    const Dims strides = row_major_strides(extents);
    count_ = extents[d];
    stride_ = strides[d];
    Dims others;
    for (int64_t i = 0; i < static_cast<int64_t>(extents.size()); ++i) {
      if (i != d) others.push_back(i);
    }
    lines_ = {extents, strides, others};
    int64_t widest = 1;
    for (const Instruction* operand : sort.operands) {
      types_.push_back(operand->shape.type);
      widest = std::max<int64_t>(widest, stored_bytes(types_.back()));
    }
    const bool is_long = keys_.size() == 1 && count_ > kFewKeys;
    alone_ = is_long && types_.size() == 1 && sorts_alone(types_[0], keys_[0]);
    with_places_ = is_long && stride_ == 1 && sorts_with_places(sort, keys_[0]);
    int64_t bytes = 0;
    if (!alone_ && !with_places_) {
      // The scratch: first a key, if there are any, then the order, then what merging or moving a line needs. Behind a
      // key lies the order by less significant keys.
      order_bytes_ = align_scratch(count_ * static_cast<int64_t>(sizeof(uint32_t)));
      bytes = order_bytes_ + count_ * std::max<int64_t>(sizeof(uint32_t), widest);
      for (const SortKey& key : keys_) {
        const bool wide = stored_bytes(key.type) > 4;
        key_bytes_ = std::max<int64_t>(key_bytes_, count_ * (wide ? sizeof(KeyAt<uint64_t>) : sizeof(KeyAt<uint32_t>)));
      }
      key_bytes_ = align_scratch(key_bytes_);
      bytes = std::max(bytes, key_bytes_ + (keys_.size() > 1 ? order_bytes_ : 0));
    } else if (stride_ != 1) {
      bytes = count_ * widest;
    }
    int64_t tasks = count_ > 0 ? lines_.extent : 0;
    if (keys_.size() == 1 && stored_bytes(keys_[0].type) <= 4 && !is_complex(keys_[0].type) && count_ > 1 &&
        count_ <= kLongestTogether && lines_.extent >= kFewLines) {
      together_ = true;
      bytes = std::max(bytes, align_scratch(together_bytes()) + count_ * widest);
      tasks = (lines_.extent + kLinesTogether - 1) / kLinesTogether;
    }
    const int64_t part = lines_.extent * count_ * widest / kTogetherPart;
    lanes_ = together_ ? Lanes(tasks, bytes, std::min(kTogetherBytes, part)) : Lanes(tasks, bytes);
    comparators_.assign(static_cast<size_t>(lanes_.count), comparator);
    key_functions_.resize(static_cast<size_t>(lanes_.count));
    for (auto& functions : key_functions_) {
      for (const SortKey& key : keys_) functions.push_back(key.function);
    }
  }

  int64_t scratch_bytes() const override { return lanes_.scratch_bytes(); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    if (together_) {
      lanes_.run(pool, scratch, [&](int64_t task, std::byte* room, size_t lane) {
        const int64_t first = task * kLinesTogether, end = std::min(first + kLinesTogether, lines_.extent);
        if (sort_together(operands, results, first, lane, room)) return;
        for (int64_t line = first; line < end; ++line) sort_line(operands, results, line, lane, room, nullptr);
      });
      return {};
    }
    ThreadPool* shared = lines_.extent == 1 ? &pool : nullptr;
    lanes_.run(pool, scratch, [&](int64_t line, std::byte* room, size_t lane) {
      sort_line(operands, results, line, lane, room, shared);
    });
    return {};
  }

 private:
  void sort_line(std::span<const void* const> operands, std::span<void* const> results, int64_t line, size_t lane,
                 std::byte* room, ThreadPool* pool) {
    const int64_t start = lines_.offset(line);
    if (alone_) return sort_one(operands[0], results[0], start, lane, room, pool);
    if (with_places_) return sort_two(operands, results, start, pool);
    std::byte* after = room + order_bytes_;
    auto* order = reinterpret_cast<uint32_t*>(room);
    if (!sort_by_keys(operands, start, lane, room, pool)) {
      std::iota(order, order + count_, 0u);
      merge_sort(order, reinterpret_cast<uint32_t*>(after), count_, Before{*this, comparators_[lane], operands, start});
    }
    for (size_t k = 0; k < results.size(); ++k) permute(operands[k], results[k], k, start, order, after);
  }

  struct Before {
    const Sort& sort;
    ScalarProgram& comparator;
    std::span<const void* const> operands;
    int64_t start;
    bool operator()(uint32_t a, uint32_t b) const {
      for (size_t k = 0; k < operands.size(); ++k) {
        const auto width = static_cast<size_t>(stored_bytes(sort.types_[k]));
        const auto* from = static_cast<const std::byte*>(operands[k]);
        std::memcpy(comparator.parameter(2 * k), from + sort.place(start, a) * width, width);
        std::memcpy(comparator.parameter(2 * k + 1), from + sort.place(start, b) * width, width);
      }
      comparator.run();
      return comparator.result(0)[0] != std::byte{0};
    }
  };

  ScalarProgram* function_of(size_t lane, size_t k) {
    auto& function = key_functions_[lane][k];
    return function ? &*function : nullptr;
  }

  /// Sorts several lines from `first` on, all at once. False: see sort_by_keys.
  bool sort_together(std::span<const void* const> operands, std::span<void* const> results, int64_t first, size_t lane,
                     std::byte* room) {
    constexpr int64_t kLines = kLinesTogether;
    auto* keys = reinterpret_cast<uint64_t*>(room);
    std::array<int64_t, kLines> starts;
    for (int64_t l = 0; l < kLines; ++l) starts[l] = lines_.offset(std::min(first + l, lines_.extent - 1));
    const SortKey& by = keys_[0];
    const bool is_ordered = dispatch(by.type, [&]<class T>() -> bool {
      if constexpr (is_complex_v<T> || sizeof(order_key_t<T>) > 4) {
        return false;
      } else {
        const auto width = static_cast<size_t>(stored_bytes(types_[by.operand]));
        const auto* from = static_cast<const std::byte*>(operands[by.operand]);
        ScalarProgram* function = function_of(lane, 0);
        bool all = true;
        for (int64_t i = 0; i < count_; ++i) {
          for (int64_t l = 0; l < kLines; ++l) {
            order_key_t<T> key = 0;
            all &= make_key<T>(by, from + place(starts[l], i) * width, width, function, key);
            keys[i * kLines + l] = key_at<order_key_t<T>>(key, static_cast<uint32_t>(i));
          }
        }
        return all;
      }
    });
    if (!is_ordered) return false;
    sort_lines_together(keys, count_);
    const int64_t lines = std::min(kLines, lines_.extent - first);
    for (size_t k = 0; k < results.size(); ++k) {
      dispatch(types_[k], [&]<class T>() {
        const T* from = static_cast<const T*>(operands[k]);
        T* to = static_cast<T*>(results[k]);
        T* copied = reinterpret_cast<T*>(room + align_scratch(together_bytes()));
        for (int64_t l = 0; l < lines; ++l) {
          const T* line = from + starts[l];
          int64_t stride = stride_;
          if (operands[k] == results[k]) {
            for (int64_t i = 0; i < count_; ++i) copied[i] = line[i * stride_];
            line = copied;
            stride = 1;
          }
          for (int64_t i = 0; i < count_; ++i)
            to[starts[l] + i * stride_] = line[static_cast<uint32_t>(keys[i * kLines + l]) * stride];
        }
      });
    }
    return true;
  }

  int64_t together_bytes() const { return count_ * kLinesTogether * static_cast<int64_t>(sizeof(uint64_t)); }

  size_t place(int64_t start, int64_t index) const { return static_cast<size_t>(start + index * stride_); }

  /// Sorts one array in place, without separate keys.
  void sort_one(const void* operand, void* result, int64_t start, size_t lane, std::byte* room, ThreadPool* pool) {
    dispatch(types_[0], [&]<class T>() {
      const T* from = static_cast<const T*>(operand);
      T* to = static_cast<T*>(result) + start;
      T* line = stride_ == 1 ? to : reinterpret_cast<T*>(room);
      if (line != from + start) {
        for (int64_t i = 0; i < count_; ++i) line[i] = from[place(start, i)];
      }
      sort_alone(types_[0], keys_[0], function_of(lane, 0), line, count_, pool);
      if (line == to) return;
      for (int64_t i = 0; i < count_; ++i) to[i * stride_] = line[i];
    });
  }

  /// Sorts an array and the places of its elements in place, without separate keys.
  void sort_two(std::span<const void* const> operands, std::span<void* const> results, int64_t start,
                ThreadPool* pool) const {
    const size_t by = keys_[0].operand;
    const auto width = static_cast<size_t>(stored_bytes(types_[by]));
    const std::byte* from = static_cast<const std::byte*>(operands[by]) + static_cast<size_t>(start) * width;
    std::byte* to = static_cast<std::byte*>(results[by]) + static_cast<size_t>(start) * width;
    if (from != to) std::memcpy(to, from, static_cast<size_t>(count_) * width);
    sort_with_places(types_[by], keys_[0], to, static_cast<uint32_t*>(results[1 - by]) + start, count_, pool);
  }

  /// Leaves the order as uint32_t at `room`. False if there are no keys, or if a NaN prevents them from ordering as the
  /// comparator does.
  bool sort_by_keys(std::span<const void* const> operands, int64_t start, size_t lane, std::byte* room,
                    ThreadPool* pool) {
    auto* before = reinterpret_cast<uint32_t*>(room + key_bytes_);
    for (size_t k = keys_.size(); k-- > 0;) {
      const bool is_first = k + 1 == keys_.size();
      if (!is_first) std::memcpy(before, room, static_cast<size_t>(count_) * sizeof(uint32_t));
      if (!sort_by_key(k, is_first ? nullptr : before, operands, start, lane, room, pool)) return false;
    }
    return !keys_.empty();
  }

  /// Sorts what is in the order `before` (null: as given) by key k, and leaves the new order at `room`.
  bool sort_by_key(size_t k, const uint32_t* before, std::span<const void* const> operands, int64_t start, size_t lane,
                   std::byte* room, ThreadPool* pool) {
    const SortKey& by = keys_[k];
    return dispatch(by.type, [&]<class T>() -> bool {
      if constexpr (is_complex_v<T>) {
        return false;
      } else {
        using Key = order_key_t<T>;
        auto* keys = reinterpret_cast<KeyAt<Key>*>(room);
        const auto width = static_cast<size_t>(stored_bytes(types_[by.operand]));
        const auto* from = static_cast<const std::byte*>(operands[by.operand]);
        for (int64_t i = 0; i < count_; ++i) {
          const std::byte* element = from + place(start, before == nullptr ? i : before[i]) * width;
          Key key;
          if (!make_key<T>(by, element, width, function_of(lane, k), key)) return false;
          keys[i] = key_at<Key>(key, static_cast<uint32_t>(i));
        }
        radix_sort_in_place(NumbersAlone<KeyAt<Key>>{keys}, count_, kTopByte<Key>, pool);
        // Entry i of the order is never located after key i.
        for (int64_t i = 0; i < count_; ++i) {
          const auto at = static_cast<uint32_t>(keys[i]);
          const uint32_t index = before == nullptr ? at : before[at];
          std::memcpy(room + i * static_cast<int64_t>(sizeof(uint32_t)), &index, sizeof(index));
        }
        return true;
      }
    });
  }

  void permute(const void* operand, void* result, size_t k, int64_t start, const uint32_t* order,
               std::byte* room) const {
    dispatch(types_[k], [&]<class T>() {
      const T* from = static_cast<const T*>(operand);
      T* to = static_cast<T*>(result);
      if (operand != result) {
        for (int64_t i = 0; i < count_; ++i) to[place(start, i)] = from[place(start, order[i])];
        return;
      }
      T* line = reinterpret_cast<T*>(room);
      for (int64_t i = 0; i < count_; ++i) line[i] = from[place(start, order[i])];
      for (int64_t i = 0; i < count_; ++i) to[place(start, i)] = line[i];
    });
  }

  std::vector<SortKey> keys_;
  int64_t count_ = 0, stride_ = 1, order_bytes_ = 0, key_bytes_ = 0;
  /// Is each line one array, or one and the places of its elements, or are several lines sorted at once?
  bool alone_ = false, with_places_ = false, together_ = false;
  StridedGroup lines_;
  std::vector<ElementType> types_;
  Lanes lanes_;
  std::vector<ScalarProgram> comparators_;  ///< one per lane: they hold values while they run; so do
  std::vector<std::vector<std::optional<ScalarProgram>>> key_functions_;  ///< those of keys, by number
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_sort(const Instruction& sort) {
  const std::vector<Instruction*> parameters = sort.called[0]->parameters();
  if (sort.operands.empty() || parameters.size() != 2 * sort.operands.size()) return nullptr;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i]->shape.type != sort.operand(i / 2).shape.type) return nullptr;  // in another precision
  }
  const Dims& extents = sort.operand(0).shape.dims;
  if (extents[sort.as<SortAttributes>().dimension] > UINT32_MAX) return nullptr;
  std::optional<ScalarProgram> comparator = ScalarProgram::compile(*sort.called[0]);
  if (!comparator || comparator->results() != 1) return nullptr;
  return std::make_unique<Sort>(sort, std::move(*comparator), sort_keys(*sort.called[0]));
}

}  // namespace lowtide::engine
