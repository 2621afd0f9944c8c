#include "passes/rules/update_where_it_is_made.h"

#include <fmt/format.h>

#include "passes/rules/make_in_loops.h"

namespace lowtide::engine {

Result<PassResult> update_where_it_is_made(Module& module, const Target& target) {
  PassResult result;
  result.count = make_in_loops(module, target, MadeInLoops::kUpdates);
  result.changed = result.count > 0;
  result.note = fmt::format("{} stacks consumed where they are made", result.count);
  return result;
}

}  // namespace lowtide::engine
