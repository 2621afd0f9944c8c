#include "allocation_watch.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "sanitized.h"

namespace {

std::atomic<bool> watching{false};
std::atomic<int64_t> held{0}, most{0};

/// Sanitizers have an allocator of their own, and nobody counts then.
[[maybe_unused]] void count(int64_t bytes) {
  if (!watching.load(std::memory_order_relaxed)) return;
  const int64_t now = held.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t before = most.load(std::memory_order_relaxed);
  while (now > before && !most.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
}

}  // namespace

namespace lowtide::engine {

AllocationWatch::AllocationWatch() {
  held = 0;
  most = 0;
  watching = true;
}
AllocationWatch::~AllocationWatch() { watching = false; }
int64_t AllocationWatch::most_bytes() const { return most; }

bool AllocationWatch::works() { return !kSanitized; }

}  // namespace lowtide::engine

#ifndef LOWTIDE_SANITIZED
// glibc's own allocator under its other names; operator new of libstdc++ calls malloc.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* old, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* old);

static void* counted(void* made) {
  if (made) count(static_cast<int64_t>(malloc_usable_size(made)));
  return made;
}
static void uncount(void* old) {
  if (old && watching.load(std::memory_order_relaxed)) count(-static_cast<int64_t>(malloc_usable_size(old)));
}

void* malloc(size_t bytes) { return counted(__libc_malloc(bytes)); }
void* calloc(size_t number, size_t bytes) { return counted(__libc_calloc(number, bytes)); }
void* memalign(size_t alignment, size_t bytes) { return counted(__libc_memalign(alignment, bytes)); }
void* aligned_alloc(size_t alignment, size_t bytes) { return counted(__libc_memalign(alignment, bytes)); }
int posix_memalign(void** result, size_t alignment, size_t bytes) {
  *result = memalign(alignment, bytes);
  return *result ? 0 : ENOMEM;
}
void* realloc(void* old, size_t bytes) {
  uncount(old);
  void* const made = __libc_realloc(old, bytes);
  if (!made && old && bytes > 0) counted(old);
  return counted(made);
}
void free(void* old) {
  uncount(old);
  __libc_free(old);
}
void* mmap(void* where, size_t bytes, int protection, int flags, int file, off_t offset) {
  count(static_cast<int64_t>(bytes));
  return reinterpret_cast<void*>(::syscall(SYS_mmap, where, bytes, protection, flags, file, offset));
}
}
#endif
