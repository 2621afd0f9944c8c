#include "allocator.h"

#ifdef LOWTIDE_JEMALLOC
#include <jemalloc/jemalloc.h>

#include <string>
#else
#include <malloc.h>
#endif

namespace lowtide::command {

void return_free_memory() {
#ifdef LOWTIDE_JEMALLOC
  (void)::mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  const std::string purge = "arena." + std::to_string(MALLCTL_ARENAS_ALL) + ".purge";
  (void)::mallctl(purge.c_str(), nullptr, nullptr, nullptr, 0);
#else
  ::malloc_trim(0);
#endif
}

}  // namespace lowtide::command
