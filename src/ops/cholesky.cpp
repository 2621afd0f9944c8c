// cholesky: A = L L^H of each matrix of a batch, A[.., n, n] -> L (or L^H, the upper factor). The other triangle of A
// is not read; that of the result is zero here. A matrix that isn't positive definite gives NaN everywhere.
//   (C1) a floating or complex array of rank >= 2, its last two extents equal
#include "ops/checks.h"
#include "ops/dimension_roles.h"
#include "ops/extents.h"
#include "ops/matrices.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

Status read_cholesky(AttributeReader& reader, Instruction& cholesky) {
  CholeskyAttributes attributes;
  LT_ASSIGN_OR_RETURN(attributes.lower, reader.take_bool_or("lower", false));
  cholesky.attributes = attributes;
  return {};
}

void print_cholesky(const Instruction& cholesky, AttributeWriter& writer) {
  if (cholesky.as<CholeskyAttributes>().lower) writer.boolean("lower", true);
}

Result<Shape> infer_cholesky(const Instruction& cholesky) {
  const Shape& a = cholesky.operand(0).shape;
  if (!(is_floating(a.type) || is_complex(a.type)) || a.rank() < 2 || a.dims[a.dims.size() - 2] != a.dims.back()) {
    return broken(cholesky, 1, "needs square matrices of floats, got " + to_string_without_layout(a));
  }
  return bare(a);
}

/// Replaces the lower triangle of a row-major n x n matrix by its factor; false if there is none.
template <class S>
bool factor(std::vector<S>& a, size_t n) {
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = j; i < n; ++i) {
      S sum = a[i * n + j];
      for (size_t k = 0; k < j; ++k) sum -= a[i * n + k] * conjugate(a[j * n + k]);
      if (i == j && !(real_part(sum) > 0)) return false;
      a[i * n + j] = i == j ? S(std::sqrt(real_part(sum))) : sum / a[j * n + j];
    }
  }
  return true;
}

Result<Value> eval_cholesky(const Instruction& cholesky, Operands operands, EvalContext&) {
  const bool lower = cholesky.as<CholeskyAttributes>().lower;
  auto result = std::make_shared<Literal>(cholesky.shape);
  const auto n = static_cast<size_t>(cholesky.shape.dims.back());
  dispatch_matrices(cholesky.shape.type, [&]<class T, class S>() {
    std::vector<S> a(n * n);
    for (size_t first = 0; first < result->data<T>().size(); first += n * n) {
      const auto from = operands[0]->data<T>().subspan(first, n * n);
      const auto to = result->data<T>().subspan(first, n * n);
      for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j <= i; ++j) {
          a[i * n + j] = lower ? S(widen(from[i * n + j])) : conjugate(S(widen(from[j * n + i])));
        }
      }
      if (!factor(a, n)) {
        std::fill(to.begin(), to.end(), narrow<T>(static_cast<computed_t<T>>(NAN)));
        continue;
      }
      for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j <= i; ++j) {
          if (lower) {
            to[i * n + j] = narrow<T>(static_cast<computed_t<T>>(a[i * n + j]));
          } else {
            to[j * n + i] = narrow<T>(static_cast<computed_t<T>>(conjugate(a[i * n + j])));
          }
        }
      }
    }
  });
  return Value(result);
}

std::vector<OperandDimension> roles_of_cholesky(const Instruction& instruction, size_t operand) {
  return batch_dimensions(instruction, operand, 2);
}

void extents_of_cholesky(ExtentRelater& r) {
  r.same_as_operand(0);
  relate_square(r, r.instruction());
}

}  // namespace

const OpRule kCholeskyRule{.read = read_cholesky,
                           .print = print_cholesky,
                           .infer = infer_cholesky,
                           .eval = eval_cholesky,
                           .slicing = sliced_in_step(roles_of_cholesky),
                           .extents = extents_of_cholesky,
                           .reads = reads_anywhere,
                           .arithmetic = kOneRounding};

}  // namespace lowtide::engine
