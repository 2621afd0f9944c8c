#pragma once
/// Results that are nothing but their operands' bytes, one after another: concatenations along the outermost dimension
/// that counts, through reshapes.

#include "region/region.h"

namespace lowtide::engine {

/// Where an input stands in a result, all of it, in one run of bytes.
struct Part {
  int32_t input = kNoId;
  int64_t offset = 0, bytes = 0;
};

/// The inputs that stand whole in output `output`, by offset; the bytes between them come from elsewhere. An input that
/// stands there twice is there twice.
std::vector<Part> assembly_of(const Region& region, size_t output);

/// Do the parts make all of the output?
bool is_complete(const Region& region, size_t output, const std::vector<Part>& parts);

}  // namespace lowtide::engine
