#include "warm_up.h"

#include <memory>
#include <new>
#include <system_error>
#include <thread>

namespace lowtide::pjrt {
namespace {

/// Elementwise operations, a function and a sum, as in most programs.
constexpr const char* kProgram = R"(HloModule warm_up
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  x = f32[100,30] parameter(0)
  e = f32[100,30] exponential(x)
  zero = f32[] constant(0)
  ROOT s = f32[100] reduce(e, zero), dimensions={1}, to_apply=add
}
)";

/// Compiles without a cache, since cached kernels wouldn't be compiled. Ignores errors: the first program reports them.
void compile_something() {
  Options options;
  options.threads = 1;
  const Result<Session> session = Session::open(options);
  if (!session.ok()) return;
  const Result<Module> module = session->parse(kProgram, "warm_up.hlo");
  if (!module.ok()) return;
  const Result<Plan> plan = session->plan(*module);
  if (plan.ok()) (void)session->compile(*plan);
}

}  // namespace

void warm_up(PJRT_Client& client) {
  auto compiling = std::make_shared<PJRT_Client::Compiling>(client);
  try {
    std::thread([compiling] {
      try {
        if (!compiling->is_given_up()) compile_something();
      } catch (const std::bad_alloc&) {  // the first program will report it
      }
    }).detach();
  } catch (const std::system_error&) {  // no thread can be started: the first program takes longer
  }
}

}  // namespace lowtide::pjrt
