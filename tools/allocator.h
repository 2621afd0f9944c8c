#pragma once
/// The command's allocator: jemalloc where the build found it, else the C library's.

namespace lowtide::command {

/// Returns the memory that is free to the system.
void return_free_memory();

}  // namespace lowtide::command
