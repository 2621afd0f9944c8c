#pragma once
/// Graphs of arrays as text: one line for each operation, or a file for Graphviz.

#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lowtide/array.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// Names of arrays: those that were set, and A, B, ..., Z, AA, AB, ... for the others, in the order of asking.
struct LOWTIDE_PUBLIC NodeNamer {
  std::unordered_map<std::uintptr_t, std::string> names;  ///< by array::id()
  const std::string& get_name(const array& x);
  void set_name(const array& x, std::string name);
};

/// The graph that would compute the outputs, which is not evaluated:
///
///   Inputs: A, B
///   Outputs: C
///   multiply A [(2, 3), float32], B [(), float32] -> C [(2, 3), float32]
LOWTIDE_PUBLIC void print_graph(std::ostream& os, NodeNamer namer, const std::vector<array>& outputs);
inline void print_graph(std::ostream& os, const std::vector<array>& outputs) { print_graph(os, NodeNamer(), outputs); }
template <class... Arrays>
  requires(sizeof...(Arrays) > 0 && (std::is_convertible_v<Arrays, array> && ...))
void print_graph(std::ostream& os, Arrays&&... outputs) {
  print_graph(os, NodeNamer(), std::vector<array>{std::forward<Arrays>(outputs)...});
}

/// The same graph in Graphviz's language: boxes are operations, diamonds the arrays that have values.
LOWTIDE_PUBLIC void export_to_dot(std::ostream& os, NodeNamer namer, const std::vector<array>& outputs);
inline void export_to_dot(std::ostream& os, const std::vector<array>& outputs) {
  export_to_dot(os, NodeNamer(), outputs);
}
template <class... Arrays>
  requires(sizeof...(Arrays) > 0 && (std::is_convertible_v<Arrays, array> && ...))
void export_to_dot(std::ostream& os, Arrays&&... outputs) {
  export_to_dot(os, NodeNamer(), std::vector<array>{std::forward<Arrays>(outputs)...});
}

}  // namespace lowtide
