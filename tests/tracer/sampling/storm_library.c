// Loaded and unloaded by SamplingDisturbance's tests while its functions are on the stack.
__attribute__((noinline, visibility("default"))) void StormInner(int turns) {
  for (volatile int i = 0; i < turns; i = i + 1) {
  }
}

__attribute__((visibility("default"))) void StormOuter(int turns) {
  StormInner(turns);
  __asm__ volatile("" : : : "memory");
}
