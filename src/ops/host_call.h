#pragma once
/// The custom calls lowtide.host.<name>: they call a host function that the session was given (lowtide/host_call.h).

#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/context.h"
#include "ir/module.h"
#include "lowtide/host_call.h"
#include "ops/op_rule.h"

namespace lowtide::engine {

/// The host functions that a session was given, held by its context.
struct HostFunctions {
  explicit HostFunctions(const Context&) {}
  std::function<HostFunction(std::string_view target)> foreign;  ///< finds others; empty: none
  std::mutex mutex;  ///< guards `all`, to which reading programs adds functions
  std::map<std::string, HostFunction, std::less<>> all;
};

/// Turns calls of otherwise unknown targets into calls of lowtide.host.<target> if the host has a function for the
/// target. Returns whether there were any; their arrays needn't be row-major (passes/lay_out_calls.h).
bool take_foreign_calls(Module& module);

bool is_host_call(const Instruction& instruction);
/// Does the module have host calls? Code that compares two runs must not make the calls twice.
bool has_host_calls(const Module& module);
/// The error for running such a module again to compare results; OK if it has no host calls.
Status refuse_to_repeat(const Module& module);

std::string_view host_function_name(const Instruction& call);
/// The unquoted text of its backend_config; text in braces is returned as it is.
std::string host_call_config(const Instruction& call);

/// The layouts that a call states for its operands, {f32[5,5]{0,1}, token[], f32[5]}: the text in braces for each
/// array, in order, empty if there is none.
std::vector<std::string_view> stated_layouts(const Instruction& call);
inline constexpr std::string_view kOperandLayouts = "operand_layout_constraints";
/// An error if the call states a layout that isn't row-major (C6 of custom_call.cpp).
Status check_host_call(const Instruction& call);
/// The call's function; null: the session of the call's module has none of that name.
const HostFunction* find_host_function(const Instruction& call);
/// The error for a missing function, of kind kInput, at the call's place.
Status missing_host_function(const Instruction& call);
/// The same for the first call of a missing function in the module; OK if there is none.
Status find_missing_host_functions(const Module& module);

/// `operands` and `results` are leaves in order, depth first; a leaf that is no array has an unused entry.
Status run_host_call(const Instruction& call, const HostFunction& function, std::span<const void* const> operands,
                     std::span<void* const> results);
/// Evaluates the call in the interpreter.
Result<Value> eval_host_call(const Instruction& call, Operands operands);

}  // namespace lowtide::engine
