#include "passes/canonicalise/remove_dead_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/canonicalise/live_elements.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

using Elements = std::vector<int64_t>;

int64_t leaves_of(const Shape& shape) {
  int64_t leaves = 0;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape&) { ++leaves; });
  return leaves;
}

/// The shardings of the elements that stay. A tuple's sharding lists them leaf by leaf.
std::shared_ptr<const Sharding> sharding_of(const std::shared_ptr<const Sharding>& whole, const Shape& shape,
                                            const Elements& elements) {
  if (!whole || whole->kind != ShardingKind::kTuple) return whole;
  if (static_cast<int64_t>(whole->parts.size()) != leaves_of(shape)) return nullptr;
  auto part = std::make_shared<Sharding>();
  part->kind = ShardingKind::kTuple;
  std::string text;
  size_t leaf = 0;
  for (size_t k = 0; k < shape.elements.size(); ++k) {
    const auto leaves = static_cast<size_t>(leaves_of(shape.elements[k]));
    const bool stays = std::ranges::binary_search(elements, static_cast<int64_t>(k));
    for (size_t end = leaf + leaves; leaf < end; ++leaf) {
      if (!stays) continue;
      part->parts.push_back(whole->parts[leaf]);
      text += (text.empty() ? "" : ", ") + whole->parts[leaf].text;
    }
  }
  part->text = "{" + text + "}";
  return part->parts.empty() ? nullptr : part;
}

/// Rewrites one computation: removes dead instructions, and the dead elements of the others.
class Sweep {
 public:
  Sweep(Computation& computation, const LiveElements& live)
      : computation_(computation), live_(live), names_(computation), made_from_(computation.module().id_limit()) {}

  /// Makes remaining instructions read only remaining ones; removes none yet. Returns how many elements they lost.
  int64_t rewrite_all() {
    std::vector<Instruction*> originals;
    for (const auto& i : computation_.instructions()) originals.push_back(i.get());
    for (Instruction* i : originals) {
      if (!live_.is_needed(*i)) continue;
      rewrite(*i);
      order_.push_back(i);
    }
    computation_.root = with_elements(computation_.root, live_.live(*computation_.root));
    return dropped_;
  }

  void remove_rest() {
    int64_t number = 0;
    for (Instruction* parameter : computation_.parameters()) {
      if (live_.is_needed(*parameter)) parameter->attributes = ParameterAttributes{number++};
    }
    computation_.remove_if([&](const Instruction& i) { return i.id < made_from_ && !live_.is_needed(i); });
    computation_.reorder(order_);
  }

 private:
  /// The position of element k of `i` if only `kept` remain.
  static size_t position(const Elements& kept, int64_t k) {
    const auto found = std::ranges::lower_bound(kept, k);
    LT_ASSERT(found != kept.end() && *found == k, "a dead element is read");
    return static_cast<size_t>(found - kept.begin());
  }

  /// Element k of `tuple`, which may have been rewritten already.
  Instruction* element(Instruction* tuple, int64_t k) {
    const size_t at = position(live_.kept(*tuple), k);
    if (tuple->opcode == Opcode::kTuple) return tuple->operands[at];
    auto read = std::make_unique<Instruction>();
    read->opcode = Opcode::kGetTupleElement;
    read->name = names_.unused(tuple->name + ".element");
    read->shape = tuple->shape.elements[at];
    read->operands = {tuple};
    read->attributes = TupleIndexAttributes{static_cast<int64_t>(at)};
    read->metadata = tuple->metadata;
    order_.push_back(computation_.append(std::move(read)));
    return order_.back();
  }

  /// `value` itself if it has exactly these elements, else a tuple of them.
  Instruction* with_elements(Instruction* value, const Elements& elements) {
    if (!value->shape.is_tuple() && !live_.live(*value).empty()) return value;
    if (live_.is_needed(*value) && live_.kept(*value) == elements) return value;
    auto tuple = std::make_unique<Instruction>();
    tuple->opcode = Opcode::kTuple;
    tuple->name = names_.unused(value->name + ".live");
    tuple->shape = Shape::tuple({});
    tuple->metadata = value->metadata;
    for (const int64_t k : elements) {
      tuple->operands.push_back(element(value, k));
      tuple->shape.elements.push_back(tuple->operands.back()->shape);
    }
    order_.push_back(computation_.append(std::move(tuple)));
    return order_.back();
  }

  void shrink_shape(Instruction& i, const Elements& kept) {
    if (!i.shape.is_tuple() || kept.size() == i.shape.elements.size()) return;
    dropped_ += static_cast<int64_t>(i.shape.elements.size() - kept.size());
    i.sharding = sharding_of(i.sharding, i.shape, kept);
    std::vector<Shape> elements;
    for (const int64_t k : kept) elements.push_back(std::move(i.shape.elements[k]));
    i.shape.elements = std::move(elements);
  }

  /// Drops the operands of a call whose parameters go, and the elements that no parameter reads.
  void rewrite_arguments(Instruction& call) {
    std::vector<Instruction*> arguments;
    const std::vector<const Instruction*>& parameters = live_.parameters(*call.called[0]);
    for (size_t p = 0; p < call.operands.size(); ++p) {
      if (!live_.is_needed(*parameters[p])) {
        ++dropped_;
      } else {
        arguments.push_back(with_elements(call.operands[p], live_.live(*parameters[p])));
      }
    }
    call.operands = std::move(arguments);
  }

  void rewrite(Instruction& i) {
    const Elements kept = live_.kept(i);
    switch (i.opcode) {
      case Opcode::kGetTupleElement: {
        auto& index = std::get<TupleIndexAttributes>(i.attributes).index;
        index = static_cast<int64_t>(position(live_.kept(i.operand(0)), index));
        return;
      }
      case Opcode::kTuple: {
        std::vector<Instruction*> operands;
        for (const int64_t k : kept) operands.push_back(i.operands[k]);
        i.operands = std::move(operands);
        break;
      }
      case Opcode::kOptBarrier:
      case Opcode::kWhile: i.operands[0] = with_elements(i.operands[0], kept); break;
      case Opcode::kConditional:
        for (size_t b = 0; b < i.called.size(); ++b) {
          i.operands[b + 1] = with_elements(i.operands[b + 1], live_.live(*live_.parameters(*i.called[b])[0]));
        }
        break;
      case Opcode::kCall: rewrite_arguments(i); break;
      default: break;
    }
    shrink_shape(i, kept);
  }

  Computation& computation_;
  const LiveElements& live_;
  Names names_;
  const int64_t made_from_;  ///< ids of added instructions start here
  std::vector<Instruction*> order_;
  int64_t dropped_ = 0;
};

}  // namespace

Result<PassResult> remove_dead_code(Module& module) {
  const LiveElements live(module);
  const int64_t before = module.instruction_count();
  const size_t computations = module.computations().size();
  std::vector<Sweep> sweeps;
  for (const auto& computation : module.computations()) {
    if (live.is_reached(*computation)) sweeps.emplace_back(*computation, live);
  }
  int64_t elements = 0;
  for (Sweep& sweep : sweeps) elements += sweep.rewrite_all();
  for (Sweep& sweep : sweeps) sweep.remove_rest();
  module.remove_if([&](const Computation& c) { return !live.is_reached(c); });

  PassResult result;
  const int64_t instructions = before - module.instruction_count();
  const auto gone = static_cast<int64_t>(computations - module.computations().size());
  result.changed = instructions != 0 || elements > 0 || gone > 0;
  result.count = std::max<int64_t>(instructions, 0) + elements;
  result.note = fmt::format("{} instructions, {} elements, {} computations removed", instructions, elements, gone);
  return result;
}

}  // namespace lowtide::engine
