// x[...] and x.at[...]. An index selects a box of the array (slices and numbers), reshapes it (numbers drop a
// dimension, None adds one), and then indexes some of its dimensions with integer arrays. Reading is slice(),
// reshape(), gather(); an update is the reverse: scatter() into the box, and the box into the array.
#include "bind.h"

namespace lowtide::python {
namespace {

struct Selection {
  Shape start, stop, step;     ///< the box, per dimension of the array
  Shape box, kept;             ///< its extents, and those without the numbers' dimensions and with None's
  std::vector<array> indices;  ///< along these dimensions of `kept`
  std::vector<int> axes;
  int place = 0;  ///< the remaining dimension before which the indices' dimensions are inserted
  bool is_whole = true;
};

/// NumPy puts the indices' dimensions at the place of the first index array if all of them, numbers included, are
/// adjacent; else in front.
class Reader {
 public:
  Reader(const array& of, nb::handle index) : of_(of) {
    const nb::tuple entries = nb::isinstance<nb::tuple>(index) ? nb::borrow<nb::tuple>(index) : nb::make_tuple(index);
    size_t takes = 0;
    bool has_ellipsis = false;
    for (nb::handle entry : entries) {
      if (entry.is(nb::ellipsis()) && std::exchange(has_ellipsis, true))
        throw nb::index_error("an index has one ellipsis at most");
      if (entry.is_none() || entry.is(nb::ellipsis())) continue;
      const std::optional<array> mask = mask_of(entry);
      takes += mask ? mask->ndim() : 1;
    }
    if (takes > of.ndim()) throw nb::index_error("more indices than the array has dimensions");
    const size_t left = of.ndim() - takes;
    for (nb::handle entry : entries) {
      if (entry.is(nb::ellipsis())) {
        apart_ = started_;
        for (size_t d = 0; d < left; ++d) whole();
      } else {
        add(entry);
      }
    }
    while (made_.start.size() < of.ndim()) whole();
    if (made_.indices.empty() || !together_) made_.place = 0;
  }
  Selection take() { return std::move(made_); }

  /// An array or list of booleans; none if it is something else.
  static std::optional<array> mask_of(nb::handle entry) {
    if (PyBool_Check(entry.ptr())) throw nb::index_error("one boolean is no index: where(mask, x, y) takes it");
    if (nb::isinstance<nb::slice>(entry) || !nb::hasattr(entry, "__len__")) return std::nullopt;
    const array at = array_of(entry);
    if (at.dtype().val != Dtype::Val::bool_) return std::nullopt;
    return at;
  }

 private:
  int64_t extent() const { return of_.shape()[made_.start.size()]; }
  void range(int64_t start, int64_t stop, int64_t step, int64_t count) {
    made_.is_whole = made_.is_whole && step == 1 && count == extent();
    made_.start.push_back(start);
    made_.stop.push_back(stop);
    made_.step.push_back(step);
    made_.box.push_back(count);
  }
  void whole() {
    const int64_t n = extent();
    range(0, n, 1, n);
    made_.kept.push_back(n);
  }
  /// A number or an array begins or continues what NumPy calls advanced indices.
  void advanced() {
    if (!started_) made_.place = static_cast<int>(made_.kept.size());
    if (apart_) together_ = false;
    started_ = true;
  }
  void add(nb::handle entry) {
    if (entry.is_none()) {
      apart_ = started_;
      made_.kept.push_back(1);
    } else if (nb::isinstance<nb::slice>(entry)) {
      apart_ = started_;
      add_slice(entry);
    } else if (PyIndex_Check(entry.ptr()) &&
               !nb::hasattr(entry, "__len__")) {  // arrays of one integer are indices, too
      add_number(nb::cast<int64_t>(entry));
    } else {
      add_array(array_of(entry));
    }
  }
  void add_slice(nb::handle entry) {
    Py_ssize_t start = 0, stop = 0, step = 0;
    if (PySlice_Unpack(entry.ptr(), &start, &stop, &step) < 0) throw nb::python_error();
    const int64_t count = PySlice_AdjustIndices(extent(), &start, &stop, step);
    if (count == 0) {
      range(0, 0, 1, 0);
    } else {
      const int64_t end = start + (count - 1) * step + (step > 0 ? 1 : -1);
      range(start, end < 0 ? -extent() - 1 : end, step, count);  // so is a stop before the first element written
    }
    made_.kept.push_back(count);
  }
  void add_number(int64_t at) {
    const int64_t n = extent();
    if (at < -n || at >= n)
      throw nb::index_error(
          ("index " + std::to_string(at) + " of a dimension with " + std::to_string(n) + " elements").c_str());
    advanced();
    const int64_t from = at < 0 ? at + n : at;
    range(from, from + 1, 1, 1);
  }
  /// Adds the indices where the mask is true: one integer array for each of its dimensions.
  void add_mask(const array& mask) {
    const size_t first = made_.start.size();
    for (size_t d = 0; d < mask.ndim(); ++d) {
      if (mask.shape()[d] != of_.shape()[first + d])
        throw nb::index_error("a mask has the extents of the dimensions that it stands for");
    }
    const auto* const is_there = static_cast<const bool*>(elements_of(mask));
    std::vector<std::vector<int64_t>> places(mask.ndim());
    for (size_t i = 0; i < mask.size(); ++i) {
      if (!is_there[i]) continue;
      size_t left = i;
      for (size_t d = mask.ndim(); d-- > 0;) {
        const auto extent = static_cast<size_t>(mask.shape()[d]);
        places[d].push_back(static_cast<int64_t>(left % extent));
        left /= extent;
      }
    }
    for (const auto& along : places) add_indices(array(along.begin(), {static_cast<int64_t>(along.size())}, int64));
  }
  void add_array(array at) {
    if (at.dtype().val == Dtype::Val::bool_) return add_mask(at);
    if (at.size() == 0 && at.ndim() == 1) at = zeros({0}, int32);  // an empty list has no element type
    if (!issubdtype(at.dtype(), integer))
      throw nb::index_error(("indices are integers, and not " + dtype_to_string(at.dtype())).c_str());
    add_indices(std::move(at));
  }
  void add_indices(array at) {
    advanced();
    made_.axes.push_back(static_cast<int>(made_.kept.size()));
    made_.indices.push_back(std::move(at));
    whole();
  }

  const array& of_;
  Selection made_;
  bool started_ = false, apart_ = false, together_ = true;
};

array boxed(const array& a, const Selection& s) {
  return reshape(s.is_whole ? a : slice(a, s.start, s.stop, s.step), s.kept);
}

/// Extents of the slice gathered at one index.
Shape one_slice(const Selection& s) {
  Shape extents = s.kept;
  for (const int axis : s.axes) extents[axis] = 1;
  return extents;
}

size_t index_dims(const Selection& s) {
  size_t most = 0;
  for (const array& at : s.indices) most = std::max(most, at.ndim());
  return most;
}

/// For each dimension of the result, its position in (indices' dimensions, remaining dimensions).
std::vector<int> order_of(const Selection& s) {
  const int index = static_cast<int>(index_dims(s)), left = static_cast<int>(s.kept.size() - s.axes.size());
  std::vector<int> order;
  for (int d = 0; d < s.place; ++d) order.push_back(index + d);
  for (int d = 0; d < index; ++d) order.push_back(d);
  for (int d = s.place; d < left; ++d) order.push_back(index + d);
  return order;
}

array read(const array& a, const Selection& s) {
  const array box = boxed(a, s);
  if (s.indices.empty()) return box;
  std::vector<int> ones;
  for (const int axis : s.axes) ones.push_back(axis + static_cast<int>(index_dims(s)));
  return transpose(squeeze(gather(box, s.indices, s.axes, one_slice(s)), ones), order_of(s));
}

enum class How { kSet, kAdd, kMultiply, kMinimum, kMaximum };
constexpr std::pair<const char*, How> kUpdates[] = {{"set", How::kSet},
                                                    {"add", How::kAdd},
                                                    {"multiply", How::kMultiply},
                                                    {"minimum", How::kMinimum},
                                                    {"maximum", How::kMaximum}};

array put_box(const array& a, const Selection& s, const array& values, How how) {
  const array with = reshape(values, s.box);
  switch (how) {
    case How::kSet: return slice_update(a, with, s.start, s.stop, s.step);
    case How::kAdd: return slice_update_add(a, with, s.start, s.stop, s.step);
    case How::kMultiply: return slice_update_prod(a, with, s.start, s.stop, s.step);
    case How::kMinimum: return slice_update_min(a, with, s.start, s.stop, s.step);
    case How::kMaximum: break;
  }
  return slice_update_max(a, with, s.start, s.stop, s.step);
}

array scatter_into(const array& box, const Selection& s, const array& values, How how) {
  switch (how) {
    case How::kSet: return scatter(box, s.indices, values, s.axes);
    case How::kAdd: return scatter_add(box, s.indices, values, s.axes);
    case How::kMultiply: return scatter_prod(box, s.indices, values, s.axes);
    case How::kMinimum: return scatter_min(box, s.indices, values, s.axes);
    case How::kMaximum: break;
  }
  return scatter_max(box, s.indices, values, s.axes);
}

array updated(const array& a, const Selection& s, const array& values, How how) {
  if (s.indices.empty()) return put_box(a, s, broadcast_to(values, s.kept), how);
  const array box = boxed(a, s);
  // The values in scatter()'s form: the indices' dimensions, then a slice's.
  const array like = broadcast_arrays(s.indices)[0];
  const std::vector<int> order = order_of(s);
  Shape left, whole = like.shape(), result;
  for (size_t d = 0; d < s.kept.size(); ++d) {
    if (std::find(s.axes.begin(), s.axes.end(), static_cast<int>(d)) == s.axes.end()) left.push_back(s.kept[d]);
  }
  whole.insert(whole.end(), left.begin(), left.end());
  std::vector<int> back(order.size());
  for (size_t d = 0; d < order.size(); ++d) {
    result.push_back(whole[order[d]]);
    back[order[d]] = static_cast<int>(d);
  }
  Shape updates = like.shape();
  const Shape slice = one_slice(s);
  updates.insert(updates.end(), slice.begin(), slice.end());
  const array put = scatter_into(box, s, reshape(transpose(broadcast_to(values, result), back), updates), how);
  return s.is_whole ? reshape(put, a.shape()) : put_box(a, s, put, How::kSet);
}

/// a combined with values where the mask, over a's leading dimensions, is true.
array updated_where(const array& a, const array& mask, const array& values, How how) {
  Shape aligned = mask.shape();
  if (aligned.size() > a.ndim() || !std::equal(aligned.begin(), aligned.end(), a.shape().begin()))
    throw nb::index_error("a mask has the extents of the dimensions that it stands for");
  aligned.resize(a.ndim(), 1);
  const array there = reshape(mask, aligned), with = broadcast_to(values, a.shape());
  switch (how) {
    case How::kSet: return where(there, with, a);
    case How::kAdd: return where(there, a + with, a);
    case How::kMultiply: return where(there, a * with, a);
    case How::kMinimum: return where(there, minimum(a, with), a);
    case How::kMaximum: break;
  }
  return where(there, maximum(a, with), a);
}

/// x.at, and x.at[index]: a single mask is kept unevaluated, as an update needn't know where it is true.
struct At {
  array of;
};
struct Part {
  array of;
  std::variant<Selection, array> at;
  Selection selection() const {
    return at.index() == 0 ? std::get<0>(at) : Reader(of, nb::cast(std::get<1>(at))).take();
  }
};
Part part_of(const array& of, const nb::object& index) {
  if (!nb::isinstance<nb::tuple>(index) && !index.is_none() && !index.is(nb::ellipsis())) {
    if (const std::optional<array> mask = Reader::mask_of(index)) return {of, *mask};
  }
  return {of, Reader(of, index).take()};
}

}  // namespace

void bind_indexing(nb::module_& m, Class& of) {
  of.def(
      "__getitem__",
      [](const array& a, const nb::object& index) {
        const Selection s = Reader(a, index).take();
        return unlocked([&] { return read(a, s); });
      },
      nb::arg("index").none(),
      "Numbers, slices, None, ... and arrays of integers, as NumPy has them; numbers out of bounds are an IndexError, "
      "elements of arrays that are out of bounds are moved in. Masks, of booleans, are evaluated.");
  of.def(
      "__setitem__",
      [](const array&, const nb::object&, const nb::object&) {
        throw nb::type_error("arrays aren't changed: x = x.at[index].set(value) is another one");
      },
      nb::arg("index").none(), nb::arg("value").none(),
      nb::sig("def __setitem__(self, index: object, value: object) -> NoReturn"));
  of.def_prop_ro(
      "at", [](const array& a) { return At{a}; },
      "x.at[index].set(v), add, multiply, minimum, maximum: x with the elements x[index] replaced.");
  nb::class_<At>(m, "At", "What x.at is: an index makes a part of it.")
      .def(
          "__getitem__", [](const At& at, const nb::object& index) { return part_of(at.of, index); },
          nb::arg("index").none());
  nb::class_<Part> part(m, "Part",
                        "Elements of an array, x.at[index]. What an array of indices names more than once is "
                        "added, multiplied and compared each time, and set to any of the values.");
  part.def(
      "get",
      [](const Part& p) {
        const Selection s = p.selection();
        return unlocked([&] { return read(p.of, s); });
      },
      "The elements.");
  for (const auto& [name, how] : kUpdates) {
    part.def(
        name,
        [how = how](const Part& p, const ArrayLike& values) {
          const array with = array_of(values, p.of.dtype());
          return unlocked([&] {
            const array values = astype(with, p.of.dtype());
            if (p.at.index() == 1) return updated_where(p.of, std::get<1>(p.at), values, how);
            return updated(p.of, std::get<0>(p.at), values, how);
          });
        },
        "values"_a,
        "The array with these elements instead, or with what both come to; values are broadcast, of a mask to the "
        "array's "
        "shape.");
  }
}

}  // namespace lowtide::python
