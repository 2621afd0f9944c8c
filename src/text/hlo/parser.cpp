#include "text/hlo/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/start_indices.h"
#include "text/hlo.h"
#include "text/hlo/shape_reader.h"
#include "text/hlo/suggest.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepestInline = 16;     // nesting of inline computations
constexpr int64_t kDeepestCall = 200;  // depth of calls

/// Consumes `ENTRY` before the name of a computation; ENTRY may also be a computation's own name.
bool eat_entry(Scanner& scanner) {
  Scanner ahead = scanner;
  if (!ahead.eat("ENTRY") || (ahead.peek() != '%' && !is_name_start(ahead.peek()))) return false;
  if (ahead.at() == scanner.at() + 5 && scanner.text()[ahead.at()] != '%') return false;  // ENTRYx
  scanner.move_to(ahead.at());
  return true;
}

}  // namespace

HloParser::HloParser(std::shared_ptr<const Source> source, std::shared_ptr<Context> context)
    : source_(std::move(source)), module_(std::make_unique<Module>(std::move(context))) {
  module_->source = source_;
}

Result<std::unique_ptr<Module>> HloParser::parse() {
  Scanner scanner(*source_);
  if (source_->text.size() >= kNowhere) return Status::input(source_->name + ": the text has 4 GiB or more");
  (void)scanner.eat("\xef\xbb\xbf");  // a byte order mark
  if (scanner.done()) return scanner.expected("'HloModule' or a computation");
  const bool has_header = scanner.next_is("HloModule");
  if (has_header) {
    LT_RETURN_IF_ERROR(read_header(scanner));
    LT_RETURN_IF_ERROR(read_stack_tables(scanner));
  }
  find_computations(scanner);
  stage_.emplace(module_->context().progress(), "reading", static_cast<double>(source_->text.size()));
  do {
    LT_RETURN_IF_ERROR(read_computation(scanner));
  } while (!scanner.done());
  LT_RETURN_IF_ERROR(finish());
  if (!has_header) module_->name = module_->entry->name;
  LT_RETURN_IF_ERROR(check_header());
  return std::move(module_);
}

void HloParser::find_computations(Scanner scanner) {
  while (!scanner.done()) {
    (void)eat_entry(scanner);
    const std::string_view name = scanner.name();
    if (name.empty() || !read_signature(scanner).ok() || scanner.bracketed().empty()) return;
    if (!computations_.contains(name)) computations_[name] = module_->add_computation(std::string(name));
    while (scanner.eat(",")) {
      (void)scanner.word();
      if (!scanner.eat("=") || scanner.attribute_value().empty()) return;
    }
  }
}

Status HloParser::read_signature(Scanner& scanner) {
  // The signature is skipped, since the instructions repeat it; a contradiction between them is no error.
  if (scanner.peek() == '(' && scanner.bracketed().empty()) return scanner.expected("the parameters in parentheses");
  if (scanner.eat("->")) {
    const Result<Shape> shape = read_shape(scanner, BraceBehind::kLayoutOrBody);
    if (!shape.ok()) return shape.status();
  }
  return scanner.peek() == '{' ? Status() : scanner.expected("'{' and the instructions of the computation");
}

Status HloParser::read_computation(Scanner& scanner) {
  scanner.peek();
  const bool is_entry = eat_entry(scanner);
  scanner.peek();
  const Offset place = scanner.place();
  if (is_entry && module_->entry) return scanner.fault(place, "found a second ENTRY computation, expected one");
  const std::string_view name = scanner.name();
  if (name.empty()) {
    return scanner.expected(module_->name.empty() && defined_.empty() ? "'HloModule' or a computation"
                                                                      : "a computation or the end of the text");
  }
  LT_RETURN_IF_ERROR(read_signature(scanner));
  Computation*& computation = computations_[name];
  if (!computation) computation = module_->add_computation(std::string(name));
  if (!defined_.insert(computation).second) {
    return scanner.fault(place, fmt::format("computation '{}' is defined twice", name));
  }
  computation->place = place;
  last_ = computation;
  if (is_entry) module_->entry = computation;

  Scope scope;
  scope.computation = computation;
  LT_RETURN_IF_ERROR(read_body(scanner, scope, place));
  while (scanner.eat(",")) {
    const std::string_view key = scanner.word();
    if (key.empty() || !scanner.eat("=")) return scanner.expected("an attribute of the computation");
    const std::string_view value = scanner.attribute_value();
    if (value.empty()) return scanner.expected("the value of the attribute");
    if (key != "execution_thread") continue;
    Result<std::string> thread = unquote(value);
    if (!thread.ok()) return thread.status().at(*source_, scanner.place() - static_cast<Offset>(value.size()));
    computation->execution_thread = thread.take();
  }
  return {};
}

Status HloParser::read_body(Scanner& scanner, Scope& scope, Offset place) {
  Scope* const outer = std::exchange(scope_, &scope);
  scanner.eat("{");
  while (scanner.peek() != '}') {
    if (scanner.done()) {
      return scanner.fault(place, fmt::format("computation '{}' has no closing '}}'", scope.computation->name));
    }
    if (stage_) stage_->done(scanner.place());
    LT_RETURN_IF_ERROR(read_instruction(scanner, scope));
  }
  scanner.eat("}");
  scope_ = outer;
  Computation& computation = *scope.computation;
  if (computation.instructions().empty()) {
    return scanner.fault(place, fmt::format("computation '{}' has no instructions", computation.name));
  }
  if (!computation.root) computation.root = computation.instructions().back().get();
  return check_parameters(scanner, computation, place);
}

Status HloParser::check_parameters(const Scanner& scanner, const Computation& computation, Offset place) {
  const auto limit = static_cast<int64_t>(computation.instructions().size());
  int64_t count = 0;
  for (const auto& instruction : computation.instructions()) {
    const auto* parameter = instruction->if_as<ParameterAttributes>();
    if (!parameter) continue;
    ++count;
    if (parameter->number < 0 || parameter->number >= limit) {
      return scanner.fault(
          instruction->place,
          fmt::format("found parameter({}), expected the parameters to be numbered 0, 1, 2, ...", parameter->number));
    }
  }
  const std::vector<Instruction*> parameters = count > 0 ? computation.parameters() : std::vector<Instruction*>();
  for (size_t number = 0; number < parameters.size(); ++number) {
    if (parameters[number]) continue;
    return scanner.fault(place, fmt::format("computation '{}' has a parameter({}), but no parameter({})",
                                            computation.name, parameters.size() - 1, number));
  }
  if (count == static_cast<int64_t>(parameters.size())) return {};
  for (const auto& instruction : computation.instructions()) {
    const auto* parameter = instruction->if_as<ParameterAttributes>();
    if (!parameter || parameters[parameter->number] == instruction.get()) continue;
    return scanner.fault(instruction->place, fmt::format("found a second parameter({})", parameter->number));
  }
  return {};
}

Result<Computation*> HloParser::find_computation(std::string_view text, Offset place) {
  if (text.starts_with('{')) return read_inline(place);
  std::string_view name = text;
  if (name.starts_with('%')) name.remove_prefix(1);
  const auto found = computations_.find(name);
  if (found != computations_.end()) return found->second;
  std::vector<std::string_view> known;
  for (const auto& computation : module_->computations()) known.push_back(computation->name);
  return Status::input(fmt::format("no computation is named '{}'{}", name, did_you_mean(name, known)))
      .at(*source_, place);
}

Result<Computation*> HloParser::read_inline(Offset place) {
  Scanner scanner(*source_, place);
  Scope scope;
  scope.depth = scope_->depth + 1;
  if (scope.depth > kDeepestInline) return scanner.expected("inline computations nested less deeply");
  // All computations of the text are registered by now, so that the new name can't collide with a later one.
  const std::string base = scope_->computation->name + ".inline";
  int64_t& count = unnamed_[base];
  std::string name;
  do {
    name = count == 0 ? base : fmt::format("{}.{}", base, count);
    ++count;
  } while (module_->find_computation(name));
  scope.computation = module_->add_computation(name);
  scope.computation->place = place;
  computations_.emplace(scope.computation->name, scope.computation);
  defined_.insert(scope.computation);
  LT_RETURN_IF_ERROR(read_body(scanner, scope, place));
  return scope.computation;
}

Status HloParser::finish() {
  const Scanner scanner(*source_);
  for (const auto& computation : module_->computations()) {
    if (!defined_.contains(computation.get())) {
      return scanner.fault(kNowhere, fmt::format("computation '{}' could not be read", computation->name));
    }
  }
  if (!module_->entry) module_->entry = last_;
  // The order has callees before callers; in a cycle some callee comes after its caller.
  const std::vector<Computation*> order = module_->callees_first();
  std::unordered_map<const Computation*, int64_t> height;
  for (Computation* computation : order) {
    int64_t& own = height[computation];
    own = 1;
    for (const auto& instruction : computation->instructions()) {
      for (const Computation* called : instruction->called) {
        const auto below = height.find(called);
        if (below == height.end() || called == computation) {
          return scanner.fault(instruction->place, fmt::format("computation '{}' calls itself", computation->name));
        }
        own = std::max(own, below->second + 1);
        if (own > kDeepestCall) {
          return scanner.fault(instruction->place,
                               fmt::format("computations call each other more than {} deep", kDeepestCall));
        }
      }
    }
  }
  module_->reorder(order);
  split_start_vectors(*module_);
  return {};
}

Result<std::unique_ptr<Module>> parse_hlo(std::shared_ptr<const Source> source, std::shared_ptr<Context> context) {
  return HloParser(std::move(source), std::move(context)).parse();
}

}  // namespace lowtide::engine
