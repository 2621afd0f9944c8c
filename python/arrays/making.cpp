// Creating arrays: constants, ranges, windows.
#include "bind.h"

namespace lowtide::python {
namespace {

array arange_of(const nb::object& start, const nb::object& stop, const nb::object& step,
                const std::optional<DtypeLike>& dtype) {
  const auto number = [](const nb::object& value) { return nb::cast<double>(nb::float_(value)); };
  const auto is_whole = [](const nb::object& value) { return value.is_none() || PyIndex_Check(value.ptr()) != 0; };
  const double from = stop.is_none() ? 0 : number(start), to = number(stop.is_none() ? start : stop), by = number(step);
  const bool whole = is_whole(start) && is_whole(stop) && is_whole(step);
  constexpr double kMost = 2147483647;
  const Dtype usual = !whole ? float32 : std::abs(from) > kMost || std::abs(to) > kMost ? int64 : int32;
  const Dtype type = dtype_or(dtype, usual);
  return unlocked([&] { return arange(from, to, by, type); });
}

array full_of(const ShapeLike& shape, const ArrayLike& value, const std::optional<DtypeLike>& dtype) {
  const array x = made_of(value, dtype, true);
  return unlocked([&] { return full(shape_of(shape), x, x.dtype()); });
}

array full_like_of(const ArrayLike& like, const ArrayLike& value, const std::optional<DtypeLike>& dtype) {
  const array a = array_of(like);
  const Dtype type = dtype_or(dtype, a.dtype());
  const array x = array_of(value, type);
  return unlocked([&] { return full_like(a, x, type); });
}

}  // namespace

void bind_making(nb::module_& m) {
  m.def("arange", &arange_of, "start"_a, nb::arg("stop") = nb::none(), "step"_a = 1, "dtype"_a = nb::none(),
        "start, start + step, ..., below stop; of one number: from 0 on. int32 where all are integers, else float32.");
  m.def(
      "linspace",
      [](double start, double stop, int num, bool endpoint, const std::optional<DtypeLike>& dtype) {
        const Dtype type = dtype_or(dtype, float32);
        return unlocked([&] { return linspace(start, stop, num, endpoint, type); });
      },
      "start"_a, "stop"_a, "num"_a = 50, "endpoint"_a = true, "dtype"_a = nb::none(),
      "num numbers from start to stop, which is among them with endpoint.");
  m.def("full", &full_of, "shape"_a, "fill_value"_a, "dtype"_a = nb::none(), "A value, broadcast to the shape.");
  m.def("full_like", &full_like_of, "a"_a, "fill_value"_a, "dtype"_a = nb::none(), "A value, of a's shape and type.");
  const auto constant = [&](const char* name, array (*f)(const Shape&, Dtype, StreamOrDevice), const char* doc) {
    m.def(
        name,
        [f](const ShapeLike& shape, const std::optional<DtypeLike>& dtype) {
          const Dtype type = dtype_or(dtype, float32);
          return unlocked([&] { return f(shape_of(shape), type, kHere); });
        },
        "shape"_a, "dtype"_a = nb::none(), doc);
  };
  constant("zeros", zeros, "Zeros, float32 unless stated.");
  constant("ones", ones, "Ones, float32 unless stated.");
  const auto alike = [&](const char* name, array (*f)(const array&, Dtype, StreamOrDevice), const char* doc) {
    m.def(
        name,
        [f](const ArrayLike& a, const std::optional<DtypeLike>& dtype) {
          const array x = array_of(a);
          const Dtype type = dtype_or(dtype, x.dtype());
          return unlocked([&] { return f(x, type, kHere); });
        },
        "a"_a, "dtype"_a = nb::none(), doc);
  };
  alike("zeros_like", zeros_like, "Zeros of a's shape and type.");
  alike("ones_like", ones_like, "Ones of a's shape and type.");
  const auto matrix = [&](const char* name, array (*f)(int, int, int, Dtype, StreamOrDevice), const char* doc) {
    m.def(
        name,
        [f](int n, std::optional<int> columns, int k, const std::optional<DtypeLike>& dtype) {
          const Dtype type = dtype_or(dtype, float32);
          return unlocked([&] { return f(n, columns.value_or(n), k, type, kHere); });
        },
        "N"_a, "M"_a = nb::none(), "k"_a = 0, "dtype"_a = nb::none(), doc);
  };
  matrix("eye", eye, "Ones on the k-th diagonal of N x M zeros.");
  matrix("tri", tri, "Ones at and below the k-th diagonal of N x M zeros.");
  m.def(
      "identity",
      [](int n, const std::optional<DtypeLike>& dtype) {
        const Dtype type = dtype_or(dtype, float32);
        return unlocked([&] { return identity(n, type); });
      },
      "n"_a, "dtype"_a = nb::none(), "n x n, ones on the diagonal.");
  const auto half = [&](const char* name, array (*f)(array, int, StreamOrDevice), const char* doc) {
    m.def(name, of_array<int>([f](const array& a, int k) { return f(a, k, kHere); }), "a"_a, "k"_a = 0, doc);
  };
  half("tril", tril, "What lies at and below the k-th diagonal of the last two dimensions, else 0.");
  half("triu", triu, "What lies at and above the k-th diagonal of the last two dimensions, else 0.");
  m.def(
      "meshgrid",
      [](const nb::args& arrays, const std::string& indexing, bool sparse) {
        const std::vector<array> in = arrays_of(arrays);
        return unlocked([&] { return meshgrid(in, sparse, indexing); });
      },
      "arrays"_a, nb::kw_only(), "indexing"_a = "xy", "sparse"_a = false,
      "Arrays in whose dimension i the i-th vector runs; with \"xy\" the first two change places.");
  const auto window = [&](const char* name, array (*f)(int, StreamOrDevice)) {
    m.def(
        name, [f](int points) { return unlocked([&] { return f(points, kHere); }); }, "M"_a,
        "A window of M points, float32: 1 at the middle.");
  };
  window("bartlett", bartlett);
  window("blackman", blackman);
  window("hamming", hamming);
  window("hanning", hanning);
}

}  // namespace lowtide::python
