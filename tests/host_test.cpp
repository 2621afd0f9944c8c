// A process that loads the library and must live: everything bad is tried on it, and it may neither end the process nor
// throw. By include/lowtide alone, linked with the shared library.
//
//   host_test FILE_OR_FOLDER...      every program, through all that a session does
//   host_test --control              abort() is noticed
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "lowtide/session.h"

namespace {

const char* ended_by = nullptr;
std::string working_on;

[[noreturn]] void noticed(const char* by) {
  ended_by = by;
  std::fprintf(stderr, "%s was called: %s\n", by, working_on.c_str());
  std::fflush(nullptr);
  reinterpret_cast<void (*)(int)>(::dlsym(RTLD_NEXT, "_exit"))(working_on == "the control" ? 0 : 1);
  __builtin_unreachable();
}

}  // namespace

// The library's calls come here.
extern "C" {
void abort() noexcept { noticed("abort"); }
void exit(int) noexcept { noticed("exit"); }
void _exit(int) { noticed("_exit"); }
}

namespace {

using namespace lowtide;
namespace fs = std::filesystem;

std::map<ErrorKind, int> errors;
int programs = 0, ran = 0;

template <class T>
bool is_there(const Result<T>& result) {
  if (!result.ok()) ++errors[result.error().kind];
  if (!result.ok() && result.error().message.empty()) noticed("an error without a message");
  if (!result.ok() && result.error().kind == ErrorKind::kInternal) noticed(result.error().message.c_str());
  return result.ok();
}

void run(const Session& session, const Plan& plan) {
  constexpr int64_t kMost = int64_t{64} << 20;
  constexpr double kLongest = 0.5;  // seconds, modelled
  if (plan.peak_bytes() > kMost || plan.modelled_seconds() > kLongest) return;
  const auto executable = session.compile(plan);
  if (!is_there(executable)) return;
  std::vector<std::vector<std::byte>> memory;
  std::vector<Argument> arguments;
  std::vector<void*> results;
  for (const ProgramArray& a : executable->arguments())
    arguments.push_back({memory.emplace_back(static_cast<size_t>(a.bytes) + 1).data()});
  for (const ProgramArray& r : executable->results())
    results.push_back(memory.emplace_back(static_cast<size_t>(r.bytes) + 1).data());
  if (is_there(executable->run(arguments, results))) ++ran;
  (void)is_there(executable->run({}, results));
  auto seeded = executable->bind();
  if (is_there(seeded) && is_there(seeded->run(2))) (void)is_there(seeded->summary());
}

void try_all(const Session& session, const std::string& path, bool from_memory) {
  constexpr uintmax_t kLargest = 4 << 20;
  if (fs::file_size(path) > kLargest) return;
  working_on = path;
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto module = from_memory ? session.parse(std::move(bytes), path) : session.read(path);
  ++programs;
  if (!is_there(module)) return;
  (void)module->hlo();
  (void)is_there(module->stablehlo());
  (void)is_there(module->as_given());
  (void)is_there(module->can_run());
  (void)is_there(session.open_tensors(path));
  (void)is_there(session.pack(path, 0, path));
  constexpr int64_t kMostInstructions = 2000;
  if (module->instructions() > kMostInstructions) return;
  const auto explanation = session.explain(*module, true);
  if (is_there(explanation)) (void)(explanation->json() + explanation->text() + explanation->html());
  (void)is_there(session.rewrite(*module));
  (void)is_there(session.replay(*module, "lowtide-plan 1\nmodule nothing\n"));
  const auto plan = session.plan(*module);
  if (!is_there(plan)) return;
  (void)is_there(plan->can_run());
  (void)is_there(plan->module());
  run(session, *plan);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--control") == 0) {
    working_on = "the control";
    std::abort();
  }
  Options two, hundred;
  two.threads = 2;
  hundred.threads = 1;
  hundred.limit = 100;
  const auto session = Session::open(two);
  const auto limited = Session::open(hundred);
  if (!session.ok() || !limited.ok()) return 1;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    if (!fs::exists(argv[i])) {
      std::printf("not here: %s\n", argv[i]);
    } else if (!fs::is_directory(argv[i])) {
      paths.emplace_back(argv[i]);
    } else {
      for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
        const std::string kind = entry.path().extension();
        if (entry.is_regular_file() &&
            (kind == ".hlo" || kind == ".mlir" || kind == ".pb" || kind == ".gz" || kind == ".txt"))
          paths.push_back(entry.path());
      }
    }
  }
  std::ranges::sort(paths);
  for (const std::string& path : paths) {
    try_all(*session, path, false);
    try_all(*limited, path, true);
  }
  std::printf("%d programs, %d ran; errors:", programs, ran);
  for (const auto& [kind, count] : errors) std::printf(" %d of kind %d", count, static_cast<int>(kind));
  std::printf("\n");
  return programs > 0 || argc < 2 ? 0 : 1;
}
