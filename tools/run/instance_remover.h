// Removes the ftrace instances that recorded processes leave to `jankbox run`: the kernel takes up
// to 100 ms for each, which no program should wait for at its end or before its sandbox.
#ifndef JANKBOX_TOOLS_RUN_INSTANCE_REMOVER_H_
#define JANKBOX_TOOLS_RUN_INSTANCE_REMOVER_H_

#include <future>
#include <string>
#include <vector>

namespace jankbox::tools {

class InstanceRemover {
 public:
  // Removes the instance of that name on a thread of its own. REQUIRES that this process forks no
  // more. One thread.
  void Remove(const std::string& name);

  // Waits for all that was begun, and removes those of dead processes: a program that is killed
  // tells nobody. Before this process ends, perhaps by a signal.
  void Finish();

 private:
  std::vector<std::future<void>> removals_;  // that may still run
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_INSTANCE_REMOVER_H_
