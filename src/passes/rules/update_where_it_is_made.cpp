#include "passes/rules/update_where_it_is_made.h"

#include "passes/rules/make_in_loops.h"

namespace lowtide::engine {

Result<PassResult> update_where_it_is_made(Module& module, const Target& target) {
  return make_in_loops(module, target, MadeInLoops::kUpdates);
}

}  // namespace lowtide::engine
