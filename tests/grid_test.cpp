// The nests of programs for threads of a grid.
//   grid_test [--spoil] [--seed N] [--most-evaluations N] FILE|FOLDER...
//   grid_test --write FOLDER --sm N... [--plain-set] FILE|FOLDER...
//   grid_test --record FOLDER --sm N [--seed N] [--most-evaluations N] FILE|FOLDER...
// First form: every nest that a program runs, thread by thread in random order on this machine, against execution by
// definition; and once more with each result over an operand where that is allowed. --spoil leaves out one thread of
// each, which must be noticed: the control. Second form: every nest as PTX, a file for each that differs; --plain-set:
// a nest with every plain operation of every type, too. Third form: for a device elsewhere (tests/external/
// grids_on_device.py), PTX with launches (cases.json) and what buffers hold before and after (cases.bin), as the first
// form has it on this machine; of programs that take more evaluations only what the largest nest needs to be timed.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "analysis/leaf_bytes.h"
#include "analysis/leaves.h"
#include "base/files.h"
#include "base/text_hash.h"
#include "interp/compare.h"
#include "interp/interpreter.h"
#include "nest/accesses.h"
#include "nest/legalise.h"
#include "nest/rebase.h"
#include "ops/execute.h"
#include "ops/tabulate.h"
#include "ops/verify.h"
#include "passes/pass.h"
#include "region/footprint.h"
#include "region/interpret.h"
#include "support/grid_run.h"
#include "support/plain_set.h"
#include "target/cpu.h"
#include "text/input.h"

using namespace lowtide::engine;
namespace fs = std::filesystem;

namespace {

/// Of devices as they are sold today; a backend asks the driver.
constexpr GridMachine kDevice{
    .block_threads = 256, .tile_columns = 32, .thread_elements = 4, .most_blocks = 2147483647};

struct Counts {
  int64_t programs = 0, nests = 0, distinct = 0, launches = 0, shared = 0, across = 0, one_thread = 0;
  int64_t same_bits = 0, alone = 0, in_place = 0, noticed = 0, not_run = 0, failed = 0;
};

constexpr double kMostBytesAlone = 2e7;

class Test {
 public:
  bool spoils = false, plain_set = false;
  uint64_t seed = 1;
  double most_evaluations = 3e5;
  std::string folder;
  bool records = false;
  std::vector<int32_t> processors;
  Counts counts;

  void program(const std::string& path) {
    auto input = read_input(path);
    if (!input.ok()) return;  // what is no program
    Module& module = *input->module;
    if (!run_passes(module, execution_pipeline(), cpu_target()).ok()) return;
    const ModuleWork work = form_work(module, cpu_target());
    ++counts.programs;
    path_ = path;
    evaluations_ = 0;
    if (!folder.empty() && !records) {
      for (const auto& computation : module.computations()) {
        const auto found = work.of.find(computation.get());
        if (found == work.of.end()) continue;
        for (const Work& item : found->second) {
          if (item.kind == WorkKind::kRegion) write(plain(lower(item.region)), item.region);
        }
      }
      return;
    }
    if (!input_is_runnable(module)) return;
    const auto run = [&](const Region& region, std::span<const Value> inputs, std::span<const Value> updated) {
      return compare_region(region, inputs, updated);
    };
    if (records && (evaluations_of(work) > most_evaluations || bytes_of_arguments(module) > kMostBytesAlone))
      return record_to_time(work);
    if (const auto results = interpret(work, seeded_arguments(module, 1), run); !results.ok()) ++counts.not_run;
  }

  bool write_records() {
    return write_file(folder + "/cases.json", cases_.dump()).ok() && write_file(folder + "/cases.bin", recorded_).ok();
  }

  /// The nest as PTX for each processor; equal ones once.
  void write(const Nest& nest, const std::string& name) {
    ++counts.nests;
    const TextHash hash = hash_text(to_text(nest));
    if (!written_.insert(hash).second) return;
    ++counts.distinct;
    const GridPlan plan = plan_grid(nest, kDevice);
    note(plan);
    for (const int32_t sm : processors) {
      for (const bool apart : {true, false}) {
        // in place or not: the one without promises is checked for one processor
        if (!apart && sm != processors.front()) continue;
        const auto ptx = compile_grid({.nest = &nest, .plan = &plan, .sm = sm, .apart = apart});
        if (!ptx.ok()) return fail(name, ptx.status().message());
        const std::string file = fmt::format("{}/{:016x}{}.sm_{}.ptx", folder, hash.low, apart ? "" : ".over", sm);
        if (!write_file(file, *ptx).ok()) return fail(name, "can't write " + file);
      }
    }
  }

 private:
  static bool input_is_runnable(const Module& module) { return verify_runnable(module).ok(); }

  static Nest plain(const Nest& nest) {
    Nest made = tabulate(legalise(nest));
    rebase(made);
    return made;
  }

  void write(const Nest& nest, const Region& region) { write(nest, region.outputs.front().instruction->name); }

  void note(const GridPlan& plan) {
    for (const GridLaunch& launch : plan.launches) {
      ++counts.launches;
      launch.shared.empty() ? ++counts.one_thread : ++counts.shared;
      counts.across += !launch.rows.empty();
    }
  }

  void fail(const std::string& name, const std::string& what) {
    ++counts.failed;
    fmt::print("[FAIL] {}: {}: {}\n", path_, name, what);
  }

  struct Buffers {
    std::vector<std::shared_ptr<Literal>> held;
    std::vector<void*> addresses;
  };

  static double bytes_of_arguments(const Module& module) {
    double sum = 0;
    for (const Instruction* p : module.entry->parameters()) sum += static_cast<double>(logical_bytes(p->shape));
    return sum;
  }

  static double evaluations_of(const ModuleWork& work) {
    double sum = 0;
    for (const auto& [computation, items] : work.of) {
      for (const Work& item : items) {
        if (item.kind == WorkKind::kRegion) sum += footprint(item.region, cpu_target().cost()).evaluations;
      }
    }
    return sum;
  }

  /// A case: its PTX, and how it is launched.
  nlohmann::json case_of(const Nest& nest, const std::string& name, bool apart) {
    const GridPlan plan = plan_grid(nest, kDevice);
    const std::string file = fmt::format("{:016x}{}.ptx", hash_text(to_text(nest)).low, apart ? "" : ".over");
    if (written_.insert(hash_text(file)).second) {
      const auto ptx = compile_grid({.nest = &nest, .plan = &plan, .sm = processors.front(), .apart = apart});
      if (!ptx.ok()) fail(name, ptx.status().message());
      if (ptx.ok() && !write_file(folder + "/" + file, *ptx).ok()) fail(name, "can't write " + file);
    }
    nlohmann::json entry{{"program", fs::path(path_).filename()}, {"name", name}, {"ptx", file}};
    for (const GridLaunch& launch : plan.launches) {
      const int64_t extent = plan.scalar.pieces[launch.piece].figures.extent;
      entry["launches"].push_back({{"threads", launch.threads()}, {"blocks", launch.blocks}, {"extent", extent}});
    }
    return entry;
  }

  /// Its place in cases.bin; equal contents are there once.
  int64_t put(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto [known, is_new] = places_.try_emplace(hash_text(text), static_cast<int64_t>(recorded_.size()));
    if (is_new) recorded_ += text;
    return known->second;
  }

  /// What a device must make of this nest with these operands; `over` names a result and the operand that it lies over.
  void record(const Nest& nest, const Region& region, const Buffers& before, const Buffers& after,
              std::optional<std::pair<size_t, size_t>> over) {
    nlohmann::json entry = case_of(nest, region.outputs.front().instruction->name, !over);
    for (size_t k = 0; k < before.held.size(); ++k) {
      const Literal& held = *before.held[k];
      nlohmann::json buffer{{"bytes", held.bytes().size()},
                            {"type", std::string(type_name(held.shape().type))},
                            {"before", put(held.bytes())}};
      if (k + region.outputs.size() >= before.held.size()) buffer["after"] = put(after.held[k]->bytes());
      entry["buffers"].push_back(std::move(buffer));
    }
    if (over) entry["over"] = {over->first, over->second};
    cases_.push_back(std::move(entry));
  }

  /// The largest nest of a program, to be timed.
  void record_to_time(const ModuleWork& work) {
    const Region* largest = nullptr;
    double most = 0;
    for (const auto& [computation, items] : work.of) {
      for (const Work& item : items) {
        if (item.kind != WorkKind::kRegion) continue;
        const double evaluations = footprint(item.region, cpu_target().cost()).evaluations;
        if (evaluations > most) most = evaluations, largest = &item.region;
      }
    }
    if (largest == nullptr) return;
    const Nest nest = plain(lower(*largest));
    ++counts.nests;
    nlohmann::json entry = case_of(nest, largest->outputs.front().instruction->name, true);
    for (const LeafRef& input : largest->inputs)
      entry["buffers"].push_back({{"bytes", logical_bytes(*leaf_shape(input.instruction->shape, input.leaf))}});
    for (const LeafRef& output : largest->outputs)
      entry["buffers"].push_back({{"bytes", logical_bytes(*leaf_shape(output.instruction->shape, output.leaf))}});
    cases_.push_back(std::move(entry));
  }

  static Buffers buffers_of(const Region& region, std::span<const Value> inputs, std::span<const Value> updated) {
    Buffers buffers;
    for (const Value& input : inputs) buffers.held.push_back(std::make_shared<Literal>(*input));
    for (size_t k = 0; k < region.outputs.size(); ++k) {
      const LeafRef& output = region.outputs[k];
      if (k < updated.size() && updated[k]) {
        buffers.held.push_back(std::make_shared<Literal>(*updated[k]));
        continue;
      }
      buffers.held.push_back(std::make_shared<Literal>(*leaf_shape(output.instruction->shape, output.leaf)));
      std::ranges::fill(buffers.held.back()->bytes(), std::byte{0x5a});
    }
    for (const auto& literal : buffers.held) buffers.addresses.push_back(literal->bytes().data());
    return buffers;
  }

  /// Sums of a few products are added up in pairs.
  static bool adds_up_few(const Nest& nest) {
    constexpr int64_t kFew = 8;
    return std::ranges::any_of(nest.loops,
                               [](const Loop& loop) { return loop.kind == LoopKind::kReduce && loop.extent <= kFew; });
  }

  static bool same_bytes(const Literal& a, const Literal& b) { return std::ranges::equal(a.bytes(), b.bytes()); }

  /// The region's results by definition, so that differences within tolerance don't add up.
  Result<std::vector<Value>> compare_region(const Region& region, std::span<const Value> inputs,
                                            std::span<const Value> updated) {
    const std::string& name = region.outputs.front().instruction->name;
    evaluations_ += footprint(region, cpu_target().cost()).evaluations;
    if (evaluations_ > most_evaluations) return Status::unsupported("this takes too long");
    const Nest lowered = lower(region);
    const Nest nest = tabulate(legalise(lowered));
    Buffers want = buffers_of(region, inputs, updated);
    execute(nest, want.addresses);
    std::vector<Value> results(want.held.begin() + static_cast<std::ptrdiff_t>(inputs.size()), want.held.end());
    std::mt19937_64 order(seed * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(counts.nests));
    ++counts.nests;
    const auto grid = HostGrid::make(nest, some_machine(order));
    if (!grid.ok()) {
      fail(name, grid.status().message());
      return results;
    }
    note(grid->plan());
    Buffers got = buffers_of(region, inputs, updated);
    grid->run(got.addresses, order, spoils ? 0 : -1);
    bool same = true, agrees = true;
    std::string first;
    for (size_t k = 0; k < results.size(); ++k) {
      const Literal& made = *got.held[inputs.size() + k];
      const Comparison found =
          compare(made, *results[k], usual_tolerance(made.shape().type), fmt::format("result {}", k));
      same = same && same_bytes(made, *results[k]);
      if (!found.agrees() && agrees) first = found.first;
      agrees = agrees && found.agrees();
    }
    counts.same_bits += same;
    counts.noticed += !same;
    if (spoils) return results;
    if (!same && agrees && !adds_up_few(nest)) {
      agrees = false;
      first = "other bits, though no sum is made in another order";
    }
    if (!agrees) fail(name, first + "\n" + to_text(nest));
    if (records) return record_all(region, inputs, updated, lowered, results);
    if (agrees) run_alone(region, inputs, updated, *grid, got);
    if (agrees) run_in_place(region, inputs, updated, lowered, *grid, got, order);
    return results;
  }

  /// The nest with results of their own, and with each over an operand.
  std::vector<Value> record_all(const Region& region, std::span<const Value> inputs, std::span<const Value> updated,
                                const Nest& lowered, std::vector<Value> results) {
    const Nest nest = plain(lowered);
    const auto grid = HostGrid::make(nest, kDevice);
    if (!grid.ok()) {
      fail(region.outputs.front().instruction->name, grid.status().message());
      return results;
    }
    const Buffers before = buffers_of(region, inputs, updated), after = buffers_of(region, inputs, updated);
    std::mt19937_64 order(seed);
    grid->run(after.addresses, order);
    record(nest, region, before, after, std::nullopt);
    for (size_t k = 0; k < region.outputs.size(); ++k) {
      const size_t to = inputs.size() + k;
      if (k < updated.size() && updated[k]) continue;
      for (size_t from = 0; from < inputs.size(); ++from) {
        if (may_share(lowered, before, to, from)) record(nest, region, before, after, std::pair(to, from));
      }
    }
    return results;
  }

  static bool may_share(const Nest& lowered, const Buffers& buffers, size_t to, size_t from) {
    return buffers.held[from]->bytes().size() == buffers.held[to]->bytes().size() &&
           stored_bytes(lowered.buffers[from].type) == stored_bytes(lowered.buffers[to].type) &&
           may_lie_over(lowered, static_cast<int32_t>(to), static_cast<int32_t>(from));
  }

  /// Every thread by itself: the same bits.
  void run_alone(const Region& region, std::span<const Value> inputs, std::span<const Value> updated,
                 const HostGrid& grid, const Buffers& together) {
    if (grid.bytes_to_run_alone() > kMostBytesAlone) return;
    Buffers got = buffers_of(region, inputs, updated);
    std::vector<std::span<std::byte>> bytes;
    for (const auto& literal : got.held) bytes.push_back(literal->bytes());
    std::string fault = grid.run_each_alone(bytes);
    ++counts.alone;
    for (size_t at = inputs.size(); at < got.held.size(); ++at) {
      if (fault.empty() && !same_bytes(*got.held[at], *together.held[at]))
        fault = fmt::format("buffer {} is another one where each thread runs alone", at);
    }
    if (!fault.empty()) fail(region.outputs.front().instruction->name, fault);
  }

  /// Each result over an operand, one at a time: the same bits.
  void run_in_place(const Region& region, std::span<const Value> inputs, std::span<const Value> updated,
                    const Nest& lowered, const HostGrid& grid, const Buffers& apart, std::mt19937_64& order) {
    for (size_t k = 0; k < region.outputs.size(); ++k) {
      const size_t to = inputs.size() + k;
      if (k < updated.size() && updated[k]) continue;
      for (size_t from = 0; from < inputs.size(); ++from) {
        if (!may_share(lowered, apart, to, from)) continue;
        Buffers got = buffers_of(region, inputs, updated);
        got.addresses[to] = got.addresses[from];
        grid.run(got.addresses, order);
        ++counts.in_place;
        bool same = same_bytes(*got.held[from], *apart.held[to]);
        for (size_t other = 0; other < region.outputs.size(); ++other) {
          const size_t at = inputs.size() + other;
          same = same && (other == k || same_bytes(*got.held[at], *apart.held[at]));
        }
        if (!same) {
          fail(region.outputs[k].instruction->name,
               fmt::format("over operand {} it is another result\n{}", from, to_text(lowered)));
        }
      }
    }
  }

  nlohmann::json cases_ = nlohmann::json::array();
  std::string recorded_;
  std::map<TextHash, int64_t> places_;
  std::string path_;
  double evaluations_ = 0;  // of this program so far
  std::set<TextHash> written_;
};

void add_programs(const std::string& argument, std::vector<std::string>& files) {
  if (fs::is_directory(argument)) {
    for (const auto& entry : fs::recursive_directory_iterator(argument)) {
      const fs::path kind = entry.path().extension();
      if (kind == ".hlo" || kind == ".mlir") files.push_back(entry.path());
    }
  } else if (fs::exists(argument)) {
    files.push_back(argument);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Test test;
  std::vector<std::string> files;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    const auto value = [&] { return std::string(k + 1 < argc ? argv[++k] : ""); };
    if (argument == "--spoil") {
      test.spoils = true;
    } else if (argument == "--plain-set") {
      test.plain_set = true;
    } else if (argument == "--seed") {
      test.seed = std::stoull(value());
    } else if (argument == "--most-evaluations") {
      test.most_evaluations = std::stod(value());
    } else if (argument == "--write" || argument == "--record") {
      test.records = argument == "--record";
      test.folder = value();
    } else if (argument == "--sm") {
      test.processors.push_back(std::stoi(value()));
    } else {
      add_programs(argument, files);
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty() && !test.plain_set) {
    fmt::print("SKIP: no such programs\n");
    return 0;
  }
  if (test.plain_set) {
    for (const Nest& nest : plain_set()) test.write(nest, "the plain set");
  }
  for (const std::string& file : files) test.program(file);
  const Counts& c = test.counts;
  if (test.records) {
    fmt::print("{} programs, {} nests recorded\n", c.programs, c.nests);
    return test.write_records() && c.failed == 0 && c.nests > 0 ? 0 : 1;
  }
  if (!test.folder.empty()) {
    fmt::print(
        "{} programs, {} nests, {} of them different, {} launches: {} shared by threads ({} in tiles), {} in one "
        "thread\n",
        c.programs, c.nests, c.distinct, c.launches, c.shared, c.across, c.one_thread);
    return c.failed == 0 && c.nests > 0 ? 0 : 1;
  }
  if (test.spoils) {
    fmt::print("{} nests without one of their threads, {} noticed\n", c.nests, c.noticed);
    return c.failed == 0 && c.noticed > 0 && c.same_bits * 20 < c.nests ? 0 : 1;
  }
  fmt::print(
      "{} programs, {} nests in random order: {} with the very bits, {} each thread alone, {} over an operand, {} "
      "programs not run to "
      "their end, {} wrong\n{} launches: {} shared by threads ({} in tiles), {} in one thread\n",
      c.programs, c.nests, c.same_bits, c.alone, c.in_place, c.not_run, c.failed, c.launches, c.shared, c.across,
      c.one_thread);
  return c.failed == 0 && c.nests > 0 ? 0 : 1;
}
