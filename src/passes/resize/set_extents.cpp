#include "passes/resize/set_extents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

using Slot = ExtentTie::Slot;

template <class F>
void for_each_array(Shape& shape, F&& visit) {
  if (!shape.is_tuple()) return visit(shape);
  for (Shape& element : shape.elements) for_each_array(element, visit);
}

/// Keeps the first elements along each dimension; repeats the last one if the extent grows.
Value cut_literal(const Value& literal, const Shape& shape) {
  if (!literal || literal->shape().dims == shape.dims) return literal;
  if (!literal->known()) return std::make_shared<Literal>(Literal::unknown(shape));
  auto cut = std::make_shared<Literal>(shape);
  const Dims& from = literal->shape().dims;
  const size_t bytes = literal->bytes().size() / static_cast<size_t>(std::max<int64_t>(1, literal->size()));
  Dims at(shape.dims.size(), 0);
  for (int64_t e = 0; e < cut->size(); ++e) {
    int64_t source = 0;
    for (size_t d = 0; d < at.size(); ++d) source = source * from[d] + std::min(at[d], from[d] - 1);
    std::memcpy(cut->bytes().data() + static_cast<size_t>(e) * bytes,
                literal->bytes().data() + static_cast<size_t>(source) * bytes, bytes);
    for (size_t d = at.size(); d > 0; --d) {
      if (++at[d - 1] != shape.dims[d - 1]) break;
      at[d - 1] = 0;
    }
  }
  return cut;
}

Value scalar_like(const Shape& shape, int64_t number) {
  auto literal = std::make_shared<Literal>(shape);
  dispatch(shape.type, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) literal->data<T>()[0] = static_cast<T>(number);
  });
  return literal;
}

void set_trips(std::string& config, int64_t trips) {
  const size_t at = config.find("known_trip_count");
  if (at == std::string::npos) return;
  const size_t begin = config.find_first_of("0123456789", at);
  if (begin == std::string::npos) return;
  const size_t end = config.find_first_not_of("0123456789", begin);
  config.replace(begin, end - begin, std::to_string(trips));
}

/// Updates the operands' extents in operand_layout_constraints={f32[5,5]{0,1}, f32[5]{0}}.
void restate_layouts(Instruction& call) {
  for (RawAttribute& attribute : call.extra) {
    if (attribute.key != "operand_layout_constraints") continue;
    size_t at = 0;
    for (const Instruction* operand : call.operands) {
      at = attribute.text.find('[', at);
      const size_t end = attribute.text.find(']', at);
      if (!operand->shape.is_array() || end == std::string::npos) return;
      const std::string extents = fmt::format("{}", fmt::join(operand->shape.dims, ","));
      attribute.text.replace(at + 1, end - at - 1, extents);
      at += extents.size() + 2;
    }
  }
}

class Setter {
 public:
  Setter(const Module& module, const ModuleExtents& extents, const SolvedExtents& solved, Module& copy)
      : module_(module), extents_(extents), solved_(solved), copy_(copy) {}

  void run() {
    for (size_t c = 0; c < module_.computations().size(); ++c) {
      const auto& from = module_.computations()[c]->instructions();
      const auto& to = copy_.computations()[c]->instructions();
      for (size_t k = 0; k < from.size(); ++k) {
        copies_[from[k].get()] = to[k].get();
        set_shape(*from[k], to[k]->shape);
        if (auto* constant = std::get_if<ConstantAttributes>(&to[k]->attributes); constant && to[k]->shape.is_array()) {
          constant->value = cut_literal(constant->value, bare(to[k]->shape));
        }
        if (to[k]->opcode == Opcode::kCustomCall) restate_layouts(*to[k]);
      }
    }
    for (const ExtentTie& tie : extents_.ties()) set(tie);
    place_constants();
    set_entry_layout();
  }

 private:
  static Shape bare(const Shape& shape) { return Shape::array(shape.type, shape.dims); }

  void set_shape(const Instruction& from, Shape& shape) const {
    int64_t leaf = 0;
    for_each_array(shape, [&](Shape& array) {
      for (size_t d = 0; d < array.dims.size(); ++d) {
        array.dims[d] = solved_.of(extents_.atoms().whole(extents_.dimension(from, leaf, d)));
      }
      ++leaf;
    });
  }

  void set(const ExtentTie& tie) {
    Instruction& i = *copies_.at(tie.at);
    const int64_t number = solved_.of(tie.value, extents_.atoms());
    switch (tie.slot) {
      case Slot::kStart:
        return put_in<SliceAttributes>(i, [](auto& a) -> Dims& { return a.starts; }, tie.index, number);
      case Slot::kLimit:
        return put_in<SliceAttributes>(i, [](auto& a) -> Dims& { return a.limits; }, tie.index, number);
      case Slot::kLow: return put_in<PadAttributes>(i, [](auto& a) -> Dims& { return a.low; }, tie.index, number);
      case Slot::kHigh: return put_in<PadAttributes>(i, [](auto& a) -> Dims& { return a.high; }, tie.index, number);
      case Slot::kLength: return put_in<FftAttributes>(i, [](auto& a) -> Dims& { return a.length; }, tie.index, number);
      case Slot::kSize:
        if (auto* a = std::get_if<DynamicSliceAttributes>(&i.attributes)) a->sizes[tie.index] = number;
        if (auto* a = std::get_if<GatherAttributes>(&i.attributes)) a->slice_sizes[tie.index] = number;
        return;
      case Slot::kWindowSize: window_of(i).size[tie.index] = number; return;
      case Slot::kWindowLow: window_of(i).pad_low[tie.index] = number; return;
      case Slot::kWindowHigh: window_of(i).pad_high[tie.index] = number; return;
      case Slot::kGroups: std::get<ConvolutionAttributes>(i.attributes).feature_group_count = number; return;
      case Slot::kBatchGroups: std::get<ConvolutionAttributes>(i.attributes).batch_group_count = number; return;
      case Slot::kTop: std::get<TopKAttributes>(i.attributes).k = number; return;
      case Slot::kTrips: return set_trips(i.backend_config, number);
      case Slot::kOperand: return set_constant(i, tie.index, number);
    }
  }

  template <class A, class List>
  static void put_in(Instruction& i, List list, size_t index, int64_t number) {
    list(std::get<A>(i.attributes))[index] = number;
  }

  static Window& window_of(Instruction& i) {
    if (auto* a = std::get_if<ConvolutionAttributes>(&i.attributes)) return a->window;
    return std::get<WindowAttributes>(i.attributes).window;
  }

  /// Changes only this operand: other readers of the constant may need another number.
  void set_constant(Instruction& user, size_t operand, int64_t number) {
    Instruction* constant = user.operands[operand];
    if (integer_at(*constant->as<ConstantAttributes>().value, 0) == number) return;
    Instruction*& made = constants_[{constant, number}];
    if (made == nullptr) {
      auto copy = copy_of(*constant);
      const auto names = names_.try_emplace(constant->parent, *constant->parent).first;
      copy->name = names->second.unused(constant->name);
      copy->attributes = ConstantAttributes{scalar_like(constant->shape, number)};
      made = constant->parent->append(std::move(copy));
      behind_[constant->parent][constant].push_back(made);
    }
    user.operands[operand] = made;
  }

  /// Puts each new constant after the one that it replaces.
  void place_constants() {
    for (auto& [computation, behind] : behind_) {
      std::vector<Instruction*> order;
      size_t made = 0;
      for (const auto& [constant, list] : behind) made += list.size();
      const auto& all = computation->instructions();
      for (size_t k = 0; k + made < all.size(); ++k) {
        order.push_back(all[k].get());
        const auto found = behind.find(all[k].get());
        if (found != behind.end()) order.insert(order.end(), found->second.begin(), found->second.end());
      }
      computation->reorder(order);
    }
  }

  void set_entry_layout() {
    if (!copy_.entry_layout || copy_.entry_layout->elements.size() != 2) return;
    const std::vector<Instruction*> parameters = module_.entry->parameters();
    Shape& arguments = copy_.entry_layout->elements[0];
    for (size_t k = 0; k < std::min(parameters.size(), arguments.elements.size()); ++k) {
      set_shape(*parameters[k], arguments.elements[k]);
    }
    set_shape(*module_.entry->root, copy_.entry_layout->elements[1]);
  }

  const Module& module_;
  const ModuleExtents& extents_;
  const SolvedExtents& solved_;
  Module& copy_;
  std::unordered_map<const Instruction*, Instruction*> copies_;
  std::map<std::pair<const Instruction*, int64_t>, Instruction*> constants_;
  std::unordered_map<Computation*, Names> names_;
  std::unordered_map<Computation*, std::unordered_map<const Instruction*, std::vector<Instruction*>>> behind_;
};

}  // namespace

void set_extents(const Module& module, const ModuleExtents& extents, const SolvedExtents& solved, Module& copy) {
  Setter(module, extents, solved, copy).run();
}

}  // namespace lowtide::engine
