#pragma once
/// Streams: evaluations on one stream run one after another, those on different streams concurrently. Any thread may
/// use any stream, event or array. Events are points in streams, which threads and other streams can wait for.

#include <compare>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/device.h"
#include "lowtide/visibility.h"

namespace lowtide {

struct Stream {
  int index = 0;
  Device device = {};
  auto operator<=>(const Stream&) const = default;
};
/// A different stream in each thread, created when it is first used.
struct ThreadLocalStream : Stream {};
/// The stream that tls denotes in this thread.
LOWTIDE_PUBLIC Stream stream_from_thread_local_stream(ThreadLocalStream tls);

/// The last argument of every operation: a stream, a device (its default stream), or nothing (the thread's default).
struct StreamOrDevice {
  int index = -1;  ///< -1: the default
  StreamOrDevice() = default;
  StreamOrDevice(Stream stream) : index(stream.index) {}                                        // NOLINT: so is it
  StreamOrDevice(ThreadLocalStream tls) : index(stream_from_thread_local_stream(tls).index) {}  // NOLINT: meant
  LOWTIDE_PUBLIC StreamOrDevice(Device device);                                                 // NOLINT
  StreamOrDevice(Device::DeviceType type) : StreamOrDevice(Device(type)) {}                     // NOLINT
};
LOWTIDE_PUBLIC Stream to_stream(StreamOrDevice s);
LOWTIDE_PUBLIC Stream to_stream(StreamOrDevice s, Device default_);  ///< the device's default if s is empty

/// This thread's default stream: stream 0 in the first thread that asks, a new one in every other.
LOWTIDE_PUBLIC Stream default_stream(Device device = {});
/// The same; none if this thread hasn't used it yet.
LOWTIDE_PUBLIC std::optional<Stream> peek_default_stream(Device device);
LOWTIDE_PUBLIC void set_default_stream(Stream stream);
LOWTIDE_PUBLIC Stream new_stream(Device device = {});
LOWTIDE_PUBLIC Stream new_thread_unsafe_stream(Device device);  ///< new_stream(), which any thread may use as well
LOWTIDE_PUBLIC ThreadLocalStream new_thread_local_stream(Device device);
LOWTIDE_PUBLIC std::vector<Stream> get_streams();
/// Waits for the streams that this thread has created, and makes the first one its default again.
LOWTIDE_PUBLIC void clear_streams();
/// Waits until all work submitted to the stream (without one, to any stream) is done. Rethrows an error there that no
/// event has reported.
LOWTIDE_PUBLIC void synchronize(Stream stream);
LOWTIDE_PUBLIC void synchronize(ThreadLocalStream tls);
LOWTIDE_PUBLIC void synchronize();
/// Runs the caller's work on the stream's thread, in order with the evaluations on the stream (async_eval). An
/// exception is kept for the next event that is recorded there, or synchronize().
LOWTIDE_PUBLIC void enqueue(std::function<void()> work, Stream stream);
namespace scheduler {
inline void enqueue(const Stream& stream, std::function<void()> work) { lowtide::enqueue(std::move(work), stream); }
}  // namespace scheduler

/// A point in a stream, after all work submitted to it before record(). Copies refer to the same event. Using one that
/// wasn't recorded is std::logic_error.
class LOWTIDE_PUBLIC StreamEvent {
 public:
  StreamEvent();
  void record(Stream stream = default_stream());  ///< again: a later point, also for copies
  void wait() const;                              ///< blocks the thread; rethrows an earlier error on the stream
  /// Work submitted to the stream from now on runs after the event. An error before the event becomes an error of this
  /// stream, too.
  void wait(Stream stream) const;
  bool query() const;  ///< has it been reached?
  /// Seconds from this event to another; waits for both.
  double elapsed(const StreamEvent& later) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Changes the thread's default stream while it lives.
class LOWTIDE_PUBLIC StreamContext {
 public:
  explicit StreamContext(StreamOrDevice s);
  ~StreamContext();
  StreamContext(const StreamContext&) = delete;
  StreamContext& operator=(const StreamContext&) = delete;

 private:
  Stream before_;
};

}  // namespace lowtide
