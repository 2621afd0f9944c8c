#pragma once
/// Host functions that programs call while they run: custom calls whose target begins with "lowtide.host.".
///
///   HLO:        r = f32[4] custom-call(x), custom_call_target="lowtide.host.scale", backend_config="by=2"
///   StableHLO:  %r = stablehlo.custom_call @lowtide.host.scale(%x) {backend_config = "by=2"} : ...
///
///   lowtide::Options options;
///   options.host_functions["scale"] = [](const lowtide::HostCall& call) -> lowtide::Result<void> {
///     const auto* from = static_cast<const float*>(call.operands[0].data);
///     auto* to = static_cast<float*>(call.results[0].data);
///     for (int64_t i = 0; i < 4; ++i) to[i] = 2 * from[i];
///     return {};
///   };
///
/// Custom calls with other unknown targets call host functions, too, if Options::foreign_calls has one for the target.
///
/// A call with custom_call_has_side_effect (has_side_effect in StableHLO) is made exactly as often as the program says,
/// and such calls of one run are made one after another in program order. Any other call is pure: it may be removed if
/// its results are unused, merged with an equal one, and reordered. Tokens order calls; they are not passed to the
/// function. A program is planned without the functions; compiling or interpreting it fails with the names of those
/// missing (kInput).

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "lowtide/error.h"

namespace lowtide {

/// The prefix of these calls' targets; the rest is the function's name.
inline constexpr std::string_view kHostCallTarget = "lowtide.host.";

/// An operand or result of a call, with row-major elements without gaps, as ProgramArray::bytes describes. The memory
/// is valid only during the call.
struct HostOperand {
  std::string_view type;  ///< as HLO spells it
  std::span<const int64_t> dims;
  int64_t bytes = 0;
  const void* data = nullptr;
};
struct HostResult {
  std::string_view type;
  std::span<const int64_t> dims;
  int64_t bytes = 0;
  /// The function must fill a result completely; it overlaps no operand. If the program says that a result shares an
  /// operand's memory (output_to_operand_aliasing), it has that operand's elements before the call.
  void* data = nullptr;
};

struct HostCall {
  std::string_view name;    ///< the function's
  std::string_view config;  ///< the call's backend_config, as in the program
  /// Arrays only; tuples are flattened depth first.
  std::span<const HostOperand> operands;
  std::span<const HostResult> results;
};

/// An error ends the run and becomes the run's error; so does an exception (kInternal). The function is called on the
/// thread that runs the program, hence from several threads if several programs run. It may compile and run other
/// programs, also of the same session, and even the program that calls it.
using HostFunction = std::function<Result<void>(const HostCall& call)>;

}  // namespace lowtide
