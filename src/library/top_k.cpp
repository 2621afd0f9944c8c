/// topk: keeps the best k elements of a line so far in a heap, with the worst on top.
#include "library/lanes.h"
#include "library/order_key.h"
#include "library/routines.h"

namespace lowtide::engine {
namespace {

class TopK : public LibraryRoutine {
 public:
  TopK(const Shape& operand, int64_t k, bool largest)
      : type_(operand.type), count_(operand.dims.back()), k_(k), largest_(largest) {
    const int64_t lines = count_ > 0 ? element_count(operand) / count_ : 0;
    const int64_t entry = stored_bytes(type_) > 4 ? sizeof(KeyAt<uint64_t>) : sizeof(KeyAt<uint32_t>);
    lanes_ = Lanes(k > 0 ? lines : 0, k * entry);
  }

  int64_t scratch_bytes() const override { return lanes_.scratch_bytes(); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    dispatch(type_, [&]<class T>() {
      if constexpr (!is_complex_v<T>) {
        lanes_.run(pool, scratch, [&](int64_t line, std::byte* room) {
          run_line(static_cast<const T*>(operands[0]) + line * count_, static_cast<T*>(results[0]) + line * k_,
                   static_cast<int32_t*>(results[1]) + line * k_, room);
        });
      }
    });
    return {};
  }

 private:
  template <class T>
  void run_line(const T* from, T* values, int32_t* indices, std::byte* room) const {
    using Key = order_key_t<T>;
    auto* heap = reinterpret_cast<KeyAt<Key>*>(room);
    for (int64_t i = 0; i < count_; ++i) {
      const Key key = order_key(from[i], false);
      const auto entry = key_at<Key>(largest_ ? static_cast<Key>(~key) : key, static_cast<uint32_t>(i));
      if (i < k_) {
        heap[i] = entry;
        std::push_heap(heap, heap + i + 1);
      } else if (entry < heap[0]) {
        std::pop_heap(heap, heap + k_);
        heap[k_ - 1] = entry;
        std::push_heap(heap, heap + k_);
      }
    }
    std::sort_heap(heap, heap + k_);
    for (int64_t i = 0; i < k_; ++i) {
      values[i] = from[static_cast<uint32_t>(heap[i])];
      indices[i] = static_cast<int32_t>(heap[i]);
    }
  }

  ElementType type_;
  int64_t count_, k_;
  bool largest_;
  Lanes lanes_;
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_top_k(const Instruction& instruction) {
  if (instruction.operands.size() != 1) return nullptr;
  const Shape& operand = instruction.operand(0).shape;
  if (!operand.is_array() || operand.dims.empty() || is_complex(operand.type) || operand.dims.back() > INT32_MAX) {
    return nullptr;
  }
  if (const auto* attributes = instruction.if_as<TopKAttributes>()) {
    return std::make_unique<TopK>(operand, attributes->k, attributes->largest);
  }
  const Shape& result = instruction.shape;
  if (!result.is_tuple() || result.elements.size() != 2 || result.elements[1].type != ElementType::kS32) return nullptr;
  if (result.elements[0].type != operand.type || result.elements[0].dims.empty()) return nullptr;
  return std::make_unique<TopK>(operand, result.elements[0].dims.back(), true);
}

}  // namespace lowtide::engine
