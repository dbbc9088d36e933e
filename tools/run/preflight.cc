#include "tools/run/preflight.h"

#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "base/scoped_fd.h"
#include "tracer/hook/elf_image.h"

namespace jankbox::tools {
namespace {

constexpr int kMaxInterpreters = 4;  // as the kernel
constexpr size_t kMaxScriptLine = 256;

bool IsExecutable(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode) && access(path.c_str(), X_OK) == 0;
}

// The file that execvp() would start; empty if there is none.
std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return IsExecutable(name) ? name : "";
  const char* variable = getenv("PATH");
  std::string_view folders = variable != nullptr ? variable : "/bin:/usr/bin";
  while (true) {
    const size_t colon = folders.find(':');
    const std::string folder(folders.substr(0, colon));
    const std::string path = (folder.empty() ? "." : folder) + "/" + name;
    if (IsExecutable(path)) return path;
    if (colon == std::string_view::npos) return "";
    folders.remove_prefix(colon + 1);
  }
}

std::vector<std::string> Words(std::string_view line) {
  std::vector<std::string> words;
  while (true) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return words;
    const size_t end = line.find_first_of(" \t\r", begin);
    words.emplace_back(line.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return words;
    line.remove_prefix(end);
  }
}

// The program that a script's first line names; empty if `fd` is none.
std::string InterpreterOfScript(int fd) {
  char text[kMaxScriptLine];
  const ssize_t n = pread(fd, text, sizeof(text), 0);
  if (n < 3 || text[0] != '#' || text[1] != '!') return "";
  std::string_view line(text + 2, static_cast<size_t>(n) - 2);
  const std::vector<std::string> words = Words(line.substr(0, line.find('\n')));
  if (words.empty()) return "";
  if (!words[0].ends_with("/env")) return words[0];
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i][0] != '-' && words[i].find('=') == std::string::npos) return words[i];
  }
  return words[0];
}

// The loader and the libraries that an ELF file asks for.
struct DynamicNeeds {
  bool is_elf = false;
  ElfFormat format;
  std::string loader;  // empty: statically linked
  bool is_go = false;
  std::string sanitizer;  // that cannot bear code which it did not compile; empty: none
  std::vector<std::string> libraries;
};

// The runtime of a sanitizer is linked in, or asked for, by its name.
std::string SanitizerOf(const char* symbol) {
  if (strcmp(symbol, "__tsan_init") == 0) return "ThreadSanitizer";
  return strcmp(symbol, "__msan_init") == 0 ? "MemorySanitizer" : "";
}

void ReadDynamicSymbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, DynamicNeeds* needs) {
  Elf_Data* data = elf_getdata(section, nullptr);
  GElf_Sym symbol;
  for (int i = 0; data != nullptr && gelf_getsym(data, i, &symbol) != nullptr; ++i) {
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name != nullptr && needs->sanitizer.empty()) needs->sanitizer = SanitizerOf(name);
  }
}

void ReadSections(Elf* elf, DynamicNeeds* needs) {
  size_t names = 0;
  elf_getshdrstrndx(elf, &names);
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name != nullptr && strcmp(name, ".note.go.buildid") == 0) needs->is_go = true;
    if (header.sh_type == SHT_DYNSYM && header.sh_entsize != 0) {
      ReadDynamicSymbols(elf, section, header, needs);
    }
    if (header.sh_type != SHT_DYNAMIC || header.sh_entsize == 0) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Dyn entry;
    for (int i = 0; data != nullptr && gelf_getdyn(data, i, &entry) != nullptr; ++i) {
      if (entry.d_tag != DT_NEEDED) continue;
      const char* library = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
      if (library != nullptr) needs->libraries.emplace_back(library);
    }
  }
}

DynamicNeeds ReadNeeds(int fd) {
  DynamicNeeds needs;
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(fd, ELF_C_READ, nullptr), elf_end);
  GElf_Ehdr header;
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF ||
      gelf_getehdr(elf.get(), &header) == nullptr) {
    return needs;
  }
  needs.is_elf = true;
  needs.format = {header.e_machine, gelf_getclass(elf.get()) == ELFCLASS64};
  size_t segments = 0;
  elf_getphdrnum(elf.get(), &segments);
  for (size_t i = 0; i < segments; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &segment) == nullptr) continue;
    char path[256] = {};
    if (segment.p_type != PT_INTERP || segment.p_filesz >= sizeof(path)) continue;
    if (pread(fd, path, segment.p_filesz, static_cast<off_t>(segment.p_offset)) > 0) {
      needs.loader = path;
    }
  }
  ReadSections(elf.get(), &needs);
  return needs;
}

// The kernel makes the loader ignore LD_PRELOAD in a program that gets other rights than its user.
std::string RightsOf(int fd) {
  struct stat st {};
  if (fstat(fd, &st) != 0) return "";
  if ((st.st_mode & S_ISUID) != 0 && st.st_uid != geteuid()) return "it is set-user-ID";
  if ((st.st_mode & S_ISGID) != 0 && st.st_gid != getegid()) return "it is set-group-ID";
  if (geteuid() != 0 && fgetxattr(fd, "security.capability", nullptr, 0) > 0) {
    return "it has file capabilities";
  }
  return "";
}

std::string ObstacleOf(const std::string& path, int fd, const DynamicNeeds& needs) {
  const std::string rights = RightsOf(fd);
  if (!rights.empty())
    return path + " cannot be recorded: " + rights + ", and the loader ignores LD_PRELOAD";
  if (!needs.is_elf) return "";
  const ElfFormat own = ElfFormat::Native();
  if (needs.format.is_64 != own.is_64) {
    const std::string bits = own.is_64 ? "32-bit" : "64-bit";
    return path + " is a " + bits + " program, and Jankbox's agent is not";
  }
  if (needs.format.machine != own.machine) return path + " is a program for another processor";
  if (needs.loader.empty()) {
    return path + (needs.is_go ? " is a Go program" : " is a program") +
           " that is linked statically: the agent cannot be loaded into it";
  }
  if (needs.loader.find("ld-musl") != std::string::npos) {
    return path + " uses musl's C library, and Jankbox's agent needs glibc";
  }
  if (!needs.sanitizer.empty()) {
    return path + " is built with " + needs.sanitizer +
           ", which would take the agent's work for errors of the program";
  }
  return "";
}

// Programs in /usr/bin are often links.
std::string NameOf(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  std::string name = real != nullptr ? real : "";
  free(real);
  return name.substr(name.rfind('/') + 1);
}

}  // namespace

Preflight InspectProgram(const std::string& program) {
  Preflight found;
  std::string path = FindProgram(program);
  for (int depth = 0; depth <= kMaxInterpreters && !path.empty(); ++depth) {
    const ScopedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return found;
    const std::string interpreter = InterpreterOfScript(fd.get());
    if (!interpreter.empty()) {
      path = FindProgram(interpreter);
      continue;
    }
    const DynamicNeeds needs = ReadNeeds(fd.get());
    found.obstacle = ObstacleOf(path, fd.get(), needs);
    for (const std::string& library : needs.libraries) {
      if (library.starts_with("libasan.so")) found.first_library = library;
      // Not javac and others, which take the options of a VM in another form.
      if (library == "libjli.so") found.is_java = depth == 0 && NameOf(path) == "java";
    }
    const std::string name = NameOf(path);
    found.is_node = needs.is_elf && depth == 0 && (name == "node" || name == "nodejs");
    return found;
  }
  return found;
}

}  // namespace jankbox::tools
