// What the Python package asks of the library beside PJRT, as C functions for ctypes: a program in, texts out.
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>

#include "lowtide/session.h"
#include "lowtide/visibility.h"
#include "lowtide/words.h"

namespace {

using lowtide::Error;
using lowtide::Result;

/// Whatever comes of a call: texts, or an error's kind and message.
struct Answer {
  int kind = 0;  ///< 0, or lowtide::ErrorKind
  std::string error, report, program, page, json;
};

const char* variable(const char* name) { return std::getenv(name); }

template <class F>
Answer* answer(F&& make) noexcept {
  auto* const made = new (std::nothrow) Answer;
  if (!made) return nullptr;
  try {
    const Result<void> done = make(*made);
    if (!done.ok()) {
      made->kind = static_cast<int>(done.error().kind);
      made->error = done.error().message;
    }
  } catch (const std::exception& error) {
    made->kind = static_cast<int>(lowtide::ErrorKind::kInternal);
    made->error = error.what();
  }
  return made;
}

Result<lowtide::Module> read(const lowtide::Session& session, const char* program, size_t size, const char* name) {
  // A path is read as the command reads it, with what stands beside the file.
  return size == 0 ? session.read(name) : session.parse(std::string(program, size), name);
}

}  // namespace

extern "C" {

/// The explanation of a program; `size` 0: of the file `name`.
LOWTIDE_PUBLIC Answer* lowtide_explain(const char* program, size_t size, const char* name, int64_t rows) {
  return answer([&](Answer& made) -> Result<void> {
    auto session = lowtide::Session::open(lowtide::options_from_environment(variable));
    if (!session.ok()) return session.error();
    auto module = read(*session, program, size, name);
    if (!module.ok()) return module.error();
    const auto explanation = session->explain(*std::move(module), true);
    if (!explanation.ok()) return explanation.error();
    made.report = explanation->text(rows);
    made.page = explanation->html();
    made.json = explanation->json();
    return {};
  });
}

/// The program rewritten so that XLA needs less for it, as StableHLO; `limit` empty: as little as possible.
LOWTIDE_PUBLIC Answer* lowtide_fit_for_xla(const char* program, size_t size, const char* name, const char* limit) {
  return answer([&](Answer& made) -> Result<void> {
    auto session = lowtide::Session::open(lowtide::options_from_environment(variable));
    if (!session.ok()) return session.error();
    std::optional<int64_t> bytes;
    if (*limit) {
      const auto parsed = lowtide::parse_size(limit);
      if (!parsed.ok()) return parsed.error();
      bytes = *parsed;
    }
    auto module = read(*session, program, size, name);
    if (!module.ok()) return module.error();
    const auto fitted = session->fit_for_xla(*std::move(module), bytes);
    if (!fitted.ok()) return fitted.error();
    auto text = fitted->module.stablehlo();
    if (!text.ok()) return text.error();
    made.program = *std::move(text);
    made.report = fitted->report.text();
    made.json = fitted->report.json();
    return {};
  });
}

LOWTIDE_PUBLIC int lowtide_kind(const Answer* answer) { return answer ? answer->kind : 1; }

/// "error", "report", "page", "json" or "program" of an answer, until that is freed.
LOWTIDE_PUBLIC const char* lowtide_text(const Answer* answer, const char* which) {
  if (!answer) return "no memory is left";
  if (std::strcmp(which, "report") == 0) return answer->report.c_str();
  if (std::strcmp(which, "page") == 0) return answer->page.c_str();
  if (std::strcmp(which, "json") == 0) return answer->json.c_str();
  if (std::strcmp(which, "program") == 0) return answer->program.c_str();
  return answer->error.c_str();
}

LOWTIDE_PUBLIC void lowtide_free(Answer* answer) { delete answer; }

}  // extern "C"
