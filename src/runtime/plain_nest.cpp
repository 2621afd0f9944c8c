#include "runtime/plain_nest.h"

#include "base/context.h"
#include "nest/join_reductions.h"
#include "nest/legalise.h"
#include "nest/write_out_short_loops.h"
#include "ops/tabulate.h"

namespace lowtide::engine {

Nest plain_nest(const Nest& nest, const Module& module) {
  const Context& context = module.context();
  Nest plain =
      legalise(write_out_short_loops(join_reductions(nest)),
               {.sums_in_order = module.sums_in_order, .contract_products = !context.is_disabled("contract-products")});
  return context.is_disabled("tables") ? plain : tabulate(plain);
}

}  // namespace lowtide::engine
