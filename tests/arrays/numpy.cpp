// numpy FOLDER: computes each case of numpy.py on the arrays that lie in a folder as CASE.0.npy, CASE.1.npy, and saves
// what comes out as CASE.out.0.npy and so on; names that begin with grad_ are gradients of the sum of results times
// CASE.w.npy.
#include <lowtide/arrays.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

using namespace lowtide;

namespace {

using In = std::vector<array>;
In of(const std::pair<array, array>& both) { return {both.first, both.second}; }

ManyToMany in_layout_of_jax(const OneToOne& draw) {
  return [draw](const In& x) {
    const random::UseBits use(random::Bits::Partitionable);
    return In{draw(x[0])};
  };
}

const std::map<std::string, ManyToMany>& cases() {
  using namespace linalg;
  using namespace fft;
  static const std::map<std::string, ManyToMany> kCases = {
      {"qr", [](const In& x) { return of(qr(x[0])); }},
      {"svd", [](const In& x) { return svd(x[0]); }},
      {"svdvals", [](const In& x) { return svd(x[0], false); }},
      {"inv", [](const In& x) { return In{inv(x[0])}; }},
      {"cholesky", [](const In& x) { return In{cholesky(x[0])}; }},
      {"pinv", [](const In& x) { return In{pinv(x[0])}; }},
      {"lu", [](const In& x) { return lu(x[0]); }},
      {"solve", [](const In& x) { return In{solve(x[0], x[1])}; }},
      {"tri", [](const In& x) { return In{solve_triangular(x[0], x[1], true)}; }},
      {"eigh", [](const In& x) { return of(eigh(x[0])); }},
      {"eigvalsh", [](const In& x) { return In{eigvalsh(x[0], "U")}; }},
      {"eigvals", [](const In& x) { return In{eigvals(x[0])}; }},
      {"det", [](const In& x) { return In{det(x[0])}; }},
      {"slogdet", [](const In& x) { return of(slogdet(x[0])); }},
      {"cross", [](const In& x) { return In{cross(x[0], x[1])}; }},
      {"norm2", [](const In& x) { return In{norm(x[0], 2.0, std::vector<int>{-2, -1})}; }},
      {"nuc", [](const In& x) { return In{norm(x[0], "nuc", std::vector<int>{-2, -1})}; }},
      {"fft", [](const In& x) { return In{fft::fft(x[0], 1)}; }},
      {"ifft", [](const In& x) { return In{ifft(x[0], 7, 0)}; }},
      {"rfft", [](const In& x) { return In{rfft(x[0], 9, 1, FFTNorm::Ortho)}; }},
      {"irfft", [](const In& x) { return In{irfft(x[0], 7, 1, FFTNorm::Forward)}; }},
      {"fft2", [](const In& x) { return In{fft2(x[0], {0, 1})}; }},
      {"fftn", [](const In& x) { return In{fftn(x[0])}; }},
      {"ifftn", [](const In& x) { return In{ifftn(x[0], {5, 4}, {2, 0})}; }},
      {"rfftn", [](const In& x) { return In{rfftn(x[0])}; }},
      {"irfftn", [](const In& x) { return In{irfftn(x[0])}; }},
      {"reflect", [](const In& x) { return In{pad(x[0], {{5, 2}, {0, 7}}, array(0), "reflect")}; }},
      {"symmetric", [](const In& x) { return In{pad(x[0], 7, array(0), "symmetric")}; }},
      {"rolled", [](const In& x) { return In{roll(x[0], Shape{1, -6})}; }},
      {"dots", [](const In& x) { return In{einsum("...ij,...jk", x)}; }},
      {"diagonals", [](const In& x) { return In{einsum("ii...,...k->k...i", x)}; }},
      {"found", [](const In& x) { return In{searchsorted(x[0], x[1]), searchsorted(x[0], x[1], "right")}; }},
      {"different", [](const In& x) { return unique(x[0], 6, true, true, true); }},
      {"exclusive",
       [](const In& x) {
         const array row = slice(transpose(x[0]), {0, 0}, {1, 4});
         return In{astype(logical_xor(x[0], row), uint8), cumsum(x[0], 0, false, true, float32)};
       }},
      {"jaxbits", in_layout_of_jax([](const array& key) { return random::bits({1001, 3}, 4, key); })},
      {"jaxbytes", in_layout_of_jax([](const array& key) { return random::bits({77}, 1, key); })},
      {"jaxsplit", in_layout_of_jax([](const array& key) { return random::split(key, 5); })},
      {"fftshift", [](const In& x) { return In{fftshift(x[0])}; }},
      {"ifftshift", [](const In& x) { return In{ifftshift(x[0], {1})}; }},
  };
  return kCases;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (const char* const cache = std::getenv("LOWTIDE_ARRAYS_CACHE"))
    use(Session::open({.kernels_of_any_shape = true, .cache_directory = cache}).value());
  const std::filesystem::path folder = argv[1];
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (!name.ends_with(".0.npy") || name.find(".out.") != std::string::npos) continue;
    name.resize(name.size() - 6);
    In inputs;
    const auto file = [&](const std::string& end) { return (folder / (name + end)).string(); };
    while (std::filesystem::exists(file("." + std::to_string(inputs.size()) + ".npy")))
      inputs.push_back(load(file("." + std::to_string(inputs.size()) + ".npy")));
    const bool gradient = name.starts_with("grad_");
    const std::string operation = name.substr(gradient ? 5 : 0, name.find('-') - (gradient ? 5 : 0));
    const ManyToMany& f = cases().at(operation);
    In made = f(inputs);
    if (gradient) {
      const ManyToOne loss = [&](const In& x) {
        const In y = f(x);
        array total = array(0.0, y[0].dtype() == complex64 ? float32 : y[0].dtype());
        for (size_t k = 0; k < y.size(); ++k)
          total = total + sum(real(y[k]) * load(file(".w" + std::to_string(k) + ".npy")));
        return total;
      };
      std::vector<int> all;
      for (size_t k = 0; k < inputs.size(); ++k) all.push_back(static_cast<int>(k));
      made = grad(loss, all)(inputs);
    }
    for (size_t k = 0; k < made.size(); ++k) save(file(".out." + std::to_string(k) + ".npy"), made[k]);
  }
}
