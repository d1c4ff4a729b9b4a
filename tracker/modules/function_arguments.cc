#include "tracker/modules/function_arguments.h"

#include "tracker/modules/python_frames.h"

namespace memoir {
namespace {

// Of an object by its type, or what that derives from; 0: it is none that torch.profiler shows.
std::uint8_t KindOf(const memoir_python_frames& frames, const char* object) {
  constexpr int kMostBases = 32;
  const char* type = PointerAt(object, frames.type);
  for (int i = 0; type != nullptr && i < kMostBases; ++i, type = PointerAt(type, frames.base)) {
    for (const memoir_python_kind& known : frames.kinds) {
      if (known.type == type) return static_cast<std::uint8_t>(known.kind);
    }
  }
  return 0;
}

}  // namespace

void ReadFunctionArguments(FunctionArguments* arguments) {
  const memoir_python_frames* frames = python_frames.load(std::memory_order_acquire);
  if (frames == nullptr || frames->apply == nullptr) return;
  const char* frame = InnermostFrame(*frames);
  if (frame == nullptr || HoldsNoFunction(*frames, frame) || PointerAt(frame, frames->code) != frames->apply) return;
  const char* tuple = PointerAt(frame, frames->apply_arguments);
  if (tuple == nullptr) return;
  const auto size = *reinterpret_cast<const std::ptrdiff_t*>(tuple + frames->tuple_size);
  std::uint16_t count = 0, tensors = 0;
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    const int offset = frames->tuple_items + static_cast<int>(i * static_cast<std::ptrdiff_t>(sizeof(void*)));
    const std::uint8_t kind = KindOf(*frames, PointerAt(tuple, offset));
    if (kind == 0) continue;
    if (count == kMaxArguments) return;
    arguments->kinds[count++] = kind;
    if (kind == 'T') ++tensors;
  }
  arguments->count = count;
  arguments->tensors = tensors;
}

}  // namespace memoir
