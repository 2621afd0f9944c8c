// C functions for Python: sessions, programs, explanations and plans. They take programs and return texts.
#include "native.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "foreign_calls.h"
#include "host_callbacks.h"
#include "lowtide/words.h"

namespace lowtide::python {

std::string quoted(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string json = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      json += "\\u00";
      json += kDigits[static_cast<unsigned char>(c) >> 4];
      json += kDigits[static_cast<unsigned char>(c) & 15];
      continue;
    }
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + "\"";
}

std::string json_of(const std::vector<ProgramArray>& arrays) {
  std::string json = "[";
  for (const ProgramArray& array : arrays) {
    if (json.size() > 1) json += ", ";
    json += R"({"path": )" + quoted(array.path) + R"(, "type": )" + quoted(array.type) + R"(, "dims": [)";
    for (size_t i = 0; i < array.dims.size(); ++i) json += (i > 0 ? ", " : "") + std::to_string(array.dims[i]);
    json += R"(], "bytes": )" + std::to_string(array.bytes) + R"(, "can_be_donated": )" +
            (array.can_be_donated ? "true" : "false") + "}";
  }
  return json + "]";
}

std::string json_of(const Sizes& sizes) {
  return R"({"arguments": )" + std::to_string(sizes.arguments) + R"(, "outputs": )" + std::to_string(sizes.outputs) +
         R"(, "alias": )" + std::to_string(sizes.alias) + R"(, "temp": )" + std::to_string(sizes.temp) +
         R"(, "peak": )" + std::to_string(sizes.peak) + R"(, "host": )" + std::to_string(sizes.host) + "}";
}

namespace {

/// The most lines kept until Python asks for them; more would be a debugging session whose output isn't read.
constexpr size_t kMostLines = 10000;

const char* variable(const char* name) { return std::getenv(name); }

Result<std::optional<int64_t>> limit_of(std::string_view text) {
  if (text.empty()) return std::optional<int64_t>{};
  const auto bytes = parse_size(text);
  if (!bytes.ok()) return bytes.error();
  return std::optional<int64_t>{*bytes};
}

/// These options override the environment's: limit, exact, threads, machine, cache.
Result<void> apply(std::string_view name, std::string_view value, Options& options) {
  if (name == "limit") {
    const auto limit = limit_of(value);
    if (!limit.ok()) return limit.error();
    options.limit = *limit;
  } else if (name == "exact") {
    options.exact = value == "1";
  } else if (name == "threads") {
    options.threads = std::atoi(std::string(value).c_str());
  } else if (name == "machine") {
    options.machine = value;
  } else if (name == "cache") {
    options.cache_directory = value;
  } else {
    return Error{ErrorKind::kUsage, "found no option " + std::string(name)};
  }
  return {};
}

}  // namespace
}  // namespace lowtide::python

using lowtide::python::Answer;
using lowtide::python::answer;
using lowtide::python::Home;
using lowtide::python::Told;

extern "C" {

/// Opens a session; `names` and `values` are its options.
LOWTIDE_PUBLIC Answer* lowtide_open(const char* const* names, const char* const* values, size_t count) {
  return answer([&](Answer& made) -> lowtide::Result<void> {
    lowtide::Options options = lowtide::options_from_environment(lowtide::python::variable);
    for (size_t i = 0; i < count; ++i) {
      if (auto applied = lowtide::python::apply(names[i], values[i], options); !applied.ok()) return applied;
    }
    options.host_functions[lowtide::pjrt::kCallbackFunction] = lowtide::pjrt::call_back;
    options.foreign_calls = lowtide::pjrt::foreign_function;
    auto told = std::make_shared<Told>();
    options.progress = [told](const lowtide::Progress& progress) {
      const std::lock_guard lock(told->mutex);
      told->stage = progress.stage;
      told->progress = progress;
      told->progress.stage = "";
    };
    options.warn = [told](std::string_view line) {
      const std::lock_guard lock(told->mutex);
      if (told->lines.size() < lowtide::python::kMostLines) told->lines.emplace_back(line);
    };
    auto session = lowtide::Session::open(std::move(options));
    if (!session.ok()) return session.error();
    made.made = new Home{*session, std::move(told)};
    return {};
  });
}

LOWTIDE_PUBLIC void lowtide_close(Home* home) { delete home; }
LOWTIDE_PUBLIC void lowtide_cancel(const Home* home) { home->session.cancel(); }

/// The progress of the session's call, as much of the text as fits; returns its length. share: 0 to 1.
LOWTIDE_PUBLIC size_t lowtide_progress(const Home* home, double* share, char* text, size_t size) {
  const std::lock_guard lock(home->told->mutex);
  lowtide::Progress progress = home->told->progress;
  progress.stage = home->told->stage.c_str();
  *share = progress.share();
  if (home->told->stage.empty() || size == 0) return 0;
  const std::string whole = progress.text();
  const size_t length = std::min(size, whole.size());
  (void)whole.copy(text, length);
  return length;
}

/// Lines of warnings since the last call, each with its line end.
LOWTIDE_PUBLIC Answer* lowtide_lines(const Home* home) {
  return answer([&](Answer& made) -> lowtide::Result<void> {
    const std::lock_guard lock(home->told->mutex);
    for (const std::string& line : home->told->lines) made.texts["lines"] += line + "\n";
    home->told->lines.clear();
    return {};
  });
}

/// A program from memory; `size` 0: from the file `name`, as the command reads it, along with the files next to it.
LOWTIDE_PUBLIC Answer* lowtide_read(const Home* home, const char* program, size_t size, const char* name) {
  return answer([&](Answer& made) -> lowtide::Result<void> {
    auto module = size == 0 ? home->session.read(name) : home->session.parse(std::string(program, size), name);
    if (!module.ok()) return module.error();
    made.texts["arguments"] = lowtide::python::json_of(module->arguments());
    made.texts["results"] = lowtide::python::json_of(module->results());
    made.texts["name"] = module->name();
    made.made = new lowtide::Module(*std::move(module));
    return {};
  });
}

LOWTIDE_PUBLIC void lowtide_free_module(lowtide::Module* module) { delete module; }

/// is_file: the report may end with commands to run on the file.
LOWTIDE_PUBLIC Answer* lowtide_explain(const Home* home, const lowtide::Module* module, int64_t rows, int is_file) {
  return answer([&](Answer& made) -> lowtide::Result<void> {
    auto explanation = home->session.explain(*module, true);
    if (!explanation.ok()) return explanation.error();
    if (is_file == 0) explanation->next.clear();
    made.texts["report"] = explanation->text(rows);
    made.texts["page"] = explanation->html();
    made.texts["json"] = explanation->json();
    return {};
  });
}

/// The program rewritten so that XLA needs less for it, as bytecode, or as StableHLO text if it has operations without
/// a bytecode form; `limit` empty: as little as possible.
LOWTIDE_PUBLIC Answer* lowtide_fit_for_xla(const Home* home, const lowtide::Module* module, const char* limit) {
  return answer([&](Answer& made) -> lowtide::Result<void> {
    const auto bytes = lowtide::python::limit_of(limit);
    if (!bytes.ok()) return bytes.error();
    const auto fitted = home->session.fit_for_xla(*module, *bytes);
    if (!fitted.ok()) return fitted.error();
    auto program = fitted->module.bytecode();
    if (!program.ok() && program.error().kind == lowtide::ErrorKind::kUnsupported) program = fitted->module.stablehlo();
    if (!program.ok()) return program.error();
    made.texts["program"] = *std::move(program);
    made.texts["report"] = fitted->report.text();
    made.texts["json"] = fitted->report.json();
    return {};
  });
}

/// The program as given: bytes by its account, and the floors.
LOWTIDE_PUBLIC Answer* lowtide_sizes(const lowtide::Module* module) {
  return answer([&](Answer& made) -> lowtide::Result<void> {
    const auto given = module->as_given();
    if (!given.ok()) return given.error();
    const auto floor = module->floor_of_any();
    if (!floor.ok()) return floor.error();
    made.texts["given"] = lowtide::python::json_of(*given);
    made.texts["floor"] = std::to_string(floor->bytes);
    return {};
  });
}

/// The free plan, or the fastest within the session's limit.
LOWTIDE_PUBLIC Answer* lowtide_plan(const Home* home, const lowtide::Module* module) {
  return answer([&](Answer& made) -> lowtide::Result<void> {
    auto plan = home->session.plan(*module);
    if (!plan.ok()) return plan.error();
    made.texts["sizes"] = lowtide::python::json_of(plan->sizes());
    made.texts["text"] = plan->text();
    made.texts["seconds"] = std::to_string(plan->modelled_seconds());
    made.texts["warning"] = plan->warning();
    made.made = new lowtide::Plan(*std::move(plan));
    return {};
  });
}

LOWTIDE_PUBLIC void lowtide_free_plan(lowtide::Plan* plan) { delete plan; }

/// A size such as "8GiB" in bytes.
LOWTIDE_PUBLIC Answer* lowtide_size(const char* text) {
  return answer([&](Answer& made) -> lowtide::Result<void> {
    const auto bytes = lowtide::parse_size(text);
    if (!bytes.ok()) return bytes.error();
    made.texts["bytes"] = std::to_string(*bytes);
    return {};
  });
}

/// Bytes as a text such as "8 GiB".
LOWTIDE_PUBLIC Answer* lowtide_format(int64_t bytes) {
  return answer([&](Answer& made) -> lowtide::Result<void> {
    made.texts["text"] = lowtide::format_bytes(bytes);
    return {};
  });
}

LOWTIDE_PUBLIC int lowtide_kind(const Answer* answer) { return answer ? answer->kind : 1; }

/// A text of an answer, valid until the answer is freed; null if it has none with this name. length: its bytes.
LOWTIDE_PUBLIC const char* lowtide_text(const Answer* answer, const char* which, size_t* length) {
  static const std::string no_memory = "no memory is left";
  const std::string* text = answer ? nullptr : &no_memory;
  if (answer) {
    const auto found = answer->texts.find(which);
    if (found != answer->texts.end()) text = &found->second;
  }
  *length = text ? text->size() : 0;
  return text ? text->c_str() : nullptr;
}

/// The object that the call created; the caller frees it.
LOWTIDE_PUBLIC void* lowtide_made(Answer* answer) { return answer ? answer->made : nullptr; }
LOWTIDE_PUBLIC void lowtide_free(Answer* answer) { delete answer; }

}  // extern "C"
