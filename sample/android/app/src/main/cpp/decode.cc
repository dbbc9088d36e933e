// Native work on the main thread, seen through the same library as Java's.
#include <jankbox/trace.h>
#include <jni.h>

#include <chrono>
#include <thread>

extern "C" JNIEXPORT void JNICALL Java_dev_jankbox_sample_MainActivity_decodeNatively(JNIEnv*,
                                                                                      jclass,
                                                                                      jint ms) {
  JANKBOX_TRACE("decodeNatively");
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}
