#include "passes/execute/split_long_reductions.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/combiner.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kFewestParts = 16;
constexpr int64_t kLikedParts = 256;

bool is_long(const Instruction& i) {
  if (i.opcode != Opcode::kReduce || !i.shape.is_array() || i.operands.size() != 2) return false;
  const Shape& from = i.operand(0).shape;
  if (!from.dynamic.empty() || from.type != i.shape.type || i.operand(1).shape.type != from.type) return false;
  const int64_t results = element_count(i.shape);
  if (results == 0 || results >= kFewResults || element_count(from) / results < kLongReduction) return false;
  return recognise_combiner(*i.called[0], from.type).kind == CombinerKind::kBinary &&
         neutral_element(i.called[0]->root->opcode, from.type) &&
         (!i.parent->module().sums_in_order || is_order_free(*i.called[0], from.type));
}

/// The divisor of n next to kLikedParts among those that make sensible numbers of parts; 0: none.
int64_t parts_of(int64_t n) {
  int64_t best = 0;
  for (int64_t parts = kFewestParts; parts <= std::min(kMostParts, n); ++parts) {
    if (n % parts == 0 && std::abs(parts - kLikedParts) <= std::abs(best - kLikedParts)) best = parts;
  }
  return best;
}

class Splitter {
 public:
  Splitter(Computation& computation, Names& names, Instruction& reduce)
      : computation_(computation), names_(names), reduce_(reduce) {}

  Instruction* split() {
    const Shape& from = reduce_.operand(0).shape;
    Dims dimensions = reduce_.as<DimensionsAttributes>().dimensions;
    std::ranges::sort(dimensions);
    Instruction* x = reduce_.operands[0];
    // Kept apart: the most major of the reduced dimensions that makes enough parts.
    for (size_t k = 0; dimensions.size() > 1 && k < dimensions.size(); ++k) {
      const int64_t extent = from.dims[static_cast<size_t>(dimensions[k])];
      if (extent < kFewestParts || extent > 64 * kMostParts) continue;
      const int64_t kept = dimensions[k];
      dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(k));
      return fold_twice(x, dimensions, kept);
    }
    const int64_t longest =
        *std::ranges::max_element(dimensions, {}, [&](int64_t d) { return from.dims[static_cast<size_t>(d)]; });
    const int64_t extent = from.dims[static_cast<size_t>(longest)];
    const int64_t parts = parts_of(extent);
    if (parts > 0) return fold_parts(x, dimensions, longest, parts);
    const int64_t whole = extent / kLikedParts * kLikedParts;
    if (whole == 0) return nullptr;
    Instruction* head = fold_parts(slice(x, longest, 0, whole), dimensions, longest, kLikedParts);
    Instruction* none = neutral();
    Instruction* tail = fold(slice(x, longest, whole, extent), none, dimensions);
    return combine(head, tail);
  }

  std::vector<Instruction*> order;

 private:
  Instruction* append(Opcode opcode, Shape shape, std::vector<Instruction*> operands, Attributes attributes) {
    auto added = std::make_unique<Instruction>();
    added->opcode = opcode;
    added->name = names_.unused(reduce_.name + ".part");
    added->shape = std::move(shape);
    added->operands = std::move(operands);
    added->attributes = std::move(attributes);
    added->metadata = reduce_.metadata;
    order.push_back(computation_.append(std::move(added)));
    return order.back();
  }

  /// The value that changes nothing: the reduction's own initial value enters once, in the second fold.
  Instruction* neutral() {
    const ElementType type = reduce_.shape.type;
    return append(Opcode::kConstant, Shape::scalar(type), {},
                  ConstantAttributes{neutral_element(reduce_.called[0]->root->opcode, type)});
  }

  Instruction* fold(Instruction* x, Instruction* initial, const Dims& dimensions) {
    Shape shape = Shape::array(x->shape.type, {});
    for (int64_t d = 0; d < x->shape.rank(); ++d) {
      if (std::ranges::find(dimensions, d) == dimensions.end())
        shape.dims.push_back(x->shape.dims[static_cast<size_t>(d)]);
    }
    Instruction* folded = append(Opcode::kReduce, shape, {x, initial}, DimensionsAttributes{dimensions});
    folded->called = {reduce_.called[0]};
    return folded;
  }

  /// Folds `dimensions`, then what is left of dimension `kept`.
  Instruction* fold_twice(Instruction* x, const Dims& dimensions, int64_t kept) {
    Instruction* parts = fold(x, neutral(), dimensions);
    const auto gone = std::ranges::count_if(dimensions, [&](int64_t d) { return d < kept; });
    return fold(parts, reduce_.operands[1], {kept - gone});
  }

  Instruction* fold_parts(Instruction* x, Dims dimensions, int64_t d, int64_t parts) {
    Shape cut = Shape::array(x->shape.type, x->shape.dims);
    const auto at = cut.dims.begin() + d;
    const int64_t length = *at / parts;
    *at = length;
    cut.dims.insert(at, parts);
    for (int64_t& other : dimensions) other += other >= d;
    return fold_twice(append(Opcode::kReshape, cut, {x}, {}), dimensions, d);
  }

  Instruction* slice(Instruction* x, int64_t d, int64_t from, int64_t to) {
    const Dims& extents = x->shape.dims;
    SliceAttributes box{Dims(extents.size(), 0), extents, Dims(extents.size(), 1)};
    box.starts[static_cast<size_t>(d)] = from;
    box.limits[static_cast<size_t>(d)] = to;
    Dims dims = extents;
    dims[static_cast<size_t>(d)] = to - from;
    return append(Opcode::kSlice, Shape::array(x->shape.type, dims), {x}, box);
  }

  Instruction* combine(Instruction* a, Instruction* b) {
    return append(reduce_.called[0]->root->opcode, Shape::array(a->shape.type, a->shape.dims), {a, b}, {});
  }

  Computation& computation_;
  Names& names_;
  Instruction& reduce_;
};

}  // namespace

Result<PassResult> split_long_reductions(Module& module) {
  PassResult result;
  const std::vector<bool> ordered = ordered_instructions(module);
  for (const auto& computation : module.computations()) {
    std::vector<Instruction*> originals;
    for (const auto& i : computation->instructions()) originals.push_back(i.get());
    if (std::ranges::none_of(originals, [](const Instruction* i) { return is_long(*i); })) continue;
    Replacements replacements(module);
    Names names(*computation);
    std::vector<Instruction*> order;
    for (Instruction* i : originals) {
      replacements.apply_to(*i);
      Instruction* made = nullptr;
      if (is_long(*i) && !ordered[static_cast<size_t>(i->id)]) {
        Splitter splitter(*computation, names, *i);
        made = splitter.split();
        order.insert(order.end(), splitter.order.begin(), splitter.order.end());
      }
      if (made) {
        made->shape.layout = i->shape.layout;
        replacements.replace(*i, *made);
      } else {
        order.push_back(i);
      }
    }
    replacements.finish(*computation);
    computation->reorder(order);
    result.count += replacements.count();
  }
  result.changed = result.count > 0;
  result.note = fmt::format("{} reductions split", result.count);
  return result;
}

}  // namespace lowtide::engine
