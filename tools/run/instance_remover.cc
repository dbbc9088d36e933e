#include "tools/run/instance_remover.h"

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

InstanceRemover::~InstanceRemover() {
  for (std::thread& removal : removals_) removal.join();
  const Result<std::string> tracefs = FindTracefs();
  if (tracefs.ok()) RemoveDeadInstances(tracefs.value());
}

void InstanceRemover::Remove(const std::string& name) {
  try {
    removals_.emplace_back(RemoveInstance, name);
  } catch (const std::system_error&) {  // the system allows no further thread
    RemoveInstance(name);
  }
}

}  // namespace jankbox::tools
