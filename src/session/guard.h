#pragma once
/// The library's boundary: exceptions inside become errors outside.

#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "base/memory.h"
#include "base/status.h"
#include "lowtide/error.h"

namespace lowtide::engine {

Error error_of(const Status& status);
Error internal_error(const std::exception& thrown);

/// f() returns a lowtide::Result.
template <class F>
auto guarded(F&& f) -> decltype(f()) {
  try {
    return std::forward<F>(f)();
  } catch (const std::bad_alloc&) {
    return error_of(out_of_memory());
  } catch (const std::system_error& e) {
    if (e.code() == std::errc::resource_unavailable_try_again)
      return Error{ErrorKind::kLimit, "the system has no thread left for this process"};
    return internal_error(e);
  } catch (const std::exception& e) {
    return internal_error(e);
  }
}

}  // namespace lowtide::engine

/// LT_TAKE(Shape shape, infer(x)): the value, or return the error as a public one.
#define LT_TAKE_(temporary, declaration, expression)                           \
  auto temporary = (expression);                                               \
  if (!temporary.ok()) return ::lowtide::engine::error_of(temporary.status()); \
  declaration = temporary.take()
#define LT_TAKE(declaration, expression) LT_TAKE_(LT_CONCAT(lt_taken_, __LINE__), declaration, expression)
#define LT_PASS(expression)                                                  \
  do {                                                                       \
    if (::lowtide::engine::Status lt_status = (expression); !lt_status.ok()) \
      return ::lowtide::engine::error_of(lt_status);                         \
  } while (false)
