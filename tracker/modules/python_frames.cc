#include "tracker/modules/python_frames.h"

#include <new>

namespace memoir {

constinit std::atomic<const memoir_python_frames*> python_frames{nullptr};

void SetPythonFrames(const memoir_python_frames* layout) {
  const auto* copy = layout == nullptr ? nullptr : new (std::nothrow) memoir_python_frames(*layout);
  python_frames.store(copy, std::memory_order_release);
}

}  // namespace memoir
