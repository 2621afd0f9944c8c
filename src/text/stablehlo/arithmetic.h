#pragma once
/// Writes formulas as instructions, for functions that HLO lacks: arrays of one shape, and numbers broadcast to it.

#include <span>
#include <vector>

#include "text/stablehlo/module_maker.h"

namespace lowtide::engine {

/// An array in a formula.
class Term;

class Arithmetic {
 public:
  Arithmetic(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation)
      : maker_(maker), scope_(scope), operation_(operation) {}

  Term of(Instruction* array);
  Term unary(Opcode opcode, const Term& x);
  Term binary(Opcode opcode, const Term& x, const Term& y);
  Term compare(const char* direction, const Term& x, const Term& y);
  Term select(const Term& which, const Term& x, const Term& y);
  Term convert(const Term& x, ElementType type);
  Term bitcast(const Term& x, ElementType type);
  Term number(double value, const Term& like);     ///< rounded to the type of `like`
  Term integer(uint64_t value, const Term& like);  ///< an integer type's bits
  /// c[0] x^(n-1) + ... + c[n-1], by Horner's rule.
  Term polynomial(const Term& x, std::span<const double> coefficients);

  const MlirOperation& operation() const { return operation_; }
  ModuleMaker& maker() { return maker_; }
  Status status() const { return status_; }  ///< the first error; terms created after it are unusable

 private:
  Term filled(Literal scalar, const Term& like);  ///< in the shape of `like`
  Term add(Opcode opcode, ElementType type, const Term& like, std::vector<Instruction*> operands,
           std::vector<HloAttribute> attributes = {});

  ModuleMaker& maker_;
  ModuleMaker::Scope& scope_;
  MlirOperation operation_;
  Status status_;
};

class Term {
 public:
  Arithmetic* in = nullptr;
  Instruction* array = nullptr;
  ElementType type() const { return array->shape.type; }
};

inline Term operator+(const Term& x, const Term& y) { return x.in->binary(Opcode::kAdd, x, y); }
inline Term operator-(const Term& x, const Term& y) { return x.in->binary(Opcode::kSubtract, x, y); }
inline Term operator*(const Term& x, const Term& y) { return x.in->binary(Opcode::kMultiply, x, y); }
inline Term operator/(const Term& x, const Term& y) { return x.in->binary(Opcode::kDivide, x, y); }
inline Term operator+(const Term& x, double y) { return x + x.in->number(y, x); }
inline Term operator-(const Term& x, double y) { return x - x.in->number(y, x); }
inline Term operator*(const Term& x, double y) { return x * x.in->number(y, x); }
inline Term operator/(const Term& x, double y) { return x / x.in->number(y, x); }
inline Term operator+(double x, const Term& y) { return y.in->number(x, y) + y; }
inline Term operator-(double x, const Term& y) { return y.in->number(x, y) - y; }
inline Term operator*(double x, const Term& y) { return y.in->number(x, y) * y; }
inline Term operator/(double x, const Term& y) { return y.in->number(x, y) / y; }
inline Term operator-(const Term& x) { return x.in->unary(Opcode::kNegate, x); }
inline Term operator<(const Term& x, double y) { return x.in->compare("LT", x, x.in->number(y, x)); }
inline Term operator>(const Term& x, double y) { return x.in->compare("GT", x, x.in->number(y, x)); }
inline Term operator==(const Term& x, double y) { return x.in->compare("EQ", x, x.in->number(y, x)); }
inline Term abs(const Term& x) { return x.in->unary(Opcode::kAbs, x); }
inline Term exp(const Term& x) { return x.in->unary(Opcode::kExponential, x); }
inline Term log(const Term& x) { return x.in->unary(Opcode::kLog, x); }
inline Term log1p(const Term& x) { return x.in->unary(Opcode::kLogPlusOne, x); }
inline Term sqrt(const Term& x) { return x.in->unary(Opcode::kSqrt, x); }
inline Term floor(const Term& x) { return x.in->unary(Opcode::kFloor, x); }
inline Term sin(const Term& x) { return x.in->unary(Opcode::kSine, x); }
inline Term cos(const Term& x) { return x.in->unary(Opcode::kCosine, x); }
inline Term pow(const Term& x, const Term& y) { return x.in->binary(Opcode::kPower, x, y); }
inline Term select(const Term& which, const Term& x, const Term& y) { return x.in->select(which, x, y); }

}  // namespace lowtide::engine
