// Schedules programs and follows each with the checker; a row of JSON each: sizes, copies that stay and why.
//   schedule_table [--steps] [--storages] FILE...
#include <fmt/format.h>

#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

#include "compile/compile.h"
#include "region/identity.h"
#include "schedule/check/check_program.h"
#include "schedule/check/order_proof.h"
#include "schedule/dependencies.h"
#include "schedule/nest_cache.h"
#include "support/test_context.h"
#include "target/cpu.h"
#include "text/input.h"

using namespace lowtide::engine;

namespace {

void collect_copies(const std::vector<ProgramStep>& steps, const Program& program, nlohmann::json& copies) {
  for (const ProgramStep& s : steps) {
    if (s.kind == StepKind::kCopy) {
      int64_t bytes = 0;
      for (const int32_t w : s.writes) bytes += program.slots[static_cast<size_t>(w)].bytes;
      copies.push_back({{"at", s.at}, {"bytes", bytes}, {"reason", s.reason}});
    }
    for (const auto& block : s.blocks) collect_copies(block, program, copies);
  }
}

void print_storages(const Program& program) {
  for (const Storage& s : program.storages) {
    const char* kinds[] = {"argument", "output", "constant", "temporary"};
    fmt::print("  {:<9} {:>4} {:>14} [{},{}) at {}{}{}:", kinds[static_cast<size_t>(s.kind)], s.number, s.bytes, s.born,
               s.dies, s.offset, s.donated ? " donated" : "", s.holds_output ? " result" : "");
    for (const LeafRef& v : s.values) fmt::print(" %{}.{}", v.instruction->name, v.leaf);
    fmt::print("\n");
  }
}

void print_steps(const std::vector<ProgramStep>& steps, int depth) {
  const char* kinds[] = {"kernel", "library", "copy", "while", "conditional", "rotate", "other"};
  for (const ProgramStep& s : steps) {
    fmt::print("  {:>5} {:{}}{} %{} reads {} writes {} {}\n", s.at, "", 2 * depth, kinds[static_cast<size_t>(s.kind)],
               s.instruction->name, fmt::join(s.reads, ","), fmt::join(s.writes, ","), s.reason);
    for (const auto& block : s.blocks) {
      fmt::print("        {:{}}block\n", "", 2 * depth);
      print_steps(block, depth + 1);
    }
  }
}

/// Empty, or what is wrong.
std::string row_of(const std::string& path, bool steps, bool storages) {
  auto input = read_input(path, InputStage::kLatest, test_context());
  if (!input.ok()) return input.status().message();
  const std::clock_t start = std::clock();
  const auto compiled = compile_plan(*input->module, cpu_target());
  if (!compiled.ok()) return compiled.status().message();
  const Program& program = *compiled->program;
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const std::clock_t planned = std::clock();
  std::string fault = check_program(program, cpu_target(), INT64_MAX, [&](const Region& region) {
    const auto known = compiled->nests->of(region, identity(region));
    return std::shared_ptr<const Nest>(known, &known->nest);
  });
  if (fault.empty()) {
    Program ordered = program;
    find_dependencies(ordered);
    fault = fault_of_order(ordered);
  }
  const double check_seconds = static_cast<double>(std::clock() - planned) / CLOCKS_PER_SEC;
  nlohmann::json copies = nlohmann::json::array();
  collect_copies(program.steps, program, copies);
  const nlohmann::json row{{"file", path},
                           {"argument_bytes", program.argument_bytes},
                           {"output_bytes", program.output_bytes},
                           {"alias_bytes", program.alias_bytes},
                           {"temp_bytes", program.temp_bytes},
                           {"load_bytes", program.load_bytes},
                           {"kernels", program.kernels},
                           {"instructions", program.module->instruction_count()},
                           {"processor_seconds", seconds},
                           {"check_seconds", check_seconds},
                           {"copies", copies},
                           {"refused", program.refused},
                           {"fault", fault}};
  fmt::print("{}\n", row.dump());
  if (steps) print_steps(program.steps, 0);
  if (storages) print_storages(program);
  return fault;
}

}  // namespace

int main(int argc, char** argv) {
  bool steps = false, storages = false;
  int failed = 0;
  for (int k = 1; k < argc; ++k) {
    if (std::strcmp(argv[k], "--steps") == 0) {
      steps = true;
    } else if (std::strcmp(argv[k], "--storages") == 0) {
      storages = true;
    } else if (const std::string fault = row_of(argv[k], steps, storages); !fault.empty()) {
      fmt::print("[FAIL] {}: {}\n", argv[k], fault);
      ++failed;
    }
  }
  return failed != 0;
}
