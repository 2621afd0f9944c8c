#include "library/sort_with_places.h"

#include <algorithm>
#include <numeric>

#include "library/ordered_bits.h"
#include "library/radix_in_place.h"
#include "library/sort_alone.h"

namespace lowtide::engine {
namespace {

template <class Number>
class PlacesSorter {
 public:
  PlacesSorter(ElementType type, const SortKey& key, Number* elements, uint32_t* places, int64_t count,
               ThreadPool* pool)
      : ordered_(type, key.descending, key.joins_equals),
        joins_equals_(key.joins_equals && is_floating(type)),
        pairs_{elements, places},
        count_(count),
        pool_(pool) {}

  void run() {
    Number *begin = pairs_.keys, *end = begin + count_;
    std::iota(pairs_.places, pairs_.places + count_, 0U);
    std::transform(begin, end, begin, [&](Number bits) { return ordered_.of(bits); });
    radix_sort_in_place(pairs_, count_, kTopByte<Number>, pool_);
    if (joins_equals_) {
      join([&](Number bits) { return ordered_.is_zero(bits); }, ordered_.of(0));
      join([&](Number bits) { return ordered_.is_nan(bits); }, ordered_.of(ordered_.nan()));
    }
    std::transform(begin, end, begin, [&](Number key) { return ordered_.bits_of(key); });
  }

 private:
  /// Elements of this kind, which lie next to each other around `key`, are equal: only their places order them.
  template <class IsOfKind>
  void join(IsOfKind is_of_kind, Number key) {
    Number* const end = pairs_.keys + count_;
    const auto is_of = [&](Number k) { return is_of_kind(ordered_.bits_of(k)); };
    Number* first = std::partition_point(pairs_.keys, end, [&](Number k) { return k < key && !is_of(k); });
    const Number* last = std::partition_point(first, end, is_of);
    if (last - first < 2 || *first == *(last - 1)) return;
    const int64_t from = first - pairs_.keys;
    constexpr int kTopOfPlaces = 24;
    by_places(pairs_.from(from), last - first, kTopOfPlaces);
  }

  /// As radix_sort_in_place, which compares few numbers with their keys.
  static void by_places(KeysAndPlaces<Number> pairs, int64_t count, int shift) {
    if (count < 2) return;
    const BucketStarts starts = part_by_byte(pairs, count, shift);
    if (shift == 0) return;
    for (size_t b = 0; b < 256; ++b) by_places(pairs.from(starts[b]), starts[b + 1] - starts[b], shift - 8);
  }

  OrderedBits<Number> ordered_;
  bool joins_equals_;
  KeysAndPlaces<Number> pairs_;
  int64_t count_;
  ThreadPool* pool_;
};

}  // namespace

bool sorts_with_places(const Instruction& sort, const SortKey& key) {
  if (sort.operands.size() != 2 || !sorts_alone(sort.operand(key.operand).shape.type, key)) return false;
  if (key.function && !key.joins_equals) return false;
  const Instruction& places = sort.operand(1 - key.operand);
  return places.opcode == Opcode::kIota && is_integral(places.shape.type) && stored_bytes(places.shape.type) == 4 &&
         places.as<IotaAttributes>().dimension == sort.as<SortAttributes>().dimension;
}

void sort_with_places(ElementType type, const SortKey& key, void* elements, uint32_t* places, int64_t count,
                      ThreadPool* pool) {
  with_bits(type, elements, [&]<class Number>(Number* numbers) {
    PlacesSorter<Number>(type, key, numbers, places, count, pool).run();
  });
}

}  // namespace lowtide::engine
