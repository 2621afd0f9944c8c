#pragma once
/// How commands propagate the library's results.

#include <string>
#include <utility>

#include "lowtide/error.h"

namespace lowtide::command {

using Outcome = Result<void>;

inline Error usage_error(std::string message) { return {ErrorKind::kUsage, std::move(message)}; }

inline constexpr int kInterrupted = static_cast<int>(ErrorKind::kInterrupted);

}  // namespace lowtide::command

/// LT_TRY(const auto plan, session.plan(module)): the value, or return the error.
#define LT_TRY(declaration, expression) LT_TRY_(LT_JOIN(lt_tried_, __LINE__), declaration, expression)
#define LT_TRY_(temporary, declaration, expression) \
  auto temporary = (expression);                    \
  if (!temporary.ok()) return temporary.error();    \
  declaration = std::move(temporary).value()
#define LT_JOIN(a, b) LT_JOIN_(a, b)
#define LT_JOIN_(a, b) a##b
/// LT_DO(writer.commit()): or return the error.
#define LT_DO(expression)                                                                            \
  do {                                                                                               \
    if (const ::lowtide::Result<void> lt_done = (expression); !lt_done.ok()) return lt_done.error(); \
  } while (false)
