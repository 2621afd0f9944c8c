#pragma once
/// Functions of the host's that programs call while they run: custom calls whose target begins with "lowtide.host.".
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
/// A call that says custom_call_has_side_effect (has_side_effect in StableHLO) is made exactly as often as the program
/// says, and such calls of one run come one after another in the program's order. Any other is pure: it may be left out
/// where nobody reads its results, be shared with an equal one, and stand elsewhere among the rest. Tokens order calls,
/// and nobody hands them over. Programs are planned without the functions; what compiles or interprets one names
/// those that are missing (kInput).

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "lowtide/error.h"

namespace lowtide {

/// How the targets of such calls begin; the function's name is the rest.
inline constexpr std::string_view kHostCallTarget = "lowtide.host.";

/// An operand or result of a call, elements row by row without gaps, as ProgramArray::bytes has them. The memory is the
/// call's: it holds something else as soon as the function has returned.
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
  void* data = nullptr;  ///< to be filled as a whole; it lies over no operand
};

struct HostCall {
  std::string_view name;    ///< the function's
  std::string_view config;  ///< the call's backend_config, as the program has it
  /// Arrays alone, of tuples each of theirs, depth first.
  std::span<const HostOperand> operands;
  std::span<const HostResult> results;
};

/// An error ends the run, and is the run's error; so is what the function throws (kInternal). Called on the thread that
/// runs the program, so from several threads where several programs run. It may compile and run others, of the same
/// session as well, and the very program that calls it.
using HostFunction = std::function<Result<void>(const HostCall& call)>;

}  // namespace lowtide
