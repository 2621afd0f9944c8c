#pragma once
/// The operations of VHLO with their versions: which properties each has.

#include <string>
#include <string_view>

namespace lowtide::engine {

struct VhloOperation {
  std::string_view name;        ///< of StableHLO: "dot_general"
  std::string_view properties;  ///< alphabetically, as they are stored, with blanks between them
};

/// Of "dot_general_v2"; null where that isn't known, or not in this version.
const VhloOperation* vhlo_operation(std::string_view versioned);

/// "dot_general_v2" of "dot_general": the last version until 1.13.0 of VHLO; empty where it has none.
std::string newest_vhlo_name(std::string_view name);

/// The properties of operations that stay in the dialects that they were written in, by "chlo.top_k" and the like;
/// those with a question mark may be absent.
std::string_view foreign_properties(std::string_view dialect, std::string_view name);

}  // namespace lowtide::engine
