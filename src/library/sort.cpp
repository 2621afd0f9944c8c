/// sort: by keys if the comparator is "f(a) < f(b)", otherwise by merging; each line separately.
#include <cstring>
#include <numeric>

#include "library/comparator.h"
#include "library/lanes.h"
#include "library/order_key.h"
#include "library/radix_in_place.h"
#include "library/routines.h"
#include "library/sort_alone.h"
#include "library/strided.h"
#include "ops/index_space.h"

namespace lowtide::engine {
namespace {

/// Up to this count, sorting without separate keys saves nothing.
constexpr int64_t kFewKeys = 1024;

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
  Sort(const Instruction& sort, ScalarProgram comparator, std::optional<SortKey> key) : key_(std::move(key)) {
    const Dims& extents = sort.operand(0).shape.dims;
    const int64_t d = sort.as<SortAttributes>().dimension;
    const Dims strides = row_major_strides(extents);
    count_ = extents[static_cast<size_t>(d)];
    stride_ = strides[static_cast<size_t>(d)];
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
    alone_ = key_ && types_.size() == 1 && sorts_alone(types_[0], *key_) && count_ > kFewKeys;
    int64_t bytes = 0;
    if (!alone_) {
      // The scratch: first the keys, if there are any, then the order, then what merging or moving a line needs.
      order_bytes_ = align_scratch(count_ * static_cast<int64_t>(sizeof(uint32_t)));
      bytes = order_bytes_ + count_ * std::max<int64_t>(sizeof(uint32_t), widest);
      const bool wide = key_ && stored_bytes(key_->type) > 4;
      if (key_) bytes = std::max<int64_t>(bytes, count_ * (wide ? sizeof(KeyAt<uint64_t>) : sizeof(KeyAt<uint32_t>)));
    } else if (stride_ != 1) {
      bytes = count_ * widest;
    }
    lanes_ = Lanes(count_ > 0 ? lines_.extent : 0, bytes);
    comparators_.assign(static_cast<size_t>(lanes_.count), comparator);
    if (key_ && key_->function) key_functions_.assign(static_cast<size_t>(lanes_.count), *key_->function);
  }

  int64_t scratch_bytes() const override { return lanes_.scratch_bytes(); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    lanes_.run(pool, scratch, [&](int64_t line, std::byte* room, size_t lane) {
      const int64_t start = lines_.offset(line);
      if (alone_) {
        sort_one(operands[0], results[0], start, lane, room, lines_.extent == 1 ? &pool : nullptr);
        return;
      }
      std::byte* after = room + order_bytes_;
      auto* order = reinterpret_cast<uint32_t*>(room);
      if (!key_ || !sort_by_key(operands, start, lane, room, lines_.extent == 1 ? &pool : nullptr)) {
        std::iota(order, order + count_, 0u);
        merge_sort(order, reinterpret_cast<uint32_t*>(after), count_,
                   Before{*this, comparators_[lane], operands, start});
      }
      for (size_t k = 0; k < results.size(); ++k) permute(operands[k], results[k], k, start, order, after);
    });
    return {};
  }

 private:
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
      sort_alone(types_[0], *key_, key_->function ? &key_functions_[lane] : nullptr, line, count_, pool);
      if (line == to) return;
      for (int64_t i = 0; i < count_; ++i) to[i * stride_] = line[i];
    });
  }

  /// Leaves the order as uint32_t at `room`. False if a NaN prevents keys from ordering as the comparator does.
  bool sort_by_key(std::span<const void* const> operands, int64_t start, size_t lane, std::byte* room,
                   ThreadPool* pool) {
    return dispatch(key_->type, [&]<class T>() -> bool {
      if constexpr (is_complex_v<T>) {
        return false;
      } else {
        using Key = order_key_t<T>;
        auto* keys = reinterpret_cast<KeyAt<Key>*>(room);
        const auto width = static_cast<size_t>(stored_bytes(types_[key_->operand]));
        const auto* from = static_cast<const std::byte*>(operands[key_->operand]);
        for (int64_t i = 0; i < count_; ++i) {
          const std::byte* element = from + place(start, i) * width;
          if (key_->function) {
            ScalarProgram& function = key_functions_[lane];
            std::memcpy(function.parameter(0), element, width);
            function.run();
            element = function.result(0);
          }
          T value;
          std::memcpy(&value, element, sizeof(T));
          if (!key_->total_order && is_nan(value)) return false;
          const Key key = order_key(value, !key_->total_order);
          keys[i] = key_at<Key>(key_->descending ? static_cast<Key>(~key) : key, static_cast<uint32_t>(i));
        }
        if (pool != nullptr) {
          radix_sort_in_place(keys, count_, *pool, kTopByte<Key>);
        } else {
          radix_sort_in_place(keys, count_, kTopByte<Key>);
        }
        // Entry i of the order is never located after key i.
        for (int64_t i = 0; i < count_; ++i) {
          const auto index = static_cast<uint32_t>(keys[i]);
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

  std::optional<SortKey> key_;
  int64_t count_ = 0, stride_ = 1, order_bytes_ = 0;
  bool alone_ = false;
  StridedGroup lines_;
  std::vector<ElementType> types_;
  Lanes lanes_;
  std::vector<ScalarProgram> comparators_, key_functions_;  ///< one per lane: they hold values while they run
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_sort(const Instruction& sort) {
  const std::vector<Instruction*> parameters = sort.called[0]->parameters();
  if (sort.operands.empty() || parameters.size() != 2 * sort.operands.size()) return nullptr;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i]->shape.type != sort.operand(i / 2).shape.type) return nullptr;  // in another precision
  }
  const Dims& extents = sort.operand(0).shape.dims;
  if (extents[static_cast<size_t>(sort.as<SortAttributes>().dimension)] > UINT32_MAX) return nullptr;
  std::optional<ScalarProgram> comparator = ScalarProgram::compile(*sort.called[0]);
  if (!comparator || comparator->results() != 1) return nullptr;
  return std::make_unique<Sort>(sort, std::move(*comparator), sort_key(*sort.called[0]));
}

}  // namespace lowtide::engine
