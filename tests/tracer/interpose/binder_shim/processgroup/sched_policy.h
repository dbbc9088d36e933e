// libprocessgroup's, as far as libbinder names it: Debian has no such header. Scheduling groups are
// the device's; here a thread keeps the one it has.
#ifndef JANKBOX_TESTS_TRACER_INTERPOSE_BINDER_SHIM_PROCESSGROUP_SCHED_POLICY_H_
#define JANKBOX_TESTS_TRACER_INTERPOSE_BINDER_SHIM_PROCESSGROUP_SCHED_POLICY_H_

enum SchedPolicy { SP_BACKGROUND, SP_FOREGROUND };

inline int set_sched_policy(int /*tid*/, SchedPolicy /*policy*/) { return 0; }
inline int get_sched_policy(int /*tid*/, SchedPolicy* policy) {
  *policy = SP_FOREGROUND;
  return 0;
}

#endif  // JANKBOX_TESTS_TRACER_INTERPOSE_BINDER_SHIM_PROCESSGROUP_SCHED_POLICY_H_
