// What each of several devices runs by itself: the region where that is all, and a refusal wherever a partitioner would
// have to say it.
#include "passes/each_device.h"

#include <gtest/gtest.h>

#include <string>

#include "ops/verify.h"
#include "text/hlo.h"
#include "text/module_bytes.h"

namespace lowtide::engine {
namespace {

/// pmap's form: x divided over i, y whole; the region's body and the borders' shardings are the test's to change.
std::string program(const std::string& body, const std::string& in_x = "\"i\"", const std::string& out = "\"i\"",
                    const std::string& behind = "", const std::string& result = "%r") {
  return "module @step attributes {mhlo.num_partitions = 4 : i32} {\n"
         "  sdy.mesh @mesh = <[\"i\"=4]>\n"
         "  func.func public @main(%x: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"i\"}, {}]>, "
         "tf.aliasing_output = 0 : i32}, %y: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> "
         "(tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{" +
         out +
         "}, {}]>}) {\n"
         "    %r = sdy.manual_computation(%x, %y) in_shardings=[<@mesh, [{" +
         in_x +
         "}, {}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{\"i\"}, {}]>] manual_axes={\"i\"} (%a: tensor<2x3xf32>, "
         "%b: tensor<3xf32>) {\n" +
         body +
         "      sdy.return %s : tensor<2x3xf32>\n"
         "    } : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>\n" +
         behind + "    return " + result + " : tensor<8x3xf32>\n  }\n}\n";
}

constexpr const char* kAdd =
    "      %w = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>\n"
    "      %s = stablehlo.add %a, %w : tensor<2x3xf32>\n";

std::unique_ptr<Module> read(const std::string& text) {
  auto module = parse_module(text, "step.mlir");
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? module.take() : nullptr;
}

void expect_refused(const std::string& text, const std::string& why) {
  const auto module = read(text);
  ASSERT_TRUE(module);
  const std::string before = print_hlo(*module);
  const Status status = become_one_of_many(*module);
  EXPECT_EQ(status.fault(), Fault::kUnsupported) << why;
  EXPECT_NE(status.message().find("4 devices"), std::string::npos) << status.message();
  EXPECT_EQ(print_hlo(*module), before) << why;
}

TEST(EachDevice, ARegionThatIsAllOfTheProgram) {
  const auto module = read(program(kAdd));
  ASSERT_TRUE(module);
  const Status status = become_one_of_many(*module);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_TRUE(verify(*module).ok()) << verify(*module).message();
  EXPECT_EQ(to_string(module->entry->root->shape), "f32[2,3]");
  EXPECT_EQ(to_string(module->entry->parameters()[0]->shape), "f32[2,3]");
  EXPECT_EQ(to_string(module->entry->parameters()[1]->shape), "f32[3]");
  EXPECT_EQ(module->input_output_alias.size(), 1u);
  EXPECT_EQ(print_hlo(*module).find("custom-call"), std::string::npos) << print_hlo(*module);
  const std::string again = print_hlo(*module);
  EXPECT_TRUE(become_one_of_many(*module).ok());
  EXPECT_EQ(print_hlo(*module), again);
}

TEST(EachDevice, RegionsBehindEachOther) {
  const auto module =
      read(program(kAdd, "\"i\"", "\"i\"",
                   "    %q = sdy.manual_computation(%r) in_shardings=[<@mesh, [{\"i\"}, {}]>] "
                   "out_shardings=[<@mesh, [{\"i\"}, {}]>] manual_axes={\"i\"} (%c: tensor<2x3xf32>) {\n"
                   "      %t = stablehlo.negate %c : tensor<2x3xf32>\n"
                   "      sdy.return %t : tensor<2x3xf32>\n"
                   "    } : (tensor<8x3xf32>) -> tensor<8x3xf32>\n",
                   "%q"));
  ASSERT_TRUE(module);
  const Status status = become_one_of_many(*module);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_TRUE(verify(*module).ok()) << verify(*module).message();
  EXPECT_EQ(to_string(module->entry->root->shape), "f32[2,3]");
}

TEST(EachDevice, WhatAPartitionerWouldHaveToSay) {
  expect_refused(program("      %s = \"stablehlo.all_reduce\"(%a) <{replica_groups = dense<[[0, 1, 2, 3]]> : "
                         "tensor<1x4xi64>}> ({\n      ^bb0(%l: tensor<f32>, %m: tensor<f32>):\n"
                         "        %n = stablehlo.add %l, %m : tensor<f32>\n        stablehlo.return %n : tensor<f32>\n"
                         "      }) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"),
                 "devices talk");
  expect_refused(program("      %p = stablehlo.partition_id : tensor<ui32>\n"
                         "      %f = stablehlo.convert %p : (tensor<ui32>) -> tensor<f32>\n"
                         "      %s = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2x3xf32>\n"),
                 "a device asks who it is");
  std::string open = program(kAdd);
  const std::string said = " {sdy.sharding = #sdy.sharding<@mesh, [{\"i\"}, {}]>})";
  open.replace(open.find(said), said.size(), ")");
  expect_refused(open, "nobody states how the result is divided");
  expect_refused(program(kAdd, "\"i\"", ""), "the result is whole, and the region's is divided");
  expect_refused(program(kAdd, "\"i\"", "\"i\"", "    %q = stablehlo.negate %r : tensor<8x3xf32>\n", "%q"),
                 "something stands behind the region");
  std::string partly = program(kAdd);
  partly.replace(partly.find("[\"i\"=4]"), 7, "[\"i\"=4, \"j\"=1]");
  expect_refused(partly, "an axis is left to the partitioner");
}

}  // namespace
}  // namespace lowtide::engine
