#pragma once
/// What the two ways to run a program share: options in, report out.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "interp/compare.h"
#include "ir/module.h"
#include "text/safetensors.h"

namespace lowtide::engine {

struct RunOptions {
  std::string input, inputs, outputs, expect;
  std::string limit, plan;  ///< empty: the free plan
  std::optional<double> rtol, atol_of_max;
  uint64_t seed = 0;
  int repeat = 1;
  bool interpret = false;
  bool exact = false;
  bool json = false;
};

/// Of one result, where it isn't as expected.
struct ResultDifference {
  std::string name, path, shape;
  int64_t elements = 0;
  Comparison comparison;
};

/// What was run, in which memory and time, and what came out. Absent figures aren't printed.
struct RunReport {
  std::string module;
  int64_t instructions = 0;
  bool interpreted = false;
  bool exact = false;
  bool planned = false;  ///< the figures below are there
  int64_t argument_bytes = 0, output_bytes = 0, alias_bytes = 0, temp_bytes = 0, load_bytes = 0;
  int64_t peak_bytes() const { return argument_bytes + output_bytes - alias_bytes + temp_bytes; }
  std::optional<int64_t> limit_bytes, best_peak_bytes;  ///< of a limit that isn't met
  std::optional<int64_t> floor_order_bytes, floor_any_bytes, kernels, measured_peak_bytes, interpreted_steps, threads;
  std::optional<double> plan_seconds, compile_seconds, modelled_seconds;
  std::vector<double> run_seconds;
  std::optional<Comparison> comparison;                   ///< of all results
  std::vector<ResultDifference> differences;              ///< of those that differ
  std::vector<std::string> argument_paths, result_paths;  ///< names that the program's user knows; empty: none
  std::vector<std::string> results;                       ///< a line each
};

/// Prints it; the fault of a comparison that failed.
Status finish_run(const RunReport& report, bool json);

/// An array among the results, wherever it lies.
struct ResultArray {
  int64_t number = 0;  ///< among the arrays: out0
  std::string path;    ///< by which its user knows it
  Shape shape;
  const std::byte* bytes = nullptr;
};
/// "out0 f32[2,3]  least -0.25, mean 0.125, greatest 4", for the reader who wants to see that something came out; a
/// dozen lines at most.
std::vector<std::string> summaries(const std::vector<ResultArray>& results, ThreadPool& pool);
/// Results with those of the options' --expect.
Status compare_with_file(const std::vector<ResultArray>& results, const RunOptions& options, RunReport& report);
/// Paths by the names of results, for a file of them.
TensorMetadata names_of_results(const std::vector<std::string>& paths);

Status run_compiled(const RunOptions& options, RunReport& report);
Status run_interpreted(const RunOptions& options, RunReport& report);

}  // namespace lowtide::engine
