// A row for each program: its extents made small, what stays and why. Exit 1 where a program can't be read again.
//   resize_table [--few N] [--reasons] [--print] FILE...
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

#include "analysis/leaf_bytes.h"
#include "ops/verify.h"
#include "passes/resize/resize.h"
#include "text/hlo.h"
#include "text/input.h"

using namespace lowtide::engine;

namespace {

struct Options {
  int64_t few = 16;
  bool reasons = false, print = false;
};

double largest_bytes(const Module& module) {
  double largest = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->shape.is_array()) largest = std::max(largest, static_cast<double>(safe_logical_bytes(i->shape)));
    }
  }
  return largest;
}

bool show(const std::string& path, const Options& options) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto input = read_input(path);
  if (!input.ok()) {
    fmt::print("[SKIP] {}\n", input.status().message());
    return true;
  }
  const auto start = std::chrono::steady_clock::now();
  const ModuleExtents extents(*input->module);
  const auto resized = resize(*input->module, extents, small_extents(extents, options.few));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!resized.ok()) {
    fmt::print("{}: {}\n", name, resized.status().message());
    return false;
  }
  const auto again = parse_hlo(std::make_shared<const Source>(Source{"resized.hlo", print_hlo(*resized->module)}));
  const Status status = again.ok() ? verify(**again) : again.status();
  int64_t stays = 0;
  for (const ExtentClass& c : resized->classes) stays += c.now > 64 ? 1 : 0;
  fmt::print("{:<44} {:>3} stay large  largest {:10.1f} -> {:8.3f} MiB  {:5.2f} s  {}\n", name, stays,
             largest_bytes(*input->module) / 1048576, largest_bytes(*resized->module) / 1048576, seconds,
             resized->summary().substr(0, 100));
  for (const ExtentClass& c : resized->classes) {
    if (options.reasons && c.now > options.few && !c.reason.empty())
      fmt::print("    {} stays {}: {}\n", c.extent, c.now, c.reason);
  }
  if (options.print) fmt::print("{}", print_hlo(*resized->module));
  if (!status.ok()) fmt::print("  {}\n", status.message());
  return status.ok();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bool ok = true;
  for (int k = 1; k < argc; ++k) {
    const std::string_view word = argv[k];
    if (word == "--few" && k + 1 < argc)
      options.few = std::atoll(argv[++k]);
    else if (word == "--reasons")
      options.reasons = true;
    else if (word == "--print")
      options.print = true;
    else
      ok &= show(argv[k], options);
  }
  return ok ? 0 : 1;
}
