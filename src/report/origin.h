#pragma once
/// Where a value comes from in the user's program, even if its own instruction doesn't say.

#include <string>
#include <string_view>

#include "report/graph.h"
#include "report/report.h"

namespace lowtide::engine {

/// An op_name without what tracing adds around the user's scopes:
/// "jit(step)/jit(main)/transpose(jvp(Net))/while/body/checkpoint/mlp/wi_0/dot_general" -> "Net/mlp/wi_0/dot_general".
std::string user_scopes(std::string_view op_name);

/// The part that fits a narrow column: the last of the user's scopes, or the primitive if there are none.
/// "Net/mlp/wi_0/dot_general" -> "mlp/wi_0".
std::string short_scope(std::string_view op_name);

/// A source file's last component: "/opt/maxtext/layers/linears.py" -> "linears.py".
std::string_view file_name(std::string_view path);

/// The origin an instruction states itself.
Origin own_origin(const Module& module, const Instruction& instruction);

/// The origin of a value: its own if that is informative, else that of the value that it renames, converts, copies,
/// fuses or stacks; else that of its readers.
Origin origin_of(const Graph& graph, const ValueRef& value);

/// The origin of a buffer that holds several values: the most informative of their origins.
Origin origin_of(const Graph& graph, const AccountBuffer& buffer);

}  // namespace lowtide::engine
