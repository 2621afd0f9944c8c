#include "ops/numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace lowtide::engine {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 33;

/// Are elements of this type stored as numbers of type C?
template <class C>
bool stored_as_is(ElementType type) {
  return dispatch(type, []<class T>() { return std::is_same_v<T, C>; });
}

template <class C>
void load(const Literal& array, int64_t first, int64_t count, C* to) {
  dispatch(array.shape().type, [&]<class T>() {
    if constexpr (std::is_same_v<computed_t<T>, C>) {
      const std::span<const T> elements =
          array.data<T>().subspan(static_cast<size_t>(first), static_cast<size_t>(count));
      std::transform(elements.begin(), elements.end(), to, widen<T>);
    } else {
      LT_ASSERT(false, to_string(array.shape()) + " is not computed in the type asked for");
    }
  });
}

template <class C>
void save(const C* from, int64_t first, int64_t count, Literal& array) {
  dispatch(array.shape().type, [&]<class T>() {
    if constexpr (std::is_same_v<computed_t<T>, C>) {
      T* const to = array.data<T>().data() + first;
      std::transform(from, from + count, to, narrow<T>);
    } else {
      LT_ASSERT(false, to_string(array.shape()) + " is not computed in the type given");
    }
  });
}

}  // namespace

template <class C>
NumberReader<C>::NumberReader(const Literal& array, bool repeat) : array_(array), repeat_(repeat) {
  const auto room = static_cast<size_t>(repeat ? kChunk : std::min(kChunk, array.size()));
  if (repeat || !stored_as_is<C>(array.shape().type)) room_ = std::make_unique<C[]>(room);
  if (repeat) {
    load(array, 0, 1, room_.get());
    std::fill_n(room_.get() + 1, kChunk - 1, room_[0]);
  }
}

template <class C>
const C* NumberReader<C>::read(int64_t first, int64_t count) {
  if (repeat_) return room_.get();
  if (!room_) return array_.data<C>().data() + first;
  load(array_, first, count, room_.get());
  return room_.get();
}

template <class C>
NumberWriter<C>::NumberWriter(Literal& array) : array_(array) {
  if (!stored_as_is<C>(array.shape().type)) {
    room_ = std::make_unique<C[]>(static_cast<size_t>(std::min(kChunk, array.size())));
  }
}

template <class C>
C* NumberWriter<C>::room(int64_t first) {
  return room_ ? room_.get() : array_.data<C>().data() + first;
}

template <class C>
void NumberWriter<C>::write(int64_t first, int64_t count) {
  if (room_) save(room_.get(), first, count, array_);
}

#define LOWTIDE_NUMBERS(C)        \
  template class NumberReader<C>; \
  template class NumberWriter<C>;
LOWTIDE_NUMBERS(bool)
LOWTIDE_NUMBERS(int64_t)
LOWTIDE_NUMBERS(uint64_t)
LOWTIDE_NUMBERS(float)
LOWTIDE_NUMBERS(double)
LOWTIDE_NUMBERS(Complex64)
LOWTIDE_NUMBERS(Complex128)
#undef LOWTIDE_NUMBERS

Result<std::shared_ptr<Literal>> new_array(const Shape& shape) {
  int64_t bytes = stored_bytes(shape.type);
  for (const int64_t extent : shape.dims) {
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes) || bytes > kMostBytes) {
      return Status::input(fmt::format("{} cannot be held: the interpreter allows {} GiB for one value",
                                       to_string_without_layout(shape), kMostBytes >> 30));
    }
  }
  return std::make_shared<Literal>(shape);
}

}  // namespace lowtide::engine
