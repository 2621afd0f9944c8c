#pragma once
/// Arrays as programs take and give them.

#include <cstdint>
#include <string>
#include <vector>

namespace lowtide {

/// An argument or result of a program, an array each: tuples are flattened depth first.
struct ProgramArray {
  std::string path;           ///< "state.params['w']"; empty where the program doesn't say
  std::string type;           ///< as HLO spells it: "f32", "bf16", "s32", "pred", ...
  std::vector<int64_t> dims;  ///< extents, row-major; none: a scalar
  int64_t bytes = 0;  ///< in memory: elements lie row-major without gaps, "pred" and types below a byte one byte each
  /// Of an argument: may the program overwrite its bytes, if the caller gives them away?
  bool can_be_donated = false;
  /// Of a program of several devices how they divide it, as HLO says: "{devices=[4,1]<=[4]}"; empty: it doesn't say.
  std::string sharding = {};
};

}  // namespace lowtide
