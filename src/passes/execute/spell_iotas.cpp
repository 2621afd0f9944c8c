#include "passes/execute/spell_iotas.h"

#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

Instruction* spell_iota(const Instruction& i, Maker& maker) {
  if (i.shape.rank() < 2 || !i.shape.dynamic.empty() || i.sharding) return nullptr;
  const int64_t counted = i.as<IotaAttributes>().dimension;
  const Dims line = {i.shape.dims[counted]};
  Instruction* counts = maker.make(Opcode::kIota, Shape::array(i.shape.type, line), {}, IotaAttributes{0});
  return maker.broadcast(counts, i.shape.dims, {counted});
}

}  // namespace

Result<PassResult> spell_iotas(Module& module) {
  return rewrite_each(module, {Opcode::kIota}, spell_iota, "iotas became broadcast lines");
}

}  // namespace lowtide::engine
