// Prints to stderr while a program runs: incidents, the first error of any agent, the upload, and
// the sum at the end. Owns the sources of these. A reader of stderr that stops reading loses lines;
// it never delays the program's signals or end. Threads: one.
#ifndef JANKBOX_TOOLS_RUN_RUN_FEED_H_
#define JANKBOX_TOOLS_RUN_RUN_FEED_H_

#include <poll.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.pb.h"
#include "tools/run/folder_watch.h"
#include "tools/run/incident_log.h"
#include "tools/run/instance_remover.h"
#include "tools/run/report_upload.h"
#include "tools/run/watched_log.h"
#include "tools/terminal/agent_channel.h"
#include "uploader/spool/spool.h"

namespace jankbox::tools {

// Writes one line of jankbox to stderr.
void Say(const std::string& line);

class RunFeed {
 public:
  // Watches `spool` from now on; `spool` outlives it. `upload_url`: "" for none. `quiet`: only
  // errors are reported. `children`: what the program starts is recorded, too. `only`: of all these
  // the programs with these names, as RunOptions has them; "": every one.
  RunFeed(Spool* spool, std::string upload_url, bool quiet, bool children, const std::string& only);

  // The socket to which agents report; "" if there is none.
  std::string agent_socket() const { return agents_ != nullptr ? agents_->name() : ""; }

  // REQUIRES that this process forks no more.
  void StartUpload();

  // Adds what Tell() waits for; returns how long to wait at most, -1: for ever.
  int AddSources(std::vector<pollfd>* sources) const;
  // Says what is new.
  void Tell();

  // The text of a "watched:" message of no agent.
  void AddWatched(std::string_view text);

  // Reports that an earlier run left as rings.
  void TellRecovered(const std::vector<std::string>& ids);
  // `obstacle`: why nothing could be watched; "" if something could. `wait_status`: the program's.
  void TellSummary(const std::string& obstacle, int wait_status);

  // After the program's end: nothing of it is left in tracefs.
  void RemoveInstances() { instances_.Finish(); }

  // The upload's end. BeginFinalUpload(), then Tell() and TellUploadProgress() until
  // upload_ended().
  bool uploads() const { return upload_.has_value(); }
  void BeginFinalUpload(uint64_t deadline_monotonic_ns);
  bool upload_ended() const { return !upload_.has_value() || upload_->ended(); }
  void TellUploadProgress();
  void TellUploadSummary();

 private:
  void TellIncident(const proto::Report& report);
  std::string WhyNothingWasWatched(const std::string& obstacle) const;
  // Say(), in place of the progress line.
  void SayLine(const std::string& line);

  Spool* const spool_;
  const bool quiet_;
  const bool children_;
  const std::string only_;
  const TextStyle style_;
  const std::string upload_url_;
  FolderWatch folder_;
  std::unique_ptr<AgentChannel> agents_;
  IncidentLog incidents_;
  WatchedLog watched_;
  InstanceRemover instances_;
  size_t error_count_ = 0;
  bool progress_shown_ = false;
  std::optional<ReportUpload> upload_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_RUN_FEED_H_
