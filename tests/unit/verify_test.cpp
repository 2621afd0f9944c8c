// Faults that no text can spell: readers refuse them before the verifier sees them.
#include "ops/verify.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace lowtide::engine {
namespace {

Instruction* add(Computation& computation, Opcode opcode, const char* name, std::vector<Instruction*> operands) {
  auto instruction = std::make_unique<Instruction>();
  instruction->opcode = opcode;
  instruction->name = name;
  instruction->shape = Shape::array(ElementType::kF32, {2});
  instruction->operands = std::move(operands);
  if (opcode == Opcode::kParameter) instruction->attributes = ParameterAttributes{0};
  return computation.append(std::move(instruction));
}

/// x -> negate(x), the smallest module.
struct Small {
  Module module;
  Computation* main = module.add_computation("main");
  Instruction* x = add(*main, Opcode::kParameter, "x", {});
  Instruction* y = add(*main, Opcode::kNegate, "y", {x});
  Small() {
    main->root = y;
    module.entry = main;
  }
  std::string fault() const { return verify(module).message(); }
};

void expect_words(const Small& small, const std::string& words) {
  EXPECT_NE(small.fault().find(words), std::string::npos) << "got: " << small.fault();
}

TEST(Verify, AcceptsTheSmallestModule) {
  const Small small;
  EXPECT_EQ(small.fault(), "");
}

TEST(Verify, WantsAnEntry) {
  Small small;
  small.module.entry = nullptr;
  expect_words(small, "no entry computation (V1)");
}

TEST(Verify, WantsARoot) {
  Small small;
  small.main->root = nullptr;
  expect_words(small, "main: has no root (V2)");
}

TEST(Verify, WantsUniqueNames) {
  Small small;
  small.y->name = "x";
  expect_words(small, "(V3)");
}

TEST(Verify, WantsUniqueComputations) {
  Small small;
  Computation* other = small.module.add_computation("main");
  other->root = add(*other, Opcode::kParameter, "p", {});
  expect_words(small, "(V3)");
}

TEST(Verify, WantsOperandsBeforeTheirUsers) {
  Small small;
  small.y->operands[0] = small.y;
  expect_words(small, "%y doesn't stand before its user %y (V5)");
}

TEST(Verify, WantsOperandsOfTheSameComputation) {
  Small small;
  Computation* other = small.module.add_computation("other");
  other->root = add(*other, Opcode::kParameter, "p", {});
  small.y->operands[0] = other->root;
  expect_words(small, "(V5)");
}

TEST(Verify, WantsControlPredecessorsBefore) {
  Small small;
  small.x->control_predecessors = {small.y};
  expect_words(small, "(V5)");
}

TEST(Verify, RefusesRecursion) {
  Small small;
  Computation* a = small.module.add_computation("a");
  Computation* b = small.module.add_computation("b");
  for (auto [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
    Instruction* p = add(*from, Opcode::kParameter, "p", {});
    from->root = add(*from, Opcode::kCall, "c", {p});
    from->root->called = {to};
  }
  expect_words(small, "calls itself");
  expect_words(small, "(V6)");
}

TEST(Verify, WantsCalledComputationsOfItsOwn) {
  Small small;
  Small other;
  small.y->opcode = Opcode::kCall;
  small.y->called = {other.main};
  expect_words(small, "calls no computation of the module (V6)");
}

TEST(Verify, WantsParametersWithoutGaps) {
  Small small;
  small.x->attributes = ParameterAttributes{1};
  expect_words(small, "parameter: number 1 is taken or leaves a gap: main has 1 parameters (V4)");
  small.x->attributes = ParameterAttributes{-1};
  expect_words(small, "(V4)");
}

TEST(Verify, WantsTheOperandsOfTheOpcode) {
  Small small;
  small.y->operands.push_back(small.x);
  expect_words(small, "negate: takes 1 operands, got 2 (V7)");
}

TEST(Verify, RefusesArraysThatNoMemoryHolds) {
  Small small;
  const int64_t large = int64_t{1} << 32;
  small.x->shape.dims = {0, large, large, large};  // a product of nothing must not overflow on its way
  expect_words(small, "is larger than any memory (V9)");
  small.x->shape.dims = {2};
  small.x->shape.layout = Layout{{0}, {{large, large}}, 0, 0, nullptr};
  expect_words(small, "is larger than any memory (V9)");
}

TEST(Verify, WantsLayoutsThatNameEachDimensionOnce) {
  Small small;
  for (const Dims& order : {Dims{0, 0}, Dims{0}, Dims{0, 2}, Dims{0, -1}, Dims{0, 1, 2}}) {
    small.x->shape = Shape::array(ElementType::kF32, {2, 3});
    small.x->shape.layout = Layout{order, {}, 0, 0, nullptr};
    expect_words(small, "(V10)");
  }
  small.x->shape.layout = Layout{{1, 0}, {{8, 0}}, 0, 0, nullptr};
  expect_words(small, "a tile of f32[2,3] has extent 0 (V10)");
}

TEST(Verify, WantsAliasesOfArraysThatExist) {
  Small small;
  small.module.input_output_alias = {{{1}, 0, {}, false}};
  expect_words(small, "names the result {1}, which is no array (V11)");
  small.module.input_output_alias = {{{}, 0, {7}, false}};
  expect_words(small, "names the argument (0, {7}), which is no array (V11)");
  small.module.input_output_alias.clear();
  small.module.buffer_donors = {{3, {}}};
  expect_words(small, "buffer_donor names the argument (3, {}), which is no array (V11)");
}

TEST(Verify, NamesTheInstructionWhereThereIsNoText) {
  Small small;
  small.y->shape.dims = {-3};
  expect_words(small, "in %y");
}

}  // namespace
}  // namespace lowtide::engine
