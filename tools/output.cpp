#include "output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "progress_line.h"

namespace lowtide::command {

int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

Outcome print_stdout(std::string_view text) {
  erase_progress_line();
  std::fflush(stdout);
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0 || error == EPIPE) return {};
  return Error{ErrorKind::kUsage, std::string("can't write stdout: ") + std::strerror(error)};
}

Outcome write_output(const Session& session, const std::string& path, std::string_view content) {
  if (path == "-") return print_stdout(content);
  erase_progress_line();
  return session.write_file(path, content);
}

Outcome write_program(const Session& session, const std::string& path, const Module& module) {
  if (path.ends_with(".mlirbc")) {
    LT_TRY(const std::string bytes, module.bytecode());
    return write_output(session, path, bytes);
  }
  if (!path.ends_with(".mlir")) return write_output(session, path, module.hlo());
  LT_TRY(const std::string text, module.stablehlo());
  return write_output(session, path, text);
}

}  // namespace lowtide::command
