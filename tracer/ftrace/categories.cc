#include "tracer/ftrace/categories.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "tracer/ftrace/tracefs_file.h"

namespace jankbox {
namespace {

constexpr bool REQ = true;
constexpr bool OPT = false;

constexpr CategoryEvent kSched[] = {
    {"sched/sched_switch", REQ},       {"sched/sched_wakeup", REQ},
    {"sched/sched_waking", OPT},       {"sched/sched_blocked_reason", OPT},
    {"sched/sched_cpu_hotplug", OPT},  {"sched/sched_pi_setprio", OPT},
    {"sched/sched_process_exit", OPT}, {"cgroup", OPT},
    {"oom/oom_score_adj_update", OPT}, {"task/task_rename", OPT},
    {"task/task_newtask", OPT},
};
constexpr CategoryEvent kIrq[] = {{"irq", REQ}, {"ipi", OPT}};
constexpr CategoryEvent kIrqOff[] = {{"preemptirq/irq_enable", REQ},
                                     {"preemptirq/irq_disable", REQ}};
constexpr CategoryEvent kPreemptOff[] = {{"preemptirq/preempt_enable", REQ},
                                         {"preemptirq/preempt_disable", REQ}};
constexpr CategoryEvent kI2c[] = {
    {"i2c", REQ},
    {"i2c/i2c_read", REQ},
    {"i2c/i2c_write", REQ},
    {"i2c/i2c_result", REQ},
    {"i2c/i2c_reply", REQ},
    {"i2c/smbus_read", OPT},
    {"i2c/smbus_write", OPT},
    {"i2c/smbus_result", OPT},
    {"i2c/smbus_reply", OPT},
};
constexpr CategoryEvent kFreq[] = {
    {"power/cpu_frequency", REQ}, {"power/clock_set_rate", OPT},       {"power/clock_disable", OPT},
    {"power/clock_enable", OPT},  {"clk/clk_set_rate", OPT},           {"clk/clk_disable", OPT},
    {"clk/clk_enable", OPT},      {"power/cpu_frequency_limits", OPT}, {"power/gpu_frequency", OPT},
    {"cpuhp/cpuhp_enter", OPT},   {"cpuhp/cpuhp_exit", OPT},
};
constexpr CategoryEvent kMemBus[] = {{"memory_bus", REQ}};
constexpr CategoryEvent kIdle[] = {{"power/cpu_idle", REQ}};
constexpr CategoryEvent kDisk[] = {
    {"f2fs/f2fs_sync_file_enter", OPT}, {"f2fs/f2fs_sync_file_exit", OPT},
    {"f2fs/f2fs_write_begin", OPT},     {"f2fs/f2fs_write_end", OPT},
    {"ext4/ext4_da_write_begin", OPT},  {"ext4/ext4_da_write_end", OPT},
    {"ext4/ext4_sync_file_enter", OPT}, {"ext4/ext4_sync_file_exit", OPT},
    {"block/block_rq_issue", REQ},      {"block/block_rq_complete", REQ},
};
constexpr CategoryEvent kMmc[] = {{"mmc", REQ}};
constexpr CategoryEvent kLoad[] = {{"cpufreq_interactive", REQ}};
// The same events under three names: before Linux 4.9, in 4.9, since 4.10.
constexpr CategoryEvent kSync[] = {{"sync|fence|dma_fence", OPT}};
constexpr CategoryEvent kWorkq[] = {{"workqueue", REQ}};
constexpr CategoryEvent kMemReclaim[] = {
    {"vmscan/mm_vmscan_direct_reclaim_begin", REQ},
    {"vmscan/mm_vmscan_direct_reclaim_end", REQ},
    {"vmscan/mm_vmscan_kswapd_wake", REQ},
    {"vmscan/mm_vmscan_kswapd_sleep", REQ},
    {"lowmemorykiller", OPT},
};
constexpr CategoryEvent kRegulators[] = {{"regulator", REQ}};
constexpr CategoryEvent kBinderDriver[] = {
    {"binder/binder_transaction", REQ},
    {"binder/binder_transaction_received", REQ},
    {"binder/binder_transaction_alloc_buf", REQ},
    {"binder/binder_set_priority", OPT},
};
// The driver's global lock is gone since Linux 4.14.
constexpr CategoryEvent kBinderLock[] = {
    {"binder/binder_lock", OPT}, {"binder/binder_locked", OPT}, {"binder/binder_unlock", OPT}};
constexpr CategoryEvent kPageCache[] = {{"filemap", REQ}};
constexpr CategoryEvent kMemory[] = {
    {"mm_event/mm_event_record", OPT},
    {"kmem/rss_stat", OPT},
    {"kmem/ion_heap_grow", OPT},
    {"kmem/ion_heap_shrink", OPT},
    {"ion/ion_stat", OPT},
    {"gpu_mem/gpu_mem_total", OPT},
    {"fastrpc/fastrpc_dma_stat", OPT},
    {"dmabuf_heap/dma_heap_stat", OPT},
};
constexpr CategoryEvent kThermal[] = {{"thermal/thermal_temperature", REQ},
                                      {"thermal/cdev_update", OPT}};

constexpr KernelCategory kCategories[] = {
    {"sched", "CPU scheduling", kSched},
    {"irq", "Interrupts", kIrq},
    {"irqoff", "Code that runs with interrupts off", kIrqOff},
    {"preemptoff", "Code that runs with preemption off", kPreemptOff},
    {"i2c", "I2C", kI2c},
    {"freq", "CPU and clock frequencies", kFreq},
    {"membus", "Memory bus", kMemBus},
    {"idle", "CPU idle states", kIdle},
    {"disk", "Disk I/O", kDisk},
    {"mmc", "eMMC commands", kMmc},
    {"load", "CPU load", kLoad},
    {"sync", "Fences", kSync},
    {"workq", "Kernel work queues", kWorkq},
    {"memreclaim", "Memory reclaim", kMemReclaim},
    {"regulators", "Voltage regulators", kRegulators},
    {"binder_driver", "Binder driver", kBinderDriver},
    {"binder_lock", "Binder's global lock", kBinderLock},
    {"pagecache", "Page cache", kPageCache},
    {"memory", "Memory", kMemory},
    {"thermal", "Thermal events", kThermal},
};

std::string EnablePath(const std::string& tracing_dir, std::string_view event) {
  return tracing_dir + "/events/" + std::string(event) + "/enable";
}

// The next word of `*text` up to `separator`, taken from it.
std::string_view TakeWord(std::string_view* text, char separator) {
  const size_t end = std::min(text->find(separator), text->size());
  const std::string_view word = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return word;
}

// Enables the first of the alternatives that the kernel has; `*event` is the one tried last.
Status EnableOne(const std::string& tracing_dir, std::string_view alternatives,
                 std::string_view* event) {
  Status status(StatusCode::kNotFound, "no event");
  while (!alternatives.empty() && !status.ok()) {
    *event = TakeWord(&alternatives, '|');
    status = WriteTracefs(EnablePath(tracing_dir, *event), "1");
  }
  return status;
}

Status EnableCategory(const std::string& tracing_dir, const KernelCategory& category,
                      EnabledCategories* enabled) {
  for (const CategoryEvent& wanted : category.events) {
    std::string_view event;
    const Status status = EnableOne(tracing_dir, wanted.name, &event);
    if (status.ok()) {
      const bool known =
          std::find(enabled->events.begin(), enabled->events.end(), event) != enabled->events.end();
      if (!known) enabled->events.emplace_back(event);
    } else if (wanted.required) {
      return Status(status.code(), std::string("category ") + category.name + " needs " +
                                       wanted.name + ": " + status.message());
    } else {
      enabled->missing.push_back(std::string(wanted.name) + ": " + status.message());
    }
  }
  return Status::Ok();
}

}  // namespace

std::span<const KernelCategory> KernelCategories() { return kCategories; }

const KernelCategory* FindKernelCategory(std::string_view name) {
  for (const KernelCategory& category : kCategories) {
    if (name == category.name) return &category;
  }
  return nullptr;
}

Result<EnabledCategories> EnableCategories(const std::string& tracing_dir,
                                           std::string_view categories) {
  EnabledCategories enabled;
  Status status = Status::Ok();
  while (!categories.empty() && status.ok()) {
    const std::string_view name = TakeWord(&categories, ' ');
    if (name.empty()) continue;
    const KernelCategory* category = FindKernelCategory(name);
    status = category == nullptr
                 ? Status(StatusCode::kInvalidArgument, "no category " + std::string(name))
                 : EnableCategory(tracing_dir, *category, &enabled);
  }
  if (status.ok()) return enabled;
  DisableEvents(tracing_dir, enabled.events);
  return status;
}

void DisableEvents(const std::string& tracing_dir, const std::vector<std::string>& events) {
  for (const std::string& event : events) {
    // Events that are still on disappear with the instance.
    (void)WriteTracefs(EnablePath(tracing_dir, event), "0").ok();
  }
}

}  // namespace jankbox
