#include <fmt/format.h>

#include "nest/nest.h"

namespace lowtide::engine {
namespace {

class Printer {
 public:
  explicit Printer(const Nest& nest) : nest_(nest), number_(nest.nodes.size(), kNoId) {}

  std::string run() {
    for (size_t b = 0; b < nest_.buffers.size(); ++b) {
      const NestBuffer& buffer = nest_.buffers[b];
      out_ += fmt::format("buffer b{} {}[{}]{}{}\n", b, type_name(buffer.type), buffer.elements,
                          buffer.read ? " read" : "", buffer.written ? " written" : "");
    }
    block(0, 0);
    return std::move(out_);
  }

 private:
  const Node& node(NodeId id) const { return nest_.nodes[id]; }

  // Nodes are numbered by first appearance, so that the text doesn't depend on how the nest was made.
  std::string name(NodeId id) {
    if (id == kNoId) return "none";
    const Node& value = node(id);
    switch (value.kind) {
      case NodeKind::kConstant: return constant(value);
      case NodeKind::kLoopIndex: return numbered('i', loop_name(value.loop));
      case NodeKind::kCarried: return fmt::format("c{}.{}", loop_name(value.loop), value.slot);
      case NodeKind::kResult: return fmt::format("r{}.{}", loop_name(value.loop), value.slot);
      case NodeKind::kArgument: return numbered('a', value.slot);
      default: break;
    }
    int32_t& number = number_[id];
    if (number == kNoId) number = next_number_++;
    return numbered('%', number);
  }
  /// Without fmt, which would take most of the time of printing nests.
  static std::string numbered(char kind, int32_t number) { return kind + std::to_string(number); }
  static std::string constant(const Node& value) {
    if (stored_bytes(value.type) <= 8) return fmt::format("{}:{:#x}", type_name(value.type), value.bits[0]);
    return fmt::format("{}:{:#x}:{:#x}", type_name(value.type), value.bits[0], value.bits[1]);
  }
  int32_t loop_name(int32_t loop) {
    loop_number_.resize(nest_.loops.size(), kNoId);
    int32_t& number = loop_number_[loop];
    if (number == kNoId) number = next_loop_++;
    return number;
  }
  std::string affine(const Affine& sum) {
    std::string text;
    for (const auto& term : sum.terms) {
      if (!text.empty()) text += " + ";
      if (term.coefficient != 1) text.append(std::to_string(term.coefficient)).append(" * ");
      text += name(term.atom);
    }
    if (sum.constant != 0 || text.empty()) text.append(text.empty() ? "" : " + ").append(std::to_string(sum.constant));
    return text;
  }
  std::string names(const std::vector<NodeId>& ids) {
    std::string text;
    for (const NodeId id : ids) {
      if (!text.empty()) text += ", ";
      text += name(id);
    }
    return text;
  }
  static std::string table(const Table& of) {
    std::string text = fmt::format(" from {}", of.first);
    for (const uint64_t element : of.elements) text += fmt::format(" {:#x}", element);
    return text;
  }
  std::string value(const Node& made) {
    std::string text = std::string(type_name(made.type)) + " ";
    switch (made.kind) {
      case NodeKind::kAffine: return text + affine(made.affine);
      case NodeKind::kLoad: return text + numbered('b', made.buffer) + "[" + affine(made.affine) + "]";
      case NodeKind::kFma: return text + "fma(" + names(made.operands) + ")";
      case NodeKind::kTable: return text + "table(" + names(made.operands) + table(*made.table) + ")";
      default: break;
    }
    text += opcode_name(made.opcode);
    if (made.opcode == Opcode::kCompare) {
      static constexpr const char* kDirections[] = {"eq", "ne", "ge", "gt", "le", "lt"};
      static constexpr const char* kTypes[] = {"", ".float", ".totalorder", ".signed", ".unsigned"};
      text += fmt::format(".{}{}", kDirections[static_cast<int>(made.compare.direction)],
                          kTypes[static_cast<int>(made.compare.type)]);
    } else if (made.opcode == Opcode::kReducePrecision) {
      text += fmt::format(".e{}m{}", made.reduce_precision.exponent_bits, made.reduce_precision.mantissa_bits);
    }
    return text.append("(").append(names(made.operands)).append(")");
  }

  void line(int depth, const std::string& text) {
    out_.append(static_cast<size_t>(2 * depth), ' ').append(text).append("\n");
  }

  void block(int32_t id, int depth) {
    for (const Item& item : nest_.blocks[id].items) {
      if (item.kind == Item::kNode) {
        const std::string made = value(node(item.id));
        line(depth, name(item.id) + " = " + made);
      } else if (item.kind == Item::kLoop) {
        loop(item.id, depth);
      } else {
        const Store& store = nest_.stores[item.id];
        line(depth, fmt::format("b{}[{}] = {}{}", store.buffer, affine(store.index), name(store.value),
                                store.guard == kNoId ? "" : " if " + name(store.guard)));
      }
    }
  }

  void loop(int32_t id, int depth) {
    static constexpr const char* kKinds[] = {"parallel", "reduce", "sequential", "while"};
    const Loop& of = nest_.loops[id];
    std::string text = kKinds[static_cast<int>(of.kind)];
    text += of.kind == LoopKind::kWhile ? fmt::format(" {}", loop_name(id))
                                        : fmt::format(" i{} < {}", loop_name(id), of.extent);
    for (size_t k = 0; k < of.carried.size(); ++k) {
      text += fmt::format("{}{} c{}.{} = {}", k == 0 ? " carrying " : ", ", type_name(of.carried[k].type),
                          loop_name(id), k, name(of.carried[k].initial));
    }
    if (!of.neutral.empty()) text += " neutral " + names(of.neutral);
    if (of.one_by_one) text += " one by one";
    line(depth, text);
    if (of.combine) {
      line(depth + 1, "combine");
      out_ += function(*of.combine, depth + 2);
    }
    if (of.head != kNoId) {
      block(of.head, depth + 1);
      line(depth + 1, "while " + name(of.condition));
    }
    block(of.body, depth + 1);
    if (of.carried.empty()) return;
    std::vector<NodeId> next;
    for (const Carried& carried : of.carried) next.push_back(carried.next);
    line(depth + 1, "next " + names(next));
  }

  static std::string function(const Function& of, int depth) {
    Nest body;
    body.nodes = of.nodes;
    Printer printer(body);
    for (size_t n = 0; n < of.nodes.size(); ++n) {
      const Node& made = of.nodes[n];
      if (made.kind == NodeKind::kArgument || made.kind == NodeKind::kConstant) continue;
      const std::string text = printer.value(made);
      printer.line(depth, printer.name(static_cast<NodeId>(n)) + " = " + text);
    }
    printer.line(depth, "give " + printer.names(of.results));
    return std::move(printer.out_);
  }

  const Nest& nest_;
  std::string out_;
  std::vector<int32_t> number_, loop_number_;
  int32_t next_number_ = 0, next_loop_ = 0;
};

}  // namespace

std::string to_text(const Nest& nest) { return Printer(nest).run(); }

}  // namespace lowtide::engine
