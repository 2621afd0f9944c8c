#include "ask_xla.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <vector>

#include "output.h"

namespace lowtide::command {
namespace {

/// Reads a module's text, compiles it and prints a line: sizes and platform, or the error. jaxlib has no public API.
constexpr const char* kScript = R"python(
import os, re, sys
text = sys.stdin.read()
header = text.split("\n", 1)[0]
count = lambda key: int((re.search(key + r"=(\d+)", header) or (0, "1"))[1])
replicas, partitions = count("replica_count"), count("num_partitions")
devices = replicas * partitions
if devices > 1:
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + f" --xla_force_host_platform_device_count={devices}"
try:
    import jax, jaxlib, numpy
    import jaxlib._hlo as hlo, jaxlib._jax as binding
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir
    found = jax.local_devices()
    if len(found) < devices:
        raise RuntimeError(f"the program is for {devices} devices, and there are {len(found)}")
    used = tuple(found[:devices])
    proto = hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    options = compiler.get_compile_options(num_replicas=replicas, num_partitions=partitions,
                                           device_assignment=numpy.arange(devices).reshape(replicas, partitions))
    options.executable_build_options.use_spmd_partitioning = partitions > 1
    options.executable_build_options.use_shardy_partitioner = False
    with mlir.make_ir_context():
        program = ir.Module.parse(binding.mlir.xla_computation_to_mlir_module(hlo.XlaComputation(proto)))
        made = compiler.backend_compile_and_load(used[0].client, program, xla_client.DeviceList(used), options, [])
    said = made.get_compiled_memory_stats()
    sizes = [getattr(said, key + "_size_in_bytes") for key in ("argument", "output", "alias", "temp")]
    print("XLA", *sizes, f"{used[0].platform}, jaxlib {jaxlib.__version__}")
except Exception as fault:
    print("NO", f"{type(fault).__name__}: {fault}".split("\n")[0][:300])
)python";

/// The output of a Python process with this input; empty if it can't be run.
std::string answer_of(const std::string& python, std::string_view input) {
  int to[2], from[2];
  if (::pipe2(to, O_CLOEXEC) != 0) return {};
  if (::pipe2(from, O_CLOEXEC) != 0) return ::close(to[0]), ::close(to[1]), std::string();
  std::string name = python, flag = "-c", script = kScript;
  std::array<char*, 4> words = {name.data(), flag.data(), script.data(), nullptr};
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(to[0], STDIN_FILENO);
    ::dup2(from[1], STDOUT_FILENO);
    ::execvp(words[0], words.data());
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  std::string answer;
  if (child > 0) {
    (void)write_all(to[1], input);  // a process that doesn't read all of it reports that
    ::close(to[1]);
    std::array<char, 4096> part = {};
    for (ssize_t size = 0; (size = ::read(from[0], part.data(), part.size())) != 0;) {
      if (size > 0) answer.append(part.data(), static_cast<size_t>(size));
      if (size < 0 && errno != EINTR) break;
    }
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  } else {
    ::close(to[1]);
  }
  ::close(from[0]);
  return answer;
}

}  // namespace

Result<XlaAccount> ask_xla(const std::string& python, const Module& module) {
  const std::string answer = answer_of(python, module.hlo());
  const auto refused = [&](std::string_view why) {
    return Error{ErrorKind::kUnsupported, fmt::format("--ask-xla {}: {}", python, why)};
  };
  // The last line; other output may precede it.
  for (size_t end = answer.size(); end != std::string::npos && end > 0; end = answer.rfind('\n', end - 1)) {
    const size_t begin = answer.rfind('\n', end - 1) + 1;  // npos + 1 is the beginning
    const std::string_view line = std::string_view(answer).substr(begin, end - begin);
    if (line.starts_with("NO ")) return refused(line.substr(3));
    if (!line.starts_with("XLA ")) {
      if (begin == 0) break;
      continue;
    }
    XlaAccount account;
    const char *at = line.data() + 4, *const last = line.data() + line.size();
    for (int64_t* bytes :
         {&account.sizes.arguments, &account.sizes.outputs, &account.sizes.alias, &account.sizes.temp}) {
      const auto [next, fault] = std::from_chars(at, last, *bytes);
      if (fault != std::errc() || next == last) return refused("its answer can't be read");
      at = next + 1;
    }
    account.platform.assign(at, last);
    account.sizes.peak = account.sizes.arguments + account.sizes.outputs - account.sizes.alias + account.sizes.temp;
    return account;
  }
  return refused("expected a Python with jax 0.10 and jaxlib; it printed nothing that is an answer");
}

}  // namespace lowtide::command
