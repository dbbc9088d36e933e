// Runs jobs in processes of their own (collector/symbols/symbol_worker.h). THREAD-SAFE: each job
// has its process. Blocks until the process has ended.
#ifndef JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_PROCESS_H_
#define JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_PROCESS_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/status.h"
#include "collector/symbols/symbol_job.pb.h"

namespace jankbox::collector {

using AnswerFunction = std::function<void(const symbolproto::SymbolAnswer&)>;

// Passes on the answers. kUnavailable: the process could not be started; kIo: it ended before it
// was done, was silent for longer than the limits of its workers, or `stop` became true.
Status RunSymbolJob(const symbolproto::SymbolJob& job, const std::atomic<bool>& stop,
                    const AnswerFunction& on_answer);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_PROCESS_H_
