// The process that reads debug files, mappings and traces for the collector: one thread, so that it
// may start the workers with limits of symbolize/limited_worker.h, which a server with threads may
// not. It is the collector's own program, started again with kSymbolWorker as its argument.
#ifndef JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_WORKER_H_
#define JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_WORKER_H_

#include <cstdint>

namespace jankbox::collector {

inline constexpr char kSymbolWorker[] = "--symbol-worker";

// Messages in both directions follow their length (u32 in the machine's order).
inline constexpr uint32_t kMaxSymbolMessageBytes = 256u << 20;

// Reads a SymbolJob from stdin and writes SymbolAnswers to stdout. Returns the exit status.
int RunSymbolWorker();

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_WORKER_H_
