#include "passes/rules/select_single_places.h"

#include <algorithm>
#include <numeric>

#include "analysis/uses.h"
#include "ops/combiner.h"
#include "ops/infer.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

/// The array's dimension for each dimension of the updates and of the indices; -1: none, it has one element.
struct Lines {
  int64_t along = 0;  ///< the array's dimension along which places count
  Dims updates, indices;
};

std::optional<Lines> lines_of(const Instruction& scatter) {
  const auto& a = scatter.as<ScatterAttributes>();
  if (a.scatter_dims_to_operand_dims.size() != 1 || a.inserted_window_dims != a.scatter_dims_to_operand_dims) return {};
  const Dims &all = scatter.shape.dims, &ids = scatter.operand(1).shape.dims, &parts = scatter.operand(2).shape.dims;
  Lines lines{
      .along = a.scatter_dims_to_operand_dims[0], .updates = Dims(parts.size(), -1), .indices = Dims(ids.size(), -1)};
  for (size_t q = 0; q < ids.size(); ++q) {
    const auto batch = std::ranges::find(a.scatter_indices_batching_dims, static_cast<int64_t>(q));
    if (batch != a.scatter_indices_batching_dims.end()) {
      lines.indices[q] = a.input_batching_dims[batch - a.scatter_indices_batching_dims.begin()];
    } else if (ids[q] != 1) {
      return {};
    }
  }
  size_t window = 0, place = 0;
  for (size_t d = 0; d < all.size(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    if (dimension == lines.along || contains(a.input_batching_dims, dimension)) continue;
    const auto of_updates = static_cast<size_t>(a.update_window_dims[window++]);
    if (parts[of_updates] != all[d]) return {};
    lines.updates[of_updates] = dimension;
  }
  for (size_t k = 0; k < parts.size(); ++k) {
    if (contains(a.update_window_dims, static_cast<int64_t>(k))) continue;
    if (static_cast<int64_t>(place) == a.index_vector_dim) ++place;
    lines.updates[k] = lines.indices[place++];
  }
  return lines;
}

/// Broadcasts a value to an array: its dimension d becomes dimension map[d].
Instruction* spread(Instruction* value, const Dims& map, const Dims& all, Maker& maker) {
  Dims kept, places;
  for (size_t d = 0; d < map.size(); ++d) {
    if (map[d] < 0) continue;
    kept.push_back(value->shape.dims[d]);
    places.push_back(map[d]);
  }
  Dims order(places.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int64_t k) { return places[k]; });
  std::ranges::sort(places);
  return maker.broadcast(maker.transpose(maker.reshape(value, kept), order), all, places);
}

class Selector {
 public:
  explicit Selector(const Module& module) : uses_(module), id_limit_(module.id_limit()) {}

  Instruction* rewrite(Instruction& scatter, Maker& maker) const {
    if (scatter.operands.size() != 3 || !scatter.shape.is_array()) return nullptr;
    if (!scatter.shape.dynamic.empty() || scatter.sharding || !is_computed(scatter.operand(0))) return nullptr;
    const ElementType type = scatter.operand(1).shape.type;
    const Computation& combine = *scatter.called[0];
    const CombinerKind kind = recognise_combiner(combine, scatter.shape.type).kind;
    const auto lines = lines_of(scatter);
    if (!lines || !is_integral(type) || kind == CombinerKind::kGeneral) return nullptr;
    if (scatter.operand(2).shape.type != scatter.shape.type) return nullptr;

    const Dims& all = scatter.shape.dims;
    const ElementType counted = type_bits(type) < 32 ? ElementType::kS32 : type;
    Instruction* ids = spread(maker.convert(scatter.operands[1], counted), lines->indices, all, maker);
    Instruction* places = maker.make(Opcode::kIota, Shape::array(counted, all), {}, IotaAttributes{lines->along});
    Instruction* old = scatter.operands[0];
    Instruction* put = spread(scatter.operands[2], lines->updates, all, maker);
    if (kind == CombinerKind::kBinary) {
      const bool turned = combine.root->operands[0] != combine.parameters()[0];
      put = maker.binary(combine.root->opcode, turned ? put : old, turned ? old : put);
    }
    return maker.select(maker.compare(places, ids, CompareDirection::kEq), put, old);
  }

 private:
  /// Is it computed elementwise, only for the scatter?
  bool is_computed(const Instruction& array) const {
    const bool is_new = array.id >= id_limit_;
    if (!is_new && uses_.of(array).size() != 1) return false;
    return array.opcode == Opcode::kBroadcast || memory_class(array.opcode) == MemoryClass::kElementwise;
  }

  Uses uses_;
  int32_t id_limit_;
};

}  // namespace

Result<PassResult> select_single_places(Module& module) {
  if (!has_any(module, {Opcode::kScatter})) return PassResult{};
  const Selector selector(module);
  return rewrite_each(
      module, {Opcode::kScatter}, [&](Instruction& i, Maker& maker) { return selector.rewrite(i, maker); },
      "scatters choose element by element");
}

}  // namespace lowtide::engine
