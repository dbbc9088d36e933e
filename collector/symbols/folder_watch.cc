#include "collector/symbols/folder_watch.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/logger.h"
#include "collector/symbols/symbol_job.pb.h"
#include "collector/symbols/symbol_process.h"
#include "symbolize/debug_files.h"

namespace jankbox::collector {
namespace {

using symbolproto::SymbolAnswer;
using symbolproto::SymbolJob;

constexpr size_t kFilesAtOnce = 256;

// A symbolic link is followed, as by the reader.
bool Examine(const std::string& path, FolderFile* file) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return false;
  file->bytes = static_cast<uint64_t>(st.st_size);
  file->changed_ns = static_cast<int64_t>(st.st_mtim.tv_sec) * static_cast<int64_t>(kNsPerSecond) +
                     st.st_mtim.tv_nsec;
  return true;
}

}  // namespace

FolderWatch::FolderWatch(const std::vector<std::string>& folders, SymbolStore* symbols,
                         const std::atomic<bool>* stop)
    : symbols_(symbols), stop_(*stop) {
  for (const std::string& folder : folders) {
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(folder, error);
    folders_.push_back(error ? folder : absolute.string());
  }
}

FolderWatch::Files FolderWatch::FilesNow() const {
  Files files;
  for (const std::string& folder : folders_) {
    ForEachFileBelow(folder, [&files](const std::string& path) {
      FolderFile file;
      if (Examine(path, &file)) files[path] = file;
    });
  }
  return files;
}

Status FolderWatch::Scan() {
  const Result<Files> known = symbols_->FolderFiles();
  if (!known.ok()) return known.status();
  const Files now = FilesNow();
  for (const auto& [path, file] : known.value()) {
    if (now.contains(path)) continue;
    const Status status = symbols_->ForgetFolderFile(path);
    if (!status.ok()) return status;
  }
  Files changed;
  const auto flush = [&] {
    const Status status = Identify(changed);
    changed.clear();
    return status;
  };
  for (const auto& [path, file] : now) {
    const auto before = known->find(path);
    if (before != known->end() && before->second == file) continue;
    changed[path] = file;
    const Status status = changed.size() < kFilesAtOnce ? Status::Ok() : flush();
    if (!status.ok()) return status;
  }
  return changed.empty() ? Status::Ok() : flush();
}

Status FolderWatch::Identify(const Files& files) {
  SymbolJob job;
  for (const auto& [path, file] : files) job.mutable_identify()->add_paths(path);
  std::vector<SymbolFile> found;
  const Status status = RunSymbolJob(job, stop_, [&](const SymbolAnswer& answer) {
    if (answer.has_problem()) Log().warn("damaged: {}", answer.problem());
    const auto file = files.find(answer.elf().path());
    if (!answer.has_elf() || file == files.end()) return;
    SymbolFile symbols;
    symbols.key = answer.elf().build_id();
    symbols.path = file->first;
    symbols.bytes = file->second.bytes;
    symbols.contents = static_cast<ElfContents>(answer.elf().contents());
    symbols.received_at_ms = static_cast<int64_t>(RealtimeNs() / kNsPerMs);
    if (symbols.contents >= ElfContents::kSymbols) found.push_back(std::move(symbols));
  });
  if (!status.ok()) return status;
  for (const SymbolFile& file : found) {
    const Result<PutOutcome> outcome = symbols_->Put(file);
    if (!outcome.ok()) return outcome.status();
  }
  return symbols_->NoteFolderFiles(files);
}

}  // namespace jankbox::collector
