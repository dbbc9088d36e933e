// Names for clang's thread-safety attributes: they state which lock guards a field and which lock a
// function needs, and `clang++ -Wthread-safety` (preset "clang") checks them. Empty in GCC. The
// locks themselves are in base/mutex.h.
#ifndef JANKBOX_BASE_THREAD_ANNOTATIONS_H_
#define JANKBOX_BASE_THREAD_ANNOTATIONS_H_

#if defined(__clang__)
#define JANKBOX_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define JANKBOX_THREAD_ATTRIBUTE(x)
#endif

#define CAPABILITY(name) JANKBOX_THREAD_ATTRIBUTE(capability(name))
#define SCOPED_CAPABILITY JANKBOX_THREAD_ATTRIBUTE(scoped_lockable)
// Of a field: read and written only while the lock is owned. PT_: what the pointer points at.
#define GUARDED_BY(lock) JANKBOX_THREAD_ATTRIBUTE(guarded_by(lock))
#define PT_GUARDED_BY(lock) JANKBOX_THREAD_ATTRIBUTE(pt_guarded_by(lock))
// Of a function: its caller owns the lock; its caller must not own the lock.
#define REQUIRES(...) JANKBOX_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) JANKBOX_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) JANKBOX_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) JANKBOX_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))

// Of a function that its caller calls to say so: the lock is owned here, though clang cannot see
// it.
#define ASSERT_CAPABILITY(...) JANKBOX_THREAD_ATTRIBUTE(assert_capability(__VA_ARGS__))

#endif  // JANKBOX_BASE_THREAD_ANNOTATIONS_H_
