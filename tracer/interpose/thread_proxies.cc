#include "tracer/interpose/thread_proxies.h"

#include <pthread.h>
#include <sys/prctl.h>

#include "base/own_thread.h"
#include "tracer/event/event_sink.h"
#include "tracer/hook/reentry_guard.h"
#include "tracer/interpose/lock_state.h"
#include "tracer/interpose/own_registers.h"
#include "tracer/interpose/thread_journal.h"

namespace jankbox {
namespace {

using Hook = HookedBy<HookFeature::kThreads>;

void NoteEnd(int32_t tid) {
  const ReentryGuard guard(HookFeature::kThreads);
  if (!guard.entered() || !RecordingOn()) return;
  ThreadNote* note = ThreadJournal::Take();
  if (note == nullptr) return;
  note->event = {.step = ThreadStep::kEnded, .tid = tid, .ticks = NowTicks()};
  ThreadJournal::Publish(note);
}

void NoteName(int32_t tid, const char* name) {
  if (tid <= 0) return;
  ThreadNote* note = ThreadJournal::Take();
  if (note == nullptr) return;
  note->event = {.step = ThreadStep::kNamed, .tid = tid, .ticks = NowTicks()};
  for (uint32_t i = 0; i + 1 < kThreadNameBytes && name[i] != '\0'; ++i) {
    note->event.name[i] = name[i];
  }
  ThreadJournal::Publish(note);
}

// The first function of every thread that is created while recording is on.
void* RunThread(void* argument) {
  auto* note = static_cast<ThreadNote*>(argument);
  void* (*routine)(void*) = note->routine;
  void* routine_argument = note->argument;
  const int32_t tid = CurrentTid();
  note->event.tid = tid;
  note->event.started_ticks = NowTicks();
  ThreadJournal::Publish(note);
  void* result = routine(routine_argument);
  NoteEnd(tid);
  return result;
}

// The note of a thread that the calling one is about to create, with the stack of who asked for it
// as of `registers`; null: nothing is recorded.
ThreadNote* NoteCreation(const Registers& registers, const void* return_address) {
  const ReentryGuard guard(HookFeature::kThreads);
  if (!guard.entered() || !RecordingOn()) return nullptr;
  ThreadNote* note = ThreadJournal::Take();
  if (note == nullptr) return nullptr;
  note->event = {.step = ThreadStep::kCreated, .ticks = NowTicks(), .parent_tid = CurrentTid()};
  note->stack = CreationStacks::Copy(registers, return_address);
  return note;
}

int CreateProxy(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                void* argument) {
  auto* real = Hook::Original<HookId::kPthreadCreate,
                              int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>();
  Registers registers;
  ReadOwnRegisters([&](uint32_t number, uint64_t value) { registers.Set(number, value); });
  ThreadNote* note = NoteCreation(registers, __builtin_return_address(0));
  if (note == nullptr) return real(thread, attributes, routine, argument);
  note->routine = routine;
  note->argument = argument;
  const int error = real(thread, attributes, RunThread, note);
  if (error != 0) ThreadJournal::Release(note);  // else it is the child's
  return error;
}

[[noreturn]] void ExitProxy(void* result) {
  NoteEnd(CurrentTid());
  Hook::Original<HookId::kPthreadExit, void(void*)>()(result);
  __builtin_unreachable();
}

int SetNameProxy(pthread_t thread, const char* name) {
  const int error =
      Hook::Original<HookId::kPthreadSetname, int(pthread_t, const char*)>()(thread, name);
  const ReentryGuard guard(HookFeature::kThreads);
  if (error == 0 && guard.entered() && RecordingOn()) NoteName(TidOfThread(thread), name);
  return error;
}

// prctl() takes as many arguments as the option has; see SyscallProxy.
int PrctlProxy(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  const int result = Hook::Original<HookId::kPrctl, int(int, ...)>()(option, a, b, c, d);
  if (option != PR_SET_NAME || result != 0) return result;
  const ReentryGuard guard(HookFeature::kThreads);
  if (guard.entered() && RecordingOn()) {
    NoteName(CurrentTid(), reinterpret_cast<const char*>(a));  // the kernel has just read it
  }
  return result;
}

}  // namespace

std::span<const HookUse> ThreadHooks() {
  static const HookUse hooks[] = {
      Hook::Use<HookId::kPthreadCreate>(CreateProxy, IsOfTheApp),
      Hook::Use<HookId::kPthreadExit>(ExitProxy, IsOfTheApp),
      Hook::Use<HookId::kPthreadSetname>(SetNameProxy, IsOfTheApp),
      Hook::Use<HookId::kPrctl>(PrctlProxy, IsOfTheApp),
  };
  return hooks;
}

}  // namespace jankbox
