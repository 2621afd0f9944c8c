// golden CASES.json [--control]: makes the random numbers of published cases and prints each as bytes, one line a case;
// golden.py judges. --control: from other keys, which must be noticed.
#include <lowtide/arrays.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace lowtide;

namespace {

Dtype dtype_of(const std::string& name) {
  for (int v = 0; v <= static_cast<int>(Dtype::Val::complex64); ++v) {
    if (dtype_to_string(Dtype(static_cast<Dtype::Val>(v))) == name) return Dtype(static_cast<Dtype::Val>(v));
  }
  throw std::runtime_error("found the type " + name);
}

std::vector<array> draws(uint64_t seed, int count, const Shape& shape) {
  random::seed(seed);
  std::vector<array> made;
  for (int k = 0; k < count; ++k) made.push_back(random::uniform(shape));
  return made;
}

array made(const std::string& name, const std::string& call, const Shape& shape, Dtype dtype, uint64_t seed) {
  const array key = random::key(seed);
  const auto has = [&](const char* text) { return call.find(text) != std::string::npos; };
  const array logits({0, 1, 2, 3, 3, 2, 1, 0, 0, 0, 0, 10}, Shape{3, 4}, float32);
  const array vector({0.0F, 1.0F, 2.0F, 3.0F});
  const int width = dtype.size();
  if (name == "key") return key;
  if (name.starts_with("uniform_array_bounds"))
    return random::uniform(array({-1.0F, 0.0F, 10.0F}), array({1.0F, 2.5F}, Shape{2, 1}), shape, dtype, key);
  if (name.starts_with("uniform_scalar_bounds")) return random::uniform(-3.0F, 5.5F, shape, dtype, key);
  if (name.starts_with("uniform")) return random::uniform(shape, dtype, key);
  if (name == "normal_loc_scale") return random::normal(shape, dtype, 1.5F, 0.25F, key);
  if (name.starts_with("normal")) return random::normal(shape, dtype, key);
  if (name == "truncated_normal") return random::truncated_normal(array(-2.0F), array(1.5F), shape, dtype, key);
  if (name == "gumbel") return random::gumbel(shape, dtype, key);
  if (name == "laplace") return random::laplace(shape, dtype, key);
  if (name == "laplace_loc_scale") return random::laplace(shape, dtype, -1.0F, 2.0F, key);
  if (name == "bernoulli_array_p") return random::bernoulli(array({0.0F, 0.25F, 0.5F, 0.75F, 1.0F}), shape, key);
  if (name == "bernoulli")
    return random::bernoulli(std::strtof(call.c_str() + call.find('(') + 1, nullptr), shape, key);
  if (name == "multivariate_normal")
    return random::multivariate_normal(array({1.0F, -1.0F}), array({2.0F, 0.5F, 0.5F, 1.0F}, Shape{2, 2}), {4}, float32,
                                       key);
  if (name == "randint_array_bounds")
    return random::randint(array({0, -5, 100}), array({10, 5, 1000}), shape, dtype, key);
  if (name == "randint_wide") return random::randint(array(INT32_MIN), array(INT32_MAX), shape, dtype, key);
  if (name == "randint_i64") return random::randint(array(int64_t{0}), array(int64_t{1} << 40), shape, dtype, key);
  if (name == "randint_u8") return random::randint(0, 256, shape, dtype, key);
  if (name == "randint")
    return has("-7") ? random::randint(-7, 100, shape, dtype, key) : random::randint(0, 10, shape, dtype, key);
  if (name == "categorical") return random::categorical(logits, -1, key);
  if (name == "categorical_num_samples") return random::categorical(logits, -1, 8, key);
  if (name == "categorical_axis0_shape") return random::categorical(logits, 0, Shape{5, 4}, key);
  if (name == "categorical_1d_ns") return random::categorical(vector, -1, 9, key);
  if (name == "categorical_1d") return random::categorical(vector, -1, key);
  if (name == "permutation_int") return random::permutation(static_cast<int>(shape[0]), key);
  if (name == "permutation_arr") return random::permutation(reshape(arange(12), {4, 3}), 1, key);
  if (name == "split") return random::split(key, 2);
  if (name == "split5") return random::split(key, 5);
  if (name == "split_tree_depth2") return random::split(take(random::split(key, 3), 1, 0), 2);
  if (name == "split_tree_depth3_uniform")
    return random::uniform(shape, float32,
                           take(random::split(random::split(random::split(key).first).second, 4), 3, 0));
  if (name.starts_with("vmap_uniform"))
    return vmap([](const array& k) { return random::uniform({5}, float32, k); })(random::split(key, 4));
  if (name.starts_with("vmap_normal"))
    return vmap([](const array& k) { return random::normal({3}, bfloat16, k); })(random::split(key, 4));
  if (name == "implicit_seq_1") return draws(seed, 1, {4})[0];
  if (name == "implicit_seq_2") return draws(seed, 2, {4})[1];
  if (name == "implicit_seq_3") {
    draws(seed, 2, {4});
    return random::normal({3});
  }
  if (name == "state") {
    array k = key;
    for (int draw = 0; draw < 3; ++draw) k = random::split(k).first;
    return k;
  }
  if (name == "bits") return random::bits(shape, width, key);
  const auto row = [width](const Shape& s) { return [s, width](const array& k) { return random::bits(s, width, k); }; };
  if (name == "bits_vmap") return vmap(OneToOne(row({shape[1]})))(random::split(key, 4));
  if (name == "bits_vmap_in_axis1") return vmap(OneToOne(row({3})), 1)(transpose(random::split(key, 4)));
  if (name == "bits_vmap2") return vmap(OneToOne(vmap(OneToOne(row({2})))))(reshape(random::split(key, 6), {2, 3, 2}));
  if (name == "bits_large_even_tail8") return slice(random::bits({4096}, 4, key), {4088}, {4096});
  if (name == "bits_large_odd_mid") return slice(random::bits({4097}, 4, key), {2044}, {2053});
  if (name == "seq_bits1" || name == "seq_bits2") {
    random::seed(seed);
    const array first = random::bits({3});
    return name == "seq_bits1" ? first : random::bits({3});
  }
  const array x({-0.99999994F, -0.999F, -0.9F, -0.5F, -1e-3F, 0.0F, 1e-6F, .25F, .75F, .99F, .9999F, .99999994F});
  if (name == "erfinv") return erfinv(x);
  if (name == "erf") return erf(x * 2.0F);
  throw std::runtime_error("nobody here knows the case");
}

}  // namespace

int main(int argc, char** argv) {
  if (const char* const cache = std::getenv("LOWTIDE_ARRAYS_CACHE"))
    use(Session::open({.kernels_of_any_shape = true, .cache_directory = cache}).value());
  const bool control = argc > 2 && std::strcmp(argv[2], "--control") == 0;
  std::ifstream file(argv[1]);
  if (!file) return 77;
  const auto cases = nlohmann::json::parse(file)["cases"];
  for (const auto& one : cases) {
    try {
      const uint64_t seed = one["seed"].is_null() ? 0 : one["seed"].get<uint64_t>();
      array a =
          made(one["name"], one["call"], one["shape"].get<Shape>(), dtype_of(one["dtype"]), control ? seed + 1 : seed);
      if (a.shape() != one["shape"].get<Shape>() || dtype_to_string(a.dtype()) != one["dtype"].get<std::string>())
        throw std::runtime_error("another shape or type");
      a = a.dtype().val == Dtype::Val::bool_ ? astype(a, uint8) : view(reshape(a, {-1}), uint8);
      a.eval();
      const uint8_t* const bytes = a.data<uint8_t>();
      for (size_t i = 0; i < a.size(); ++i) std::printf("%02x", bytes[i]);
      std::printf("\n");
    } catch (const std::exception& e) {
      std::printf("! %s\n", e.what());
    }
  }
}
