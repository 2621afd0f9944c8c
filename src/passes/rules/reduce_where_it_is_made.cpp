#include "passes/rules/reduce_where_it_is_made.h"

#include "passes/rules/make_in_loops.h"

namespace lowtide::engine {

Result<PassResult> reduce_where_it_is_made(Module& module, const Target& target) {
  return make_in_loops(module, target, MadeInLoops::kReductions);
}

}  // namespace lowtide::engine
