#pragma once
/// How far complex functions of nests are from the truth: |error| in units in the last place of the true result's
/// modulus. The truth is of 113 bits.

#include "accuracy.h"
#include "quad.h"

namespace lowtide::engine {

struct ComplexAccuracyCase {
  Opcode opcode = Opcode::kExponential;
  int arity = 1;
  QuadComplex (*truth)(QuadComplex, QuadComplex) = nullptr;
  std::string name() const { return std::string(opcode_name(opcode)); }
};
const std::vector<ComplexAccuracyCase>& complex_accuracy_cases();

/// The promise: |error| of no result is larger.
double complex_accuracy_bound(Opcode opcode, ElementType type);

/// Of about `samples` finite arguments (c64 or c128) whose results are finite: a quarter of them anywhere among all
/// numbers, the others of moderate size, near 0, 1, -1, i and -i, on the axes and near the unit circle.
Accuracy measure(const ComplexAccuracyCase& row, ElementType type, const MeasureOptions& options);

}  // namespace lowtide::engine
