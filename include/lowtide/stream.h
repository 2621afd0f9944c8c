#pragma once
/// Streams: what is evaluated on one stream is evaluated one after another, on different ones side by side. Any thread
/// may use any stream, event or array. Events are points of streams, which threads and other streams can wait for.

#include <functional>
#include <memory>

#include "lowtide/visibility.h"

namespace lowtide {

struct Device {
  enum DeviceType { cpu };
  DeviceType type = cpu;
  int index = 0;
  bool operator==(const Device&) const = default;
};

struct Stream {
  int index = 0;
  Device device = {};
  bool operator==(const Stream&) const = default;
};

/// The last argument of every operation: a stream, a device (its default stream), or nothing (the thread's default).
struct StreamOrDevice {
  int index = -1;  ///< -1: the default
  StreamOrDevice() = default;
  StreamOrDevice(Stream stream) : index(stream.index) {}  // NOLINT: implicit on purpose
  StreamOrDevice(Device) {}                               // NOLINT: implicit on purpose
  StreamOrDevice(Device::DeviceType) {}                   // NOLINT: implicit on purpose
};

LOWTIDE_PUBLIC Device default_device();
LOWTIDE_PUBLIC Stream default_stream(Device device = {});  ///< of this thread
LOWTIDE_PUBLIC void set_default_stream(Stream stream);
LOWTIDE_PUBLIC Stream new_stream(Device device = {});
/// Until all that was handed to the stream is done; without one, to any stream. Throws what went wrong there and no
/// event was told of.
LOWTIDE_PUBLIC void synchronize(Stream stream);
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

}  // namespace lowtide
