// The events of a replay, decoded and with the ranges around them. A replay calls the visitor once for each event. The
// event, and the pointers and spans in it, are valid while the visitor's function runs, so copy what you need later. A
// replay visits one process after another. Within a process it merges threads by tick, and the events of each thread
// stay in order.
#ifndef TOOLS_MODEL_EVENT_EVENT_H_
#define TOOLS_MODEL_EVENT_EVENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "memoir/v1/capture.pb.h"
#include "tools/model/event/device_call_event.h"
#include "tools/model/event/driver_event.h"
#include "tools/model/event/event_base.h"
#include "tools/model/event/host_event.h"
#include "tools/model/event/ids.h"

namespace memoir {

// The source of a range: a RecordFunction scope (function, backward, user), the dispatcher (`--ops dispatch`), or NVTX.
enum class RangeSource : std::uint8_t { kFunction, kBackward, kUser, kDispatch, kNvtx };
std::string_view ToString(RangeSource source);  // "function", "backward", "user", "dispatch", "nvtx"

// True for ranges that the program names with record_function or NVTX. torch.profiler does not record NVTX ranges.
inline bool IsUserRange(RangeSource source) { return source == RangeSource::kUser || source == RangeSource::kNvtx; }

// The role of a range, from its name and source.
struct RangeRole {
  bool backward : 1 = false;   // an autograd node, or the engine's range around a node
  bool optimizer : 1 = false;  // the range of an optimizer's step or zero_grad
  bool compiled : 1 = false;   // a region that torch.compile made, or a range inside such a region
  bool compiling : 1 = false;  // work of torch.compile, or a range inside such work
  bool tuning : 1 = false;     // set together with `compiling`: torch.compile runs kernels to choose the fastest
  bool region : 1 = false;     // the range "Torch-Compiled Region: 0/1"
  bool note : 1 = false;       // a user range without length that describes work of torch.compile
};

// The surrounding ranges of a thread that works for another thread (docs/event_schema.md, "Threads that work for
// others"). They are the outermost `depth` open ranges of the other thread, `thread`.
struct RangeBase {
  ThreadId thread;
  std::uint32_t depth = 0;  // 0: there are no surrounding ranges
};

// An open range of a thread. If the begin of the range was lost, `name` is invalid.
struct OpenRange {
  NameId name;
  SchemaId schema;  // set for operators only
  RangeSource source = RangeSource::kFunction;
  bool is_operator = false;  // true: the name has a schema
  std::uint32_t depth = 0;   // 0: the outermost range of its thread
  // Depths of four ranges among this range and the ranges around it. -1: there is no such range.
  std::int32_t outermost_operator = -1;   // the outermost operator
  std::int32_t innermost_user = -1;       // the innermost user range
  std::int32_t innermost_backward = -1;   // the innermost range with the role `backward`
  std::int32_t innermost_optimizer = -1;  // the innermost range with the role `optimizer`
  // `role`, `module` and `phase` need ReplayOptions::modules, except for the roles `compiling`, `tuning` and `note`.
  RangeRole role;
  ModuleId module;  // module around the range; for an autograd node: module around its forward operator
  Phase phase = Phase::kOther;
  // The newest stack that was recorded when the range began; perhaps an earlier operator recorded it. Invalid: unknown.
  StackId callstack;
  StackId forward_callstack;  // for an autograd node with ReplayOptions::modules: stack of its forward operator
  std::uint64_t call = 0;     // number of the range in the replay, from 1
  Tick begin = 0;
  std::int64_t sequence = -1;        // autograd's sequence number; -1: none
  std::uint64_t forward_thread = 0;  // for an autograd node: torch's number of the thread of its forward operator
  NameId user_name;  // innermost user range among this range and the ranges around it, including `base`; invalid: none
  // The innermost compiled region among this range and the ranges around it. For an autograd node: the compiled region
  // around its forward operator. Needs ReplayOptions::modules.
  NameId region;
  RangeBase base;  // set at depth 0 only
};

// The open ranges of a thread, outermost first.
using RangeStack = std::vector<OpenRange>;

struct Tensor {
  std::uint64_t impl = 0;     // address of the TensorImpl
  std::uint64_t storage = 0;  // address of the storage; 0: no storage
  std::uint64_t storage_bytes = 0;
  LayoutId layout;
  DeviceId device;
  bool wants_gradient = false;  // true: a leaf of the autograd graph with requires_grad
  bool unlisted = false;        // true: held in a place that torch.profiler does not read (docs/event_schema.md)
};

struct Block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t serial = 0;
  // Only for devices with a caching allocator: the requested size (`bytes` is rounded up), the stream and the pool.
  std::uint64_t requested_bytes = 0;
  std::uint64_t stream = 0;
  std::uint32_t pool_graph = 0;  // identifies a private pool, together with `pool_user`; both 0: the default pool
  std::uint32_t pool_user = 0;
  Tick tick = 0;  // tick of the allocation
  DeviceId device;
  ThreadId thread;                  // the allocating thread; invalid: unknown
  NameId operator_name;             // outermost operator on that thread; may be invalid
  NameId leaf_name;                 // innermost range; may be invalid
  NameId user_name;                 // innermost user range; may be invalid
  std::uint64_t operator_call = 0;  // OpenRange::call of the outermost operator; 0: none
  std::uint64_t ordinal = 0;        // number of the allocation in the replay, from 0
  // A small number that indexes tables of live blocks. A later block may have the number of a freed block. kNoSlot if
  // the end of the block is visited before its allocation: a DeallocateEvent of the block then follows at once.
  std::uint32_t slot = 0;
  static constexpr std::uint32_t kNoSlot = 0xffffffffu;
  // Ordinal of the matching block (repeats/matching_blocks.h) from which this block's operators are inferred.
  // kNoMatchingBlock if the operators were recorded, or if there is no matching block.
  std::uint64_t matching_ordinal = kNoMatchingBlock;
  static constexpr std::uint64_t kNoMatchingBlock = ~std::uint64_t{0};
  bool inferred() const { return matching_ordinal != kNoMatchingBlock; }
  // Returns the ordinal of the block whose operators were recorded: the matching block, or this block.
  std::uint64_t recorded_ordinal() const { return inferred() ? matching_ordinal : ordinal; }
  bool is_resized = false;  // true: the matching block has another size
  bool unseen = false;      // true: operators neither recorded (replay/state/operator_visibility.h) nor inferred
  BlockOrigin origin = BlockOrigin::kRecorded;
  bool compiling = false;  // true: torch.compile's own work allocated the block
  // The Python stack of the allocation. Invalid if there are no Python frames, or if they are unknown.
  StackId callstack;
  // The stack of the forward operator of the autograd node that allocated the block, extended by frames of generated
  // code. Invalid if no node, or Python code in the node (a custom backward, a recomputed forward), allocated it.
  StackId forward_callstack;  // needs ReplayOptions::modules
  // Returns the stack from which tables take the block's source line.
  StackId line_callstack() const { return forward_callstack.valid() ? forward_callstack : callstack; }
  // The following members need ReplayOptions::modules.
  ModuleId module;  // invalid: no module
  Phase phase = Phase::kOther;
  bool in_compiled_region = false;
  // The compiled region around the allocation, "Torch-Compiled Region: 0/1". If an autograd node allocated the block,
  // the compiled region around the forward operator of the node. Invalid outside of compiled regions.
  NameId region;
};

struct RangeBeginEvent : Event {
  const OpenRange* range = nullptr;  // == stack->back()
  const RangeStack* stack = nullptr;
  SignatureId signature;             // invalid: unknown arguments
  absl::Span<const Tensor> tensors;  // arguments; impl == 0: not recorded. Empty without ReplayOptions::tensors
  // True if the capture lacks the begin: the range is known from a keyframe, or from the open ranges at a run's start.
  bool before = false;
};

struct RangeEndEvent : Event {
  const OpenRange* range = nullptr;  // the range that ends; still == stack->back()
  const RangeStack* stack = nullptr;
  SignatureId signature;             // signature of the results
  absl::Span<const Tensor> tensors;  // results
  bool implicit = false;             // true: the end of the range was lost
};

struct AllocateEvent : Event {
  const Block* block = nullptr;
  // The open ranges around the allocation, as ReplayState::stack returns them. nullptr for BlockOrigin::kKeyframe.
  const RangeStack* stack = nullptr;
  RangeBase base;       // set if the thread itself has no open range
  bool before = false;  // true: allocated before the replayed events, or in a gap (evicted parts, recording off)
};

enum class DeallocateCause : std::uint8_t {
  kRecorded,
  kReplaced,  // another allocation used the address; the deallocation was lost, or will be visited later
  kResync,    // the block is missing in the keyframe from which the replay continued after a loss
  kUnknown,   // recording was off after the allocation, and the block may have been freed during that time
};

struct DeallocateEvent : Event {  // `thread` is the deallocating thread
  const Block* block = nullptr;
  DeallocateCause cause = DeallocateCause::kRecorded;
  bool temporary = false;  // true: the operator call that allocated the block has not ended
};

// A requested free is complete: the bytes of the block are no longer active. Only for devices with a caching allocator.
struct FreeCompletedEvent : Event {
  DeviceId device;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t requested_bytes = 0;
};

enum class SegmentAction : std::uint8_t { kAllocate, kFree, kMap, kUnmap, kFound };
std::string_view ToString(SegmentAction action);  // "segment_allocate", "segment_free", ...

// The allocator reserved or returned device memory. kFound: the segment existed when recording began or resumed.
struct SegmentEvent : Event {
  SegmentAction action = SegmentAction::kAllocate;
  // The segment as a block: address, bytes, device, stream, pool and surrounding ranges, without `slot` and `ordinal`.
  const Block* segment = nullptr;
  bool grows() const { return action == SegmentAction::kAllocate || action == SegmentAction::kMap; }
};

struct OutOfMemoryEvent : Event {
  // The refused request as a block: bytes, device, stream, pool and the surrounding ranges.
  const Block* asked = nullptr;
  const RangeStack* stack = nullptr;
  std::uint64_t device_free = 0;              // free bytes of the device, as the driver reported them
  std::optional<std::uint64_t> device_limit;  // bytes that the allocator may reserve; empty: unknown
};

// The allocator's own statistics. When the replay visits this event, ReplayState::memory already contains the event's
// counters `alloc_retries` and `ooms`. No other kind of event contains these counters.
struct DeviceStatisticsEvent : Event {
  DeviceId device;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t active_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t alloc_retries = 0;
  std::uint64_t ooms = 0;
};

// An argument or a result of a range is a tensor whose storage is not live and was not allocated in the recording. Such
// a storage comes from numpy, mmap or shared memory, or is older than the recording.
struct FirstSeenEvent : Event {
  const Tensor* tensor = nullptr;
  const OpenRange* range = nullptr;  // the range with this argument or result
  bool as_result = false;            // true: the tensor is a result; false: an argument
};

struct MarkEvent : Event {
  NameId name;
};

// The Python stack of the thread changes to `stack`. Dictionary::Frames returns the frames of a stack.
struct StackEvent : Event {
  StackId stack;        // invalid: no Python frames, or unknown
  bool before = false;  // true: the stack changed earlier, in events that are lost or evicted
};

// Python's call of a Python function, or of a C function without a file ("<built-in function len>"), begins or ends.
struct CallEvent : Event {
  CodeId code;               // set when the call begins; invalid: unknown
  std::uint32_t around = 0;  // number of open calls around this call on the thread; all deeper calls have ended
};

struct StepEvent : Event {
  std::uint64_t step = 0;
};

// The recording level changes. The change also ends ranges and blocks; the replay visits their ends before this event.
struct LevelChangeEvent : Event {
  v1::RecordingLevel before = v1::LEVEL_ALL;  // level until this event
  v1::RecordingLevel level = v1::LEVEL_ALL;   // level after this event
};

// A call of a module begins or ends. `phase` and `of_gradient` need ReplayOptions::modules.
struct ModuleEvent : Event {
  ModuleId module;
  Phase phase = Phase::kOther;  // kForward or kRecompute; kBackward: see of_gradient
  std::uint32_t depth = 0;      // number of open module calls around this call on the thread
  // True if the innermost open call is a call of the same module, without a range between the two calls. torch.compile
  // causes this, because it wraps a model in a module with the model's name.
  bool again = false;
  bool of_gradient = false;  // true: not a call; the open range accumulates the gradient of a parameter of this module
};

// The tensors that a module or an optimizer holds, recorded when it is first seen and after each change. Another form
// of the event contains one gradient.
//
// `tensors` contains lists, one after another. Signature::list_lengths has the lengths of the lists:
//   module      parameters, the gradient of each parameter, buffers. Early captures have no buffers
//   optimizer   parameters, the gradient of each parameter, one list of state for each parameter. Early captures have
//               one list with the whole state. Without tensors: a step left the previous lists unchanged
//   gradient    one parameter, and its new gradient. If a hook has freed the gradient: the parameter alone
// An event with `more` continues the lists of the last module or optimizer event of the same thread.
struct HeldTensorsEvent : Event {
  ModuleId module;          // invalid: an optimizer, or a module that has no name
  std::uint64_t owner = 0;  // identifies the optimizer
  bool is_module = false;
  bool is_gradient = false;
  bool more = false;                 // true: a continuation; all members above are unset
  SignatureId signature;             // invalid: the lists were lost
  absl::Span<const Tensor> tensors;  // impl == 0: no tensor. Empty without ReplayOptions::tensors
  // For a module: the names of its parameters, then of its buffers, from `_parameters` and `_buffers`. An unknown name
  // is an invalid id. Empty if all names are unknown, or without ReplayOptions::tensors.
  absl::Span<const NameId> names;
};

// Records of a thread are missing (`thread` is valid), or chunks of a process are missing (`chunks` > 0).
struct LostEvent : Event {
  std::uint64_t records = 0;
  std::uint64_t chunks = 0;
};

// The replay has applied a keyframe: at the start of the replay if the first parts are missing, or after a loss or
// evicted parts. Allocations and deallocations that the keyframe causes are visited before this event.
struct KeyframeEvent : Event {
  const v1::Keyframe* keyframe = nullptr;
  bool at_start = false;
  bool after_evicted = false;                    // true: parts directly before this keyframe were evicted (--max-size)
  std::function<NameId(std::uint32_t)> name_of;  // name_of and device_of convert the numbers in `keyframe`
  std::function<DeviceId(std::uint32_t)> device_of;
};

// The blocks that are live now may end unseen, because the recording ends, the recording level is lowered, or chunks
// are missing. Open ranges stay open.
struct CutEvent : Event {};

struct ProcessEvent : Event {};  // the replay of a process begins or ends

// A visited repeat group begins or ends. If an event that does not repeat is visited inside of it, the end is missing.
struct RepeatGroupEvent : Event {
  Tick ticks = 0;  // at the end: sum of the durations of the group's steps, each from its first event to its last
};

// Collapsed steps. The replay does not visit them, because they equal the steps between the last RepeatGroupBegin and
// RepeatGroupEnd: the same source lines make the same allocations and deallocations. Live blocks stay the same, except
// for their ticks. `tick` is the tick of the last collapsed event. Visited only if Visitor::takes_repeats() is true.
struct RepeatedEvent : Event {
  std::uint64_t times = 0;                      // number of collapsed repeats of the group
  std::uint64_t steps = 0;                      // number of steps in all collapsed repeats
  std::uint64_t first_step = 0, last_step = 0;  // numbers of the first and the last collapsed step
  Tick begin = 0;                               // tick of the first collapsed event
  Tick ticks = 0;                               // like RepeatGroupEvent::ticks, for all collapsed repeats
  // Live blocks of the visited group, which now represent the blocks of the last collapsed repeat.
  absl::Span<const Block* const> moved;
};

class ReplayState;
struct ReplayReport;

// Override the functions that you need.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void OnStart(const ReplayState&) {}  // called first; the state is valid until OnEnd returns
  virtual void OnEnd(const ReplayReport&) {}   // called last
  // Returns true if the visitor does not need every repeat of a repeat group. The replay then calls MostRepeats.
  virtual bool takes_repeats() const { return false; }
  // Returns how many of the next RepeatedEvent::times repeats may be collapsed. 0: the next repeat must be visited.
  virtual std::uint64_t MostRepeats(const RepeatedEvent&) const { return 0; }
#define MEMOIR_VISITED(Name, EventType, who, how) \
  virtual void On##Name(const EventType&) {}
#include "tools/model/event/visited.def"
};

}  // namespace memoir

#endif  // TOOLS_MODEL_EVENT_EVENT_H_
