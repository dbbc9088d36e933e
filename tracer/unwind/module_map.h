// The executable modules of this process (dl_iterate_phdr), of another one, or of a dead one (from
// its ring), sorted by address. A value whose copies share the modules; THREAD-SAFE to read.
// Loading takes the loader's lock and allocates: Jankbox's own threads only.
#ifndef JANKBOX_TRACER_UNWIND_MODULE_MAP_H_
#define JANKBOX_TRACER_UNWIND_MODULE_MAP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jankbox {

struct Module {
  std::string path;           // absolute if the loader knows it; "[vdso]" for the kernel's
  std::string build_id;       // lower-case hexadecimal of NT_GNU_BUILD_ID; empty if there is none
  uint64_t start = 0;         // lowest mapped address of the module
  uint64_t end = 0;           // one past its highest
  uint64_t load_bias = 0;     // address - load_bias = address in the ELF file
  uint64_t eh_frame_hdr = 0;  // address of .eh_frame_hdr; 0 if there is none
  uint64_t eh_frame_hdr_size = 0;

  bool operator==(const Module&) const = default;
};

class ModuleMap;

// The modules of a recorded process that is another one (base/recorded_process.h).
class ModuleSource {
 public:
  virtual ModuleMap Load() = 0;
  // Whether they are others than `loaded`. Cheap.
  virtual bool Stale(const ModuleMap& loaded) = 0;

 protected:
  ~ModuleSource() = default;
};

class ModuleMap {
 public:
  ModuleMap() = default;
  // REQUIRES `modules` sorted by address.
  explicit ModuleMap(std::vector<Module> modules)
      : modules_(std::make_shared<const std::vector<Module>>(std::move(modules))) {}

  // Load() and Stale() ask `source` from now on, instead of this process's loader. Before this
  // process starts threads.
  static void SetSource(ModuleSource* source) { source_ = source; }

  // The modules loaded now. THREAD-SAFE: what one thread has read, others share.
  static ModuleMap Load();

  // True if modules were loaded or unloaded since Load() (dlpi_adds or dlpi_subs moved). Cheap.
  bool Stale() const;

  // The module that covers `address`, or null.
  const Module* Find(uint64_t address) const;
  const std::vector<Module>& modules() const { return *modules_; }

  // Whether all modules of `earlier`, a map of the same process, have been loaded since, where they
  // were.
  bool Contains(const ModuleMap& earlier) const;

  // One line a module: "start end bias build_id path" in hexadecimal, "-" for no build id. Parse()
  // is bounds-checked and drops lines that make no sense.
  std::string Serialize() const;
  static ModuleMap Parse(std::string_view text);

 private:
  static inline ModuleSource* source_ = nullptr;

  static ModuleMap LoadAnew(const ModuleMap& known);

  std::shared_ptr<const std::vector<Module>> modules_ =
      std::make_shared<const std::vector<Module>>();
  uint64_t adds_ = 0;
  uint64_t subs_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_UNWIND_MODULE_MAP_H_
