#include "passes/execute/split_long_reductions.h"

#include <algorithm>

#include "ops/combiner.h"
#include "passes/execute/parts.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

/// Does a fold of several arrays select each result from its two parameters, like an argmax? Then each part may begin
/// with the initial values.
bool chooses(const Computation& body, size_t arrays) {
  const Instruction& root = *body.root;
  if (root.opcode != Opcode::kTuple || root.operands.size() != arrays) return false;
  for (size_t k = 0; k < arrays; ++k) {
    const Instruction& chosen = root.operand(k);
    if (chosen.opcode != Opcode::kSelect) return false;
    const auto is_own = [&](const Instruction& one, size_t number) {
      return one.opcode == Opcode::kParameter && one.as<ParameterAttributes>().number == static_cast<int64_t>(number);
    };
    const Instruction &a = chosen.operand(1), &b = chosen.operand(2);
    if (!(is_own(a, k) && is_own(b, arrays + k)) && !(is_own(b, k) && is_own(a, arrays + k))) return false;
  }
  return true;
}

bool is_long(const Instruction& i) {
  if (i.opcode != Opcode::kReduce || i.operands.size() % 2 != 0) return false;
  const size_t arrays = i.operands.size() / 2;
  const Shape& from = i.operand(0).shape;
  const Shape& folded = i.shape.is_array() ? i.shape : i.shape.elements.front();
  const int64_t results = element_count(folded), elements = element_count(from);
  const Dims& dimensions = i.as<DimensionsAttributes>().dimensions;
  const bool by_rows = std::ranges::find(dimensions, from.rank() - 1) == dimensions.end();
  if (results == 0 || !are_few(results, by_rows) || elements < kLongReduction) return false;
  const int64_t least = dimensions.size() > 1               ? kLongByDimensions
                        : by_rows && elements >= kLongInAll ? kLongByRows
                                                            : kLongReduction;
  if (elements / results < least) return false;
  for (size_t k = 0; k < arrays; ++k) {
    const Shape& array = i.operand(k).shape;
    if (!array.dynamic.empty() || array.type != i.operand(arrays + k).shape.type) return false;
  }
  if (!i.shape.is_array()) return !i.parent->module().sums_in_order && chooses(*i.called[0], arrays);
  if (arrays != 1 || from.type != i.shape.type) return false;
  return recognise_combiner(*i.called[0], from.type).kind == CombinerKind::kBinary &&
         neutral_element(i.called[0]->root->opcode, from.type) &&
         (!i.parent->module().sums_in_order || is_order_free(*i.called[0], from.type));
}

class Splitter {
 public:
  Splitter(Computation& computation, Names& names, Instruction& reduce)
      : computation_(computation), names_(names), reduce_(reduce), arrays_(reduce.operands.size() / 2) {}

  Instruction* split() {
    const Shape& from = reduce_.operand(0).shape;
    Dims dimensions = reduce_.as<DimensionsAttributes>().dimensions;
    std::ranges::sort(dimensions);
    const Arrays x(reduce_.operands.begin(), reduce_.operands.begin() + static_cast<std::ptrdiff_t>(arrays_));
    // Kept for the second fold: the most major of the reduced dimensions with enough parts.
    for (size_t k = 0; dimensions.size() > 1 && k < dimensions.size(); ++k) {
      const int64_t extent = from.dims[dimensions[k]];
      if (extent < kFewestParts || extent > 64 * kMostParts) continue;
      Dims kept{dimensions[k]};
      dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(k));
      if (const int64_t last = dimensions.back(); dimensions.size() > 1 && is_strewn(from, last)) {
        dimensions.pop_back();
        kept.push_back(last);
      }
      return fold_twice(x, dimensions, kept);
    }
    const int64_t longest = *std::ranges::max_element(dimensions, {}, [&](int64_t d) { return from.dims[d]; });
    const int64_t extent = from.dims[longest];
    const int64_t liked = liked_parts(extent, element_count(from) / extent);
    const int64_t parts = parts_of(extent, liked);
    if (parts > 0) return fold_parts(x, dimensions, longest, parts);
    const int64_t whole = extent / liked * liked;
    if (whole == 0 || !reduce_.shape.is_array()) return nullptr;
    Instruction* head = fold_parts({slice(x[0], longest, 0, whole)}, dimensions, longest, liked);
    Instruction* rest = slice(x[0], longest, whole, extent);
    Instruction* tail = fold({rest}, neutral(), dimensions);
    return combine(head, tail);
  }

  std::vector<Instruction*> order;

 private:
  using Arrays = std::vector<Instruction*>;

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

  Arrays initial() const {
    return {reduce_.operands.begin() + static_cast<std::ptrdiff_t>(arrays_), reduce_.operands.end()};
  }

  /// The initial values of parts: the neutral element, so that the reduction's own initial value enters once, in the
  /// second fold; for selecting bodies the initial values themselves.
  Arrays neutral() {
    if (!reduce_.shape.is_array()) return initial();
    const ElementType type = reduce_.shape.type;
    return {append(Opcode::kConstant, Shape::scalar(type), {},
                   ConstantAttributes{neutral_element(reduce_.called[0]->root->opcode, type)})};
  }

  /// Reduces these arrays, to an array or a tuple as in the original.
  Instruction* fold(const Arrays& x, const Arrays& begin, const Dims& dimensions) {
    std::vector<Shape> shapes;
    for (const Instruction* array : x) {
      shapes.push_back(Shape::array(array->shape.type, {}));
      for (int64_t d = 0; d < array->shape.rank(); ++d) {
        if (std::ranges::find(dimensions, d) == dimensions.end()) shapes.back().dims.push_back(array->shape.dims[d]);
      }
    }
    Arrays operands = x;
    operands.insert(operands.end(), begin.begin(), begin.end());
    Shape shape = reduce_.shape.is_array() ? shapes[0] : Shape::tuple(std::move(shapes));
    Instruction* folded =
        append(Opcode::kReduce, std::move(shape), std::move(operands), DimensionsAttributes{dimensions});
    folded->called = {reduce_.called[0]};
    return folded;
  }

  /// Is it the last dimension, short, and preceded by one that the result keeps? Reducing it last lets whole lines be
  /// added to each other, as in a norm over groups of features.
  bool is_strewn(const Shape& from, int64_t dimension) const {
    constexpr int64_t kShort = 16;
    const Dims& all = reduce_.as<DimensionsAttributes>().dimensions;
    return dimension == from.rank() - 1 && dimension > 0 && from.dims.back() <= kShort &&
           std::ranges::find(all, dimension - 1) == all.end() && from.dims[dimension - 1] > 1;
  }

  /// Folds `dimensions`, then those of `kept`.
  Instruction* fold_twice(const Arrays& x, const Dims& dimensions, const Dims& kept) {
    Instruction* folded = fold(x, neutral(), dimensions);
    Arrays parts{folded};
    if (!folded->shape.is_array()) {
      parts.clear();
      for (size_t k = 0; k < arrays_; ++k) {
        parts.push_back(append(Opcode::kGetTupleElement, folded->shape.elements[k], {folded},
                               TupleIndexAttributes{static_cast<int64_t>(k)}));
      }
    }
    Dims left;
    for (const int64_t d : kept) {
      left.push_back(d - std::ranges::count_if(dimensions, [&](int64_t folded) { return folded < d; }));
    }
    return fold(parts, initial(), left);
  }

  Instruction* fold_parts(Arrays x, Dims dimensions, int64_t d, int64_t parts) {
    for (Instruction*& array : x) {
      Shape cut = Shape::array(array->shape.type, array->shape.dims);
      const auto at = cut.dims.begin() + d;
      const int64_t length = *at / parts;
      *at = length;
      cut.dims.insert(at, parts);
      array = append(Opcode::kReshape, std::move(cut), {array}, {});
    }
    for (int64_t& other : dimensions) other += other >= d;
    return fold_twice(x, dimensions, {d});
  }

  Instruction* slice(Instruction* x, int64_t d, int64_t from, int64_t to) {
    const Dims& extents = x->shape.dims;
    SliceAttributes box{Dims(extents.size(), 0), extents, Dims(extents.size(), 1)};
    box.starts[d] = from;
    box.limits[d] = to;
    Dims dims = extents;
    dims[d] = to - from;
    return append(Opcode::kSlice, Shape::array(x->shape.type, dims), {x}, box);
  }

  Instruction* combine(Instruction* a, Instruction* b) {
    return append(reduce_.called[0]->root->opcode, Shape::array(a->shape.type, a->shape.dims), {a, b}, {});
  }

  Computation& computation_;
  Names& names_;
  Instruction& reduce_;
  size_t arrays_;
};

}  // namespace

Result<PassResult> split_long_reductions(Module& module) {
  if (!has_any(module, {Opcode::kReduce})) return PassResult{};
  int64_t count = 0;
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
      if (is_long(*i) && !ordered[i->id]) {
        Splitter splitter(*computation, names, *i);
        made = splitter.split();
        order.insert(order.end(), splitter.order.begin(), splitter.order.end());
      }
      if (made) {
        made->shape = i->shape;
        replacements.replace(*i, *made);
      } else {
        order.push_back(i);
      }
    }
    replacements.finish(*computation);
    computation->reorder(order);
    count += replacements.count();
  }
  return rewritten(count, "reductions split");
}

}  // namespace lowtide::engine
