#include "symbolize/debug_files.h"

#include <elfutils/debuginfod.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/file.h"
#include "base/scoped_fd.h"
#include "symbolize/limited_worker.h"

namespace jankbox {
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

// In the worker: says which file it is about to read, then what that is.
class Reader {
 public:
  using IsWanted = std::function<bool(const std::string& build_id)>;

  Reader(const IsWanted& is_wanted, const std::set<std::string>& damaged, WorkerOutput* output)
      : is_wanted_(is_wanted), damaged_(damaged), output_(output) {}

  void Read(const std::string& path) {
    std::error_code error;
    if (damaged_.contains(path) || !fs::is_regular_file(path, error)) return;
    WorkerMessage message;
    message.mutable_elf()->set_path(path);
    output_->Send(message);
    output_->Flush();
    const std::unique_ptr<OpenElf> elf = OpenElf::Open(path);
    const std::string build_id = elf == nullptr ? "" : elf->BuildId();
    if (build_id.empty() || !is_wanted_(build_id)) return;
    message.mutable_elf()->set_build_id(build_id);
    const ElfContents contents = elf->Contents();
    if (contents == ElfContents::kDebugInfo) complete_.insert(build_id);
    message.mutable_elf()->set_contents(static_cast<uint32_t>(contents));
    output_->Send(message);
  }

  // Build ids of which nothing can be added to what was found.
  size_t complete() const { return complete_.size(); }

 private:
  const IsWanted& is_wanted_;
  const std::set<std::string>& damaged_;
  WorkerOutput* output_;
  std::set<std::string> complete_;
};

// Reads ELF files in workers. A file that ends its worker is named, and the next worker passes it
// over.
class ElfFiles {
 public:
  // In the worker: passes paths to the reader.
  using ReadAll = std::function<void(Reader*)>;

  ElfFiles(Reader::IsWanted is_wanted, ReadAll read_all)
      : is_wanted_(std::move(is_wanted)), read_all_(std::move(read_all)) {}

  void Run(const std::function<void(const ElfIdentity&)>& found,
           std::vector<std::string>* problems) {
    for (int tries = 0; tries <= kMaxDamaged; ++tries) {
      const Status status = RunWorker(found);
      if (status.ok()) return;
      problems->push_back(reading_.empty() ? status.message() : reading_ + ": " + status.message());
      if (reading_.empty()) return;
      damaged_.insert(reading_);
    }
    problems->push_back("too many damaged files: the other files of the folders are not read");
  }

 private:
  Status RunWorker(const std::function<void(const ElfIdentity&)>& found) {
    reading_.clear();
    return RunLimited(
        {},
        [this](WorkerOutput* output) {
          Reader reader(is_wanted_, damaged_, output);
          read_all_(&reader);
        },
        [&](const WorkerMessage& message) {
          const symbolproto::ElfFile& elf = message.elf();
          reading_ = elf.path();
          if (elf.build_id().empty() || !is_wanted_(elf.build_id())) return;
          found({elf.path(), elf.build_id(), static_cast<ElfContents>(elf.contents())});
        });
  }

  const Reader::IsWanted is_wanted_;
  const ReadAll read_all_;
  std::set<std::string> damaged_;
  std::string reading_;  // the file that the worker began to read last
};

// In the worker.
void ReadFolders(const std::vector<std::string>& folders, const std::set<std::string>& build_ids,
                 Reader* reader) {
  const PathFunction read = [reader](const std::string& path) { reader->Read(path); };
  for (const std::string& build_id : build_ids) {
    for (const std::string& folder : folders) ForEachInLayout(folder, build_id, read);
    ForEachInLayout(kSystemFolder, build_id, read);
  }
  for (const std::string& folder : folders) {
    if (reader->complete() < build_ids.size()) ForEachFileBelow(folder, read);
  }
}

DebugFiles SearchFolders(const std::vector<std::string>& folders,
                         const std::set<std::string>& build_ids) {
  DebugFiles files;
  for (const std::string& folder : folders) {
    std::error_code error;
    if (fs::is_directory(folder, error)) continue;
    files.problems.push_back(folder + ": " + (error ? error.message() : "not a folder"));
  }
  ElfFiles search([&](const std::string& build_id) { return build_ids.contains(build_id); },
                  [&](Reader* reader) { ReadFolders(folders, build_ids, reader); });
  search.Run(
      [&](const ElfIdentity& elf) {
        DebugFile& best = files.by_build_id[elf.build_id];
        if (elf.contents > best.contents) best = {elf.path, elf.contents};
      },
      &files.problems);
  return files;
}

void AskServers(const std::set<std::string>& build_ids, DebugFiles* files) {
  for (const std::string& build_id : build_ids) {
    const auto known = files->by_build_id.find(build_id);
    const bool enough =
        known != files->by_build_id.end() && known->second.contents == ElfContents::kDebugInfo;
    const std::string path = enough ? "" : AskDebuginfod(build_id);
    if (!path.empty()) files->by_build_id[build_id] = {path, ElfContents::kDebugInfo};
  }
}

}  // namespace

DebugFiles FindDebugFiles(const std::vector<std::string>& folders,
                          const std::set<std::string>& build_ids) {
  DebugFiles files = SearchFolders(folders, build_ids);
  if (HasDebuginfodServers()) AskServers(build_ids, &files);
  std::erase_if(files.by_build_id,
                [](const auto& entry) { return entry.second.contents == ElfContents::kNothing; });
  return files;
}

std::vector<ElfIdentity> IdentifyElfFiles(const std::vector<std::string>& paths,
                                          std::vector<std::string>* problems) {
  std::vector<ElfIdentity> found;
  ElfFiles files([](const std::string&) { return true; },
                 [&](Reader* reader) {
                   for (const std::string& path : paths) reader->Read(path);
                 });
  files.Run([&](const ElfIdentity& elf) { found.push_back(elf); }, problems);
  return found;
}

void ForEachFileBelow(const std::string& folder, const PathFunction& pass) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at.depth() >= kDeepest) at.disable_recursion_pending();
    std::error_code none;
    if (at->is_regular_file(none)) pass(at->path().string());
  }
}

bool HasDebuginfodServers() {
  const char* urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
  return urls != nullptr && *urls != '\0';
}

std::string AskDebuginfod(const std::string& build_id) {
  struct End {
    void operator()(debuginfod_client* client) const { debuginfod_end(client); }
  };
  const std::unique_ptr<debuginfod_client, End> client(debuginfod_begin());
  if (client == nullptr) return "";
  char* path = nullptr;
  const ScopedFd fd(debuginfod_find_debuginfo(
      client.get(), reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, &path));
  const std::string found = fd.valid() && path != nullptr ? path : "";
  free(path);
  return found;
}

}  // namespace jankbox
