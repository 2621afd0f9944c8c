/// Operations that run other computations, the choice among all makers, and whole programs.

#include <algorithm>

#include "operations.h"
#include "program.h"
#include "support/test_context.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepest = 2;  ///< nesting of computations with operations of their own
constexpr int64_t kMostTrips = 4;
constexpr size_t kMostResults = 10;

}  // namespace

std::vector<Gene> nested(const Gene& gene) {
  std::vector<Gene> genes;
  for (const uint64_t seed : gene.inner) genes.push_back({seed, {mix(seed + 1), mix(seed + 2)}});
  return genes;
}

void grow(Scope& scope, const std::vector<Gene>& genes) {
  for (const Gene& gene : genes) make_operation(scope, gene);
}

Instruction* result_of_shape(Scope& body, Draws& choices, const Shape& shape) {
  Instruction* result = body.choose(choices, has_shape(shape));
  if (!result) result = body.constant_array(shape, choices);
  if (!is_floating(shape.type)) return result;
  Instruction *least = body.constant(shape.type, -4), *greatest = body.constant(shape.type, 4);
  return body.append(Opcode::kClamp, shape, {least, result, greatest});
}

Fact fact_of_carry(const Shape& shape) {
  if (!is_floating(shape.type)) return any_integer(shape.type);
  return {.low = -4, .high = 4, .error = 1e-6, .grid = Fact::kNoGrid, .parts = {}};
}

bool make_call(Scope& scope, Draws& choices, const Gene& gene) {
  if (scope.depth() >= kDeepest) return false;
  Scope body = scope.nested();
  std::vector<Instruction*> operands;
  for (int64_t k = choices.between(1, 3); k > 0; --k) {
    Instruction* operand = scope.choose(choices, is_any);
    if (!operand) return false;
    body.begin_gene(operands.size());
    body.parameter(static_cast<int64_t>(operands.size()), operand->shape, scope.fact(operand));
    operands.push_back(operand);
  }
  grow(body, nested(gene));
  Instruction* root = body.entries().back().instruction;
  if (!root->shape.is_array()) return false;
  const Shape shape = root->shape;
  return scope.append(Opcode::kCall, shape, operands, {}, {body.finish("callee", root)}) != nullptr;
}

bool make_conditional(Scope& scope, Draws& choices, const Gene& gene) {
  if (scope.depth() >= kDeepest) return false;
  const bool by_predicate = choices.one_in(2);
  Instruction* which =
      scope.choose(choices, has_shape(Shape::scalar(by_predicate ? ElementType::kPred : ElementType::kS32)));
  if (!which && by_predicate) return false;
  if (!which) which = scope.constant(ElementType::kS32, static_cast<double>(choices.between(-1, 3)));
  Instruction* like = scope.choose(choices, is_any);
  if (!like) return false;
  const Shape shape = like->shape;
  std::vector<Instruction*> operands = {which};
  std::vector<Computation*> branches;
  for (int64_t branch = by_predicate ? 2 : choices.between(1, 3); branch > 0; --branch) {
    Instruction* operand = scope.choose(choices, is_any);
    Scope body = scope.nested();
    body.begin_gene(0);
    body.parameter(0, operand->shape, scope.fact(operand));
    Gene own = gene;
    for (uint64_t& seed : own.inner) seed = mix(seed + static_cast<uint64_t>(branch));
    grow(body, nested(own));
    Instruction* root = body.choose(choices, has_shape(shape));
    if (!root) root = body.constant_array(shape, choices);
    if (!root) return false;
    operands.push_back(operand);
    branches.push_back(body.finish("branch", root));
  }
  return scope.append(Opcode::kConditional, shape, operands, ConditionalAttributes{by_predicate}, branches) != nullptr;
}

bool make_while(Scope& scope, Draws& choices, const Gene& gene) {
  if (scope.depth() >= kDeepest) return false;
  std::vector<Instruction*> carried = {scope.constant(ElementType::kS32, 0)};
  std::vector<Shape> shapes = {carried[0]->shape};
  for (int64_t k = choices.between(1, 3); k > 0; --k) {
    Instruction* value = scope.choose(choices, [](const auto& e) {
      const ElementType type = e.instruction->shape.type;
      return !is_complex(type) && (!is_floating(type) || e.fact.magnitude() <= 4);
    });
    if (!value) return false;
    carried.push_back(value);
    shapes.push_back(value->shape);
  }
  const Shape tuple_shape = Shape::tuple(shapes);
  Fact carry;
  for (const Shape& shape : shapes) carry.parts.push_back(fact_of_carry(shape));
  carry.parts[0].low = 0;
  carry.parts[0].high = kMostTrips;

  const int64_t trips = choices.between(0, kMostTrips);
  Scope test = scope.nested();
  Instruction* count = test.element_of(test.parameter(0, tuple_shape, carry), 0);
  Instruction* more = test.append(Opcode::kCompare, Shape::scalar(ElementType::kPred),
                                  {count, test.constant(ElementType::kS32, static_cast<double>(trips))},
                                  CompareAttributes{CompareDirection::kLt});
  Scope body = scope.nested();
  body.begin_gene(0);
  Instruction* parameter = body.parameter(0, tuple_shape, carry);
  for (size_t k = 0; k < shapes.size(); ++k) body.element_of(parameter, static_cast<int64_t>(k));
  grow(body, nested(gene));
  Instruction* counter = body.entries()[1].instruction;
  std::vector<Instruction*> next = {
      body.append(Opcode::kAdd, counter->shape, {counter, body.constant(ElementType::kS32, 1)})};
  for (size_t k = 1; k < shapes.size(); ++k) next.push_back(result_of_shape(body, choices, shapes[k]));
  if (!more || std::find(next.begin(), next.end(), nullptr) != next.end()) return false;
  Computation* condition = test.finish("condition", more);
  Computation* step = body.finish("body", body.tuple(next));
  Instruction* loop = scope.append(Opcode::kWhile, tuple_shape, {scope.tuple(carried)}, {}, {condition, step});
  for (size_t k = 1; loop && k < shapes.size(); ++k) scope.element_of(loop, static_cast<int64_t>(k));
  return loop != nullptr;
}

bool make_map(Scope& scope, Draws& choices, const Gene& gene) {
  Instruction* first = scope.choose(choices, [](const auto& e) { return e.instruction->shape.rank() >= 1; });
  if (!first) return false;
  std::vector<Instruction*> operands = {first, value_of_shape(scope, choices, first->shape)};
  if (!operands[1]) return false;
  Scope body = scope.nested();
  for (size_t k = 0; k < 2; ++k) {
    body.begin_gene(k);
    body.parameter(static_cast<int64_t>(k), Shape::scalar(first->shape.type), scope.fact(operands[k]));
  }
  for (const uint64_t seed : gene.inner) {
    Draws inner(seed);
    body.begin_gene(seed);
    if (inner.one_in(2)) {
      make_unary(body, inner);
    } else {
      make_binary(body, inner);
    }
  }
  Instruction* root = body.entries().back().instruction;
  DimensionsAttributes a;
  for (int64_t d = 0; d < first->shape.rank(); ++d) a.dimensions.push_back(d);
  const Shape shape = with_type(first->shape, root->shape.type);
  return scope.append(Opcode::kMap, shape, operands, a, {body.finish("mapped", root)}) != nullptr;
}

void make_operation(Scope& scope, const Gene& gene) {
  using Maker = bool (*)(Scope&, Draws&);
  using Caller = bool (*)(Scope&, Draws&, const Gene&);
  static constexpr Maker kMakers[] = {make_unary,
                                      make_unary,
                                      make_unary,
                                      make_binary,
                                      make_binary,
                                      make_binary,
                                      make_compare,
                                      make_select,
                                      make_clamp,
                                      make_convert,
                                      make_convert,
                                      make_source,
                                      make_broadcast,
                                      make_broadcast,
                                      make_reshape,
                                      make_transpose,
                                      make_slice,
                                      make_pad,
                                      make_concatenate,
                                      make_reverse,
                                      make_dynamic_slice,
                                      make_dynamic_update_slice,
                                      make_gather,
                                      make_scatter,
                                      make_reduce,
                                      make_reduce,
                                      make_largest_with_index,
                                      make_reduce_window,
                                      make_sort,
                                      make_dot,
                                      make_dot,
                                      make_convolution,
                                      make_batch_norm_training,
                                      make_batch_norm_inference,
                                      make_batch_norm_grad,
                                      make_select_and_scatter,
                                      make_complex,
                                      make_complex,
                                      make_fft,
                                      make_fft,
                                      make_triangular_solve,
                                      make_cholesky,
                                      make_random_bits,
                                      make_inverse,
                                      make_inverse,
                                      make_top_k,
                                      make_scan};
  static constexpr Caller kCallers[] = {make_call, make_conditional, make_while, make_layers, make_map};
  scope.begin_gene(gene.seed);
  for (uint64_t attempt = 0; attempt < 4; ++attempt) {
    Draws choices(gene.seed + attempt);
    if (choices.one_in(9)) {
      if (choices.of(kCallers)(scope, choices, gene)) return;
    } else if (choices.of(kMakers)(scope, choices)) {
      return;
    }
  }
}

namespace {

/// What a reader makes of the program's text: it takes vectors of start indices apart.
std::unique_ptr<Module> as_read(std::unique_ptr<Module> module) {
  auto read = parse_hlo(std::make_shared<Source>(Source{"random.hlo", print_hlo(*module)}));
  LT_ASSERT(read.ok(), read.status().message());
  return read.take();
}

}  // namespace

std::unique_ptr<Module> program_from(const Genome& genome) {
  auto module = std::make_unique<Module>(test_context());
  module->name = "random";
  Scope scope(*module, 0, genome.for_xla);
  const std::vector<uint64_t> seeds =
      genome.parameters.empty() ? std::vector<uint64_t>{genome.seed} : genome.parameters;
  int64_t number = 0;
  for (const uint64_t seed : seeds) {
    Draws choices(seed);
    const ElementType type = choices.one_in(10) ? random_complex_type(choices) : random_type(choices);
    scope.begin_gene(seed);
    scope.parameter(number++, random_shape(choices, type), fact_of_argument(type));
  }
  grow(scope, genome.genes);

  // Everything that nobody reads is a result, so that nothing goes uncompared; what is left over is dead code.
  std::vector<Instruction*> results;
  for (const auto& entry : scope.entries()) {
    const bool read = std::any_of(scope.entries().begin(), scope.entries().end(), [&](const auto& other) {
      const auto& operands = other.instruction->operands;
      return std::find(operands.begin(), operands.end(), entry.instruction) != operands.end();
    });
    const bool wanted = entry.instruction->opcode != Opcode::kParameter && entry.choosable;
    if (!read && wanted && results.size() < kMostResults) results.push_back(entry.instruction);
  }
  if (results.empty()) results.push_back(scope.entries().front().instruction);
  Draws choices(genome.seed);
  const bool bare = results.size() == 1 && choices.one_in(2);
  Instruction* root = bare ? results[0] : scope.tuple(results);
  module->entry = scope.finish("main", root);

  const std::vector<Instruction*> parameters = module->entry->parameters();
  for (size_t p = 0; p < parameters.size(); ++p) {
    if (results.size() == 1 || !choices.one_in(2)) continue;  // XLA unpacks a single result, and then finds no {0}
    if (choices.one_in(3)) {
      module->buffer_donors.push_back({static_cast<int64_t>(p), {}});
      continue;
    }
    for (size_t r = 0; r < results.size(); ++r) {
      const ShapeIndex output = {static_cast<int64_t>(r)};
      const bool taken = std::any_of(module->input_output_alias.begin(), module->input_output_alias.end(),
                                     [&](const AliasEntry& a) { return a.output == output; });
      if (taken || !same_shape(results[r]->shape, parameters[p]->shape)) continue;
      module->input_output_alias.push_back({output, static_cast<int64_t>(p), {}, false});
      break;
    }
  }
  return genome.for_xla ? std::move(module) : as_read(std::move(module));
}

std::vector<double> error_bounds(const Module& module) {
  std::vector<Fact> arguments;
  for (const Instruction* parameter : module.entry->parameters())
    arguments.push_back(fact_of_argument(parameter->shape.type));
  const auto fact = fact_of(*module.entry, arguments);
  LT_ASSERT(fact.has_value(), "a program was made of operations that its facts forbid");
  std::vector<double> bounds;
  for (const Fact& part : fact->parts) bounds.push_back(part.error);
  if (fact->parts.empty()) bounds.push_back(fact->error);
  return bounds;
}

}  // namespace lowtide::engine
