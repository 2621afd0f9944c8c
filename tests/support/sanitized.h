#pragma once

/// Whether a sanitizer watches this build: its allocator takes malloc's place, and everything takes several times as
/// long.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define LOWTIDE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define LOWTIDE_SANITIZED 1
#endif
#endif

namespace lowtide::engine {

#ifdef LOWTIDE_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace lowtide::engine
