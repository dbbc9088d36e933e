#include "base/memory/memory_room.h"
#include "tracer/unwind/frame_repair.h"
#include "tracer/unwind/signed_returns.h"
#include "tracer/unwind/unwind_library.h"
#include "tracer/unwind/unwind_tables.h"
#include "tracer/unwind/unwinder.h"

namespace jankbox {

namespace {

// Unwind rules that libunwind remembers; 256 bytes or so each.
constexpr size_t kCachedRules = 1024;

// Adds a frame; false if the sample is full.
bool Push(StackSample* sample, uint64_t pc) {
  if (sample->depth == StackSample::kMaxDepth) return false;
  sample->pcs[sample->depth++] = pc;
  return true;
}

}  // namespace

class Unwinder::Engine final : public FunctionLookup {
 public:
  Engine() = default;
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Empty if it can unwind, else why not.
  std::string Start();
  void SetModules(const ModuleMap* modules);
  void Unwind(const Registers& registers, const StackCopy& stack, StackSample* sample);

  bool FindFunction(uint64_t address, FunctionRange* range) override;

 private:
  enum class Stop {
    kThreadStart,     // the outermost frame
    kFull,            // kMaxDepth frames, and more above
    kNoTable,         // no .eh_frame covers the frame
    kNoFramePointer,  // the frame is found by a frame pointer that is not known
    kBroken,          // beyond the copy, or what the table says makes no sense
  };

  // A frame that a walk stopped at. `pc` is inside the call that it is in.
  struct Frame {
    uint64_t pc = 0;
    uint64_t sp = 0;
    bool signal = false;
    bool leaf = false;  // called nothing: it is the innermost, or a signal interrupted it
  };

  Stop Walk(const Registers& start, bool check_calls, StackSample* sample, Frame* frame);
  Stop StopReason(int step_result, unw_cursor_t* cursor);
  bool Next(unw_cursor_t* cursor, const Frame& from, bool check_calls, Frame* to, uint64_t* ip);
  bool StepByFramePointer(const Frame& frame, Registers* next);
  bool RepairFramePointer(const Frame& frame, Registers* next);
  int SearchTable(uint64_t address, unw_proc_info_t* found, bool need_rules);
  // A signed return address as a plain one; anything else as it is.
  uint64_t WithoutSignature(uint64_t word) {
    if constexpr (machine::kSignsReturns) {
      const uint64_t stripped = SignedReturns::Strip(word);
      if (stripped != word && tables_.FindModule(stripped) != nullptr) return stripped;
    }
    return word;
  }

  // A step has data for each thread.
  bool Begin(unw_cursor_t* cursor) {
    return HasThreadData(library_.handle) && library_.init_remote(cursor, space_, this) >= 0;
  }

  static Engine* Of(void* self) { return static_cast<Engine*>(self); }
  static int FindProcInfo(unw_addr_space_t, unw_word_t address, unw_proc_info_t* found, int need,
                          void* self);
  static int AccessMemory(unw_addr_space_t, unw_word_t address, unw_word_t* word, int write,
                          void* self);
  static int AccessRegister(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int write,
                            void* self);

  UnwindLibrary library_;
  UnwindTables tables_;
  unw_addr_space_t space_ = nullptr;
  Registers registers_;         // of the walk's first frame
  uint64_t frame_pointer_ = 0;  // at a kNoTable stop; 0 if not known
  bool table_missing_ = false;  // set by FindProcInfo during a step
  SignedReturns signed_returns_;
};

Unwinder::Engine::~Engine() {
  if (space_ != nullptr) library_.destroy_addr_space(space_);
}

std::string Unwinder::Engine::Start() {
  std::string missing = library_.Load();
  if (!missing.empty()) return missing;
  unw_accessors_t accessors = {};
  accessors.find_proc_info = FindProcInfo;
  accessors.put_unwind_info = [](unw_addr_space_t, unw_proc_info_t*, void*) {};
  accessors.get_dyn_info_list_addr = [](unw_addr_space_t, unw_word_t*, void*) {
    return -UNW_ENOINFO;
  };
  accessors.access_mem = AccessMemory;
  accessors.access_reg = AccessRegister;
  accessors.access_fpreg = [](unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) {
    return -UNW_EBADREG;
  };
  accessors.resume = [](unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; };
  accessors.get_proc_name = [](unw_addr_space_t, unw_word_t, char*, size_t, unw_word_t*, void*) {
    return -UNW_ENOINFO;
  };
  space_ = library_.create_addr_space(&accessors, 0);
  if (space_ == nullptr) return "libunwind has no memory";
  library_.set_caching_policy(space_, UNW_CACHE_GLOBAL);
  library_.set_cache_size(space_, kCachedRules, 0);
  return {};
}

void Unwinder::Engine::SetModules(const ModuleMap* modules) {
  if (tables_.SetModules(modules)) library_.flush_cache(space_, 0, 0);
}

// Walks, and if .eh_frame does not lead on, tries the alternatives. What a repaired
// frame pointer led to counts only if it leads all the way.
void Unwinder::Engine::Unwind(const Registers& registers, const StackCopy& stack,
                              StackSample* sample) {
  sample->depth = 0;
  sample->truncated = true;
  if (!registers.Known(machine::kProgramCounter) || !registers.Known(machine::kStackPointer)) {
    return;
  }
  tables_.SetStack(stack);
  Push(sample, registers.Get(machine::kProgramCounter));
  Registers start = registers;
  uint32_t depth_at_repair = 0;
  bool uncertain_before = sample->uncertain;
  for (;;) {
    Frame frame;
    const Stop stop = Walk(start, depth_at_repair != 0, sample, &frame);
    if (stop == Stop::kNoTable && StepByFramePointer(frame, &start)) {
      sample->uncertain = true;
      if (Push(sample, start.Get(machine::kProgramCounter))) continue;
    } else if (stop == Stop::kNoFramePointer && depth_at_repair == 0 &&
               RepairFramePointer(frame, &start)) {
      depth_at_repair = sample->depth;
      uncertain_before = sample->uncertain;
      sample->uncertain = true;
      continue;
    }
    sample->truncated = stop != Stop::kThreadStart;
    const bool doubtful =
        stop != Stop::kThreadStart && stop != Stop::kFull && sample->depth < StackSample::kMaxDepth;
    if (doubtful && depth_at_repair != 0) {
      sample->depth = depth_at_repair;
      sample->uncertain = uncertain_before;
    }
    return;
  }
}

// Pushes the frames above the one that `start` describes, whose pc is pushed already.
Unwinder::Engine::Stop Unwinder::Engine::Walk(const Registers& start, bool check_calls,
                                              StackSample* sample, Frame* frame) {
  registers_ = start;
  *frame = {start.Get(machine::kProgramCounter), start.Get(machine::kStackPointer), false};
  if constexpr (!machine::kCallsPush) frame->leaf = true;
  unw_cursor_t cursor;
  if (!Begin(&cursor)) return Stop::kBroken;
  for (;;) {
    frame->signal = library_.is_signal_frame(&cursor) > 0;
    table_missing_ = false;
    const int result = library_.step(&cursor);
    // arm64's libunwind guesses on any error.
    const bool guessed = !machine::kCallsPush && table_missing_;
    if (result < 0 || guessed) return StopReason(result, &cursor);
    uint64_t ip = 0;
    Frame above;
    if (result == 0 || library_.get_reg(&cursor, UNW_REG_IP, &ip) < 0 || ip == 0) {
      return Stop::kThreadStart;
    }
    if (!Next(&cursor, *frame, check_calls, &above, &ip)) return Stop::kBroken;
    if (!Push(sample, above.pc)) return Stop::kFull;
    *frame = above;
  }
}

Unwinder::Engine::Stop Unwinder::Engine::StopReason(int step_result, unw_cursor_t* cursor) {
  unw_word_t frame_pointer = 0;
  const bool known =
      library_.get_reg(cursor, static_cast<int>(machine::kFramePointer), &frame_pointer) >= 0;
  frame_pointer_ = known ? frame_pointer : 0;
  if (table_missing_) return Stop::kNoTable;
  return step_result == -UNW_EBADREG && !known ? Stop::kNoFramePointer : Stop::kBroken;
}

// The frame that a step reached; false if it cannot be a caller of `from`.
bool Unwinder::Engine::Next(unw_cursor_t* cursor, const Frame& from, bool check_calls, Frame* to,
                            uint64_t* ip) {
  if (library_.get_reg(cursor, UNW_REG_SP, &to->sp) < 0) return false;
  // An interrupted frame may be anywhere (an alternate stack), and its pc is no return
  // address.
  to->pc = from.signal ? *ip : *ip - 1;
  if constexpr (!machine::kCallsPush) to->leaf = from.signal;
  if (from.signal) return true;
  const bool may_stay = !machine::kCallsPush && from.leaf;
  if (may_stay ? to->sp < from.sp : to->sp <= from.sp) return false;
  if (!check_calls) return true;
  FunctionRange callee;
  return FindFunction(from.pc, &callee) && CallCanReach(&tables_, this, *ip, callee);
}

// Code generated at run time keeps a chain of frame pointers, if anything.
bool Unwinder::Engine::StepByFramePointer(const Frame& frame, Registers* next) {
  const uint64_t at = frame_pointer_;
  uint64_t saved = 0;
  uint64_t return_address = 0;
  if (at < frame.sp || at % sizeof(uint64_t) != 0 || !tables_.ReadStack(at, &saved) ||
      !tables_.ReadStack(at + sizeof(uint64_t), &return_address) || saved <= at ||
      !FollowsCall(&tables_, return_address)) {
    return false;
  }
  *next = Registers();
  next->Set(machine::kProgramCounter, return_address - 1);
  next->Set(machine::kStackPointer, at + 2 * sizeof(uint64_t));
  next->Set(machine::kFramePointer, saved);
  return true;
}

bool Unwinder::Engine::RepairFramePointer(const Frame& frame, Registers* next) {
  FunctionRange function;
  if (!FindFunction(frame.pc, &function)) return false;
  uint64_t at = FramePointerByPrologue(&tables_, function, frame.sp);
  if (at == 0) at = FindSavedFramePointer(&tables_, function.start, frame.sp);
  if (at == 0) return false;
  *next = Registers();
  next->Set(machine::kProgramCounter, frame.pc);
  next->Set(machine::kStackPointer, frame.sp);
  next->Set(machine::kFramePointer, at);
  // The table must agree that the frame ends above that pair.
  registers_ = *next;
  unw_cursor_t cursor;
  unw_word_t sp = 0;
  return Begin(&cursor) && library_.step(&cursor) > 0 &&
         library_.get_reg(&cursor, UNW_REG_SP, &sp) >= 0 && sp == at + 2 * sizeof(uint64_t);
}

bool Unwinder::Engine::FindFunction(uint64_t address, FunctionRange* range) {
  unw_proc_info_t found = {};
  if (SearchTable(address, &found, false) < 0) return false;
  *range = {found.start_ip, found.end_ip};
  return true;
}

int Unwinder::Engine::SearchTable(uint64_t address, unw_proc_info_t* found, bool need_rules) {
  const Module* module = tables_.FindModule(address);
  EhFrameTable table;
  if (module == nullptr || !tables_.FindSearchTable(*module, &table)) return -UNW_ENOINFO;
  unw_dyn_info_t form = {};
  form.start_ip = module->start;
  form.end_ip = module->end;
  form.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  form.u.rti.segbase = table.header;
  form.u.rti.table_data = table.entries;
  form.u.rti.table_len = table.entry_count;  // in words: an entry is one
  if constexpr (machine::kSignsReturns) {
    if (need_rules) signed_returns_.TakeRules(&tables_, table, address);
  }
  return library_.search_table(space_, address, &form, found, need_rules ? 1 : 0, this);
}

// Any error but ENOINFO: that would set libunwind guessing along the frame pointers.
int Unwinder::Engine::FindProcInfo(unw_addr_space_t, unw_word_t address, unw_proc_info_t* found,
                                   int need, void* self) {
  const int result = Of(self)->SearchTable(address, found, need != 0);
  if (result >= 0) return result;
  Of(self)->table_missing_ = true;
  return -UNW_EUNSPEC;
}

int Unwinder::Engine::AccessMemory(unw_addr_space_t, unw_word_t address, unw_word_t* word,
                                   int write, void* self) {
  if (write != 0) return -UNW_EINVAL;
  if constexpr (machine::kSignsReturns) {
    if (Of(self)->tables_.ReadStack(address, word)) {
      *word = Of(self)->WithoutSignature(*word);
      return 0;
    }
    if (!Of(self)->tables_.ReadWord(address, word)) return -UNW_EINVAL;
    Of(self)->signed_returns_.Replace(address, word);
    return 0;
  }
  return Of(self)->tables_.ReadWord(address, word) ? 0 : -UNW_EINVAL;
}

int Unwinder::Engine::AccessRegister(unw_addr_space_t, unw_regnum_t number, unw_word_t* value,
                                     int write, void* self) {
  const Registers& registers = Of(self)->registers_;
  if (write != 0 || number < 0 || !registers.Known(static_cast<uint32_t>(number))) {
    return -UNW_EBADREG;
  }
  *value = registers.Get(static_cast<uint32_t>(number));
  if constexpr (machine::kSignsReturns) *value = Of(self)->WithoutSignature(*value);
  return 0;
}

Unwinder::Unwinder() : engine_(std::make_unique<Engine>()) {
  const std::string missing = engine_->Start();
  if (missing.empty()) return;
  note_ = "Stacks are not unwound: " + missing + ". Samples carry the innermost address only.";
  engine_.reset();
}

Unwinder::~Unwinder() = default;

void Unwinder::SetModules(const ModuleMap* modules) {
  if (engine_ != nullptr) engine_->SetModules(modules);
}

void Unwinder::Unwind(const Registers& registers, const StackCopy& stack, StackSample* sample) {
  if (engine_ != nullptr) {
    engine_->Unwind(registers, stack, sample);
    return;
  }
  sample->depth = 0;
  sample->truncated = true;
  if (registers.Known(machine::kProgramCounter)) {
    Push(sample, registers.Get(machine::kProgramCounter));
  }
}

}  // namespace jankbox
