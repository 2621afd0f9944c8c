// Arguments and results in other orders than row by row: what a program says of them, and what is run.
#include "passes/lay_out_arrays.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/entry_notes.h"
#include "ops/verify.h"
#include "text/bytecode.h"
#include "text/hlo.h"
#include "text/module_bytes.h"
#include "text/stablehlo.h"

namespace lowtide::engine {
namespace {

/// x, y -> x doubled, y as it is; `x`, `first` and `second` are what the program says of an argument and the results.
std::string program(const std::string& x, const std::string& first, const std::string& second = "",
                    const std::string& donates = "") {
  const auto said = [](const std::string& layout, const std::string& more = "") {
    const std::string mode = layout.empty() ? "" : "mhlo.layout_mode = \"" + layout + "\"";
    return " {" + mode + (mode.empty() || more.empty() ? "" : ", ") + more + "}";
  };
  return "module @m {\n  func.func public @main(%x: tensor<2x3xf32>" + said(x, donates) +
         ", %y: tensor<4xf32>) -> (tensor<2x3xf32>" + said(first) + ", tensor<3x2xf32>" + said(second) +
         ") {\n    %d = stablehlo.add %x, %x : tensor<2x3xf32>\n"
         "    %t = stablehlo.transpose %d, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n"
         "    return %d, %t : tensor<2x3xf32>, tensor<3x2xf32>\n  }\n}\n";
}

std::unique_ptr<Module> read(const std::string& text, const std::string& name = "m.mlir") {
  auto module = parse_module(text, name);
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? module.take() : nullptr;
}

Shape result_shape(const Module& module, size_t number) { return module.entry->root->shape.elements[number]; }

Orders laid_out(Module& module) {
  Result<Orders> orders = lay_out_arrays(module);
  EXPECT_TRUE(orders.ok()) << orders.status().message();
  EXPECT_TRUE(verify(module).ok()) << verify(module).message() << print_hlo(module);
  return orders.ok() ? orders.take() : Orders();
}

using Notes = std::vector<std::string>;

TEST(LayOutArrays, NotesSurviveEveryForm) {
  const auto module = read(program("{0,1}", "auto", "{0,1:T(8,128)}"));
  const auto expect = [](const Module& found, const char* form) {
    EXPECT_EQ(entry_notes(found, EntrySide::kArguments, EntryNote::kLayout), Notes{"{0,1}"}) << form;
    EXPECT_EQ(entry_notes(found, EntrySide::kResults, EntryNote::kLayout), (Notes{"auto", "{0,1:T(8,128)}"})) << form;
  };
  expect(*module, "StableHLO");
  expect(*read(print_hlo(*module), "m.hlo"), "HLO");
  const Result<std::string> text = print_stablehlo(*module), bytes = print_bytecode(*module);
  ASSERT_TRUE(text.ok() && bytes.ok());
  EXPECT_NE(text->find("mhlo.layout_mode = \"{0,1:T(8,128)}\""), std::string::npos) << *text;
  expect(*read(*text), "StableHLO that was printed");
  expect(*read(*bytes, "m.mlirbc"), "bytecode");
}

TEST(LayOutArrays, NotesAreReplacedAmongOthers) {
  const auto module = read(program("", ""));
  module->frontend_attributes = "{a=b}";
  set_entry_notes(*module, EntrySide::kResults, EntryNote::kLayout, {"", "{0,1}"});
  set_entry_notes(*module, EntrySide::kResults, EntryNote::kMemoryKind, {"pinned_host"});
  set_entry_notes(*module, EntrySide::kResults, EntryNote::kLayout, {"auto"});
  EXPECT_EQ(module->frontend_attributes,
            "{a=b,lowtide.result_memory_kinds=\"0:pinned_host\",lowtide.result_layouts=\"0:auto\"}");
  set_entry_notes(*module, EntrySide::kResults, EntryNote::kMemoryKind, {});
  set_entry_notes(*module, EntrySide::kResults, EntryNote::kLayout, {});
  EXPECT_EQ(module->frontend_attributes, "{a=b}");
}

TEST(LayOutArrays, WhatSaysNothingStays) {
  const auto module = read(program("default", "", "{1,0}"));
  const Orders orders = laid_out(*module);
  EXPECT_EQ(orders.arguments, (std::vector<Dims>{{1, 0}, {0}}));
  EXPECT_EQ(orders.results, (std::vector<Dims>{{1, 0}, {1, 0}}));
  EXPECT_EQ(result_shape(*module, 0).dims, (Dims{2, 3}));
  EXPECT_EQ(print_hlo(*module), print_hlo(*read(program("", ""))));
}

TEST(LayOutArrays, ArraysHaveTheExtentsOfMemory) {
  const auto module = read(program("{0,1}", "{0,1}"));
  const Orders orders = laid_out(*module);
  EXPECT_EQ(orders.arguments, (std::vector<Dims>{{0, 1}, {0}}));
  EXPECT_EQ(orders.results, (std::vector<Dims>{{0, 1}, {1, 0}}));
  EXPECT_EQ(module->entry->parameters()[0]->shape.dims, (Dims{3, 2}));
  EXPECT_EQ(module->entry->parameters()[1]->shape.dims, (Dims{4}));
  EXPECT_EQ(result_shape(*module, 0).dims, (Dims{3, 2}));
  EXPECT_EQ(result_shape(*module, 1).dims, (Dims{3, 2}));
}

/// A result that is a transpose is as its operand is.
TEST(LayOutArrays, AnOpenOrderFollowsATranspose) {
  const auto module = read(program("auto", "auto", "auto"));
  const Orders orders = laid_out(*module);
  EXPECT_EQ(orders.arguments, (std::vector<Dims>{{1, 0}, {0}}));
  EXPECT_EQ(orders.results, (std::vector<Dims>{{1, 0}, {0, 1}}));
  EXPECT_EQ(result_shape(*module, 1).dims, (Dims{2, 3}));
}

TEST(LayOutArrays, OfThreeDimensions) {
  const auto module = read(
      "module @m {\n  func.func public @main(%x: tensor<2x3x4xf32> {mhlo.layout_mode = \"{1,0,2}\"}) -> "
      "(tensor<2x3x4xf32> {mhlo.layout_mode = \"{2,0,1:E(4)}\"}) {\n    return %x : tensor<2x3x4xf32>\n  }\n}\n");
  const Orders orders = laid_out(*module);
  EXPECT_EQ(orders.results, (std::vector<Dims>{{2, 0, 1}}));
  const Instruction& parameter = *module->entry->parameters()[0];
  EXPECT_EQ(parameter.shape.dims, (Dims{4, 2, 3}));
  const Instruction& root = *module->entry->root;
  EXPECT_EQ(root.shape.dims, (Dims{3, 2, 4}));
  EXPECT_EQ(root.operand(0).as<DimensionsAttributes>().dimensions, (Dims{1, 2, 0}));
}

TEST(LayOutArrays, DonationLosesItsResultWhereExtentsDiffer) {
  const std::string donates = "tf.aliasing_output = 0 : i32";
  const auto same = read(program("{0,1}", "{0,1}", "", donates));
  laid_out(*same);
  EXPECT_EQ(same->input_output_alias.size(), 1u);
  const auto other = read(program("{0,1}", "", "", donates));
  laid_out(*other);
  EXPECT_TRUE(other->input_output_alias.empty());
  ASSERT_EQ(other->buffer_donors.size(), 1u);
  EXPECT_EQ(other->buffer_donors[0].parameter, 0);
}

void expect_refused(const std::string& text, Fault fault, const std::string& words) {
  const auto module = read(text);
  const Result<Orders> orders = lay_out_arrays(*module);
  ASSERT_FALSE(orders.ok());
  EXPECT_EQ(orders.status().fault(), fault);
  EXPECT_NE(orders.status().message().find(words), std::string::npos) << orders.status().message();
}

TEST(LayOutArrays, TilesAndOtherWords) {
  expect_refused(program("{1,0:T(8,128)}", ""), Fault::kUnsupported, "argument 0 has the layout '{1,0:T(8,128)}'");
  expect_refused(program("", "", "{1,0:T(8,128)}"), Fault::kUnsupported, "result 1 has the layout");
  expect_refused(program("", "", "{1,0:E(4)T(2)}"), Fault::kUnsupported, "tiles");
  for (const char* layout :
       {"{0}", "{0,0}", "{0,2}", "{0,-1}", "{", "rows", "{0,1", "{0:E(4)}", "{99999999999999999999,0}"}) {
    expect_refused(program(layout, ""), Fault::kInput, "expected each of its 2 dimensions once");
  }
}

}  // namespace
}  // namespace lowtide::engine
