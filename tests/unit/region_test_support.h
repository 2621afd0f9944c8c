#pragma once
/// A computation as one region: lowered, executed by definition and compared with the interpreter.

#include <gtest/gtest.h>
#include <algorithm>

#include <cstring>
#include <map>
#include <set>
#include <string>

#include "analysis/leaves.h"
#include "interp/interpreter.h"
#include "ops/execute.h"
#include "ops/op_rule.h"
#include "region/region.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {

struct OneRegion {
  std::unique_ptr<Module> module;
  Region region;
};

/// The entry computation of this text; `body` alone is put into a module's frame. Stored are parameters, constants of
/// several values, and the results; updates in place where the operations have them and `in_place` is set.
inline OneRegion one_region(std::string text, bool in_place = true) {
  if (text.find("HloModule") == std::string::npos) text = "HloModule m\nENTRY main {\n" + text + "\n}";
  auto parsed = parse_hlo(std::make_shared<Source>(Source{"test.hlo", std::move(text)}));
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  OneRegion made;
  made.module = parsed.take();
  const Computation& entry = *made.module->entry;
  std::set<const Instruction*> ops;
  for (const auto& i : entry.instructions()) {
    const OpRole role = cpu_target().role_of(*i);
    if (resolve({i.get(), 0}).instruction != i.get() || role == OpRole::kNone || role == OpRole::kSource) continue;
    made.region.ops.push_back(i.get());
    ops.insert(i.get());
  }
  std::set<LeafRef> inputs;
  for (const Instruction* op : made.region.ops) {
    for (const Instruction* operand : op->operands) {
      for (int32_t leaf = 0; leaf < leaf_count(operand->shape); ++leaf) {
        const LeafRef array = resolve({operand, leaf});
        if (!ops.contains(array.instruction) && inputs.insert(array).second) made.region.inputs.push_back(array);
      }
    }
  }
  for (int32_t leaf = 0; leaf < leaf_count(entry.root->shape); ++leaf) {
    const LeafRef output = resolve({entry.root, leaf});
    EXPECT_TRUE(ops.contains(output.instruction)) << "a result is no operation";
    made.region.outputs.push_back(output);
    LeafRef update;
    const OpRule& rule = rule_of(output.instruction->opcode);
    if (in_place && has_update(*output.instruction) && rule.updated_operand) {
      const int k = rule.updated_operand(*output.instruction, output.leaf);
      if (k != kNoId) update = resolve({output.instruction->operands[k], 0});
      if (update.instruction && !inputs.contains(update)) update = {};
    }
    made.region.updates.push_back(update);
  }
  EXPECT_EQ(check_region(made.region), "");
  return made;
}

/// Runs it: buffers of inputs from the arguments and constants, one value per output.
inline std::vector<Value> execute_region(const OneRegion& one, const Nest& nest, const std::vector<Value>& arguments) {
  const auto value_of = [&](const LeafRef& leaf) -> Value {
    if (const auto* constant = leaf.instruction->if_as<ConstantAttributes>()) return constant->value;
    Value value = arguments[leaf.instruction->as<ParameterAttributes>().number];
    for (const int64_t part : leaf_index(leaf.instruction->shape, leaf.leaf)) {
      value = value->parts()[part];
    }
    return value;
  };
  std::vector<std::shared_ptr<Literal>> held;
  for (const LeafRef& input : one.region.inputs) held.push_back(std::make_shared<Literal>(*value_of(input)));
  std::vector<Value> results;
  for (size_t k = 0; k < one.region.outputs.size(); ++k) {
    const LeafRef& output = one.region.outputs[k];
    auto result = std::make_shared<Literal>(*leaf_shape(output.instruction->shape, output.leaf));
    std::ranges::fill(result->bytes(), std::byte{0x5a});  // what isn't written shows
    if (one.region.updates[k].instruction) {
      std::ranges::copy(value_of(one.region.updates[k])->bytes(), result->bytes().begin());
    }
    held.push_back(result);
    results.push_back(result);
  }
  std::vector<void*> buffers;
  for (const auto& literal : held) buffers.push_back(literal->bytes().data());
  execute(nest, buffers);
  return results;
}

/// Lowers the computation as one region; every result must have the interpreter's bits. Returns the nest's text.
inline std::string expect_region_matches(const std::string& text, bool in_place = true, uint64_t seed = 1) {
  const OneRegion one = one_region(text, in_place);
  const Nest nest = lower(one.region);
  EXPECT_EQ(check_nest(nest), "") << to_text(nest);
  const std::vector<Value> arguments = seeded_arguments(*one.module, seed);
  const auto expected = interpret(*one.module, arguments);
  EXPECT_TRUE(expected.ok()) << expected.status().message();
  if (!expected.ok()) return "";
  const std::vector<Value> results = execute_region(one, nest, arguments);
  for (size_t k = 0; k < results.size(); ++k) {
    const auto& a = *results[k];
    const auto& b = *(*expected)[k];
    EXPECT_EQ(a.bytes().size(), b.bytes().size());
    for (size_t i = 0; i < a.bytes().size(); ++i) {
      if (a.bytes()[i] == b.bytes()[i]) continue;
      ADD_FAILURE() << "result " << k << " differs in byte " << i << " of\n" << text << "\n" << to_text(nest);
      break;
    }
  }
  return to_text(nest);
}

}  // namespace lowtide::engine
