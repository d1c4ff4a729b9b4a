// What a replay shows: decoded events with their context, one call for each. Nothing is kept: copy what you need.
//
// Pointers and spans in an event are valid during the call. Order: processes one after another; inside one, threads
// merged by tick, each thread in its own order.
#ifndef TOOLS_MODEL_EVENT_H_
#define TOOLS_MODEL_EVENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "memoir/v1/capture.pb.h"
#include "tools/model/device_call.h"
#include "tools/model/driver_event.h"
#include "tools/model/event_base.h"
#include "tools/model/host_event.h"
#include "tools/model/ids.h"

namespace memoir {

enum class RangeSource : std::uint8_t { kFunction, kBackward, kUser, kDispatch, kNvtx };
std::string_view ToString(RangeSource source);  // "function", "backward", "user", "dispatch", "nvtx"

// That the program gives a name itself: with record_function or with NVTX, which torch.profiler does not see.
inline bool IsOfUser(RangeSource source) { return source == RangeSource::kUser || source == RangeSource::kNvtx; }

// What a range's name and source make it, beside a range.
struct RangeRole {
  bool backward : 1 = false;   // a node of autograd's, or the engine around one
  bool optimizer : 1 = false;  // the optimizer's own range
  bool compiled : 1 = false;   // a region that torch.compile made, or inside one
  // Known without ReplayOptions::modules, too.
  bool compiling : 1 = false;  // torch.compile's own work, or inside it
  bool tuning : 1 = false;     // of that, what tries kernels out
  bool region : 1 = false;     // "Torch-Compiled Region: 0/1"
  bool note : 1 = false;       // of user ranges: without length, says something of torch.compile
};

// Ranges of another thread that a thread's own stand inside of (docs/event_schema.md, "Threads that work for others"):
// the first `depth` that are open there.
struct RangeBase {
  ThreadId thread;
  std::uint32_t depth = 0;  // 0: none
};

// A range that is open on a thread. `name` is invalid for one whose begin was lost.
struct OpenRange {
  NameId name;
  SchemaId schema;  // operator only
  RangeSource source = RangeSource::kFunction;
  bool is_operator = false;              // its name has a schema
  std::uint32_t depth = 0;               // 0: nothing around it on its thread
  std::int32_t outermost_operator = -1;  // depth of the outermost operator at or around it; -1: none
  std::int32_t innermost_user = -1;      // depth of the innermost user range at or around it; -1: none
  std::int32_t innermost_backward = -1;  // likewise, of those whose role is backward
  std::int32_t innermost_optimizer = -1;
  RangeRole role;   // ReplayOptions::modules only, as the next two, but for torch.compile's own work
  ModuleId module;  // that it belongs to; backward: that the forward operator belonged to
  Phase phase = Phase::kOther;
  StackId callstack;          // of Python, when it began; invalid: none, or not known
  StackId forward_callstack;  // backward: of the forward operator. ReplayOptions::modules only
  std::uint64_t call = 0;     // running number of ranges in the replay, from 1
  Tick begin = 0;
  std::int64_t sequence = -1;        // autograd's; -1: none
  std::uint64_t forward_thread = 0;  // torch's number; backward only
  NameId user_name;                  // of the innermost user range at or around it, also in `base`; invalid: none
  // Of the innermost compiled region at or around it; backward: around the forward operator. ReplayOptions::modules
  // only.
  NameId region;
  RangeBase base;  // at depth 0 only
};

// Outermost first.
using RangeStack = std::vector<OpenRange>;

struct Tensor {
  std::uint64_t impl = 0;
  std::uint64_t storage = 0;  // 0: none
  std::uint64_t storage_bytes = 0;
  LayoutId layout;
  DeviceId device;
  bool wants_gradient = false;  // a leaf of autograd with requires_grad
  bool unlisted = false;        // held in a way that torch.profiler does not look at: docs/event_schema.md
};

struct Block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t serial = 0;
  // Of devices with a caching allocator: what the program asked for (`bytes` is that, rounded), and where it lies.
  std::uint64_t requested_bytes = 0;
  std::uint64_t stream = 0;
  std::uint32_t pool_graph = 0;  // private pool; both 0: the default
  std::uint32_t pool_user = 0;
  Tick tick = 0;  // of its allocation
  DeviceId device;
  ThreadId thread;                  // that allocated; invalid when unknown
  NameId operator_name;             // outermost range on that thread whose name is an operator; may be invalid
  NameId leaf_name;                 // innermost range; may be invalid
  NameId user_name;                 // innermost user range; may be invalid
  std::uint64_t operator_call = 0;  // OpenRange::call of the operator; 0: none
  std::uint64_t ordinal = 0;        // running number of allocations in the replay, from 0
  // Small number, unique among live blocks and reused afterwards: for side tables. kNoSlot for a block that is shown
  // after its end; its deallocation follows at once.
  std::uint32_t slot = 0;
  static constexpr std::uint32_t kNoSlot = 0xffffffffu;
  // Its operators were not recorded: what is said of them is inferred from the block of this ordinal (known_blocks.h).
  std::uint64_t counterpart = kNoCounterpart;
  static constexpr std::uint64_t kNoCounterpart = ~std::uint64_t{0};
  bool inferred() const { return counterpart != kNoCounterpart; }
  bool unseen = false;  // operators were not recorded when it was allocated (operator_sight.h), nor is one inferred
  BlockOrigin origin = BlockOrigin::kRecorded;
  bool compiling = false;  // torch.compile made it while it worked
  // Of Python, when it was allocated; invalid: no Python frames, or not known.
  StackId callstack;
  // Of the forward operator of the autograd node that made it, and from there through generated code to the operation
  // for which that is; invalid: no node did, or Python code that the node runs did (a custom backward, recomputed
  // forward). ReplayOptions::modules only.
  StackId forward_callstack;
  // Whose line says what it is for.
  StackId line_callstack() const { return forward_callstack.valid() ? forward_callstack : callstack; }
  // ReplayOptions::modules only.
  ModuleId module;  // invalid: of none
  Phase phase = Phase::kOther;
  bool in_compiled_region = false;
  NameId region;  // "Torch-Compiled Region: 0/1", in which it, or the forward operator of its node, ran; invalid: none
};

struct RangeBeginEvent : Event {
  const OpenRange* range = nullptr;  // == stack->back()
  const RangeStack* stack = nullptr;
  SignatureId signature;             // invalid: no arguments known
  absl::Span<const Tensor> tensors;  // arguments; impl == 0: not recorded. Empty unless ReplayOptions::tensors
  bool before = false;               // it began earlier, in events that are gone: taken from a keyframe, or unknown
};

struct RangeEndEvent : Event {
  const OpenRange* range = nullptr;  // the one that ends; still == stack->back()
  const RangeStack* stack = nullptr;
  SignatureId signature;             // of the results
  absl::Span<const Tensor> tensors;  // results
  bool implicit = false;             // its end was lost
};

struct AllocateEvent : Event {
  const Block* block = nullptr;
  // As ReplayState::stack; nullptr for BlockOrigin::kKeyframe.
  const RangeStack* stack = nullptr;
  RangeBase base;       // where no range is open on the thread itself
  bool before = false;  // live before the first event that is left; its allocation is none of the replay's
};

enum class DeallocateCause : std::uint8_t {
  kRecorded,
  kReplaced,  // another allocation appeared at its address: its deallocation was lost, or comes late
  kResync,    // gone in the keyframe that the replay went on from after a loss
  kUnknown,   // live before recording was off; what became of it is not known
};

struct DeallocateEvent : Event {  // `thread` is the one that deallocates
  const Block* block = nullptr;
  DeallocateCause cause = DeallocateCause::kRecorded;
  bool temporary = false;  // the operator call that allocated it is still running
};

// A free that was requested is completed: the block's bytes are active no more. Devices with a caching allocator only.
struct FreeCompletedEvent : Event {
  DeviceId device;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t requested_bytes = 0;
};

enum class SegmentAction : std::uint8_t { kAllocate, kFree, kMap, kUnmap, kFound };
std::string_view ToString(SegmentAction action);  // "segment_allocate", "segment_free", ...

// The allocator has taken memory from the device, or given some back.
struct SegmentEvent : Event {
  SegmentAction action = SegmentAction::kAllocate;
  // Its address, bytes, device, stream and pool, and what ran: as if it were a block. No slot, no ordinal.
  const Block* segment = nullptr;
  bool grows() const { return action == SegmentAction::kAllocate || action == SegmentAction::kMap; }
};

struct OutOfMemoryEvent : Event {
  const Block* asked = nullptr;  // as if it had been given: bytes, device, stream, pool, and what ran
  const RangeStack* stack = nullptr;
  std::uint64_t device_free = 0;              // as the driver said
  std::optional<std::uint64_t> device_limit;  // bytes that the allocator may reserve; empty: not known
};

// The allocator's own numbers, which ReplayState::memory has taken over as far as events do not tell.
struct DeviceStatisticsEvent : Event {
  DeviceId device;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t active_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t alloc_retries = 0;
  std::uint64_t ooms = 0;
};

// A storage that a range shows, but that is not live and was not allocated under the recording (numpy, mmap, shared
// memory, before).
struct FirstSeenEvent : Event {
  const Tensor* tensor = nullptr;
  const OpenRange* range = nullptr;  // the range that showed it
  bool as_result = false;
};

struct MarkEvent : Event {
  NameId name;
};

// The Python stack of the thread is this from here on. Dictionary::Frames has its frames.
struct StackEvent : Event {
  StackId stack;        // invalid: no Python frames, or not known
  bool before = false;  // it has been for some time: what said so is lost, or in parts that are gone
};

// A call of a Python function, or of one in C that Python calls ("<built-in function len>" in no file), begins or ends.
struct CallEvent : Event {
  CodeId code;               // of a begin; invalid: not known
  std::uint32_t around = 0;  // calls that are open around it on its thread: deeper ones are over
};

struct StepEvent : Event {
  std::uint64_t step = 0;
};

// How much is recorded changes here. Follows the ends of ranges and of blocks that it causes.
struct SwitchEvent : Event {
  v1::RecordingLevel before = v1::LEVEL_ALL;
  v1::RecordingLevel level = v1::LEVEL_ALL;  // from here on
};

// A call of a module begins or ends. Phase and of_gradient with ReplayOptions::modules only.
struct ModuleEvent : Event {
  ModuleId module;
  Phase phase = Phase::kOther;  // kForward or kRecompute; kBackward: see of_gradient
  std::uint32_t depth = 0;      // modules open around it on its thread
  bool again = false;           // called by itself at once: torch.compile's wrapper and the model in it are one
  bool of_gradient = false;  // no call: the range that is open accumulates the gradient of a parameter of this module
};

// What a module or an optimizer holds, when it is first seen and whenever that is not what it held before; or a
// gradient.
//
// The lists, whose lengths the signature has (Signature::list_lengths), one after the other in `tensors`:
//   of a module      parameters, as many gradients, buffers; in the first captures no buffers
//   of an optimizer  parameters, as many gradients, then for each parameter its state: 2 + parameters lists. In the
//                    first captures there are always three, the third with the state of all: where one parameter is
//                    listed that is the same. Without tensors: a step after which it holds what was said last
//   of a gradient    one parameter, and its gradient as autograd has just left it: none where a hook has freed it
// `more` goes on with the event before of its thread that is no gradient, with lists of the same kind.
struct HoldsEvent : Event {
  ModuleId module;          // invalid: an optimizer, or a module that has no name
  std::uint64_t owner = 0;  // optimizers: tells them apart
  bool is_module = false;
  bool is_gradient = false;
  bool more = false;                 // all above are unset
  SignatureId signature;             // invalid: the lists were lost
  absl::Span<const Tensor> tensors;  // impl == 0: none. Empty unless ReplayOptions::tensors
  // Of a module: of its parameters, then of its buffers, as they stand in `_parameters` and `_buffers`; invalid: not
  // known. Empty: none is known, or not ReplayOptions::tensors.
  absl::Span<const NameId> names;
};

// Records missing on a thread (`thread` valid), or chunks of a process (`chunks` > 0).
struct LostEvent : Event {
  std::uint64_t records = 0;
  std::uint64_t chunks = 0;
};

// A keyframe that the replay applied: at its start when earlier parts are gone, or after a loss. Follows the
// allocations and deallocations that it caused.
struct KeyframeEvent : Event {
  const v1::Keyframe* keyframe = nullptr;
  bool at_start = false;
  bool after_evicted = false;                    // parts were removed on purpose between this one and the one before
  std::function<NameId(std::uint32_t)> name_of;  // its numbers are the process's
  std::function<DeviceId(std::uint32_t)> device_of;
};

// From here on less is known of what is live: the recording ends, or is switched to less, or chunks are missing. What
// is open is still open.
struct CutEvent : Event {};

struct ProcessEvent : Event {};

// Steps begin, or have ended, which may come again without being shown (RepeatedEvent). A begin may stay without end.
struct CycleEvent : Event {
  Tick ticks = 0;  // of an end: that its steps took, each from its first event to its last
};

// Steps that are not shown, for they do what those between the last two CycleEvents did: allocate and free the same,
// for the same steps and from the same lines. What lives is as it was, but for its ticks. Only of visitors that take
// repeats. `tick` is that of the last event.
struct RepeatedEvent : Event {
  std::uint64_t times = 0;
  std::uint64_t steps = 0;                      // in all of them
  std::uint64_t first_step = 0, last_step = 0;  // the numbers of these
  Tick begin = 0;                               // of the first event
  Tick ticks = 0;                               // as the cycle's, of all of them
  absl::Span<const Block* const> moved;  // blocks of the steps shown that live: they are now of the last of these
};

class ReplayState;
struct ReplayReport;

// Override what you need.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void OnStart(const ReplayState&) {}  // before everything; the state is valid until OnEnd returns
  virtual void OnEnd(const ReplayReport&) {}   // after everything
  // Whether it can do without steps that repeat those before: then MostRepeats is asked how many of `times` need not be
  // shown; 0: the next one has to be.
  virtual bool takes_repeats() const { return false; }
  virtual std::uint64_t MostRepeats(const RepeatedEvent&) const { return 0; }
#define MEMOIR_VISITED(Name, EventType, who) \
  virtual void On##Name(const EventType&) {}
#include "tools/model/visited.def"
};

}  // namespace memoir

#endif  // TOOLS_MODEL_EVENT_H_
