#include "tools/run/instance_remover.h"

#include <chrono>
#include <system_error>

#include "tracer/ftrace/private_instance.h"
#include "tracer/ftrace/tracefs_file.h"

namespace jankbox::tools {
namespace {

void RemoveInstance(const std::string& name) {
  const Result<std::string> tracefs = FindTracefs();
  if (tracefs.ok()) RemoveLeftInstance(tracefs.value(), name);
}

}  // namespace

void InstanceRemover::Remove(const std::string& name) {
  std::erase_if(removals_, [](const std::future<void>& removal) {
    return removal.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  try {
    removals_.push_back(std::async(std::launch::async, RemoveInstance, name));
  } catch (const std::system_error&) {  // the system allows no further thread
    RemoveInstance(name);
  }
}

void InstanceRemover::Finish() {
  removals_.clear();
  const Result<std::string> tracefs = FindTracefs();
  if (tracefs.ok()) RemoveDeadInstances(tracefs.value());
}

}  // namespace jankbox::tools
