// What most sources include, compiled once by tools/checks/check_android.
#ifndef JANKBOX_TESTS_ANDROID_STANDARD_HEADERS_H_
#define JANKBOX_TESTS_ANDROID_STANDARD_HEADERS_H_

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#endif  // JANKBOX_TESTS_ANDROID_STANDARD_HEADERS_H_
