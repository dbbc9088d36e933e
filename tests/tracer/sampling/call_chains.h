// The functions that tests expect in stacks: each calls the next of its chain directly, never
// inlined, and frames with alloca are found by the frame pointer alone. C names, exported.
#ifndef JANKBOX_TESTS_TRACER_SAMPLING_CALL_CHAINS_H_
#define JANKBOX_TESTS_TRACER_SAMPLING_CALL_CHAINS_H_

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

extern "C" {

// Burns CPU until `*stop`.
uint64_t BusyOuter(const std::atomic<bool>* stop);
uint64_t BusyInner(const std::atomic<bool>* stop);

// Each calls its Inner, which has an alloca frame and blocks.
void SleepOuter(size_t frame_bytes, int ms);
void LockOuter(size_t frame_bytes, pthread_mutex_t* mutex);
void ReadOuter(size_t frame_bytes, int fd);
void PollOuter(size_t frame_bytes, int fd, int timeout_ms);

// `depth` calls of itself, then blocks in read(fd).
void RecurseThenRead(int depth, int fd);

// Called through a pointer: no direct call tells where its frame is.
void ReadThroughPointerOuter(size_t frame_bytes, int fd);

// Calls FixedInner through a pointer, which calls itself so `depth` times and then blocks in
// read(fd): frames of a fixed size, built with frame pointers.
void FixedOuter(int depth, int fd);

// Leaves the remains of a call of ReadInner deep on the stack, then has ReadInner called through a
// pointer with a frame that covers them.
void StaleOuter(int readable_fd, int blocking_fd);
}

#endif  // JANKBOX_TESTS_TRACER_SAMPLING_CALL_CHAINS_H_
