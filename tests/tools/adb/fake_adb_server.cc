#include "tests/tools/adb/fake_adb_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace jankbox::tools {
namespace {

constexpr char kVersion[] = "0029";  // 41, of every adb from 28.0 on
constexpr size_t kMaxService = 64 << 10;

bool ReadExactly(int fd, void* bytes, size_t size) {
  return size == 0 || recv(fd, bytes, size, MSG_WAITALL) == static_cast<ssize_t>(size);
}

bool Send(int fd, const std::string& bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

// A text as the protocol has it: its length in four hexadecimal digits before it.
std::string Framed(const std::string& text) {
  char length[8];
  snprintf(length, sizeof(length), "%04zx", text.size());
  return length + text;
}

bool ReadService(int fd, std::string* service) {
  char length[5] = {};
  if (!ReadExactly(fd, length, 4)) return false;
  const size_t size = strtoul(length, nullptr, 16);
  if (size > kMaxService) return false;
  service->resize(size);
  return ReadExactly(fd, service->data(), size);
}

void Fail(int fd, const std::string& why) { Send(fd, "FAIL" + Framed(why)); }

// What follows `prefix` in `text`; false if that is not its start.
bool After(const std::string& prefix, const std::string& text, std::string* rest) {
  if (text.rfind(prefix, 0) != 0) return false;
  *rest = text.substr(prefix.size());
  return true;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Starts it with both outputs in a pipe, whose end for reading it returns.
ScopedFd Start(const FakePhone& phone, const std::string& script, pid_t* pid) {
  const std::vector<std::string> command = phone.ShellCommand(script);
  const std::vector<std::string> environment = phone.ShellEnvironment();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) abort();
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, ends[1], 1);
  posix_spawn_file_actions_adddup2(&files, ends[1], 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const std::vector<char*> argv = Pointers(command);
  const std::vector<char*> envp = Pointers(environment);
  if (posix_spawn(pid, argv[0], &files, &attributes, argv.data(), envp.data()) != 0) abort();
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  return ScopedFd(ends[0]);
}

// Until the other side hangs up.
void WaitForHangUp(int fd) {
  char byte;
  while (recv(fd, &byte, 1, 0) > 0) {
  }
}

}  // namespace

FakeAdbServer::FakeAdbServer() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_.get(), any, size) != 0 || listen(listener_.get(), 16) != 0 ||
      getsockname(listener_.get(), any, &size) != 0) {
    abort();
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

FakeAdbServer::~FakeAdbServer() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  for (std::thread& connection : connections_) connection.join();
}

std::string FakeAdbServer::address() const { return "tcp:127.0.0.1:" + std::to_string(port_); }

void FakeAdbServer::SetDevices(std::vector<Device> devices) {
  std::lock_guard<std::mutex> lock(mutex_);
  devices_ = std::move(devices);
}

void FakeAdbServer::SetFaults(std::function<Fault(const std::string& script)> faults) {
  std::lock_guard<std::mutex> lock(mutex_);
  faults_ = std::move(faults);
}

void FakeAdbServer::HangUp() {
  std::lock_guard<std::mutex> lock(mutex_);
  hangs_up_ = true;
}

std::vector<std::string> FakeAdbServer::services() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return services_;
}

void FakeAdbServer::Note(const std::string& service) {
  std::lock_guard<std::mutex> lock(mutex_);
  services_.push_back(service);
}

FakeAdbServer::Fault FakeAdbServer::FaultOf(const std::string& script) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return faults_ ? faults_(script) : Fault{};
}

void FakeAdbServer::PullOut(const std::string& serial) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(devices_, [&](const Device& device) { return device.serial == serial; });
}

void FakeAdbServer::Accept() {
  while (true) {
    const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    std::lock_guard<std::mutex> lock(mutex_);
    if (ending_ || hangs_up_) {
      close(fd);
      if (ending_) return;
      continue;
    }
    open_.push_back(fd);
    connections_.emplace_back([this, fd] {
      Serve(fd);
      std::lock_guard<std::mutex> closing(mutex_);
      std::erase(open_, fd);
      close(fd);
    });
  }
}

std::string FakeAdbServer::DeviceList(bool is_long) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::string list;
  int id = 0;
  for (const Device& device : devices_) {
    char line[256];
    snprintf(line, sizeof(line), is_long ? "%-22s %s" : "%s\t%s", device.serial.c_str(),
             device.state.c_str());
    list += line;
    // What is asked of the device itself is known only if it lets us in.
    if (is_long && device.state == "device") {
      list += " product:oriole model:" + device.model + " device:oriole";
    }
    if (is_long) list += " transport_id:" + std::to_string(++id);
    list += "\n";
  }
  return list;
}

std::string FakeAdbServer::Choose(const std::string& serial, Device* device) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (serial.empty() && devices_.empty()) return "no devices/emulators found";
  if (serial.empty() && devices_.size() > 1) return "more than one device/emulator";
  for (const Device& known : devices_) {
    if (!serial.empty() && known.serial != serial) continue;
    *device = known;
    return known.state == "device" ? "" : "device " + known.state;
  }
  return "device '" + serial + "' not found";
}

void FakeAdbServer::Serve(int fd) {
  std::string service;
  if (!ReadService(fd, &service)) return;
  Note(service);
  std::string serial;
  if (After("host:tport:serial:", service, &serial)) return ServeDevice(fd, serial, true);
  if (service == "host:tport:any") return ServeDevice(fd, "", true);
  if (After("host:transport:", service, &serial)) return ServeDevice(fd, serial, false);
  if (service == "host:transport-any") return ServeDevice(fd, "", false);
  ServeHost(fd, service);
}

void FakeAdbServer::ServeHost(int fd, const std::string& service) {
  if (service == "host:version") {
    Send(fd, "OKAY" + Framed(kVersion));
  } else if (service == "host:devices" || service == "host:devices-l") {
    Send(fd, "OKAY" + Framed(DeviceList(service == "host:devices-l")));
  } else {
    Fail(fd, "unknown host service");
  }
}

// A connection that goes on to a service of the device.
void FakeAdbServer::ServeDevice(int fd, const std::string& serial, bool with_id) {
  Device device;
  const std::string refused = Choose(serial, &device);
  if (!refused.empty()) return Fail(fd, refused);
  const std::string id("\1\0\0\0\0\0\0\0", 8);  // of the transport, little-endian
  std::string service;
  if (!Send(fd, "OKAY" + (with_id ? id : "")) || !ReadService(fd, &service)) return;
  Note(service);
  std::string script;
  if (!After("exec:", service, &script)) return Fail(fd, "closed");
  Exec(fd, device, script);
}

void FakeAdbServer::Exec(int fd, const Device& device, const std::string& script) {
  const Fault fault = FaultOf(script);
  if (fault.kind == Fault::Kind::kUnknownService) return Fail(fd, "closed");
  Send(fd, "OKAY");
  if (fault.kind == Fault::Kind::kSilent) return WaitForHangUp(fd);
  const bool is_cut = fault.kind == Fault::Kind::kPulledOut;
  size_t left = is_cut ? fault.bytes : SIZE_MAX;
  pid_t pid = -1;
  const ScopedFd output = Start(*device.phone, script, &pid);
  char block[65536];
  while (left != 0) {
    const ssize_t n = read(output.get(), block, std::min(sizeof(block), left));
    if (n <= 0) break;
    left -= static_cast<size_t>(n);
    if (!Send(fd, std::string(block, static_cast<size_t>(n)))) left = 0;  // nobody listens
  }
  if (is_cut) PullOut(device.serial);
  if (left == 0) kill(-pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

}  // namespace jankbox::tools
