// lowtide.random.
#include "lowtide/random.h"

#include <memory>

#include "bind.h"

namespace lowtide::python {
namespace {

using Key = std::optional<ArrayLike>;
using Type = std::optional<DtypeLike>;
std::optional<array> key_of(const Key& key) { return key ? std::optional(array_of(*key)) : std::nullopt; }

/// A distribution between two bounds.
using Between = array (*)(const array&, const array&, const Shape&, Dtype, const std::optional<array>&, StreamOrDevice);
void between(nb::module_& m, const char* name, Between f, Dtype usual, bool has_bounds, const char* doc) {
  const auto draw = [f, usual](const ArrayLike& low, const ArrayLike& high, const std::optional<ShapeLike>& shape,
                               const Type& dtype, const Key& key) {
    const Dtype type = dtype_or(dtype, usual);
    const array from = array_of(low, type), to = array_of(high, type);
    const std::optional<array> words = key_of(key);
    return unlocked([&] {
      const Shape extents = shape ? shape_of(*shape) : broadcast_arrays({from, to})[0].shape();
      return f(from, to, extents, type, words, kHere);
    });
  };
  const auto key = nb::arg("key") = nb::none();
  const auto shape = nb::arg("shape") = nb::none();
  const auto dtype = nb::arg("dtype") = nb::none();
  if (has_bounds)
    m.def(name, draw, "low"_a, "high"_a, shape, dtype, key, doc);
  else
    m.def(name, draw, "low"_a = 0, "high"_a = 1, shape, dtype, key, doc);
}

array normal_of(const ShapeLike& shape, const Type& dtype, const Key& loc, const Key& scale, const Key& key) {
  const Dtype type = dtype_or(dtype, float32);
  const auto given = [&](const Key& like) { return like ? std::optional(array_of(*like, type)) : std::nullopt; };
  const std::optional<array> mean = given(loc), width = given(scale), words = key_of(key);
  return unlocked([&] { return random::normal(shape_of(shape), type, mean, width, words); });
}

/// Sets the generator for all draws of this thread during a `with`.
struct UsedBits {
  random::Bits bits;
  std::unique_ptr<random::UseBits> use = {};
};

random::Bits bits_named(const std::string& name) {
  if (name == "mlx") return random::Bits::Mlx;
  if (name == "partitionable") return random::Bits::Partitionable;
  if (name == "philox") return random::Bits::Philox;
  throw std::invalid_argument("use_bits: found " + name + ", expected mlx, partitionable or philox");
}

}  // namespace

void bind_random(nb::module_& m) {
  m.def("key", [](uint64_t seed) { return random::key(seed); }, "seed"_a, "(2,) uint32");
  m.def("seed", [](uint64_t seed) { random::seed(seed); }, "seed"_a, "Of this thread's sequence of keys.");
  m.def(
      "split",
      [](const ArrayLike& key, int num) {
        const array from = array_of(key);
        return unlocked([&] { return random::split(from, num); });
      },
      "key"_a, "num"_a = 2, "(num, 2) keys: none has numbers of another, or of the first.");
  m.def(
      "bits",
      [](const ShapeLike& shape, int width, const Key& key) {
        const std::optional<array> words = key_of(key);
        return unlocked([&] { return random::bits(shape_of(shape), width, words); });
      },
      "shape"_a = Shape{}, "width"_a = 4, "key"_a = nb::none(), "Random unsigned integers of width bytes: 4, 2 or 1.");
  between(m, "uniform", random::uniform, float32, false,
          "Between low and high; high is returned where low + (high - low) u rounds to it.");
  between(m, "half_open", random::half_open, float32, false, "Between low and high, and never high.");
  between(m, "randint", random::randint, int32, true, "From low up to below high, made of a float32 uniform.");
  between(m, "integers", random::integers, int64, true, "From low up to below high, each equally often.");
  between(m, "truncated_normal", random::truncated_normal, float32, true,
          "Standard normal numbers between low and high.");
  m.def("normal", &normal_of, "shape"_a = Shape{}, "dtype"_a = nb::none(), "loc"_a = nb::none(), "scale"_a = nb::none(),
        "key"_a = nb::none(), "loc + scale z; float32, float16, bfloat16 or complex64.");
  m.def(
      "multivariate_normal",
      [](const ArrayLike& mean, const ArrayLike& cov, const ShapeLike& shape, const Type& dtype, const Key& key) {
        const array from = array_of(mean), spread = array_of(cov);
        const std::optional<array> words = key_of(key);
        const Dtype type = dtype_or(dtype, float32);
        return unlocked([&] { return random::multivariate_normal(from, spread, shape_of(shape), type, words); });
      },
      "mean"_a, "cov"_a, "shape"_a = Shape{}, "dtype"_a = nb::none(), "key"_a = nb::none(),
      "mean (..., n) plus a standard normal vector times the root of cov (..., n, n).");
  m.def(
      "bernoulli",
      [](const ArrayLike& p, const std::optional<ShapeLike>& shape, const Key& key) {
        const array chance = array_of(p);
        const std::optional<array> words = key_of(key);
        return unlocked([&] { return random::bernoulli(chance, shape ? shape_of(*shape) : chance.shape(), words); });
      },
      "p"_a = 0.5, "shape"_a = nb::none(), "key"_a = nb::none(), "bool, true with probability p.");
  m.def(
      "gumbel",
      [](const ShapeLike& shape, const Type& dtype, const Key& key) {
        const std::optional<array> words = key_of(key);
        const Dtype type = dtype_or(dtype, float32);
        return unlocked([&] { return random::gumbel(shape_of(shape), type, words); });
      },
      "shape"_a = Shape{}, "dtype"_a = nb::none(), "key"_a = nb::none(), "-log(-log(u))");
  m.def(
      "laplace",
      [](const ShapeLike& shape, const Type& dtype, float loc, float scale, const Key& key) {
        const std::optional<array> words = key_of(key);
        const Dtype type = dtype_or(dtype, float32);
        return unlocked([&] { return random::laplace(shape_of(shape), type, loc, scale, words); });
      },
      "shape"_a = Shape{}, "dtype"_a = nb::none(), "loc"_a = 0.0F, "scale"_a = 1.0F, "key"_a = nb::none(),
      "Laplace's distribution.");
  m.def(
      "categorical",
      [](const ArrayLike& logits, int axis, const std::optional<ShapeLike>& shape, std::optional<int> num_samples,
         const Key& key) {
        const array from = array_of(logits);
        const std::optional<array> words = key_of(key);
        return unlocked([&] {
          if (shape) return random::categorical(from, axis, shape_of(*shape), words);
          if (num_samples) return random::categorical(from, axis, *num_samples, words);
          return random::categorical(from, axis, words);
        });
      },
      "logits"_a, "axis"_a = -1, "shape"_a = nb::none(), "num_samples"_a = nb::none(), "key"_a = nb::none(),
      "Indices along an axis of unnormalised logarithms of probabilities, uint32.");
  m.def(
      "permutation",
      [](const std::variant<int, ArrayLike>& x, int axis, const Key& key) {
        const std::optional<array> words = key_of(key);
        if (x.index() == 0) return unlocked([&] { return random::permutation(std::get<0>(x), words); });
        const array from = array_of(std::get<1>(x));
        return unlocked([&] { return random::permutation(from, axis, words); });
      },
      "x"_a, "axis"_a = 0, "key"_a = nb::none(), "x in another order along an axis; of a number: of [0, x), uint32.");
  nb::class_<UsedBits>(m, "UsedBits", "See use_bits().")
      .def("__enter__", [](UsedBits& self) { self.use = std::make_unique<random::UseBits>(self.bits); })
      .def("__exit__", [](UsedBits& self, const nb::args&) { self.use.reset(); });
  m.def(
      "use_bits", [](const std::string& name) { return UsedBits{bits_named(name)}; }, "name"_a,
      "with use_bits(\"partitionable\"): all draws of this thread take JAX's words; \"philox\": Philox's; \"mlx\".");
}

}  // namespace lowtide::python
