// What the preload agent offers to libjankbox_jvmti.so, which a Java VM of the same process loads.
// Both are installed in one folder. A process without the preload agent has none of these
// functions.
#ifndef JANKBOX_SDK_LINUX_PRELOAD_LINK_H_
#define JANKBOX_SDK_LINUX_PRELOAD_LINK_H_

extern "C" {

// Whether this process is to be recorded: also if another program than the named one started it,
// since `jankbox run --java` records the Java VMs of all. Once, before the VM runs Java code: loads
// the recorder if that was not done before main().
bool jankbox_agent_records_java();

// The Java VM has a UI: the recorder starts, on a thread of its own. Idempotent; cold.
void jankbox_agent_java_ui();

// libjankbox_jvmti.so reports the loop of the calling thread: no wait of it in the C library is
// taken for its loop's, whatever the option watch_threads says. Once a thread.
void jankbox_agent_leave_thread();
}

#endif  // JANKBOX_SDK_LINUX_PRELOAD_LINK_H_
