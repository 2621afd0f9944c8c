// embed PROGRAM: explains it, makes it fit, and runs it twice at once, in the free plan and in the tightest.
#include <lowtide/session.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace lowtide;

template <class T>
T get(Result<T> result) {
  if (result.ok()) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(static_cast<int>(result.error().kind));
}

void run(const Session& session, const Plan& plan, const char* name) {
  const Executable executable = get(session.compile(plan));
  std::vector<std::vector<std::byte>> memory;
  std::vector<Argument> arguments;
  std::vector<void*> results;
  for (const ProgramArray& a : executable.arguments())
    arguments.push_back({memory.emplace_back(static_cast<size_t>(a.bytes)).data()});
  for (const ProgramArray& r : executable.results())
    results.push_back(memory.emplace_back(static_cast<size_t>(r.bytes)).data());
  const Result<void> ran = executable.run(arguments, results);
  std::printf("%s: peak %lld bytes, %s\n", name, static_cast<long long>(plan.peak_bytes()),
              ran.ok() ? "ran" : ran.error().message.c_str());
}

int main(int, char** argv) {
  const Session session = get(Session::open());
  const Module module = get(session.read(argv[1]));
  std::fputs(get(session.explain(module)).text(3).c_str(), stdout);
  const Plan free = get(session.plan(module));
  const Fit tight = get(session.fit(module));
  const Session within = get(Session::open({.limit = tight.plan.peak_bytes()}));
  const Plan limited = get(within.plan(get(within.read(argv[1]))));
  std::thread other([&] { run(session, free, "free"); });
  run(within, limited, "tightest");
  other.join();
}
