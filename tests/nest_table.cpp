// Lowers the regions of programs to nests, a row each; faults are told.
//   nest_table [--list] [--run] [--plain] FILE...
//   --run: executes every nest by definition and compares with the region's operations; --plain: legalised first
#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "analysis/leaves.h"
#include "interp/compare.h"
#include "interp/interpreter.h"
#include "nest/legalise.h"
#include "ops/execute.h"
#include "ops/tabulate.h"
#include "passes/pass.h"
#include "region/interpret.h"
#include "region/text.h"
#include "target/cpu.h"
#include "text/input.h"

using namespace lowtide::engine;

namespace {

struct Options {
  bool list = false, run = false, plain = false;
};

struct Counts {
  size_t regions = 0, pieces = 0, nodes = 0, most_nodes = 0, selects = 0;
  double most_ms = 0, ms = 0;
};

std::string lower_all(const ModuleWork& work, const Options& options, Counts& counts) {
  for (const auto& computation : work.module->computations()) {
    const auto found = work.of.find(computation.get());
    if (found == work.of.end()) continue;
    for (const Work& item : found->second) {
      if (item.kind != WorkKind::kRegion) continue;
      const std::string& name = item.region.outputs.front().instruction->name;
      if (const std::string fault = check_region(item.region); !fault.empty()) return name + ": " + fault;
      const auto start = std::chrono::steady_clock::now();
      const Nest nest = lower(item.region);
      const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
      if (const std::string fault = check_nest(nest); !fault.empty()) return name + ": " + fault + "\n" + to_text(nest);
      if (options.plain) {
        const Nest plain = legalise(nest);
        std::string fault = check_nest(plain);
        if (fault.empty()) fault = check_plain(plain);
        if (!fault.empty()) return name + ", legalised: " + fault + "\n" + to_text(nest);
        if (options.list) fmt::print("-- {}, legalised\n{}", name, to_text(plain));
      }
      ++counts.regions;
      for (const Item& in : nest.blocks[0].items) counts.pieces += in.kind == Item::kLoop;
      for (const Node& node : nest.nodes) {
        counts.selects += node.kind == NodeKind::kOperation && node.opcode == Opcode::kSelect;
      }
      counts.nodes += nest.nodes.size();
      counts.most_nodes = std::max(counts.most_nodes, nest.nodes.size());
      counts.ms += time.count();
      counts.most_ms = std::max(counts.most_ms, time.count());
      if (options.list) fmt::print("-- {}\n{}", name, to_text(nest));
    }
  }
  return "";
}

/// By the nest, compared with the definition.
Result<std::vector<Value>> run_nest(const Region& region, std::span<const Value> inputs, std::span<const Value> updated,
                                    bool plain) {
  Nest nest = lower(region);
  if (plain) nest = tabulate(legalise(nest));
  std::vector<std::shared_ptr<Literal>> held;
  for (const Value& input : inputs) held.push_back(std::make_shared<Literal>(*input));
  std::vector<Value> results;
  for (size_t k = 0; k < region.outputs.size(); ++k) {
    const LeafRef& output = region.outputs[k];
    const bool update = k < updated.size() && updated[k];
    auto result = update ? std::make_shared<Literal>(*updated[k])
                         : std::make_shared<Literal>(*leaf_shape(output.instruction->shape, output.leaf));
    if (!update) std::memset(result->bytes().data(), 0x5a, result->bytes().size());
    results.push_back(result);
    held.push_back(std::move(result));
  }
  std::vector<void*> buffers;
  for (const auto& literal : held) buffers.push_back(literal->bytes().data());
  execute(nest, buffers);
  LT_ASSIGN_OR_RETURN(const std::vector<Value> expected, interpret(region, inputs, updated));
  for (size_t k = 0; k < results.size(); ++k) {
    const ElementType type = expected[k]->shape().type;
    const bool narrow = is_floating(type) && type_bits(type) < 32;
    const Tolerance tolerance = narrow ? Tolerance{0.02, 0.01} : Tolerance{2e-5, 1e-5};
    const Comparison comparison = compare(*results[k], *expected[k], tolerance, region.outputs[k].instruction->name);
    if (!comparison.agrees()) return Status::input(comparison.first + "\n" + to_text(region) + to_text(nest));
  }
  return expected;  // so that differences within tolerance don't add up
}

/// Empty, or what is wrong.
std::string row_of(const std::string& path, const Options& options) {
  auto input = read_input(path);
  if (!input.ok()) return input.status().message();
  Module& module = *input->module;
  if (const auto passes = run_passes(module, execution_pipeline(), cpu_target()); !passes.ok())
    return passes.status().message();
  const ModuleWork work = form_work(module, cpu_target());
  Counts counts;
  if (std::string fault = lower_all(work, options, counts); !fault.empty()) return fault;
  fmt::print("{:<44} {:>5} nests {:>5} pieces {:>7} nodes, most {:>5} {:>5} selects {:>8.1f} ms, most {:>6.1f}\n",
             path.substr(path.rfind('/') + 1), counts.regions, counts.pieces, counts.nodes, counts.most_nodes,
             counts.selects, counts.ms, counts.most_ms);
  if (!options.run) return "";
  const auto run = [&](const Region& region, std::span<const Value> inputs, std::span<const Value> updated) {
    return run_nest(region, inputs, updated, options.plain);
  };
  const auto results = interpret(work, seeded_arguments(module, 1), run);
  if (!results.ok() && results.status().fault() == Fault::kUnsupported) {
    fmt::print("[SKIP] {}\n", results.status().message());
    return "";
  }
  return results.ok() ? "" : results.status().message();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  int failed = 0;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    if (argument == "--list") {
      options.list = true;
    } else if (argument == "--run") {
      options.run = true;
    } else if (argument == "--plain") {
      options.plain = true;
    } else if (const std::string fault = row_of(argument, options); !fault.empty()) {
      fmt::print("[FAIL] {}: {}\n", argument, fault);
      ++failed;
    }
  }
  return failed != 0;
}
