#pragma once
/// The custom calls lowtide.host.<name>: a function of the host's, which the session was given (lowtide/host_call.h).

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

/// What a session was told of; its context has them for all that runs.
struct HostFunctions {
  explicit HostFunctions(const Context&) {}
  std::function<HostFunction(std::string_view target)> foreign;  ///< empty: there are none
  std::mutex mutex;                                              ///< of those below, which reading programs adds to
  std::map<std::string, HostFunction, std::less<>> all;
};

/// Calls of targets that are unknown otherwise become calls lowtide.host.<target> where the host has a function for the
/// target. Whether there were any; their arrays may lie in other orders than row by row (passes/lay_out_calls.h).
bool take_foreign_calls(Module& module);

bool is_host_call(const Instruction& instruction);
/// Does running any of its operations call one? What compares two runs must not make the calls twice.
bool has_host_calls(const Module& module);
/// Why such a module isn't run to be compared.
Status refuse_to_repeat(const Module& module);

std::string_view host_function_name(const Instruction& call);
/// The text between the quotes of its backend_config; what stands in braces as it is.
std::string host_call_config(const Instruction& call);

/// The layouts that a call states of its operands, {f32[5,5]{0,1}, token[], f32[5]}: the text in braces for each array,
/// in order, empty where it states none.
std::vector<std::string_view> stated_layouts(const Instruction& call);
inline constexpr std::string_view kOperandLayouts = "operand_layout_constraints";
/// A layout of the call's by which an array isn't row by row (C6 of custom_call.cpp).
Status check_host_call(const Instruction& call);
/// Null: the session of the call's module has none of the name.
const HostFunction* find_host_function(const Instruction& call);
/// kInput, at its place, that there is none of the name.
Status missing_host_function(const Instruction& call);
/// For the first operation of the module that calls one that is missing.
Status find_missing_host_functions(const Module& module);

/// Leaves in order, depth first; those that are no arrays have a place, and nothing lies there.
Status run_host_call(const Instruction& call, const HostFunction& function, std::span<const void* const> operands,
                     std::span<void* const> results);
/// By its definition.
Result<Value> eval_host_call(const Instruction& call, Operands operands);

}  // namespace lowtide::engine
