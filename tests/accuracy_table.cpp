/// Prints the table of docs/accuracy.md. Argument: how many samples for each function (default 2^20).

#include <cstdio>
#include <cstdlib>

#include "unit/accuracy.h"

int main(int argc, char** argv) {
  const double samples = argc > 1 ? std::atof(argv[1]) : 1 << 20;
  std::printf("| function | f32 max ulp | mean | at | f64 max ulp | mean | at |\n|---|---|---|---|---|---|---|\n");
  for (const lowtide::AccuracyCase& row : lowtide::accuracy_cases()) {
    const auto narrow = measure(row, lowtide::ElementType::kF32, static_cast<uint64_t>(0x1p32 / samples) | 1);
    const auto wide = measure(row, lowtide::ElementType::kF64, static_cast<uint64_t>(0x1p64 / samples) | 1);
    const auto at = [&](const lowtide::Accuracy& a) {
      char text[80];
      if (row.arity == 1) std::snprintf(text, sizeof text, "%.9g", a.worst_x);
      if (row.arity == 2) std::snprintf(text, sizeof text, "%.9g, %.9g", a.worst_x, a.worst_y);
      return std::string(text);
    };
    std::printf("| %s | %.3f | %.3f | %s | %.3f | %.3f | %s |\n", row.name().c_str(), narrow.most, narrow.mean,
                at(narrow).c_str(), wide.most, wide.mean, at(wide).c_str());
    for (const auto& a : {narrow, wide}) {
      if (!a.fault.empty()) std::printf("fault: %s\n", a.fault.c_str());
    }
    std::fflush(stdout);
  }
}
