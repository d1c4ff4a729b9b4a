#include "tracker/modules/function_arguments.h"

#include "tracker/modules/python_frames.h"

namespace memoir {
namespace {

constexpr int kMostNested = 8;

// Returns the argument kind of the object's type or of its nearest base type that has a kind; 0 if none of these types
// has a kind.
std::uint8_t KindOfType(const memoir_python_frames& frames, const char* object) {
  constexpr int kMostBases = 32;
  const char* type = PointerAt(object, frames.type);
  for (int i = 0; type != nullptr && i < kMostBases; ++i, type = PointerAt(type, frames.base)) {
    for (const memoir_python_kind& known : frames.kinds) {
      if (known.type == type) return static_cast<std::uint8_t>(known.kind);
    }
  }
  return 0;
}

std::ptrdiff_t SizeOf(const memoir_python_frames& frames, const char* sequence) {
  return *reinterpret_cast<const std::ptrdiff_t*>(sequence + frames.tuple_size);
}

const char* ItemAt(const char* items, std::ptrdiff_t index) {
  return PointerAt(items, static_cast<int>(index * static_cast<std::ptrdiff_t>(sizeof(void*))));
}

bool IsPlain(const memoir_python_frames& frames, const char* object, int nested);

bool IsPlainTuple(const memoir_python_frames& frames, const char* tuple, int nested) {
  for (std::ptrdiff_t i = 0; i < SizeOf(frames, tuple); ++i) {
    if (!IsPlain(frames, ItemAt(tuple + frames.tuple_items, i), nested + 1)) return false;
  }
  return true;
}

// Returns true for objects that torch converts to an IValue (tryToInferContainerType): None, numbers, and tuples of
// these objects.
bool IsPlain(const memoir_python_frames& frames, const char* object, int nested) {
  const std::uint8_t kind = KindOfType(frames, object);
  if (kind == 'o') return nested < kMostNested && IsPlainTuple(frames, object, nested);
  return kind == 'N' || kind == 'b' || kind == 'i' || kind == 'd' || kind == 'c';
}

// Returns the kind of a list whose items are numbers of one type. 0 for other lists, because torch does not convert
// them, or torch.profiler ignores them.
std::uint8_t KindOfList(const memoir_python_frames& frames, const char* list) {
  const std::ptrdiff_t size = SizeOf(frames, list);
  const char* items = PointerAt(list, frames.tuple_items);
  const std::uint8_t first = size == 0 ? std::uint8_t{0} : KindOfType(frames, ItemAt(items, 0));
  for (std::ptrdiff_t i = 1; i < size; ++i) {
    if (KindOfType(frames, ItemAt(items, i)) != first) return 0;
  }
  switch (first) {
    case 'i':
      return 'I';
    case 'd':
      return 'D';
    case 'b':
      return 'B';
    case 'c':
      return 'l';
    default:
      return 0;
  }
}

// Returns the kind of an argument; 0 if torch.profiler does not show it.
std::uint8_t KindOf(const memoir_python_frames& frames, const char* object) {
  const std::uint8_t kind = KindOfType(frames, object);
  if (kind == 'l') return KindOfList(frames, object);
  return kind != 'o' || IsPlainTuple(frames, object, 0) ? kind : std::uint8_t{0};
}

}  // namespace

void ReadFunctionArguments(FunctionArguments* arguments) {
  const memoir_python_frames* frames = python_frames.load(std::memory_order_acquire);
  if (frames == nullptr || frames->apply == nullptr) return;
  const char* frame = InnermostFrame(*frames);
  if (frame == nullptr || HoldsNoFunction(frame, frames->owner) || ObjectAt(frame, frames->code) != frames->apply)
    return;
  const char* tuple = ObjectAt(frame, frames->apply_arguments);
  if (tuple == nullptr) return;
  const std::ptrdiff_t size = SizeOf(*frames, tuple);
  std::uint16_t count = 0, tensors = 0;
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    const std::uint8_t kind = KindOf(*frames, ItemAt(tuple + frames->tuple_items, i));
    if (kind == 0) continue;
    if (count == kMaxArguments) return;
    arguments->kinds[count++] = kind;
    if (kind == 'T') ++tensors;
  }
  arguments->count = count;
  arguments->tensors = tensors;
}

}  // namespace memoir
