#pragma once
/// How calls fail: with a value of type Error, never by an exception or by ending the process. Memory that ends and
/// broken invariants of the library are errors, too (kLimit, kInternal); the session can be used afterwards.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "lowtide/visibility.h"

namespace lowtide {

/// The numbers are the exit codes of the command.
enum class ErrorKind : int {
  kInternal = 1,      ///< a bug of the library
  kUsage = 2,         ///< an option, or an order of calls, that makes no sense
  kInput = 3,         ///< a program, plan or argument that can't be read; the message has file, line and column
  kLimit = 4,         ///< a limit that no plan meets, or memory or threads that aren't there
  kWrongValues = 5,   ///< the program found values other than it expects (check.* custom calls)
  kUnsupported = 6,   ///< an operation that nobody here can run
  kInterrupted = 130  ///< cancelled before anything was found
};

/// Where in a text a fault is; lines and columns count from 1.
struct Place {
  std::string file;
  int64_t line = 0, column = 0;
};

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;  ///< for people; with the place, the line and a caret where the fault has one
  std::optional<Place> place = {};
  std::optional<int64_t> lowest_peak = {};  ///< of a limit that no plan meets: bytes of the lowest found
};

/// A value, or why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose
  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  /// Of a result that isn't ok().
  const Error& error() const { return error_; }
  /// Throws std::logic_error with the error's message where there is no value.
  T& value() & { return check(), *value_; }
  const T& value() const& { return check(), *value_; }
  T value() && { return check(), std::move(*value_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void check() const {
    if (!value_) throw std::logic_error(error_.message);
  }
  std::optional<T> value_;
  Error error_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose
  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace lowtide
