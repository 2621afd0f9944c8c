#include "passes/lay_out_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dimension_order.h"
#include "ops/attribute_text.h"
#include "ops/host_call.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

class LayOutCalls {
 public:
  explicit LayOutCalls(Computation& computation) : computation_(computation), names_(computation) {}

  Status run() {
    std::vector<Instruction*> originals;
    for (const auto& i : computation_.instructions()) originals.push_back(i.get());
    for (Instruction* i : originals) {
      if (!is_host_call(*i) || check_host_call(*i).ok()) {
        order_.push_back(i);
        continue;
      }
      if (const Status done = lay_out(*i); !done.ok()) {
        const auto& source = computation_.module().source;
        return source ? done.at(*source, i->place) : done;
      }
    }
    if (order_.size() > originals.size()) computation_.reorder(order_);
    return {};
  }

 private:
  Instruction* make(const Instruction& call, Opcode opcode, Shape shape, std::vector<Instruction*> operands,
                    Attributes attributes = {}) {
    auto i = std::make_unique<Instruction>();
    i->opcode = opcode;
    i->name = names_.unused(call.name + ".laid_out");
    i->shape = std::move(shape);
    i->operands = std::move(operands);
    i->attributes = std::move(attributes);
    i->metadata = call.metadata;
    order_.push_back(computation_.append(std::move(i)));
    return order_.back();
  }

  static Status refused(const Instruction& call, const std::string& why) {
    return Status::unsupported(fmt::format("custom-call {}: {}", call.name, why));
  }

  Status lay_out(Instruction& call) {
    LT_RETURN_IF_ERROR(read_orders(call));
    for (size_t k = 0; k < call.operands.size(); ++k) {
      const Dims& order = operand_orders_[k];
      if (is_row_by_row(order)) continue;
      const Shape& shape = call.operands[k]->shape;
      const Shape turned = Shape::array(shape.type, extents_in_memory(shape.dims, order));
      Instruction* const lying =
          make(call, Opcode::kTranspose, turned, {call.operands[k]}, DimensionsAttributes{reversed(order)});
      call.operands[k] = make(call, Opcode::kReshape, Shape::array(shape.type, shape.dims), {lying});
    }
    std::erase_if(call.extra, [](const RawAttribute& attribute) { return attribute.key == kOperandLayouts; });
    order_.push_back(&call);
    const size_t before = order_.size();
    Instruction* const results = lay_out_results(call);
    if (results == &call) return {};
    const std::vector<Instruction*> own(order_.begin() + static_cast<ptrdiff_t>(before), order_.end());
    for (const auto& user : computation_.instructions()) {
      if (std::ranges::find(own, user.get()) == own.end()) std::ranges::replace(user->operands, &call, results);
    }
    if (computation_.root == &call) computation_.root = results;
    return {};
  }

  /// Reads the orders of operands and results: row by row for values without a stated order, and for non-arrays.
  Status read_orders(const Instruction& call) {
    operand_orders_.assign(call.operands.size(), {});
    result_orders_.clear();
    const std::vector<std::string_view> stated = stated_layouts(call);
    const bool has_tuples =
        std::ranges::any_of(call.operands, [](const Instruction* o) { return o->shape.is_tuple(); });
    if (has_tuples && !stated.empty()) return refused(call, "it takes a tuple and states layouts");
    for (size_t k = 0; k < call.operands.size(); ++k) {
      const Shape& shape = call.operands[k]->shape;
      if (!shape.is_array()) continue;
      operand_orders_[k] = row_by_row(shape.dims.size());
      if (k >= stated.size() || stated[k].empty()) continue;
      const Result<Dims> order = parse_order(stated[k]);
      if (!order.ok() || !is_order(*order, shape.dims.size())) {
        return refused(call,
                       fmt::format("operand {} has the layout {}, expected an order of its dimensions", k, stated[k]));
      }
      operand_orders_[k] = *order;
    }
    bool plain = true;
    for_each_leaf(call.shape, [&](const ShapeIndex& index, const Shape& leaf) {
      const bool states = leaf.is_array() && leaf.layout;
      result_orders_.push_back(states ? leaf.layout->minor_to_major : row_by_row(leaf.dims.size()));
      plain &= index.size() <= 1 && (!states || leaf.layout->tiles.empty());
    });
    if (!plain) return refused(call, "its results are tuples within a tuple, or have layouts with tiles");
    for (const AliasEntry& alias : call.as<CustomCallAttributes>().output_to_operand_aliasing) {
      const size_t result = alias.output.empty() ? 0 : static_cast<size_t>(alias.output[0]);
      if (operand_orders_[alias.operand] != result_orders_[result]) {
        return refused(call,
                       fmt::format("result {} lives in operand {}, and lies in another order", result, alias.operand));
      }
    }
    return {};
  }

  /// Returns the value that replaces the call for its users: the call itself if all of its results lie row by row.
  Instruction* lay_out_results(Instruction& call) {
    const Shape stated = call.shape;
    const bool all_by_row = std::ranges::all_of(result_orders_, is_row_by_row);
    if (!stated.is_tuple()) {
      call.shape.layout.reset();
      return all_by_row ? &call : turned(call, call, stated, result_orders_[0]);
    }
    for (Shape& element : call.shape.elements) element.layout.reset();
    if (all_by_row) return &call;
    std::vector<Instruction*> parts;
    std::vector<Shape> shapes;
    for (size_t k = 0; k < stated.elements.size(); ++k) {
      Instruction* const part = make(call, Opcode::kGetTupleElement, call.shape.elements[k], {&call},
                                     TupleIndexAttributes{static_cast<int64_t>(k)});
      const bool by_row = is_row_by_row(result_orders_[k]);
      parts.push_back(by_row ? part : turned(call, *part, stated.elements[k], result_orders_[k]));
      shapes.push_back(parts.back()->shape);
    }
    return make(call, Opcode::kTuple, Shape::tuple(std::move(shapes)), std::move(parts));
  }

  Instruction* turned(const Instruction& call, Instruction& value, const Shape& shape, const Dims& order) {
    Instruction* const lying =
        make(call, Opcode::kReshape, Shape::array(shape.type, extents_in_memory(shape.dims, order)), {&value});
    return make(call, Opcode::kTranspose, Shape::array(shape.type, shape.dims), {lying},
                DimensionsAttributes{inverse_of(reversed(order))});
  }

  Computation& computation_;
  Names names_;
  std::vector<Instruction*> order_;
  std::vector<Dims> operand_orders_, result_orders_;  ///< of the current call
};

}  // namespace

Status lay_out_calls(Module& module) {
  for (const auto& computation : module.computations()) LT_RETURN_IF_ERROR(LayOutCalls(*computation).run());
  return {};
}

}  // namespace lowtide::engine
