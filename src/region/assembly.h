#pragma once
/// Results that consist of their operands' bytes, one after another: concatenations along the outermost dimension
/// larger than one, through reshapes.

#include "region/region.h"

namespace lowtide::engine {

/// Are the operands' bytes adjacent runs in the result?
bool joins_runs(const Instruction& i);

/// The place of an input in a result that contains all of it as one run of bytes.
struct Part {
  int32_t input = kNoId;
  int64_t offset = 0, bytes = 0;
};

/// The inputs that output `output` contains as a whole, sorted by offset; the bytes between them come from elsewhere.
/// An input that is contained twice is listed twice.
std::vector<Part> assembly_of(const Region& region, size_t output);

/// Do the parts make up all of the output?
bool is_complete(const Region& region, size_t output, const std::vector<Part>& parts);

}  // namespace lowtide::engine
