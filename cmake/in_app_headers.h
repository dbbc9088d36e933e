// The headers of the C++ library that most in-app sources include; cmake/JankboxTargets.cmake
// precompiles this file. Sources do not rely on it: presets without JANKBOX_UNITY compile them
// without.
#ifndef JANKBOX_CMAKE_IN_APP_HEADERS_H_
#define JANKBOX_CMAKE_IN_APP_HEADERS_H_

#ifdef __cplusplus
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
#endif

#endif  // JANKBOX_CMAKE_IN_APP_HEADERS_H_
