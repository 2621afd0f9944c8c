#pragma once
/// The operations of VHLO with their versions and properties.

#include <string>
#include <string_view>

namespace lowtide::engine {

struct VhloOperation {
  std::string_view name;        ///< StableHLO's name: "dot_general"
  std::string_view properties;  ///< in alphabetical order, in which they are stored, separated by blanks
};

/// The operation for a versioned name such as "dot_general_v2"; null if the name or the version is unknown.
const VhloOperation* vhlo_operation(std::string_view versioned);

/// The versioned name, "dot_general_v2" for "dot_general": the latest as of VHLO 1.13.0; empty if there is none.
std::string newest_vhlo_name(std::string_view name);

/// The properties of operations that are stored in their own dialects, such as "chlo.top_k"; those with a question mark
/// may be absent.
std::string_view foreign_properties(std::string_view dialect, std::string_view name);

}  // namespace lowtide::engine
