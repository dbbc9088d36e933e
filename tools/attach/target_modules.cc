#include "tools/attach/target_modules.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/clock.h"
#include "base/file.h"
#include "base/recorded_process.h"
#include "tracer/unwind/build_id_note.h"
#include "tracer/unwind/safe_memory.h"

namespace jankbox::tools {
namespace {

constexpr uint64_t kRefreshNs = kNsPerSecond;
constexpr size_t kMaxMapsBytes = 8 << 20;
constexpr size_t kMaxHeaders = 64;
constexpr size_t kMaxNoteBytes = 4096;

// "start-end perms offset device inode   path"; false for a mapping of no file.
bool ParseMapping(std::string_view line, MappedFile* file) {
  const char* end = line.data() + line.size();
  const auto [dash, bad_start] = std::from_chars(line.data(), end, file->start, 16);
  if (bad_start != std::errc() || dash == end || *dash != '-') return false;
  const auto [space, bad_end] = std::from_chars(dash + 1, end, file->end, 16);
  if (bad_end != std::errc() || end - space < 5) return false;
  file->executable = space[3] == 'x';
  const size_t slash = line.find('/');
  const size_t at = slash != std::string_view::npos ? slash : line.find("[vdso]");
  if (at == std::string_view::npos) return false;
  file->path = line.substr(at);
  if (file->path.ends_with(kDeletedFile))
    file->path.resize(file->path.size() - kDeletedFile.size());
  return true;
}

std::string BuildIdAt(uint64_t address, uint64_t size) {
  std::array<std::byte, kMaxNoteBytes> notes;
  const size_t got = ReadRecordedMemory(address, notes.data(), std::min(size, kMaxNoteBytes));
  return BuildIdOfNotes({notes.data(), got});
}

// The module whose first page is at the start of `file`; false if that is no ELF image.
bool ReadModule(const MappedFile& file, Module* module) {
  ElfW(Ehdr) image;
  if (ReadRecordedMemory(file.start, &image, sizeof(image)) != sizeof(image) ||
      memcmp(image.e_ident, ELFMAG, SELFMAG) != 0 || image.e_phentsize != sizeof(ElfW(Phdr))) {
    return false;
  }
  std::array<ElfW(Phdr), kMaxHeaders> headers;
  const size_t count = std::min<size_t>(image.e_phnum, kMaxHeaders);
  const size_t bytes = count * sizeof(headers[0]);
  if (ReadRecordedMemory(file.start + image.e_phoff, headers.data(), bytes) != bytes) return false;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t first = UINT64_MAX;  // the lowest page that the file asks for
  uint64_t last = 0;
  for (size_t i = 0; i < count; ++i) {
    if (headers[i].p_type != PT_LOAD) continue;
    first = std::min<uint64_t>(first, headers[i].p_vaddr / page * page);
    last = std::max<uint64_t>(last, headers[i].p_vaddr + headers[i].p_memsz);
  }
  if (first >= last) return false;
  module->path = file.path;
  module->load_bias = file.start - first;
  module->start = file.start;
  module->end = module->load_bias + last;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t at = module->load_bias + headers[i].p_vaddr;
    if (headers[i].p_type == PT_GNU_EH_FRAME) {
      module->eh_frame_hdr = at;
      module->eh_frame_hdr_size = headers[i].p_memsz;
    } else if (headers[i].p_type == PT_NOTE && module->build_id.empty()) {
      module->build_id = BuildIdAt(at, headers[i].p_memsz);
    }
  }
  return true;
}

}  // namespace

std::vector<MappedFile> ParseMappings(std::string_view maps) {
  std::vector<MappedFile> files;
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    MappedFile file;
    if (!ParseMapping(line, &file)) continue;
    if (!files.empty() && files.back().path == file.path) {
      files.back().end = file.end;
      files.back().executable |= file.executable;
    } else {
      files.push_back(std::move(file));
    }
  }
  return files;
}

void TargetModules::Refresh() {
  refreshed_ns_ = MonotonicNs();
  std::vector<MappedFile> files =
      ParseMappings(ReadProcFile(std::string(RecordedProcess::folder()) + "/maps", kMaxMapsBytes));
  std::erase_if(files, [](const MappedFile& file) { return !file.executable; });
  std::string list;
  for (const MappedFile& file : files) list += std::to_string(file.start) + file.path + '\n';
  if (list == list_ || list.empty()) return;  // empty: the process has ended
  std::vector<Module> modules;
  for (const MappedFile& file : files) {
    Module module;
    if (ReadModule(file, &module)) modules.push_back(std::move(module));
  }
  list_ = std::move(list);
  current_ = ModuleMap(std::move(modules));
}

ModuleMap TargetModules::Load() {
  Refresh();
  return current_;
}

bool TargetModules::Stale(const ModuleMap& loaded) {
  if (MonotonicNs() > refreshed_ns_ + kRefreshNs) Refresh();
  const auto same = [](const Module& a, const Module& b) {
    return a.start == b.start && a.end == b.end && a.path == b.path;
  };
  return !std::equal(loaded.modules().begin(), loaded.modules().end(), current_.modules().begin(),
                     current_.modules().end(), same);
}

}  // namespace jankbox::tools
