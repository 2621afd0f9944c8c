#pragma once
/// Errors that users can cause (Status, Result) and bugs of this code (LT_ASSERT). The two are never mixed.

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace lowtide::engine {

/// The text a module came from. Errors refer to offsets into it.
struct Source {
  std::string name;  ///< file name as the user wrote it
  std::string text;
};
using Offset = uint32_t;  ///< byte offset into Source::text
inline constexpr Offset kNowhere = UINT32_MAX;

/// What went wrong; the numbers are the command's exit codes.
enum class Fault { kNone = 0, kInternal = 1, kUsage = 2, kInput = 3, kLimit = 4, kWrongValues = 5, kUnsupported = 6 };

/// Success, or a fault with a sentence for the user.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Fault fault, std::string message) : fault_(fault), message_(std::move(message)) {}
  static Status input(std::string message) { return {Fault::kInput, std::move(message)}; }
  static Status usage(std::string message) { return {Fault::kUsage, std::move(message)}; }
  static Status unsupported(std::string message) { return {Fault::kUnsupported, std::move(message)}; }

  bool ok() const { return fault_ == Fault::kNone; }
  Fault fault() const { return fault_; }
  const std::string& message() const { return message_; }

  /// The same fault with "file:line:col: " before the message and the line with a caret after it.
  /// A status that already has its place, or an offset of kNowhere, is returned as it is.
  Status at(const Source& source, Offset offset) const;
  bool has_place() const { return has_place_; }

 private:
  Fault fault_ = Fault::kNone;
  bool has_place_ = false;
  std::string message_;
};

/// A value or the fault that prevented it.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit on purpose
  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  T take() { return std::move(*value_); }

 private:
  std::optional<T> value_;
  Status status_;
};

/// Thrown for a bug of this code. The entry points (session/, tools/) catch it, so that a host process continues.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line, const std::string& sentence);

}  // namespace lowtide::engine

#define LT_ASSERT(condition, sentence)                                                                 \
  do {                                                                                                 \
    if (!(condition)) ::lowtide::engine::assertion_failed(#condition, __FILE__, __LINE__, (sentence)); \
  } while (false)

#define LT_RETURN_IF_ERROR(expression)                                                         \
  do {                                                                                         \
    if (::lowtide::engine::Status lt_status = (expression); !lt_status.ok()) return lt_status; \
  } while (false)

#define LT_CONCAT_(a, b) a##b
#define LT_CONCAT(a, b) LT_CONCAT_(a, b)
#define LT_ASSIGN_OR_RETURN_(temporary, declaration, expression) \
  auto temporary = (expression);                                 \
  if (!temporary.ok()) return temporary.status();                \
  declaration = temporary.take()
/// LT_ASSIGN_OR_RETURN(Shape shape, infer(x)): the value, or return the fault.
#define LT_ASSIGN_OR_RETURN(declaration, expression) \
  LT_ASSIGN_OR_RETURN_(LT_CONCAT(lt_result_, __LINE__), declaration, expression)
