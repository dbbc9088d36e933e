// Which of atrace's tags are on in a process: the bits of <cutils/trace.h>, and the rule by which
// libcutils computes them from system properties (trace-dev.inc of Android 10 to 12). Pure: any
// thread; NO-ALLOC but for PropertyValues::Set().
#ifndef JANKBOX_TRACER_ATRACE_ATRACE_TAGS_H_
#define JANKBOX_TRACER_ATRACE_ATRACE_TAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jankbox {

inline constexpr uint64_t kTagAlways = 1u << 0;
inline constexpr uint64_t kTagGraphics = 1u << 1;
inline constexpr uint64_t kTagInput = 1u << 2;
inline constexpr uint64_t kTagView = 1u << 3;
inline constexpr uint64_t kTagWebView = 1u << 4;
inline constexpr uint64_t kTagWindowManager = 1u << 5;
inline constexpr uint64_t kTagActivityManager = 1u << 6;
inline constexpr uint64_t kTagSyncManager = 1u << 7;
inline constexpr uint64_t kTagAudio = 1u << 8;
inline constexpr uint64_t kTagVideo = 1u << 9;
inline constexpr uint64_t kTagCamera = 1u << 10;
inline constexpr uint64_t kTagHal = 1u << 11;
inline constexpr uint64_t kTagApp = 1u << 12;
inline constexpr uint64_t kTagResources = 1u << 13;
inline constexpr uint64_t kTagDalvik = 1u << 14;
inline constexpr uint64_t kTagRenderScript = 1u << 15;
inline constexpr uint64_t kTagBionic = 1u << 16;
inline constexpr uint64_t kTagPower = 1u << 17;
inline constexpr uint64_t kTagPackageManager = 1u << 18;
inline constexpr uint64_t kTagSystemServer = 1u << 19;
inline constexpr uint64_t kTagDatabase = 1u << 20;
inline constexpr uint64_t kTagNetwork = 1u << 21;
inline constexpr uint64_t kTagAdb = 1u << 22;
inline constexpr uint64_t kTagVibrator = 1u << 23;
inline constexpr uint64_t kTagAidl = 1u << 24;
inline constexpr uint64_t kTagNnapi = 1u << 25;
inline constexpr uint64_t kTagRro = 1u << 26;
// The library has not read its properties yet, or is not to trace in this process.
inline constexpr uint64_t kTagNotReady = 1ull << 63;

// ATRACE_TAG_VALID_MASK of Android 12: all bits up to RRO.
inline constexpr uint64_t kValidTags = kTagRro * 2 - 1;

// Tags that a system trace turns on by default: gfx input view wm am audio hal dalvik.
inline constexpr uint64_t kDefaultCaptureTags = 0x496e;

// System properties by name. A name is legal as on Android: letters, digits and "_.-@:", without
// "..", neither beginning nor ending in "."; a value is one line of at most 91 bytes.
class PropertyValues {
 public:
  // False, and nothing is set, if name or value is not legal.
  bool Set(std::string_view name, std::string_view value);

  // Empty if it is not set.
  std::string_view Get(std::string_view name) const;

  // The same properties, set in the same order.
  bool operator==(const PropertyValues&) const = default;

 private:
  std::string lines_ = "\n";  // "name=value\n", one after another
};

// The properties that the rule checks besides debug.atrace.app_<n>.
inline constexpr std::string_view kEnableFlagsProperty = "debug.atrace.tags.enableflags";
inline constexpr std::string_view kAppNumberProperty = "debug.atrace.app_number";
inline constexpr std::string_view kAppProperty = "debug.atrace.app_";  // + n in decimal
inline constexpr std::string_view kDebuggableProperty = "ro.debuggable";

// libcutils checks as many debug.atrace.app_<n> as app_number says; here a number that makes no
// sense ends at this one.
inline constexpr int32_t kMaxAtraceApps = 256;

// app_number, from 0 to kMaxAtraceApps.
int32_t AtraceAppCount(const PropertyValues& properties);

// "debug.atrace.app_<n>".
std::string AtraceAppProperty(int32_t n);

struct AtraceFacts {
  const PropertyValues* properties = nullptr;
  std::string_view cmdline;     // first argument of the process
  bool app_debuggable = false;  // the app says that it is debuggable or profileable
  bool tracing_enabled = true;  // false in a zygote
};

// The value that libcutils gives atrace_enabled_tags. 0 if the flags are no number or too large.
uint64_t ComputeAtraceTags(const AtraceFacts& facts);

// Tags as a number in C's notation (0x496e, 18798, 044556), by the rule for the flags' property;
// nothing if it is none.
std::optional<uint64_t> ParseTagNumber(std::string_view text);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_ATRACE_ATRACE_TAGS_H_
