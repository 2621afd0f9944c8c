#pragma once
/// Reads the programs that users name on the command line: HLO or StableHLO text, bytecode, HLO protobuf, any of them
/// gzipped, an XLA dump directory, or `-`.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/module.h"

namespace lowtide::engine {

/// XLA's own account of a module's memory, from the reports next to it in a dump directory.
struct XlaReport {
  struct Value {
    std::string name;  ///< instruction name, without %
    ShapeIndex index;
    int64_t bytes = 0, offset = 0;
    std::string shape;
  };
  struct Allocation {
    int64_t number = 0, bytes = 0;
    std::string kind;   ///< "parameter 0, maybe-live-out", "constant", "thread-local", "preallocated-temp", ...
    int64_t color = 0;  ///< memory space; 0 is the device's main memory
    std::vector<Value> values;
  };
  struct LiveRange {
    std::string name;  ///< instruction name
    ShapeIndex index;
    int64_t born = 0, dies = 0;  ///< positions in `sequence`, both inclusive as in the file
  };
  std::optional<int64_t> total_bytes;   ///< memory-usage report: "Total bytes"
  std::vector<Allocation> allocations;  ///< buffer-assignment.txt
  std::vector<std::string> sequence;    ///< live-range.txt: the flattened schedule
  std::vector<LiveRange> live_ranges;
  std::optional<int64_t> peak_position;  ///< "Live ranges at N (peak)"
  std::vector<std::string> files;        ///< names of the files that were read, without directories
};

struct Input {
  std::unique_ptr<Module> module;
  std::string path;                 ///< the path of the module's own file
  std::string stage;                ///< "after optimizations", "before optimizations", or empty
  std::vector<std::string> others;  ///< other modules of the directory: "jit_f · 312 instructions · 1.2 MiB"
  std::optional<XlaReport> report;
  std::vector<std::string> warnings;
};

/// Which stage of a module to take from a dump directory.
enum class InputStage : uint8_t {
  kLatest,
  kBeforeXla,  ///< XLA's input, before its optimizations
};

/// Reads and verifies a module. `dump#name` selects a module of a directory by its name or a part of it,
/// `programs.mlir#2.step` a program of a file. Errors: Fault::kInput with the place; files that can't be opened;
/// directories without a module.
Result<Input> read_input(const std::string& path, InputStage stage = InputStage::kLatest,
                         std::shared_ptr<Context> context = {});

}  // namespace lowtide::engine
