// Forms the work of programs and checks every region; a row each: what is stored, and how much of it.
//   work_table [--list] [--run] FILE...      --run: in the interpreter on seeded arguments, against the module itself
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "interp/interpreter.h"
#include "passes/pass.h"
#include "region/interpret.h"
#include "region/text.h"
#include "target/cpu.h"
#include "text/input.h"

using namespace lowtide::engine;

namespace {

/// Empty, or what is wrong.
std::string row_of(const std::string& path, bool list, bool run) {
  auto input = read_input(path);
  if (!input.ok()) return input.status().message();
  Module& module = *input->module;
  if (const auto passes = run_passes(module, execution_pipeline(), cpu_target()); !passes.ok())
    return passes.status().message();
  const auto start = std::chrono::steady_clock::now();
  const ModuleWork work = form_work(module, cpu_target());
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  const WorkCount count = count_work(work);
  fmt::print(
      "{:<44} {:>6} instr {:>5} regions {:>4} lib {:>3} ctl {:>4} view {:>4} other  {:>6} ops {:>6} distinct  stored "
      "{:>10.1f} of {:>10.1f} MiB  {:>6.1f} ms\n",
      path.substr(path.rfind('/') + 1), module.instruction_count(), count.regions, count.libraries, count.controls,
      count.views, count.others, count.ops, count.computed, static_cast<double>(count.stored_bytes) / 1048576,
      static_cast<double>(count.all_bytes) / 1048576, time.count());
  if (list) fmt::print("{}", to_text(work));
  for (const auto& [computation, items] : work.of) {
    for (const Work& item : items) {
      if (item.kind != WorkKind::kRegion) continue;
      if (std::string fault = check_region(item.region); !fault.empty()) return fault + "\n  " + to_text(item.region);
    }
  }
  if (run) {
    const auto want = interpret(module, seeded_arguments(module, 1));
    if (!want.ok()) {
      fmt::print("[SKIP] {}\n", want.status().message());
      return "";
    }
    const auto got = interpret(work, seeded_arguments(module, 1));
    if (!got.ok()) return got.status().message();
    for (size_t k = 0; k < want->size(); ++k) {
      if (!std::ranges::equal((*want)[k]->bytes(), (*got)[k]->bytes())) return fmt::format("out{} differs", k);
    }
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  bool list = false, run = false;
  int failed = 0;
  for (int k = 1; k < argc; ++k) {
    if (std::strcmp(argv[k], "--list") == 0 || std::strcmp(argv[k], "--run") == 0) {
      (argv[k][2] == 'l' ? list : run) = true;
      continue;
    }
    if (const std::string fault = row_of(argv[k], list, run); !fault.empty()) {
      fmt::print("[FAIL] {}: {}\n", argv[k], fault);
      ++failed;
    }
  }
  return failed != 0;
}
