// Counts as hostile input: a message from anywhere that the collector accepts has sums that add up,
// and the file of a device that is read back is the file that is written again.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "report/counts_format.h"
#include "report/counts_message.h"
#include "report/message_decoder.h"
#include "report/report_encoder.h"
#include "uploader/counts/counters.h"

namespace {

void ReadMessage(std::string_view bytes) {
  const jankbox::Result<jankbox::proto::Counts> counts = jankbox::ParseCounts(bytes);
  if (!counts.ok()) return;
  if (counts->counters_size() > static_cast<int>(jankbox::kMaxCounters) + 1) abort();
  for (const jankbox::proto::Counter& counter : counts->counters()) {
    uint64_t incidents = 0;
    for (const jankbox::proto::CounterBucket& bucket : counter.buckets()) {
      incidents += bucket.incidents();
    }
    if (incidents != counter.incidents() || counter.max_ns() > counter.total_ns()) abort();
  }
}

void ReadBook(std::string_view bytes) {
  jankbox::ReportCountBook book;
  if (!jankbox::DecodeCountBook(bytes, &book).ok() || !jankbox::IsPlausible(book)) return;
  jankbox::CountedIncident incident;
  incident.id = "01890a5d-ac96-774b-bcce-b302099a8057";
  incident.counter.key = "key";
  incident.counter.incidents = 1;
  jankbox::AddIncident(incident, &book);
  jankbox::ReportCountBook again;
  const std::string written = jankbox::EncodeCountBook(book);
  if (!jankbox::DecodeCountBook(written, &again).ok()) abort();
  if (jankbox::UnsentCounts(again).counters.size() > jankbox::kMaxCounters + 1) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  ReadMessage(input);
  ReadBook(input);
  return 0;
}
