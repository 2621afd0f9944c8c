#pragma once
/// Errors: calls that fail return an Error; they never throw and never end the process. Running out of memory and
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
  kUsage = 2,         ///< an invalid option or order of calls
  kInput = 3,         ///< a program, plan or argument that can't be read; the message has file, line and column
  kLimit = 4,         ///< a limit that no plan meets, or too little memory or too few threads
  kWrongValues = 5,   ///< the program found values other than it expects (check.* custom calls)
  kUnsupported = 6,   ///< an operation that can't be run here
  kInterrupted = 130  ///< cancelled before anything was found
};

/// The place of an error in a text; lines and columns count from 1.
struct Place {
  std::string file;
  int64_t line = 0, column = 0;
};

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;  ///< for people; with the line and a caret if the error has a place
  std::optional<Place> place = {};
  std::optional<int64_t> lowest_peak = {};  ///< if no plan meets the limit: bytes of the lowest plan found
};

/// A value, or the error because of which there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose
  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  /// Only for a result that isn't ok().
  const Error& error() const { return error_; }
  /// Throws std::logic_error with the error's message if there is no value.
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
