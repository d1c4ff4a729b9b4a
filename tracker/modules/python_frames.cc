#include "tracker/modules/python_frames.h"

#include <cstring>
#include <new>

namespace memoir {

constinit std::atomic<const memoir_python_frames*> python_frames{nullptr};

void SetPythonFrames(const memoir_python_frames* layout) {
  // Nearly all recordings of a process get the same layout of Python's frames. The copy of the last layout is then used
  // again, because copies are never freed.
  static const memoir_python_frames* last = nullptr;
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bytes between fields are also copied
  const bool known = layout != nullptr && last != nullptr && std::memcmp(layout, last, sizeof *layout) == 0;
  if (layout != nullptr && !known) {
    auto* copy = new (std::nothrow) memoir_python_frames;
    if (copy != nullptr) std::memcpy(copy, layout, sizeof *layout);
    last = copy;
  }
  python_frames.store(layout == nullptr ? nullptr : last, std::memory_order_release);
}

}  // namespace memoir
