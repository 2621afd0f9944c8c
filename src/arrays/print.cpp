// Arrays as text: NumPy's brackets; of long dimensions the first and last three.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "arrays/graph.h"
#include "lowtide/array.h"
#include "lowtide/ops.h"

namespace lowtide {
namespace {

constexpr size_t kWhole = 1000;  ///< elements that are all printed
constexpr int64_t kEdge = 3;

std::string text_of(const array& a, size_t i) {
  switch (a.dtype().val) {
    case Dtype::Val::bool_: return a.data<bool>()[i] ? "True" : "False";
    case Dtype::Val::uint8: return fmt::format("{}", a.data<uint8_t>()[i]);
    case Dtype::Val::uint16: return fmt::format("{}", a.data<uint16_t>()[i]);
    case Dtype::Val::uint32: return fmt::format("{}", a.data<uint32_t>()[i]);
    case Dtype::Val::uint64: return fmt::format("{}", a.data<uint64_t>()[i]);
    case Dtype::Val::int8: return fmt::format("{}", a.data<int8_t>()[i]);
    case Dtype::Val::int16: return fmt::format("{}", a.data<int16_t>()[i]);
    case Dtype::Val::int32: return fmt::format("{}", a.data<int32_t>()[i]);
    case Dtype::Val::int64: return fmt::format("{}", a.data<int64_t>()[i]);
    case Dtype::Val::float16: return fmt::format("{:.6g}", static_cast<float>(a.data<float16_t>()[i]));
    case Dtype::Val::bfloat16: return fmt::format("{:.6g}", static_cast<float>(a.data<bfloat16_t>()[i]));
    case Dtype::Val::float32: return fmt::format("{:.6g}", a.data<float>()[i]);
    case Dtype::Val::float64: return fmt::format("{:.6g}", a.data<double>()[i]);
    case Dtype::Val::complex64: break;
  }
  const complex64_t z = a.data<complex64_t>()[i];
  return fmt::format("{:.6g}{:+.6g}j", z.real(), z.imag());
}

void print(std::ostream& out, const array& a, size_t dimension, size_t from, const std::string& indent) {
  if (dimension == a.ndim()) {
    out << text_of(a, from);
    return;
  }
  size_t step = 1;
  for (size_t d = dimension + 1; d < a.ndim(); ++d) step *= static_cast<size_t>(a.shape()[d]);
  const int64_t extent = a.shape()[dimension];
  const bool last = dimension + 1 == a.ndim();
  out << "[";
  for (int64_t i = 0; i < extent; ++i) {
    if (i > 0) out << (last ? ", " : ",\n" + indent + " ");
    if (a.size() > kWhole && extent > 2 * kEdge && i == kEdge) {
      out << "..." << (last ? ", " : ",\n" + indent + " ");
      i = extent - kEdge;
    }
    print(out, a, dimension + 1, from + static_cast<size_t>(i) * step, indent + " ");
  }
  out << "]";
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Dtype type) { return out << dtype_to_string(type); }

std::ostream& operator<<(std::ostream& out, const array& a) {
  array(a).eval();
  out << "array(";
  print(out, a, 0, 0, "      ");
  return out << ", dtype=" << a.dtype() << ")";
}

}  // namespace lowtide
