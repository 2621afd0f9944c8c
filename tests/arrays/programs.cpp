// programs FOLDER CASE...: reads each case's program, CASE.mlir, as a function, calls it on CASE.arg.0.npy and so on,
// and saves its results as CASE.out.0.npy; its tangents along CASE.tan.0.npy as CASE.jvp.0.npy; its gradients for the
// cotangents CASE.cot.0.npy as CASE.grad.0.npy, unless there is no CASE.cot.0.npy. The gradient is run once more as a
// program of its own, read from its text, as CASE.again.0.npy.
#include <lowtide/arrays.h>
#include <lowtide/session.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>

using namespace lowtide;

namespace {

std::vector<array> loaded(const std::string& prefix) {
  std::vector<array> arrays;
  for (int k = 0;; ++k) {
    const std::string path = prefix + "." + std::to_string(k) + ".npy";
    if (!std::filesystem::exists(path)) return arrays;
    arrays.push_back(load(path));
  }
}

void saved(const std::string& prefix, const std::vector<array>& arrays) {
  eval(arrays);
  for (size_t k = 0; k < arrays.size(); ++k) save(prefix + "." + std::to_string(k) + ".npy", arrays[k]);
}

void run(const Session& session, const std::string& path) {
  const ManyToMany f = function_of(path + ".mlir");
  const std::vector<array> args = loaded(path + ".arg"), cotangents = loaded(path + ".cot");
  saved(path + ".out", f(args));
  saved(path + ".jvp", jvp(f, args, loaded(path + ".tan")).second);
  if (cotangents.empty()) return;
  const auto gradient = [&](const std::vector<array>& in) { return vjp(f, in, cotangents).second; };
  saved(path + ".grad", gradient(args));
  const Module again = to_module(gradient, args);
  saved(path + ".again", function_of(session.parse(again.hlo()).value())(args));
}

}  // namespace

int main(int argc, char** argv) {
  const char* const cache = std::getenv("LOWTIDE_ARRAYS_CACHE");
  const auto session = Session::open({.cache_directory = cache ? cache : ""});
  if (!session.ok() || argc < 3) return 2;
  use(*session);
  for (int k = 2; k < argc; ++k) {
    try {
      run(*session, std::string(argv[1]) + "/" + argv[k]);
    } catch (const std::exception& e) {
      std::printf("%s: %s\n", argv[k], e.what());
    }
  }
  return 0;
}
