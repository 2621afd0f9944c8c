#pragma once
/// Options of `run`, and its report.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/comparison.h"
#include "lowtide/explanation.h"
#include "outcome.h"

namespace lowtide::command {

struct RunOptions {
  std::string input, inputs, outputs, expect;
  std::string limit, plan;  ///< empty: the free plan
  std::string machine;      ///< empty: the first of machine_names()
  std::optional<double> rtol, atol_of_max;
  uint64_t seed = 0;
  int repeat = 1;
  bool interpret = false;
  bool profile = false;
  std::string trace;  ///< the file for the trace of one run's steps; empty: none
  bool exact = false;
  bool json = false;
};

/// The program that ran, its memory and time, and its results. Absent figures aren't printed.
struct RunReport {
  std::string module;
  int64_t instructions = 0;
  bool interpreted = false;
  bool exact = false;
  std::optional<Sizes> sizes;
  std::optional<int64_t> limit_bytes, best_peak_bytes;  ///< only if a limit isn't met
  std::optional<int64_t> floor_order_bytes, floor_any_bytes, kernels, measured_peak_bytes, interpreted_steps, threads;
  std::optional<double> plan_seconds, compile_seconds, modelled_seconds;
  std::vector<double> run_seconds;
  std::optional<ResultsComparison> comparison;
  std::vector<std::string> results;  ///< one line each
  std::optional<Profile> profile;
};

/// Reads, plans, compiles and runs, or interprets; on an error the report keeps what was found until then.
Outcome execute(const RunOptions& options, RunReport& report);

}  // namespace lowtide::command
