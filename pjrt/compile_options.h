#pragma once
/// A host's options for one program: the relevant part of XLA's CompileOptionsProto.

#include <string_view>
#include <vector>

#include "client.h"

namespace lowtide::pjrt {

struct CompileOptions {
  int64_t replicas = 1, partitions = 1;
  std::vector<int64_t> devices;  ///< the first replica's devices, by partition; empty: any
  Wishes wishes;
};

/// Reads `options`, with `usual` as defaults from the client; an error if they are malformed.
PJRT_Error* read_compile_options(std::string_view bytes, const Wishes& usual, CompileOptions& options);

}  // namespace lowtide::pjrt
