#pragma once
/// A client: Lowtide sessions and devices.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device.h"
#include "error.h"
#include "lowtide/session.h"

namespace lowtide::pjrt {

/// Compile options that may differ between programs.
struct Wishes {
  std::optional<int64_t> limit;  ///< limit on the program's bytes
  bool exact = false;
  auto operator<=>(const Wishes&) const = default;
};

}  // namespace lowtide::pjrt

struct PJRT_TopologyDescription {
  void* functions = nullptr;
  PJRT_Client* client = nullptr;
  std::vector<PJRT_DeviceDescription*> devices;
};

struct PJRT_Client {
  void* functions = nullptr;
  lowtide::Options options;
  lowtide::pjrt::Wishes wishes;  ///< for all programs
  std::string platform_name = "cpu", platform_version;
  bool gives_programs =
      false;                 ///< returns the program's text, which jaxlib asks for after each compilation, and parses
  int64_t memory_bytes = 0;  ///< of this machine, for all devices together
  std::vector<std::unique_ptr<PJRT_Device>> own_devices;
  std::vector<PJRT_Device*> devices;
  std::vector<PJRT_Memory*> memories;
  PJRT_TopologyDescription topology;

  /// The session that compiles programs with these options.
  lowtide::Result<lowtide::Session> session(const lowtide::pjrt::Wishes& wishes);

  /// Marks that a program is being compiled. Hosts compile on their own threads, and a process that exits after an
  /// interrupt destroys the client meanwhile.
  class Compiling {
   public:
    explicit Compiling(PJRT_Client& client);
    ~Compiling();
    Compiling(const Compiling&) = delete;
    Compiling& operator=(const Compiling&) = delete;
    /// The client is about to be destroyed: the program must not be returned any more.
    bool is_given_up() const { return client_.ended_; }

   private:
    PJRT_Client& client_;
  };
  PJRT_Client();
  ~PJRT_Client();
  /// Permanently aborts compilations, and waits for those in progress.
  void stop_compiling();

 private:
  std::atomic<bool> ended_ = false;
  int compiling_ = 0;
  std::condition_variable compiled_;
  std::mutex mutex_;
  std::map<lowtide::pjrt::Wishes, lowtide::Session> sessions_;
};
