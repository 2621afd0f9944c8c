#pragma once
/// What a host says of one program: CompileOptionsProto of XLA, as far as it matters here.

#include <string_view>
#include <vector>

#include "client.h"

namespace lowtide::pjrt {

struct CompileOptions {
  int64_t replicas = 1, partitions = 1;
  std::vector<int64_t> devices;  ///< of the first replica, by part; empty: whichever
  Wishes wishes;
};

/// `options` beside what holds for all programs of the client; an error for what nobody can read.
PJRT_Error* read_compile_options(std::string_view bytes, const Wishes& usual, CompileOptions& options);

}  // namespace lowtide::pjrt
