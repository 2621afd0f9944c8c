/// Functions of the host, called on arrays in place.
#include "ops/host_call.h"

#include "library/routines.h"

namespace lowtide::engine {
namespace {

class HostCallRoutine : public LibraryRoutine {
 public:
  explicit HostCallRoutine(const Instruction& call) : call_(call) {}

  int64_t scratch_bytes() const override { return 0; }

  /// The pool stays free: the function may run programs of the same session.
  Status run(std::span<const void* const> operands, std::span<void* const> results, void*, ThreadPool&) override {
    const HostFunction* const function = find_host_function(call_);
    return function ? run_host_call(call_, *function, operands, results) : missing_host_function(call_);
  }

 private:
  const Instruction& call_;
};

}  // namespace

/// Whether the session has the function is checked when a program is run: plans are the same for all sessions.
std::unique_ptr<LibraryRoutine> make_host_call(const Instruction& call) {
  return std::make_unique<HostCallRoutine>(call);
}

}  // namespace lowtide::engine
