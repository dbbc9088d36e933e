#include "tools/symbolize/debug_files.h"

#include <elfutils/debuginfod.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/file.h"
#include "base/scoped_fd.h"
#include "tools/symbolize/limited_worker.h"

namespace jankbox::tools {
namespace {

namespace fs = std::filesystem;
using symbolproto::WorkerMessage;

constexpr char kSystemFolder[] = "/usr/lib/debug";
constexpr int kMaxDamaged = 16;  // files that end the worker which looks for build ids
constexpr int kDeepest = 16;     // folders within each other

using PathFunction = std::function<void(const std::string& path)>;

// Where the layout by build id has its files in `folder`, which may be its .build-id itself.
void ForEachInLayout(const std::string& folder, const std::string& build_id,
                     const PathFunction& pass) {
  if (build_id.size() < 3) return;
  const std::string place = build_id.substr(0, 2) + "/" + build_id.substr(2);
  for (const char* root : {"/.build-id/", "/"}) {
    for (const char* suffix : {".debug", ""}) pass(folder + root + place + suffix);
  }
}

// The files in `folder` and below; folders that cannot be read are passed over.
void ForEachFileBelow(const std::string& folder, const PathFunction& pass) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at.depth() >= kDeepest) at.disable_recursion_pending();
    std::error_code none;
    if (at->is_regular_file(none)) pass(at->path().string());
  }
}

// In the worker: says which file it is about to read, then what that is.
class Reader {
 public:
  Reader(const std::set<std::string>& build_ids, const std::set<std::string>& damaged,
         WorkerOutput* output)
      : build_ids_(build_ids), damaged_(damaged), output_(output) {}

  void Read(const std::string& path) {
    std::error_code error;
    if (damaged_.contains(path) || !fs::is_regular_file(path, error)) return;
    WorkerMessage message;
    message.mutable_elf()->set_path(path);
    output_->Send(message);
    output_->Flush();
    const std::unique_ptr<OpenElf> elf = OpenElf::Open(path);
    const std::string build_id = elf == nullptr ? "" : elf->BuildId();
    if (!build_ids_.contains(build_id)) return;
    message.mutable_elf()->set_build_id(build_id);
    const ElfContents contents = elf->Contents();
    if (contents == ElfContents::kDebugInfo) complete_.insert(build_id);
    message.mutable_elf()->set_contents(static_cast<uint32_t>(contents));
    output_->Send(message);
  }

  // Nothing can be added to what was found.
  bool has_all() const { return complete_.size() == build_ids_.size(); }

 private:
  const std::set<std::string>& build_ids_;
  const std::set<std::string>& damaged_;
  WorkerOutput* output_;
  std::set<std::string> complete_;
};

class Search {
 public:
  Search(const std::vector<std::string>& folders, const std::set<std::string>& build_ids)
      : folders_(folders), build_ids_(build_ids) {}

  DebugFiles Run() {
    for (const std::string& folder : folders_) {
      std::error_code error;
      if (fs::is_directory(folder, error)) continue;
      found_.problems.push_back(folder + ": " + (error ? error.message() : "not a folder"));
    }
    for (int tries = 0; tries <= kMaxDamaged; ++tries) {
      const Status status = RunWorker();
      if (status.ok()) return std::move(found_);
      found_.problems.push_back(reading_.empty() ? status.message()
                                                 : reading_ + ": " + status.message());
      if (reading_.empty()) return std::move(found_);
      damaged_.insert(reading_);
    }
    found_.problems.push_back(
        "too many damaged files: the other files of the folders are not read");
    return std::move(found_);
  }

 private:
  Status RunWorker() {
    reading_.clear();
    return RunLimited(
        {}, [this](WorkerOutput* output) { ReadAll(output); },
        [this](const WorkerMessage& message) { Take(message); });
  }

  void ReadAll(WorkerOutput* output) const {
    Reader reader(build_ids_, damaged_, output);
    const PathFunction read = [&reader](const std::string& path) { reader.Read(path); };
    for (const std::string& build_id : build_ids_) {
      for (const std::string& folder : folders_) ForEachInLayout(folder, build_id, read);
      ForEachInLayout(kSystemFolder, build_id, read);
    }
    for (const std::string& folder : folders_) {
      if (!reader.has_all()) ForEachFileBelow(folder, read);
    }
  }

  void Take(const WorkerMessage& message) {
    const symbolproto::ElfFile& elf = message.elf();
    reading_ = elf.path();
    if (!build_ids_.contains(elf.build_id())) return;
    DebugFile& best = found_.by_build_id[elf.build_id()];
    const auto contents = static_cast<ElfContents>(elf.contents());
    if (contents > best.contents) best = {elf.path(), contents};
  }

  const std::vector<std::string>& folders_;
  const std::set<std::string>& build_ids_;
  std::set<std::string> damaged_;
  std::string reading_;  // the file that the worker began to read last
  DebugFiles found_;
};

// Asks the servers of DEBUGINFOD_URLS; their library keeps the files in a cache of the user.
class DebuginfodServers {
 public:
  DebuginfodServers() : client_(debuginfod_begin()) {}

  // "": none of them has it.
  std::string PathOf(const std::string& build_id) const {
    if (client_ == nullptr) return "";
    char* path = nullptr;
    const ScopedFd fd(debuginfod_find_debuginfo(
        client_.get(), reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, &path));
    const std::string found = fd.valid() && path != nullptr ? path : "";
    free(path);
    return found;
  }

 private:
  struct End {
    void operator()(debuginfod_client* client) const { debuginfod_end(client); }
  };
  std::unique_ptr<debuginfod_client, End> client_;
};

bool HasServers() {
  const char* urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
  return urls != nullptr && *urls != '\0';
}

void AskServers(const std::set<std::string>& build_ids, DebugFiles* files) {
  const DebuginfodServers servers;
  for (const std::string& build_id : build_ids) {
    const auto known = files->by_build_id.find(build_id);
    const bool enough =
        known != files->by_build_id.end() && known->second.contents == ElfContents::kDebugInfo;
    const std::string path = enough ? "" : servers.PathOf(build_id);
    if (!path.empty()) files->by_build_id[build_id] = {path, ElfContents::kDebugInfo};
  }
}

}  // namespace

DebugFiles FindDebugFiles(const std::vector<std::string>& folders,
                          const std::set<std::string>& build_ids) {
  DebugFiles files = Search(folders, build_ids).Run();
  if (HasServers()) AskServers(build_ids, &files);
  std::erase_if(files.by_build_id,
                [](const auto& entry) { return entry.second.contents == ElfContents::kNothing; });
  return files;
}

}  // namespace jankbox::tools
