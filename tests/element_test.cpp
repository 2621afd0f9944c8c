// Every operation of a program's entry as a region of its own, lowered to a nest and executed by definition, against
// the interpreter: stored from its own loops (element or update), and virtual under a copy (element alone).
//   element_test [--spoil] [--compiled] [--limit EVALUATIONS] FILE|FOLDER...
// --spoil changes one expected element of every result, which must be noticed: the control. --compiled runs machine
// code instead of the definition.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "analysis/leaves.h"
#include "codegen/kernel.h"
#include "interp/compare.h"
#include "interp/interpreter.h"
#include "nest/legalise.h"
#include "ops/execute.h"
#include "ops/op_rule.h"
#include "ops/tabulate.h"
#include "passes/inline_bodies.h"
#include "region/footprint.h"
#include "region/interpret.h"
#include "region/value_graph.h"
#include "target/cpu.h"
#include "target/roles.h"
#include "text/input.h"

using namespace lowtide::engine;
namespace fs = std::filesystem;

namespace {

struct Counts {
  int64_t compared = 0, wrong = 0, not_made = 0, too_long = 0;
};

struct Run {
  bool spoil = false, compiled = false;
  double limit = 2e6;  ///< evaluations of elements in one region
  std::map<std::string, Counts> counts;
  std::string path;
};

using Arrays = std::map<LeafRef, Value>;

bool is_array_result(const Instruction& instruction) {
  bool arrays = leaf_count(instruction.shape) > 0;
  for_each_leaf(instruction.shape, [&](const ShapeIndex&, const Shape& leaf) { arrays = arrays && leaf.is_array(); });
  return arrays;
}

Region region_of(const std::vector<const Instruction*>& ops) {
  Region region{ops, {}, {}, {}};
  for (const Instruction* op : ops) {
    for (const Instruction* operand : op->operands) {
      for (int32_t leaf = 0; leaf < leaf_count(operand->shape); ++leaf) {
        const LeafRef array = resolve({operand, leaf});
        const bool inside = std::find(ops.begin(), ops.end(), array.instruction) != ops.end();
        const bool known = std::find(region.inputs.begin(), region.inputs.end(), array) != region.inputs.end();
        if (!inside && !known) region.inputs.push_back(array);
      }
    }
  }
  const Instruction& root = *ops.back();
  const OpRule& rule = rule_of(root.opcode);
  for (int32_t leaf = 0; leaf < leaf_count(root.shape); ++leaf) {
    region.outputs.push_back({&root, leaf});
    LeafRef updated;
    if (has_update(root) && rule.updated_operand) {
      const int operand = rule.updated_operand(root, leaf);
      if (operand >= 0) updated = resolve({&root.operand(static_cast<size_t>(operand)), 0});
    }
    region.updates.push_back(updated);
  }
  return region;
}

Tolerance tolerance_of(ElementType type) {
  // Sums of products in another order; the small floats round every partial sum of a reduction.
  if (is_floating(type) && type_bits(type) < 32) return {0.02, 0.01};
  if (type == ElementType::kF64 || type == ElementType::kC128) return {1e-12, 1e-12};
  return {2e-5, 1e-5};
}

void spoil(Literal& literal) {
  if (literal.size() > 0)
    literal.bytes()[0] ^= std::byte{0x01}, literal.bytes()[literal.bytes().size() - 1] ^= std::byte{0x41};
}

/// Executes the region's nest; empty, or what is wrong.
std::string check(const Region& region, const Arrays& arrays, const std::vector<Value>& expected, const Run& run) {
  const bool spoiled = run.spoil;
  if (const std::string broken = check_region(region); !broken.empty()) return "region: " + broken;
  const Nest nest = lower(region);
  if (const std::string broken = check_nest(nest); !broken.empty()) return "nest: " + broken;
  std::vector<std::shared_ptr<Literal>> buffers;
  for (const LeafRef& input : region.inputs) buffers.push_back(std::make_shared<Literal>(*arrays.at(input)));
  for (size_t k = 0; k < region.outputs.size(); ++k) {
    const LeafRef& updated = region.updates[k];
    if (updated.instruction) {
      buffers.push_back(std::make_shared<Literal>(*arrays.at(updated)));
    } else {
      buffers.push_back(std::make_shared<Literal>(expected[k]->shape()));
      std::ranges::fill(buffers.back()->bytes(), std::byte{0x55});
    }
  }
  std::vector<void*> addresses;
  for (const auto& buffer : buffers) addresses.push_back(buffer->bytes().data());
  if (run.compiled) {
    const Nest plain = tabulate(legalise(nest));
    if (const std::string refused = can_compile(plain); !refused.empty()) return "codegen: " + refused;
    const auto kernels = compile_kernels({&plain, 1}, {.use_cache = false});
    if (!kernels.ok()) return "codegen: " + kernels.status().message();
    const Kernel& kernel = kernels->front();
    for (size_t piece = 0; piece < kernel.pieces.size(); ++piece) {
      kernel.run(addresses.data(), static_cast<int64_t>(piece), 0, kernel.pieces[piece].extent);
    }
  } else {
    execute(nest, addresses);
  }
  for (size_t k = 0; k < region.outputs.size(); ++k) {
    const Value got = buffers[region.inputs.size() + k];
    auto want = std::make_shared<Literal>(*expected[k]);
    if (spoiled) spoil(*want);
    const Comparison comparison = compare(*got, *want, tolerance_of(want->shape().type), fmt::format("leaf {}", k));
    if (comparison.agrees() == (spoiled && want->size() > 0)) {
      return spoiled ? "a changed element was not noticed" : comparison.first;
    }
  }
  return "";
}

class ModuleTest {
 public:
  ModuleTest(Module& module, Run& run) : module_(module), run_(run) {}

  void run() {
    if (!bind_parameters()) return;
    const size_t count = module_.entry->instructions().size();
    for (size_t k = 0; k < count; ++k) {
      Instruction& instruction = *module_.entry->instructions()[k];
      if (instruction.opcode == Opcode::kParameter || !is_array_result(instruction)) continue;
      if (resolve({&instruction, 0}) != LeafRef{&instruction, 0}) continue;
      if (instruction.opcode == Opcode::kConstant) {
        const Value& value = instruction.as<ConstantAttributes>().value;
        if (value->known()) arrays_[{&instruction, 0}] = value;
        continue;
      }
      const Region region = region_of({&instruction});
      const bool known = std::all_of(region.inputs.begin(), region.inputs.end(),
                                     [&](const LeafRef& input) { return arrays_.contains(input); });
      if (!known) continue;
      std::vector<Value> inputs, updated;
      for (const LeafRef& input : region.inputs) inputs.push_back(arrays_.at(input));
      for (const LeafRef& update : region.updates) updated.push_back(update.instruction ? arrays_.at(update) : nullptr);
      const auto expected = interpret(region, inputs, updated);
      if (!expected.ok()) continue;  // what the interpreter leaves out
      for (size_t leaf = 0; leaf < region.outputs.size(); ++leaf) arrays_[region.outputs[leaf]] = (*expected)[leaf];
      test(instruction, region, *expected);
      if (has_element(instruction)) together_.push_back(&instruction);
    }
    test_together();
  }

 private:
  bool bind_parameters() {
    const std::vector<Value> arguments = seeded_arguments(module_, 1);
    for (const Instruction* parameter : module_.entry->parameters()) {
      int32_t leaf = 0;
      if (!parameter) return false;
      bind(*parameter, arguments[parameter->as<ParameterAttributes>().number], leaf);
    }
    return true;
  }
  void bind(const Instruction& parameter, const Value& value, int32_t& leaf) {
    if (!value->shape().is_tuple()) {
      arrays_[{&parameter, leaf++}] = value;
      return;
    }
    for (const Value& part : value->parts()) bind(parameter, part, leaf);
  }

  void test(Instruction& instruction, const Region& region, const std::vector<Value>& expected) {
    Counts& counts = run_.counts[std::string(opcode_name(instruction.opcode))];
    if (!has_element(instruction) && !has_update(instruction)) {
      ++counts.not_made;
      return;
    }
    if (footprint(region, cpu_target().cost()).evaluations > run_.limit) {
      ++counts.too_long;
      return;
    }
    report(counts, instruction, "stored", check(region, arrays_, expected, run_));
    if (!has_element(instruction)) return;
    for (size_t leaf = 0; leaf < expected.size(); ++leaf) {
      // a copy of one leaf: what it copies is virtual
      const Instruction* source = &instruction;
      if (instruction.shape.is_tuple()) {
        if (instruction.shape.elements.size() != expected.size()) return;  // nested bundles
        auto part = std::make_unique<Instruction>();
        part->opcode = Opcode::kGetTupleElement;
        part->shape = expected[leaf]->shape();
        part->operands = {&instruction};
        part->attributes = TupleIndexAttributes{static_cast<int64_t>(leaf)};
        source = add(std::move(part));
      }
      auto copy = std::make_unique<Instruction>();
      copy->opcode = Opcode::kCopy;
      copy->shape = expected[leaf]->shape();
      copy->operands = {const_cast<Instruction*>(source)};
      const Instruction* reader = add(std::move(copy));
      report(counts, instruction, "virtual", check(region_of({&instruction, reader}), arrays_, {expected[leaf]}, run_));
    }
  }

  void test_together() {
    const Computation& entry = *module_.entry;
    const std::set<const Instruction*> inside(together_.begin(), together_.end());
    std::set<LeafRef> read;  // from outside
    for (const auto& user : entry.instructions()) {
      if (inside.contains(user.get()) || user->name.starts_with("added.") || is_name(user->opcode)) continue;
      for (const Instruction* operand : user->operands) {
        for (int32_t leaf = 0; leaf < leaf_count(operand->shape); ++leaf) read.insert(resolve({operand, leaf}));
      }
    }
    for (int32_t leaf = 0; leaf < leaf_count(entry.root->shape); ++leaf) read.insert(resolve({entry.root, leaf}));
    Region region = region_of(together_.empty() ? std::vector{static_cast<const Instruction*>(entry.root)} : together_);
    region.outputs.clear();
    std::vector<Value> expected;
    for (const LeafRef& leaf : read) {
      if (!inside.contains(leaf.instruction)) continue;
      region.outputs.push_back(leaf);
      expected.push_back(arrays_.at(leaf));
    }
    region.updates.assign(region.outputs.size(), {});
    Counts& counts = run_.counts["(together)"];
    if (region.outputs.empty()) return;
    if (footprint(region, cpu_target().cost()).evaluations > run_.limit) {
      ++counts.too_long;
      return;
    }
    report(counts, *region.outputs[0].instruction, "together", check(region, arrays_, expected, run_));
  }

  const Instruction* add(std::unique_ptr<Instruction> instruction) {
    instruction->name = fmt::format("added.{}", added_++);
    return module_.entry->append(std::move(instruction));
  }

  void report(Counts& counts, const Instruction& instruction, const char* how, const std::string& fault) {
    ++counts.compared;
    if (fault.empty()) return;
    ++counts.wrong;
    fmt::print("{}: {} {} = {} ({}): {}\n", run_.path, opcode_name(instruction.opcode), instruction.name,
               to_string_without_layout(instruction.shape), how, fault);
  }

  Module& module_;
  Run& run_;
  Arrays arrays_;
  std::vector<const Instruction*> together_;
  int added_ = 0;
};

void test_file(const std::string& path, Run& run) {
  auto input = read_input(path);
  if (!input.ok()) return;
  Module& module = *input->module;
  run.path = path;
  inline_bodies(module, [](const Instruction& i) { return i.opcode == Opcode::kCall || i.opcode == Opcode::kFusion; });
  ModuleTest(module, run).run();
}

}  // namespace

int main(int argc, char** argv) {
  Run run;
  std::vector<std::string> files;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    if (argument == "--spoil") {
      run.spoil = true;
    } else if (argument == "--compiled") {
      run.compiled = true;
    } else if (argument == "--limit" && k + 1 < argc) {
      run.limit = std::stod(argv[++k]);
    } else if (fs::is_directory(argument)) {
      for (const auto& entry : fs::recursive_directory_iterator(argument)) {
        if (entry.path().extension() == ".hlo") files.push_back(entry.path());
      }
    } else if (fs::exists(argument)) {
      files.push_back(argument);
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    fmt::print("SKIP: no such programs\n");
    return 0;
  }
  for (const std::string& file : files) test_file(file, run);
  Counts all;
  for (const auto& [name, counts] : run.counts) {
    fmt::print("{:24} {:6} compared {:4} wrong {:5} without element {:4} too long\n", name, counts.compared,
               counts.wrong, counts.not_made, counts.too_long);
    all.compared += counts.compared;
    all.wrong += counts.wrong;
  }
  fmt::print("{} programs, {} comparisons, {} wrong\n", files.size(), all.compared, all.wrong);
  return all.wrong == 0 && all.compared > 0 ? 0 : 1;
}
