#pragma once
/// An ordered map from small non-negative integers, such as places in a graph, whose lookups are those of an array.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "base/status.h"

namespace lowtide::engine {

/// Like std::map<int32_t, T>, in ascending order of keys, but a lookup is one access to an index of all numbers between
/// the smallest and the largest key. Memory: 4 bytes for each of these, besides the values. Inserting an entry
/// invalidates references and iterators; erasing one only those that refer to it.
template <class T>
class IndexMap {
 public:
  using value_type = std::pair<int32_t, T>;

  template <class Map, class Value>
  class Iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = IndexMap::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = Value*;
    using reference = Value&;

    Iterator() = default;
    Iterator(Map* map, size_t at) : map_(map), at_(at) {}
    Value& operator*() const { return map_->values_[map_->index_[at_]]; }
    Value* operator->() const { return &**this; }
    Iterator& operator++() {
      at_ = map_->next(at_ + 1);
      return *this;
    }
    Iterator& operator--() {
      do --at_;
      while (map_->index_[at_] < 0);
      return *this;
    }
    Iterator operator++(int) { return std::exchange(*this, ++Iterator(*this)); }
    Iterator operator--(int) { return std::exchange(*this, --Iterator(*this)); }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    friend IndexMap;
    Map* map_ = nullptr;
    size_t at_ = 0;  ///< in the index
  };
  using iterator = Iterator<IndexMap, value_type>;
  using const_iterator = Iterator<const IndexMap, const value_type>;

  bool empty() const { return size() == 0; }
  size_t size() const { return values_.size() - free_.size(); }
  bool contains(int32_t key) const { return slot(key) >= 0; }
  T& at(int32_t key) { return values_[checked_slot(key)].second; }
  const T& at(int32_t key) const { return values_[checked_slot(key)].second; }
  iterator find(int32_t key) { return contains(key) ? iterator(this, offset(key)) : end(); }
  const_iterator find(int32_t key) const { return contains(key) ? const_iterator(this, offset(key)) : end(); }

  iterator begin() { return {this, next(0)}; }
  iterator end() { return {this, index_.size()}; }
  const_iterator begin() const { return {this, next(0)}; }
  const_iterator end() const { return {this, index_.size()}; }
  auto rbegin() const { return std::reverse_iterator(end()); }
  auto rend() const { return std::reverse_iterator(begin()); }
  /// The first entry whose key isn't smaller.
  iterator lower_bound(int32_t key) { return {this, key <= first_ ? next(0) : next(offset(key))}; }

  /// False: the key has a value already, which stays.
  bool emplace(int32_t key, T value) {
    if (contains(key)) return false;
    cover(key);
    int32_t& slot = index_[offset(key)];
    if (free_.empty()) {
      slot = static_cast<int32_t>(values_.size());
      values_.emplace_back(key, std::move(value));
    } else {
      slot = free_.back();
      free_.pop_back();
      values_[slot] = {key, std::move(value)};
    }
    return true;
  }

  void erase(int32_t key) {
    if (contains(key)) erase(find(key));
  }
  iterator erase(iterator entry) {
    int32_t& slot = index_[entry.at_];
    values_[slot].second = T();
    free_.push_back(std::exchange(slot, -1));
    return ++entry;
  }

 private:
  size_t offset(int32_t key) const { return static_cast<size_t>(key - first_); }
  int32_t slot(int32_t key) const { return key < first_ || offset(key) >= index_.size() ? -1 : index_[offset(key)]; }
  size_t checked_slot(int32_t key) const {
    const int32_t found = slot(key);
    LT_ASSERT(found >= 0, "no entry with this key");
    return static_cast<size_t>(found);
  }
  /// The position of the first entry at or after one in the index.
  size_t next(size_t at) const {
    while (at < index_.size() && index_[at] < 0) ++at;
    return std::min(at, index_.size());
  }

  /// Extends the index to the key; at the front by at least its length, so that this is rare.
  void cover(int32_t key) {
    if (index_.empty()) first_ = key;
    if (key < first_) {
      const int32_t lowest = first_ - static_cast<int32_t>(index_.size());
      const int32_t from = std::clamp(lowest, 0, key);
      index_.insert(index_.begin(), static_cast<size_t>(first_ - from), -1);
      first_ = from;
    }
    if (offset(key) >= index_.size()) index_.resize(offset(key) + 1, -1);
  }

  int32_t first_ = 0;           ///< the key of index_[0]
  std::vector<int32_t> index_;  ///< by key - first_: where its value is; -1: there is none
  std::vector<value_type> values_;
  std::vector<int32_t> free_;  ///< unused entries of values_
};

/// Removes the entries for which the predicate holds, and returns their number.
template <class T, class Predicate>
size_t erase_if(IndexMap<T>& map, Predicate is_removed) {
  const size_t before = map.size();
  for (auto entry = map.begin(); entry != map.end();) {
    if (is_removed(std::as_const(*entry))) {
      entry = map.erase(entry);
    } else {
      ++entry;
    }
  }
  return before - map.size();
}

}  // namespace lowtide::engine
