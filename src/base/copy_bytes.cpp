#include "base/copy_bytes.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace lowtide::engine {
namespace {

constexpr int64_t kCopiedAtOnce = int64_t{1} << 20;

#ifdef __SSE2__
void copy_past_caches(std::byte* to, const std::byte* from, int64_t bytes) {
  constexpr int64_t kVector = 16, kLine = 64;
  const auto past_line = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLine);
  const int64_t head = std::min(bytes, past_line == 0 ? 0 : kLine - past_line);
  std::memcpy(to, from, static_cast<size_t>(head));
  int64_t at = head;
  for (; at + kLine <= bytes; at += kLine) {
    for (int64_t part = at; part < at + kLine; part += kVector) {
      const __m128i vector = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + part));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + part), vector);
    }
  }
  std::memcpy(to + at, from + at, static_cast<size_t>(bytes - at));
  _mm_sfence();  // those stores aren't ordered with others
}
#else
void copy_past_caches(std::byte* to, const std::byte* from, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
}
#endif

}  // namespace

void copy_bytes(void* to, const void* from, int64_t bytes, ThreadPool& pool) {
  if (to == from || bytes == 0) return;
  auto* const target = static_cast<std::byte*>(to);
  const auto* const source = static_cast<const std::byte*>(from);
  const bool apart = std::less_equal<>()(target + bytes, source) || std::less_equal<>()(source + bytes, target);
  if (!apart || bytes < 2 * kCopiedAtOnce) {
    std::memmove(to, from, static_cast<size_t>(bytes));
    return;
  }
  const auto task = [&](int64_t i, int) {
    const int64_t at = i * kCopiedAtOnce, count = std::min(kCopiedAtOnce, bytes - at);
    if (bytes >= kFarBytes) {
      copy_past_caches(target + at, source + at, count);
    } else {
      std::memcpy(target + at, source + at, static_cast<size_t>(count));
    }
  };
  pool.run((bytes + kCopiedAtOnce - 1) / kCopiedAtOnce, std::ref(task));
}

}  // namespace lowtide::engine
