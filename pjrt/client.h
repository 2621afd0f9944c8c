#pragma once
/// A client: sessions of Lowtide's, devices and their memory's account.

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
#include "pool.h"

namespace lowtide::pjrt {

/// Where buffers and arenas have their memory from, and how many bytes buffers hold.
struct Ledger {
  static constexpr size_t kKeptBytes = size_t{64} << 20;
  Pool arrays{{.most_bytes = kKeptBytes, .most_pieces = 64, .most_slack = 4}};
  /// Programs that run one after another do so in one arena; those that run at once have one each.
  Pool arenas{{.most_bytes = SIZE_MAX, .most_pieces = 1, .most_slack = 0}};
  std::atomic<int64_t> in_use = 0, peak = 0, allocations = 0, largest = 0;
  int64_t limit = 0;  ///< of this machine; 0: nobody knows
  void take(int64_t bytes);
  void give_back(int64_t bytes) { in_use -= bytes; }
};

/// What a program is compiled with that not all are.
struct Wishes {
  std::optional<int64_t> limit;  ///< bytes that the program may need
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
  lowtide::pjrt::Wishes wishes;  ///< of all programs
  std::string platform_name = "cpu", platform_version;
  bool gives_programs = false;  ///< back, as jaxlib asks for each that it has compiled, and parses it
  std::shared_ptr<lowtide::pjrt::Ledger> ledger = std::make_shared<lowtide::pjrt::Ledger>();
  std::vector<std::unique_ptr<PJRT_Device>> own_devices;
  std::vector<PJRT_Device*> devices;
  std::vector<PJRT_Memory*> memories;
  PJRT_TopologyDescription topology;

  /// The session in which programs are compiled so.
  lowtide::Result<lowtide::Session> session(const lowtide::pjrt::Wishes& wishes);

  /// While one stands, a program is being compiled. Hosts compile on threads of theirs, and a process that leaves after
  /// an interrupt destroys the client meanwhile.
  class Compiling {
   public:
    explicit Compiling(PJRT_Client& client);
    ~Compiling();
    Compiling(const Compiling&) = delete;
    Compiling& operator=(const Compiling&) = delete;
    /// The client is about to end: whoever asked for the program mustn't have it any more.
    bool is_given_up() const { return client_.ended_; }

   private:
    PJRT_Client& client_;
  };
  PJRT_Client();
  ~PJRT_Client();
  /// For good: what is being compiled is given up, and waited for.
  void stop_compiling();

 private:
  std::atomic<bool> ended_ = false;
  int compiling_ = 0;
  std::condition_variable compiled_;
  std::mutex mutex_;
  std::map<lowtide::pjrt::Wishes, lowtide::Session> sessions_;
};
