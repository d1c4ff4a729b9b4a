// The records of the event ring: what hooks write, and what the writer and memoir-drain read.
//
// Plain data in shared memory, 8-byte aligned, in the byte order of the machine; it never leaves the machine. It is
// not the capture format (docs/capture_format.md), and not an API: both sides are built from this header, and
// RingHeader::version guards against an old ring file. Meanings: docs/event_schema.md.
//
// Any thread may read these types; there is nothing here but layout.
#ifndef INTERPOSE_RING_RECORD_H_
#define INTERPOSE_RING_RECORD_H_

#include <cstddef>
#include <cstdint>

#include "interpose/device_call.h"
#include "interpose/host_memory.h"

namespace memoir {

inline constexpr std::uint32_t kRingVersion = 12;

enum class RecordKind : std::uint8_t {
  kNone = 0,
#define MEMOIR_RECORD(Name, number, Struct, length) k##Name = number,
#include "proto/memoir/events.def"
};

enum class RangeSource : std::uint8_t { kFunction = 0, kBackward = 1, kUser = 2, kDispatch = 3, kNvtx = 4 };

// Starts every record. `words` counts 8-byte words, header included: the next record lies that far on.
struct RecordHeader {
  std::uint16_t words;
  RecordKind kind;
  std::uint8_t flags;   // meaning depends on kind
  std::uint16_t depth;  // open ranges on this thread: at a begin before it, at an end after it, else now
  std::uint16_t count;  // range begin and end: arguments or results in the kinds that follow
};
static_assert(sizeof(RecordHeader) == 8);

// flags: RangeSource in the low three bits, kInlineName. After the struct: `count` argument kinds (one byte each),
// padded to 4; then `list_count` list lengths (uint32); padded to 8; then, with kInlineName, `name` bytes of text,
// padded to 8. Then, as records of their own, `tensor_count` tensors.
struct RangeBeginRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::int64_t sequence;  // autograd sequence number, -1: none
  std::uint32_t name;     // id in the ring's name table; with kInlineName the length of the text
  std::uint32_t tensor_count;
  std::uint32_t list_count;
  std::uint32_t forward_thread;  // torch's thread number; kBackward only
};
static_assert(sizeof(RangeBeginRecord) == 40);
inline constexpr std::uint8_t kRangeSourceMask = 0x07;
inline constexpr std::uint8_t kInlineName = 0x08;

// After the struct: kinds and list lengths as above.
struct RangeEndRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint32_t tensor_count;
  std::uint32_t list_count;
};
static_assert(sizeof(RangeEndRecord) == 24);

// flags: see below. After the struct: `ndim` sizes, then, unless kContiguous, `ndim` strides (int64, in elements).
struct TensorRecord {
  RecordHeader header;
  std::uint64_t impl;     // TensorImpl address; 0: an undefined element of a list
  std::uint64_t storage;  // address of the storage's first byte; 0: none or empty
  std::uint64_t storage_bytes;
  std::uint8_t dtype;        // c10::ScalarType
  std::uint8_t device_type;  // c10::DeviceType
  std::int8_t device_index;
  std::uint8_t ndim;  // 0 with kShapeUnknown
  std::uint32_t reserved;
};
static_assert(sizeof(TensorRecord) == 40);
inline constexpr std::uint8_t kContiguous = 0x01;
inline constexpr std::uint8_t kHasStorage = 0x02;
inline constexpr std::uint8_t kShapeUnknown = 0x04;
inline constexpr std::uint8_t kWantsGradient = 0x08;  // a leaf of autograd with requires_grad
inline constexpr std::uint8_t kUnlisted = 0x10;       // held in a way that torch.profiler does not look at

// A device_type beside c10::DeviceType's: page-locked host memory that a program asked torch for; its index is 0.
inline constexpr std::uint8_t kPinnedMemory = 0x80;

struct AllocateRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t serial;
  std::uint8_t device_type;
  std::int8_t device_index;
  std::uint16_t reserved0;
  std::uint32_t reserved1;
};
static_assert(sizeof(AllocateRecord) == 48);

struct DeallocateRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint64_t address;
  std::uint64_t serial;
  std::uint8_t device_type;
  std::int8_t device_index;
  std::uint16_t reserved0;
  std::uint32_t reserved1;
};
static_assert(sizeof(DeallocateRecord) == 40);

// Whose memory: a stream, and the allocator's private pool (of a CUDA graph, of a MemPool), both 0 for the default.
struct DevicePlace {
  std::uint64_t stream;
  std::uint32_t pool_graph;
  std::uint32_t pool_user;
  std::uint8_t device_type;
  std::int8_t device_index;
  std::uint16_t reserved0;
  std::uint32_t reserved1;
};
static_assert(sizeof(DevicePlace) == 24);

struct BlockRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint64_t address;
  std::uint64_t bytes;  // as the allocator rounded them
  std::uint64_t requested;
  std::uint64_t serial;
  DevicePlace place;
};
static_assert(sizeof(BlockRecord) == 72);

// flags: SegmentAction.
enum class SegmentAction : std::uint8_t { kAllocate = 0, kFree = 1, kMap = 2, kUnmap = 3, kFound = 4 };
struct SegmentRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t serial;
  DevicePlace place;
};
static_assert(sizeof(SegmentRecord) == 64);

struct OutOfMemoryRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint64_t requested;
  std::uint64_t device_free;   // as the driver says
  std::uint64_t device_limit;  // what torch's allocator may reserve; kNotKnown
  std::uint64_t serial;
  DevicePlace place;
};
static_assert(sizeof(OutOfMemoryRecord) == 72);
inline constexpr std::uint64_t kNotKnown = ~std::uint64_t{0};

// The allocator's own numbers, as of all events of the device with a smaller serial.
struct DeviceStatisticsRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint64_t serial;
  std::uint64_t allocated_bytes;
  std::uint64_t active_bytes;
  std::uint64_t reserved_bytes;
  std::uint64_t alloc_retries;
  std::uint64_t ooms;
  std::uint8_t device_type;
  std::int8_t device_index;
  std::uint16_t reserved0;
  std::uint32_t reserved1;
};
static_assert(sizeof(DeviceStatisticsRecord) == 72);

// How a driver block was had; the numbers are the capture's (DriverCall there says more).
enum class DriverCall : std::uint8_t {
  kMalloc = 1,
  kMallocAsync = 2,
  kMallocManaged = 3,
  kMemoryCreate = 4,  // `address` is the handle
  kHostAllocate = 5,  // its device is the CPU, as the next one's
  kHostRegister = 6,
  kIpcOpen = 7,
  kContext = 8,        // `address` is the context
  kModuleLoad = 9,     // `address` is the module
  kLibrary = 10,       // simulated device only
  kCommunicator = 11,  // refused only
  kHandle = 12,        // refused only
};

inline constexpr std::size_t kMaxLibraryName = 40;

// flags: DriverCall. `library`: file name of the object that called, cut, ends with NUL unless full.
struct DriverBlockRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t serial;
  std::uint8_t device_type;  // c10::DeviceType
  std::int8_t device_index;
  std::uint16_t reserved0;
  std::uint32_t reserved1;
  char library[kMaxLibraryName];
};
static_assert(sizeof(DriverBlockRecord) == 88);

// flags: DriverCall.
struct DriverRefusedRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint64_t bytes;  // asked for; 0: the call does not say
  std::uint64_t device_free;
  std::uint64_t serial;
  std::uint8_t device_type;
  std::int8_t device_index;
  std::uint16_t reserved0;
  std::uint32_t error;  // what the call returned
  char library[kMaxLibraryName];
};
static_assert(sizeof(DriverRefusedRecord) == 88);

enum class ReadingCause : std::uint8_t { kStart = 1, kPeak = 2, kRefused = 3, kRegular = 4, kLast = 5 };

// flags: ReadingCause. Each number may be kNotKnown; DeviceReading in the capture's schema says what they are.
struct DeviceReadingRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint64_t serial;
  std::uint64_t free_bytes;
  std::uint64_t total_bytes;
  std::uint64_t process_bytes;
  std::uint64_t other_processes_bytes;
  std::uint64_t pool_bytes;
  std::uint8_t device_type;
  std::int8_t device_index;
  std::uint16_t reserved0;
  std::uint32_t reserved1;
};
static_assert(sizeof(DeviceReadingRecord) == 72);

// flags: ReadingCause.
struct HostReadingRecord {
  RecordHeader header;
  std::uint64_t tick;
  HostNumbers numbers;
};
static_assert(sizeof(HostReadingRecord) == 160);

// flags: DeviceCall.
struct KernelLaunchRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint64_t stream;
  std::uint32_t kernel;   // id in the ring's name table; 0: not known
  std::uint32_t grid[3];  // all 0: not known
  std::uint32_t block[3];
  std::uint16_t result;  // what the call returned
  std::int8_t device_index;
  std::uint8_t reserved0;
  std::uint32_t correlation;  // by which CUPTI knows it; 0: not known
  std::uint32_t reserved1;
};
static_assert(sizeof(KernelLaunchRecord) == 64);

// flags: DeviceCall.
struct DeviceCallRecord {
  RecordHeader header;
  std::uint64_t tick;  // of its end
  std::uint64_t stream;
  std::uint64_t bytes;
  std::uint64_t graph;
  std::uint64_t graph_exec;
  std::uint64_t ticks;  // from its begin to its end
  std::uint16_t result;
  std::int8_t device_index;
  std::uint8_t copy_kind;     // cudaMemcpyKind plus 1; 0: it copies nothing
  std::uint32_t correlation;  // as of a launch
};
static_assert(sizeof(DeviceCallRecord) == 64);

// flags: RunKind.
struct KernelRunRecord {
  RecordHeader header;
  std::uint64_t tick;   // when CUPTI told it
  std::uint64_t begin;  // tick; not later
  std::uint64_t ns;     // that it ran
  std::uint64_t bytes;  // that it copied or set
  std::uint32_t correlation;
  std::uint32_t kernel;  // id in the ring's name table; 0: not known
  std::uint32_t stream;  // CUPTI's number
  std::int8_t device_index;
  std::uint8_t copy_kind;  // as of a call
  std::uint16_t reserved;
};
static_assert(sizeof(KernelRunRecord) == 56);

// After the struct: `length` bytes of text, padded to 8.
struct MarkRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint64_t length;
};
static_assert(sizeof(MarkRecord) == 24);

struct StepRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint64_t step;
};
static_assert(sizeof(StepRecord) == 24);

// How much is recorded: the flag page's two words (ring.h) say it to the hooks.
enum class RecordingLevel : std::uint8_t {
  kOff = 0,
  kMemory = 1,  // allocations, deallocations, marks, steps
  kAll = 2,     // ranges, too
};

// kPause and kResume. flags: the level from here on in the low two bits, the one before in the next two. No range that
// was open before is open after, on any thread.
struct SwitchRecord {
  RecordHeader header;
  std::uint64_t tick;
};
static_assert(sizeof(SwitchRecord) == 16);
constexpr std::uint8_t SwitchFlags(RecordingLevel after, RecordingLevel before) {
  return static_cast<std::uint8_t>(static_cast<int>(after) | static_cast<int>(before) << 2);
}
constexpr RecordingLevel LevelAfter(std::uint8_t flags) { return static_cast<RecordingLevel>(flags & 3); }
constexpr RecordingLevel LevelBefore(std::uint8_t flags) { return static_cast<RecordingLevel>(flags >> 2 & 3); }
// A call of a module begins or ends on the thread.
struct ModuleRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint32_t module;  // id in the ring's name table
  std::uint32_t reserved;
};
static_assert(sizeof(ModuleRecord) == 24);

// A call of a Python function, or of one in C that Python calls, begins or ends on the thread.
struct CallRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint32_t code;    // id in the ring's name table, 0: not known; of an end 0
  std::uint32_t around;  // calls that are open around it on the thread: deeper ones are over
};
static_assert(sizeof(CallRecord) == 24);

// What a module or an optimizer holds. flags: HolderKind. After the struct: kinds and list lengths as of a range begin:
// a list of parameters, one as long of their gradients, then of a module one of its buffers, of an optimizer one of the
// state of each parameter; a gradient is a list of one parameter and one of its gradient. Padded to 8; then of a
// module `name_bytes` bytes, padded to 8: the names of its parameters, then of its buffers, each with a NUL behind it;
// empty, or missing at the end: not known. Then, as records of their own, the tensors.
enum class HolderKind : std::uint8_t {
  kModule = 0,
  kOptimizer = 1,
  kMore = 2,      // of the holder before
  kGradient = 3,  // what autograd has just accumulated
};
struct HoldsRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint64_t owner;  // module: id in the ring's name table; optimizer: a number that tells it from others
  std::uint32_t tensor_count;
  std::uint16_t list_count;
  std::uint16_t name_bytes;
};
static_assert(sizeof(HoldsRecord) == 32);

// A frame of a Python stack: what runs there, and the line that it is at.
struct StackFrame {
  std::uint32_t code;  // id in the ring's name table; 0: the table is full
  std::uint32_t line;  // 0: not known
};
static_assert(sizeof(StackFrame) == 8);

// The Python stack of the thread from here on: the `kept` outermost frames of the one before, then the `count` frames
// behind the struct, outermost first. In each segment the first has none kept (ThreadSlot::stack_is_known), so that a
// segment says it by itself.
struct StackRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint32_t kept;
  std::uint32_t reserved;
};
static_assert(sizeof(StackRecord) == 24);

// Limits of one record, so that a segment always has room for one.
inline constexpr std::size_t kMaxRecordBytes = 4096;
inline constexpr std::size_t kMaxInlineName = 1024;  // longer texts are cut
inline constexpr std::size_t kMaxArguments = 512;    // kinds beyond are not recorded
inline constexpr std::size_t kMaxLists = 128;
inline constexpr std::size_t kMaxDimensions = 64;
inline constexpr std::size_t kMaxRecordFrames = (kMaxRecordBytes - sizeof(StackRecord)) / sizeof(StackFrame);

}  // namespace memoir

#endif  // INTERPOSE_RING_RECORD_H_
