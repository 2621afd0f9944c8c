#pragma once
/// Arguments and results of programs.

#include <cstdint>
#include <string>
#include <vector>

namespace lowtide {

/// An array that is an argument or result of a program; tuples are flattened depth first.
struct ProgramArray {
  std::string path;           ///< "state.params['w']"; empty if the program doesn't state it
  std::string type;           ///< as HLO spells it: "f32", "bf16", "s32", "pred", ...
  std::vector<int64_t> dims;  ///< extents; none: a scalar
  int64_t bytes = 0;  ///< in memory: elements lie row-major without gaps, "pred" and types below a byte one byte each
  /// For an argument: may the program overwrite its bytes if the caller donates them?
  bool can_be_donated = false;
  /// In a program for several devices, its sharding as HLO writes it: "{devices=[4,1]<=[4]}"; empty: unspecified.
  std::string sharding = {};
  /// The kind of memory in which the program has it, by JAX's name ("pinned_host"); empty: unspecified, the device's.
  std::string memory_kind = {};
};

}  // namespace lowtide
