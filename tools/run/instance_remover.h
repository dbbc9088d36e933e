// Removes the ftrace instances that recorded processes leave to `jankbox run`: the kernel takes up
// to 100 ms for each, which no program should wait for at its end or before its sandbox.
#ifndef JANKBOX_TOOLS_RUN_INSTANCE_REMOVER_H_
#define JANKBOX_TOOLS_RUN_INSTANCE_REMOVER_H_

#include <string>
#include <thread>
#include <vector>

namespace jankbox::tools {

class InstanceRemover {
 public:
  // Waits for all that was begun, and removes those of dead processes: a program that is killed
  // leaves them to nobody.
  ~InstanceRemover();

  // Removes the instance of that name on a thread of its own. REQUIRES that this process forks no
  // more. One thread.
  void Remove(const std::string& name);

 private:
  std::vector<std::thread> removals_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_INSTANCE_REMOVER_H_
