#pragma once
/// The library's interface to the Python package, besides PJRT: C functions for ctypes, which releases Python's lock
/// while they work. A call that can fail returns an Answer; the object it created is taken from that and freed by its
/// own function.
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/executable.h"
#include "lowtide/plan.h"
#include "lowtide/session.h"
#include "lowtide/visibility.h"

namespace lowtide::python {

/// Messages of a session's threads, kept until Python asks for them.
struct Told {
  std::mutex mutex;
  Progress progress;
  std::string stage;  ///< of `progress`, whose own text may be gone
  std::vector<std::string> lines;
};

struct Home {
  Session session;
  std::shared_ptr<Told> told;
};

struct Runner {
  Plan plan;
  Executable executable;
};

/// The outcome of a call: texts and an object, or an error's kind and message.
struct Answer {
  int kind = 0;  ///< 0, or lowtide::ErrorKind
  std::map<std::string, std::string> texts;
  void* made = nullptr;
};

/// Runs `make`, a function from an Answer to a Result<void>; an exception becomes an error of kind kInternal.
template <class F>
Answer* answer(F&& make) noexcept {
  auto* const made = new (std::nothrow) Answer;
  if (!made) return nullptr;
  try {
    const Result<void> done = make(*made);
    if (!done.ok()) {
      made->kind = static_cast<int>(done.error().kind);
      made->texts["error"] = done.error().message;
      if (done.error().lowest_peak) made->texts["lowest"] = std::to_string(*done.error().lowest_peak);
    }
  } catch (const std::exception& error) {
    made->kind = static_cast<int>(ErrorKind::kInternal);
    made->texts["error"] = error.what();
  }
  return made;
}

/// JSON: an array of objects with path, type, dims and bytes.
std::string json_of(const std::vector<ProgramArray>& arrays);
std::string json_of(const Sizes& sizes);
std::string quoted(std::string_view text);

}  // namespace lowtide::python
