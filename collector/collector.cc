#include "collector/collector.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/logger.h"

namespace jankbox::collector {
namespace {

Status CannotWrite(const std::string& directory, const Status& why) {
  return Status(why.code(), "cannot write to the data folder " + directory + ": " + why.message() +
                                "; choose a writable folder with --data DIR");
}

Result<ScopedFd> LockFolder(const std::string& directory) {
  const std::string path = JoinPath(directory, "collector.lock");
  ScopedFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return CannotWrite(directory, Status::FromErrno(errno, path));
  if (flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno != EWOULDBLOCK) return CannotWrite(directory, Status::FromErrno(errno, path));
  return Status(StatusCode::kBusy, "the data folder " + directory +
                                       " is in use by another jankbox-collector; stop that one or "
                                       "choose another folder with --data DIR");
}

Status CheckExposure(const CollectorOptions& options) {
  if (options.allow_remote) return Status::Ok();
  Result<bool> loopback = IsLoopback(options.listen.host);
  if (!loopback.ok()) return loopback.status();
  if (loopback.value()) return Status::Ok();
  return Status(StatusCode::kPermissionDenied,
                "refusing to listen on " + options.listen.host +
                    ": other machines could read every report, and there is no password; listen on "
                    "127.0.0.1, or add --allow-remote to permit it");
}

}  // namespace

Collector::Collector(ScopedFd lock, std::unique_ptr<ReportStore> store,
                     const CollectorOptions& options)
    : lock_(std::move(lock)),
      store_(std::move(store)),
      blobs_(JoinPath(options.directory, "blobs")),
      symbol_folder_(JoinPath(options.directory, "symbols")),
      symbols_(store_.get(), symbol_folder_.path()),
      namer_(store_.get(), &symbols_, &blobs_, options.symbol_folders),
      receiver_(&symbols_, &symbol_folder_, [this] { namer_.Wake(); }),
      asker_(store_.get(), &receiver_),
      symbol_requests_(store_.get(), &symbols_, &receiver_, options.max_symbol_bytes),
      ingest_(store_.get(), &blobs_, [this] { namer_.Wake(); }),
      server_({store_.get(), &blobs_, &ingest_, &symbol_requests_},
              HostPolicy(options.listen.host, options.host_names, options.allow_remote),
              options.max_report_bytes) {}

// An upload that waits for a reader of its file does not delay the end.
Collector::~Collector() { receiver_.Stop(); }

Result<std::unique_ptr<Collector>> Collector::Start(const CollectorOptions& options) {
  Status status = CheckExposure(options);
  if (!status.ok()) return status;
  status = MakeDirectories(options.directory, 0700);
  if (!status.ok()) return CannotWrite(options.directory, status);
  Result<ScopedFd> lock = LockFolder(options.directory);
  if (!lock.ok()) return lock.status();
  Result<std::unique_ptr<ReportStore>> store = ReportStore::Open(options.directory);
  if (!store.ok()) {
    return Status(store.status().code(), "cannot open the store: " + store.status().message() +
                                             "; choose another folder with --data DIR");
  }
  std::unique_ptr<Collector> collector(
      new Collector(std::move(lock.value()), std::move(store.value()), options));
  status = collector->Repair();
  if (!status.ok()) return CannotWrite(options.directory, status);
  status = collector->StartNaming(options);
  if (!status.ok()) return CannotWrite(options.directory, status);
  status = collector->Serve(options);
  if (!status.ok()) return status;
  return collector;
}

Status Collector::Repair() {
  Status status = blobs_.Create();
  if (!status.ok()) return status;
  Result<std::set<std::string>> wanted = store_->BlobNames();
  if (!wanted.ok()) return wanted.status();
  const int removed = blobs_.RemoveAllBut(wanted.value());
  if (removed > 0) Log().info("removed {} unacknowledged files of an earlier run", removed);
  status = symbol_folder_.Create();
  if (!status.ok()) return status;
  const Result<std::set<std::string>> symbols = symbols_.UploadedPaths();
  if (!symbols.ok()) return symbols.status();
  symbol_folder_.RemoveAllBut(symbols.value());
  return Status::Ok();
}

Status Collector::StartNaming(const CollectorOptions& options) {
  // A service may have no home for the cache of debuginfod's library.
  setenv("DEBUGINFOD_CACHE_PATH", JoinPath(options.directory, "debuginfod").c_str(), 0);
  const Status status = namer_.Start();
  if (status.ok()) asker_.Start();
  return status;
}

Status Collector::Serve(const CollectorOptions& options) {
  Result<int> port = server_.Start(options.listen);
  if (!port.ok()) {
    return Status(port.status().code(),
                  "cannot listen on " + port.status().message() +
                      "; stop the program that uses it, or choose another with --listen HOST:PORT");
  }
  url_ = ListenUrl(options.listen.host, port.value());
  return Status::Ok();
}

}  // namespace jankbox::collector
