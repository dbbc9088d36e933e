// adb's server on a loopback port: speaks the host protocol (services host:…, transports, exec:) to
// Debian's own adb client, for phones that are folders (fake_phone.h). Threads: its own; everything
// may be changed while it serves.
#ifndef JANKBOX_TESTS_TOOLS_ADB_FAKE_ADB_SERVER_H_
#define JANKBOX_TESTS_TOOLS_ADB_FAKE_ADB_SERVER_H_

#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/scoped_fd.h"
#include "tests/tools/adb/fake_phone.h"

namespace jankbox::tools {

class FakeAdbServer {
 public:
  struct Device {
    std::string serial;
    std::string state = "device";
    const FakePhone* phone = nullptr;
    std::string model = "Pixel_6";
  };

  // What goes wrong with one script on a phone.
  struct Fault {
    enum class Kind {
      kNone,
      kUnknownService,  // a phone before Android 5: no exec
      kSilent,          // nothing ever comes
      kPulledOut        // the cable, after `bytes` of its output: the phone is gone from the list
    };
    Kind kind = Kind::kNone;
    size_t bytes = 0;
  };

  FakeAdbServer();
  ~FakeAdbServer();
  FakeAdbServer(const FakeAdbServer&) = delete;
  FakeAdbServer& operator=(const FakeAdbServer&) = delete;

  // For $ADB_SERVER_SOCKET.
  std::string address() const;

  void SetDevices(std::vector<Device> devices);
  // Asked for each script, on a thread of the server's.
  void SetFaults(std::function<Fault(const std::string& script)> faults);
  // Connections are closed without a word from here on.
  void HangUp();

  std::vector<std::string> services() const;  // asked for so far

 private:
  void Accept();
  void Serve(int fd);
  void ServeHost(int fd, const std::string& service);
  void ServeDevice(int fd, const std::string& serial, bool with_id);
  void Exec(int fd, const Device& device, const std::string& script);
  std::string DeviceList(bool is_long) const;
  // The device of that serial, or the only one; what adb's server says where it cannot be used.
  std::string Choose(const std::string& serial, Device* device) const;
  Fault FaultOf(const std::string& script) const;
  void Note(const std::string& service);
  void PullOut(const std::string& serial);

  ScopedFd listener_;
  uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<Device> devices_;                             // guarded by mutex_
  std::function<Fault(const std::string& script)> faults_;  // the same
  std::vector<std::string> services_;                       // the same
  std::vector<int> open_;                                   // the same: sockets
  bool hangs_up_ = false;                                   // the same
  bool ending_ = false;                                     // the same
  std::list<std::thread> connections_;                      // accepting thread, then the destructor
  std::thread acceptor_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TESTS_TOOLS_ADB_FAKE_ADB_SERVER_H_
