// Arrays as text in NumPy's brackets; long dimensions are abbreviated to the first and last three elements.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "arrays/runtime.h"
#include "lowtide/array.h"
#include "lowtide/ops.h"
#include "lowtide/utils.h"

namespace lowtide {
namespace {

constexpr size_t kWhole = 1000;  ///< arrays of up to this many elements are printed in full
constexpr int64_t kEdge = 3;

void print_element(std::ostream& out, const array& a, size_t i) {
  const PrintFormatter& as = get_global_formatter();
  switch (a.dtype().val) {
    case Dtype::Val::bool_: return as.print(out, a.data<bool>()[i]);
    case Dtype::Val::uint8: return as.print(out, uint64_t{a.data<uint8_t>()[i]});
    case Dtype::Val::uint16: return as.print(out, uint64_t{a.data<uint16_t>()[i]});
    case Dtype::Val::uint32: return as.print(out, uint64_t{a.data<uint32_t>()[i]});
    case Dtype::Val::uint64: return as.print(out, a.data<uint64_t>()[i]);
    case Dtype::Val::int8: return as.print(out, int64_t{a.data<int8_t>()[i]});
    case Dtype::Val::int16: return as.print(out, int64_t{a.data<int16_t>()[i]});
    case Dtype::Val::int32: return as.print(out, int64_t{a.data<int32_t>()[i]});
    case Dtype::Val::int64: return as.print(out, a.data<int64_t>()[i]);
    case Dtype::Val::float16: return as.print(out, double{static_cast<float>(a.data<float16_t>()[i])});
    case Dtype::Val::bfloat16: return as.print(out, double{static_cast<float>(a.data<bfloat16_t>()[i])});
    case Dtype::Val::float32: return as.print(out, double{a.data<float>()[i]});
    case Dtype::Val::float64: return as.print(out, a.data<double>()[i]);
    case Dtype::Val::complex64: break;
  }
  as.print(out, a.data<complex64_t>()[i]);
}

void print(std::ostream& out, const array& a, size_t dimension, size_t from, const std::string& indent) {
  if (dimension == a.ndim()) {
    print_element(out, a, from);
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

PrintFormatter& get_global_formatter() { return lazy::Runtime::get().formatter; }
void set_printoptions(PrintOptions options) { get_global_formatter().format_options = options; }

void PrintFormatter::print(std::ostream& os, bool val) const {
  os << (capitalize_bool ? (val ? "True" : "False") : (val ? "true" : "false"));
}
void PrintFormatter::print(std::ostream& os, int64_t val) const { os << fmt::format("{}", val); }
void PrintFormatter::print(std::ostream& os, uint64_t val) const { os << fmt::format("{}", val); }
void PrintFormatter::print(std::ostream& os, double val) const {
  os << (format_options.precision < 0 ? fmt::format("{:.6g}", val)
                                      : fmt::format("{:.{}f}", val, format_options.precision));
}
void PrintFormatter::print(std::ostream& os, complex64_t val) const {
  print(os, double{val.real()});
  if (!std::signbit(val.imag())) os << "+";
  print(os, double{val.imag()});
  os << "j";
}

std::ostream& operator<<(std::ostream& os, const Device& d) {
  return os << fmt::format("Device({}, {})", d == Device::cpu ? "cpu" : "gpu", d.index);
}
std::ostream& operator<<(std::ostream& os, const Stream& s) {
  return os << "Stream(" << s.device << ", " << fmt::format("{}", s.index) << ")";
}
std::ostream& operator<<(std::ostream& os, const Dtype::Kind& k) { return os << "buifcV"[static_cast<int>(k)]; }
std::ostream& operator<<(std::ostream& out, Dtype type) { return out << dtype_to_string(type); }

std::ostream& operator<<(std::ostream& out, const array& a) {
  array(a).eval();
  out << "array(";
  print(out, a, 0, 0, "      ");
  return out << ", dtype=" << a.dtype() << ")";
}

}  // namespace lowtide
