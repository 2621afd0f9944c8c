#pragma once
/// Streams: what is evaluated on one stream is evaluated one after another, on different ones side by side. Any thread
/// may use any stream, event or array. Events are points of streams, which threads and other streams can wait for.

#include <compare>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "lowtide/device.h"
#include "lowtide/visibility.h"

namespace lowtide {

struct Stream {
  int index = 0;
  Device device = {};
  auto operator<=>(const Stream&) const = default;
};
/// Another stream in each thread, made where it is first asked for.
struct ThreadLocalStream : Stream {};
/// The stream that it is in this thread.
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
LOWTIDE_PUBLIC Stream to_stream(StreamOrDevice s, Device default_);  ///< the device's where nothing is stated

LOWTIDE_PUBLIC Stream default_stream(Device device = {});  ///< of this thread
LOWTIDE_PUBLIC std::optional<Stream> peek_default_stream(Device device);
LOWTIDE_PUBLIC void set_default_stream(Stream stream);
LOWTIDE_PUBLIC Stream new_stream(Device device = {});
LOWTIDE_PUBLIC Stream new_thread_unsafe_stream(Device device);  ///< new_stream(), which any thread may use as well
LOWTIDE_PUBLIC ThreadLocalStream new_thread_local_stream(Device device);
LOWTIDE_PUBLIC std::vector<Stream> get_streams();
/// Waits for the streams that this thread has made, and has it use the first one again.
LOWTIDE_PUBLIC void clear_streams();
/// Until all that was handed to the stream is done; without one, to any stream. Throws what went wrong there and no
/// event was told of.
LOWTIDE_PUBLIC void synchronize(Stream stream);
LOWTIDE_PUBLIC void synchronize(ThreadLocalStream tls);
LOWTIDE_PUBLIC void synchronize();
/// Work of the caller's in its turn among what is evaluated on the stream (async_eval), on the stream's thread. What it
/// throws is kept for the next event that is recorded there, or synchronize().
LOWTIDE_PUBLIC void enqueue(std::function<void()> work, Stream stream);

/// A point of a stream: all that was handed to it before record(). Copies are the same event. One that wasn't recorded
/// is std::logic_error where it is asked.
class LOWTIDE_PUBLIC StreamEvent {
 public:
  StreamEvent();
  void record(Stream stream = default_stream());  ///< again: a later point, also for copies
  void wait() const;                              ///< the thread; throws what went wrong on the stream before
  /// What is handed to the stream from now on comes after it. What went wrong before the event then did there as well.
  void wait(Stream stream) const;
  bool query() const;  ///< is it over?
  /// Seconds from this event to another; waits for both.
  double elapsed(const StreamEvent& later) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Another default of the thread as long as it lives.
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
