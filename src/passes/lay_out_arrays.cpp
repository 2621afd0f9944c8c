#include "passes/lay_out_arrays.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dimension_order.h"
#include "ir/entry_notes.h"
#include "ops/attribute_text.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

constexpr std::string_view kOpen = "auto";

Result<Dims> read_order(std::string_view text, size_t rank, std::string_view whose) {
  Result<Dims> order = parse_order(text);
  if (order.ok() && is_order(*order, rank)) return order;
  if (!order.ok() && text.find(':') != std::string_view::npos) {
    return Status::unsupported(
        fmt::format("{} has the layout '{}': arrays have no tiles here, only an order of dimensions such as '{{0,1}}'",
                    whose, text));
  }
  return Status::input(
      fmt::format("{} has the layout '{}', expected each of its {} dimensions once", whose, text, rank));
}

class LayOutArrays {
 public:
  explicit LayOutArrays(Module& module) : module_(module), entry_(*module.entry), names_(entry_) {}

  Result<Orders> run() {
    const std::vector<std::string> arguments = entry_notes(module_, EntrySide::kArguments, EntryNote::kLayout);
    const std::vector<std::string> results = entry_notes(module_, EntrySide::kResults, EntryNote::kLayout);
    LT_RETURN_IF_ERROR(lay_out_arguments(arguments));
    LT_RETURN_IF_ERROR(lay_out_results(results));
    if (arguments.empty() && results.empty()) return std::move(orders_);
    set_entry_notes(module_, EntrySide::kArguments, EntryNote::kLayout, {});
    set_entry_notes(module_, EntrySide::kResults, EntryNote::kLayout, {});
    module_.entry_layout.reset();  // it states the old layouts
    part_what_differs();
    return std::move(orders_);
  }

 private:
  Instruction* transposed(Instruction& of, Dims dimensions) {
    Dims extents;
    for (const int64_t d : dimensions) extents.push_back(of.shape.dims[d]);
    auto i = std::make_unique<Instruction>();
    i->opcode = Opcode::kTranspose;
    i->name = names_.unused(of.name + ".laid_out");
    i->shape = Shape::array(of.shape.type, std::move(extents));
    i->operands = {&of};
    i->attributes = DimensionsAttributes{std::move(dimensions)};
    return entry_.append(std::move(i));
  }

  /// Notes are per parameter: in a program with notes no parameter is a tuple.
  Status lay_out_arguments(const std::vector<std::string>& notes) {
    const std::vector<Instruction*> parameters = entry_.parameters();
    std::vector<Instruction*> order;
    for (const auto& i : entry_.instructions()) order.push_back(i.get());
    for (size_t p = 0; p < parameters.size(); ++p) {
      if (!parameters[p]) continue;
      for_each_leaf(parameters[p]->shape, [&](const ShapeIndex&, const Shape& leaf) {
        if (leaf.is_array()) orders_.arguments.push_back(row_by_row(leaf.dims.size()));
      });
      if (p >= notes.size() || notes[p].empty() || notes[p] == kOpen || !parameters[p]->shape.is_array()) continue;
      Instruction& parameter = *parameters[p];
      LT_ASSIGN_OR_RETURN(const Dims stated,
                          read_order(notes[p], parameter.shape.dims.size(), fmt::format("argument {}", p)));
      orders_.arguments.back() = stated;
      if (is_row_by_row(stated)) continue;
      parameter.shape = Shape::array(parameter.shape.type, extents_in_memory(parameter.shape.dims, stated));
      Instruction* const as_it_was = transposed(parameter, inverse_of(reversed(stated)));
      for (const auto& user : entry_.instructions()) {
        if (user.get() != as_it_was) std::ranges::replace(user->operands, &parameter, as_it_was);
      }
      if (entry_.root == &parameter) entry_.root = as_it_was;
      order.insert(std::ranges::find(order, &parameter) + 1, as_it_was);
    }
    entry_.reorder(order);
    return {};
  }

  /// The order of dimensions that `note` asks of a result.
  Result<Dims> order_of(const Instruction* value, const Shape& shape, size_t number, const std::string& note) const {
    const bool is_open = note == kOpen;
    if (is_open && value && value->opcode == Opcode::kTranspose && !is_aliased(number)) {
      return reversed(inverse_of(value->as<DimensionsAttributes>().dimensions));
    }
    if (is_open || note.empty()) return row_by_row(shape.dims.size());
    return read_order(note, shape.dims.size(), fmt::format("result {}", number));
  }

  bool is_aliased(size_t result) const {
    return std::ranges::any_of(module_.input_output_alias, [&](const AliasEntry& alias) {
      return alias.output.empty() || alias.output[0] == static_cast<int64_t>(result);
    });
  }

  Status lay_out_results(const std::vector<std::string>& notes) {
    Instruction* const root = entry_.root;
    const auto note_of = [&](size_t number) { return number < notes.size() ? notes[number] : std::string(); };
    if (root->shape.is_array()) {
      LT_ASSIGN_OR_RETURN(Dims order, order_of(root, root->shape, 0, note_of(0)));
      if (!is_row_by_row(order)) entry_.root = transposed(*root, reversed(order));
      orders_.results.push_back(std::move(order));
      return {};
    }
    std::vector<Instruction*> parts;
    bool changed = false;
    for (size_t k = 0; k < root->shape.elements.size(); ++k) {
      const Shape shape = root->shape.elements[k];
      Instruction* part = root->opcode == Opcode::kTuple ? root->operands[k] : nullptr;
      for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
        if (leaf.is_array()) orders_.results.push_back(row_by_row(leaf.dims.size()));
      });
      if (shape.is_array()) {
        LT_ASSIGN_OR_RETURN(orders_.results.back(), order_of(part, shape, k, note_of(k)));
      }
      const bool turns = shape.is_array() && !is_row_by_row(orders_.results.back());
      changed |= turns;
      parts.push_back(part);
      if (!turns) continue;
      if (!part) part = part_of(*root, k);
      parts.back() = transposed(*part, reversed(orders_.results.back()));
    }
    if (!changed) return {};
    std::vector<Shape> shapes;
    for (size_t k = 0; k < parts.size(); ++k) {
      if (!parts[k]) parts[k] = part_of(*root, k);
      shapes.push_back(parts[k]->shape);
    }
    auto all = std::make_unique<Instruction>();
    all->opcode = Opcode::kTuple;
    all->name = names_.unused("results");
    all->shape = Shape::tuple(std::move(shapes));
    all->operands = std::move(parts);
    all->sharding = root->sharding;
    all->frontend_attributes = root->frontend_attributes;
    entry_.root = entry_.append(std::move(all));
    return {};
  }

  Instruction* part_of(Instruction& root, size_t k) {
    auto part = std::make_unique<Instruction>();
    part->opcode = Opcode::kGetTupleElement;
    part->name = names_.unused(root.name + ".part");
    part->shape = root.shape.elements[k];
    part->operands = {&root};
    part->attributes = TupleIndexAttributes{static_cast<int64_t>(k)};
    return entry_.append(std::move(part));
  }

  /// Only a result with the argument's extents can be an alias of it; others may still use a donated argument's bytes.
  void part_what_differs() {
    const std::vector<Instruction*> parameters = entry_.parameters();
    std::erase_if(module_.input_output_alias, [&](const AliasEntry& alias) {
      const Shape& from = subshape(parameters[alias.operand]->shape, alias.operand_index);
      if (same_shape(from, subshape(entry_.root->shape, alias.output))) return false;
      module_.buffer_donors.push_back({alias.operand, alias.operand_index});
      return true;
    });
  }

  Module& module_;
  Computation& entry_;
  Names names_;
  Orders orders_;
};

}  // namespace

Result<Orders> lay_out_arrays(Module& module) { return LayOutArrays(module).run(); }

}  // namespace lowtide::engine
