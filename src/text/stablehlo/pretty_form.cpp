// Parses operations in their own syntax, such as `stablehlo.slice %x [0:1] : ...`. One grammar covers all of them:
// operands, words, `key = value`, bracketed pieces and dictionaries in any order, then types; regions follow their
// keywords. Attributes without a key get one here: the n-th word is "word<n>", a symbol "callee", a string "name",
// `[...]` "brackets", `<...>` "angles", a constant "value".
#include <fmt/format.h>

#include <array>

#include "text/stablehlo/mlir_reader.h"

namespace lowtide::engine {

class PrettyForm {
 public:
  PrettyForm(MlirReader& reader, MlirScanner& scanner, MlirOperation& operation, int depth)
      : reader_(reader), scanner_(scanner), operation_(operation), depth_(depth) {}

  Status read() {
    bool ended = false;
    while (!ended) LT_RETURN_IF_ERROR(read_item(ended));
    operation_.operands.insert(operation_.operands.end(), inits_.begin(), inits_.end());
    if (!applied_.empty()) add_applied_region();
    return {};
  }

 private:
  Status read_item(bool& ended) {
    if (starts_location()) return ended = true, Status();
    switch (scanner_.peek()) {
      case ',': scanner_.eat(","); return {};
      case '%':
        ended = has_types_ || starts_operation();
        return ended ? Status() : reader_.read_use(scanner_, operation_.operands);
      case '@': return add("callee", [&] { return scanner_.signed_name('@'); });
      case '"': ended = has_types_; return ended ? Status() : add("name", [&] { return scanner_.plain_value(); });
      case '[': return add("brackets", [&] { return scanner_.bracketed(); });
      case '<': return add("angles", [&] { return scanner_.bracketed(); });
      case '=':  // sdy.mesh @mesh = <...>
        scanner_.eat("=");
        return {};
      case '(': return read_parentheses();
      case '{':
        return opens_block() || (has_arguments_ && operation_.regions.empty())
                   ? read_body()
                   : reader_.read_dictionary(scanner_, operation_.attributes);
      case ':': return read_types(ended);
      default: return read_word(ended);
    }
  }

  template <class F>
  Status add(std::string_view key, F&& read_value) {
    scanner_.peek();
    const Offset place = scanner_.place();
    const std::string_view text = read_value();
    if (text.empty()) return scanner_.expected("a value with matching brackets");
    operation_.attributes.push_back({key, text, place});
    return {};
  }

  /// `{ ^bb0(...): ...`
  bool opens_block() const {
    MlirScanner ahead = scanner_;
    return ahead.eat("{") && ahead.peek() == '^';
  }

  /// `loc(`, which is always last.
  bool starts_location() const {
    MlirScanner ahead = scanner_;
    if (!ahead.eat_word("loc")) return false;
    return ahead.peek() == '(';
  }

  /// `%x =`: the next operation, if this one doesn't end with types.
  bool starts_operation() const {
    MlirScanner ahead = scanner_;
    (void)ahead.signed_name('%');
    if (ahead.eat(":")) return ahead.integer().has_value() && ahead.next_is("=");
    return ahead.next_is("=");
  }

  Status read_word(bool& ended) {
    const MlirScanner before = scanner_;
    const Offset place = scanner_.place();
    const std::string_view word = scanner_.identifier();
    if (word.empty()) return ended = true, Status();
    if (word == "dense" || word == "dense_resource") {
      scanner_.move_to(before.at());
      return add("value", [&] { return scanner_.plain_value(); });
    }
    if (scanner_.eat("=")) return add(word, [&] { return scanner_.plain_value(); });
    if (word == "across") return {};
    if (word == "inits") return read_inits();
    if (word == "attributes") return reader_.read_dictionary(scanner_, operation_.attributes);
    if (word == "applies") {
      scanner_.peek();
      applied_place_ = scanner_.place();
      applied_ = scanner_.identifier();
      return applied_.empty() ? scanner_.expected("the operation that the reduction applies") : Status();
    }
    if (word == "reducer") return read_reducer();
    if ((word == "cond" || word == "do") && scanner_.peek() == '{') return read_loop_region();
    constexpr std::array<std::string_view, 4> kWords = {"word0", "word1", "word2", "word3"};
    if (has_types_ || word.find('.') != word.npos || words_ == kWords.size()) {
      scanner_.move_to(before.at());
      ended = true;
      return {};
    }
    operation_.attributes.push_back({kWords[words_++], word, place});
    return {};
  }

  /// `(%a, %b)`, `(%x init: %c)`, `(%iterArg = %x)`, `(%x, k = 3)`, or the arguments of a region: `(%a: type)`.
  Status read_parentheses() {
    scanner_.eat("(");
    if (is_argument_list()) {
      has_arguments_ = true;
      return reader_.read_arguments(scanner_, arguments_, ")");
    }
    while (!scanner_.eat(")")) {
      if (scanner_.peek() == '%') {
        LT_RETURN_IF_ERROR(reader_.read_use(scanner_, operation_.operands));
        if (scanner_.eat_word("init")) {
          if (!scanner_.eat(":")) return scanner_.expected("':' and the initial value");
          LT_RETURN_IF_ERROR(reader_.read_use(scanner_, inits_));
        } else if (scanner_.eat("=")) {
          const MlirUse name = operation_.operands.back();
          operation_.operands.pop_back();
          MlirArgument& argument = arguments_.emplace_back();
          argument.name = name.name;
          argument.place = name.place;
          LT_RETURN_IF_ERROR(reader_.read_use(scanner_, operation_.operands));
        }
      } else {
        const std::string_view key = scanner_.identifier();
        if (key.empty() || !scanner_.eat("=")) return scanner_.expected("an operand or 'key = value'");
        LT_RETURN_IF_ERROR(add(key, [&] { return scanner_.plain_value(); }));
      }
      if (!scanner_.eat(",") && !scanner_.next_is(")")) return scanner_.expected("',' or ')'");
    }
    return {};
  }

  /// `inits(%a, %b)`: further operands.
  Status read_inits() {
    const size_t first = operation_.operands.size();
    if (scanner_.peek() != '(') return scanner_.expected("'(' and the initial values");
    LT_RETURN_IF_ERROR(read_parentheses());
    for (size_t i = first; i < operation_.operands.size(); ++i) operation_.operands[i].carried = true;
    return {};
  }

  bool is_argument_list() const {
    MlirScanner ahead = scanner_;
    return !ahead.signed_name('%').empty() && ahead.eat(":");
  }

  /// `, tolerance = 0.1` after the types.
  bool is_attribute_next() const {
    MlirScanner ahead = scanner_;
    return ahead.eat(",") && !ahead.identifier().empty() && ahead.next_is("=");
  }

  Status read_types(bool& ended) {
    if (has_types_) return ended = true, Status();
    scanner_.eat(":");
    has_types_ = true;
    const MlirAliases& aliases = reader_.module_.aliases;
    if (scanner_.peek() == '(') {
      LT_ASSIGN_OR_RETURN(MlirFunctionType type, read_mlir_function_type(scanner_, aliases));
      operation_.operand_types = std::move(type.operands);
      operation_.types = std::move(type.results);
      return {};
    }
    std::vector<Shape> types;
    do {
      LT_ASSIGN_OR_RETURN(Shape type, read_mlir_type(scanner_, aliases));
      types.push_back(std::move(type));
    } while (!is_attribute_next() && scanner_.eat(","));
    if (scanner_.eat("->")) {
      LT_ASSIGN_OR_RETURN(operation_.types, read_mlir_results(scanner_, aliases));
      if (types.size() == operation_.operands.size()) operation_.operand_types = std::move(types);
      return {};
    }
    // The last types are the results'; a single type applies to all of them.
    int64_t results = 0;
    for (const MlirResult& result : operation_.results) results += result.count;
    const auto given = static_cast<int64_t>(types.size());
    if (given == 1 && results > 1) types.resize(static_cast<size_t>(results), types[0]);
    if (given > results) types.erase(types.begin(), types.end() - results);
    operation_.types = std::move(types);
    return {};
  }

  Status read_body() {
    MlirRegion& region = operation_.regions.emplace_back();
    LT_RETURN_IF_ERROR(reader_.read_region(scanner_, region, depth_));
    if (region.arguments.empty()) region.arguments = std::move(arguments_);
    return {};
  }

  /// `cond {...} do {...}`: the names in the loop's parentheses become the arguments of both regions.
  Status read_loop_region() {
    MlirRegion region;
    LT_RETURN_IF_ERROR(reader_.read_region(scanner_, region, depth_));
    if (arguments_.size() != operation_.types.size()) {
      return scanner_.fault(operation_.place, fmt::format("found {} types, expected one for each of {} values",
                                                          operation_.types.size(), arguments_.size()));
    }
    region.arguments = arguments_;
    for (size_t i = 0; i < arguments_.size(); ++i) region.arguments[i].type = operation_.types[i];
    operation_.regions.push_back(std::move(region));
    return {};
  }

  /// `reducer(%a: T, %b: T) (%c: U, %d: U) {...}`: one pair for each array; the region's arguments are all left ones,
  /// then all right ones.
  Status read_reducer() {
    std::vector<MlirArgument> left, right;
    while (scanner_.eat("(")) {
      std::vector<MlirArgument> pair;
      LT_RETURN_IF_ERROR(reader_.read_arguments(scanner_, pair, ")"));
      if (pair.size() != 2) return scanner_.expected("pairs of arguments: '(%a: type, %b: type)'");
      left.push_back(std::move(pair[0]));
      right.push_back(std::move(pair[1]));
    }
    MlirRegion region;
    LT_RETURN_IF_ERROR(reader_.read_region(scanner_, region, depth_));
    region.arguments = std::move(left);
    region.arguments.insert(region.arguments.end(), right.begin(), right.end());
    operation_.regions.push_back(std::move(region));
    return {};
  }

  /// `applies stablehlo.add`: a region that applies this operation to its two arguments.
  void add_applied_region() {
    MlirRegion& region = operation_.regions.emplace_back();
    region.place = applied_place_;
    const Shape type =
        operation_.types.empty() ? Shape::scalar(ElementType::kF32) : Shape::scalar(operation_.types[0].type);
    region.arguments.resize(2);
    region.arguments[0].name = "lhs";
    region.arguments[1].name = "rhs";
    for (MlirArgument& argument : region.arguments) argument.type = type;
    MlirOperation& applied = region.operations.emplace_back();
    applied.name = applied_;
    applied.place = applied_place_;
    applied.results = {{"applied", 1}};
    applied.operands = {{"lhs", 0, applied_place_}, {"rhs", 0, applied_place_}};
    applied.types = {type};
    MlirOperation& end = region.operations.emplace_back();
    end.name = "stablehlo.return";
    end.place = applied_place_;
    end.operands = {{"applied", 0, applied_place_}};
  }

  MlirReader& reader_;
  MlirScanner& scanner_;
  MlirOperation& operation_;
  int depth_;
  std::vector<MlirUse> inits_;
  std::vector<MlirArgument> arguments_;
  std::string_view applied_;
  Offset applied_place_ = kNowhere;
  size_t words_ = 0;
  bool has_types_ = false;
  bool has_arguments_ = false;
};

Status MlirReader::read_pretty(MlirScanner& scanner, MlirOperation& operation, int depth) {
  return PrettyForm(*this, scanner, operation, depth).read();
}

}  // namespace lowtide::engine
