/// Prints the tables of docs/accuracy.md: how far compiled functions are from the truth. Exit code 1 where a bound is
/// exceeded or a special value is wrong.
///   accuracy_table             all tables
///   accuracy_table --quick     a few functions and types, fewer samples
///   accuracy_table --control   the same with bounds that no type can keep; exit code 0 if every type is found to
///   exceed
///                              them

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <set>

#include "codegen/kernel.h"
#include "unit/accuracy.h"
#include "unit/complex_accuracy.h"

namespace lowtide::engine {
namespace {

void run_compiled(const Nest& nest, const std::vector<void*>& buffers) {
  const auto kernels = compile_kernels({&nest, 1}, {});
  LT_ASSERT(kernels.ok(), kernels.status().message());
  const Kernel& kernel = kernels->front();
  for (size_t i = 0; i < kernel.pieces.size(); ++i) {
    kernel.run(buffers.data(), static_cast<int64_t>(i), 0, kernel.pieces[i].extent);
  }
}

class Tables {
 public:
  Tables(bool quick, bool control) : quick_(quick), control_(control) {}

  void print_real(const std::vector<ElementType>& types, bool with_places) {
    begin(types, with_places);
    const MeasureOptions options{.samples = quick_ ? 1u << 14 : 1u << 20, .run = run_compiled};
    for (const AccuracyCase& row : accuracy_cases()) {
      if (!is_wanted(row.opcode)) continue;
      std::string line = "| " + row.name();
      for (const ElementType type : types) {
        line += cells(row.name(), type, measure(row, type, options), accuracy_bound(type), with_places);
      }
      end(line);
    }
  }
  void print_complex(ElementType type) {
    begin({type}, true);
    const MeasureOptions options{.samples = quick_ ? 1u << 12 : 1u << 18, .run = run_compiled};
    for (const ComplexAccuracyCase& row : complex_accuracy_cases()) {
      if (!is_wanted(row.opcode)) continue;
      const double bound = complex_accuracy_bound(row.opcode, type);
      end("| " + row.name() + cells(row.name(), type, measure(row, type, options), bound, true));
    }
  }
  int exit_code() const {
    for (const std::string& fault : faults_) std::printf("%s\n", fault.c_str());
    return control_ ? beyond_ != measured_ : !faults_.empty();
  }

 private:
  bool is_wanted(Opcode opcode) const {
    return !quick_ || opcode == Opcode::kExponential || opcode == Opcode::kLogPlusOne || opcode == Opcode::kPower;
  }
  static void begin(const std::vector<ElementType>& types, bool with_places) {
    std::string head = "| function", rule = "|---";
    for (const ElementType type : types) {
      head += fmt::format(" | {} max{}", type_name(type), with_places ? " ulp | mean | at" : " / mean");
      rule += with_places ? "|---|---|---" : "|---";
    }
    std::printf("\n%s |\n%s|\n", head.c_str(), rule.c_str());
  }
  static void end(const std::string& line) {
    std::printf("%s |\n", line.c_str());
    std::fflush(stdout);
  }
  std::string cells(const std::string& name, ElementType type, const Accuracy& found, double bound, bool with_places) {
    if (control_) bound = 0.1;
    measured_.insert(type);
    if (!(found.most <= bound)) {
      beyond_.insert(type);
      faults_.push_back(fmt::format("{} of {} is {:.3f} ulp off at {}; the bound is {}", name, type_name(type),
                                    found.most, found.at, bound));
    }
    if (!found.fault.empty()) faults_.push_back(fmt::format("{} of {}: {}", name, type_name(type), found.fault));
    if (with_places) return fmt::format(" | {:.3f} | {:.3f} | {}", found.most, found.mean, found.at);
    return fmt::format(" | {:.3f} / {:.3f}", found.most, found.mean);
  }

  const bool quick_, control_;
  std::set<ElementType> measured_, beyond_;
  std::vector<std::string> faults_;
};

}  // namespace
}  // namespace lowtide::engine

int main(int argc, char** argv) {
  using enum lowtide::engine::ElementType;
  const bool control = argc > 1 && std::strcmp(argv[1], "--control") == 0;
  const bool quick = control || (argc > 1 && std::strcmp(argv[1], "--quick") == 0);
  lowtide::engine::Tables tables(quick, control);
  tables.print_real({kF64, kF32}, true);
  if (quick) {
    tables.print_real({kBF16, kF8E4M3FN}, true);
  } else {
    tables.print_real({kBF16, kF16}, true);
    tables.print_real({kF8E3M4, kF8E4M3, kF8E4M3FN, kF8E5M2}, false);
    tables.print_real({kF8E4M3B11FNUZ, kF8E4M3FNUZ, kF8E5M2FNUZ}, false);
    tables.print_real({kF8E8M0FNU, kF4E2M1FN}, false);
    tables.print_complex(kC64);
  }
  tables.print_complex(kC128);
  return tables.exit_code();
}
