// Ends of this process that its parent cannot tell from those of another program. Threads: any.
#ifndef JANKBOX_TOOLS_RUN_OWN_END_H_
#define JANKBOX_TOOLS_RUN_OWN_END_H_

namespace jankbox::tools {

// Ends this process by `signal`, without a core file. Returns the status to exit with if the signal
// does not end it.
int EndBySignal(int signal);

// The same end as a program's, whose status waitpid() gave: the status to exit with, or its signal.
int EndLike(int wait_status);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_OWN_END_H_
