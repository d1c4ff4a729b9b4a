// The records of the event ring. Hooks write them; the writer and memoir-drain read them.
//
// A record is plain data in shared memory, 8-byte aligned, in the byte order of the machine, and never leaves the
// machine. Records are not the capture format (docs/capture_format.md), and not an API: writers and readers are built
// from this header, and RingHeader::version guards against an old ring file. docs/event_schema.md defines the events.
#ifndef INTERPOSE_RECORDS_RING_RECORD_H_
#define INTERPOSE_RECORDS_RING_RECORD_H_

#include <cstddef>
#include <cstdint>

#include "interpose/records/device_call_kind.h"
#include "interpose/records/host_numbers.h"

namespace memoir {

inline constexpr std::uint32_t kRingVersion = 13;

enum class RecordKind : std::uint8_t {
  kNone = 0,
#define MEMOIR_RECORD(Name, number, Struct, length) k##Name = number,
#include "proto/memoir/events.def"
};

enum class RangeSource : std::uint8_t { kFunction = 0, kBackward = 1, kUser = 2, kDispatch = 3, kNvtx = 4 };

// The first field of every record. `words` is the record's length in words of 8 bytes, including this header.
struct RecordHeader {
  std::uint16_t words;
  RecordKind kind;
  std::uint8_t flags;   // the meaning depends on `kind`
  std::uint16_t depth;  // number of open ranges on this thread, not counting the range that begins or ends here
  std::uint16_t count;  // number of argument kinds (in records of ranges and in HoldsRecord) or frames (in StackRecord)
};
static_assert(sizeof(RecordHeader) == 8);

// flags: RangeSource in the low three bits; kInlineName. After the struct: `count` argument kinds of one byte each
// (docs/event_schema.md), padded to 4; `list_count` list lengths (uint32), padded to 8; with kInlineName, `name` bytes
// of text, padded to 8. After this record: `tensor_count` tensors, as separate records (TensorRecord).
struct RangeBeginRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::int64_t sequence;  // autograd sequence number, -1: none
  std::uint32_t name;     // id in the ring's name table; with kInlineName the length of the text
  std::uint32_t tensor_count;
  std::uint32_t list_count;
  std::uint32_t forward_thread;  // torch's number for the thread of the forward pass; kBackward only
};
static_assert(sizeof(RangeBeginRecord) == 40);
inline constexpr std::uint8_t kRangeSourceMask = 0x07;
inline constexpr std::uint8_t kInlineName = 0x08;

// After the struct: argument kinds and list lengths. After this record: tensors. Both as in RangeBeginRecord.
struct RangeEndRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint32_t tensor_count;
  std::uint32_t list_count;
};
static_assert(sizeof(RangeEndRecord) == 24);

// flags: kContiguous to kUnlisted. After the struct: `ndim` sizes, then, unless kContiguous, `ndim` strides (int64).
struct TensorRecord {
  RecordHeader header;
  std::uint64_t impl;     // TensorImpl address; 0: an undefined element of a list
  std::uint64_t storage;  // address of the storage's first byte; 0: no storage, or an empty storage
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
inline constexpr std::uint8_t kUnlisted = 0x10;       // torch.profiler ignores this tensor (docs/event_schema.md)

// The device_type of page-locked host memory from torch. c10::DeviceType has no such number. device_index is 0.
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

// Device, stream and pool of memory. If pool_graph and pool_user are 0, the pool is torch's default pool.
struct DevicePlace {
  std::uint64_t stream;      // 0: the default stream
  std::uint32_t pool_graph;  // private pool of a CUDA graph
  std::uint32_t pool_user;   // private pool of a MemPool
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
  std::uint64_t bytes;  // `requested`, rounded up by the allocator
  std::uint64_t requested;
  std::uint64_t serial;
  DevicePlace place;
};
static_assert(sizeof(BlockRecord) == 72);

// flags: SegmentAction. kFound: the segment existed when recording began or was resumed.
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
  std::uint64_t device_free;   // free bytes of the device, as the driver reports them
  std::uint64_t device_limit;  // bytes that torch's allocator may reserve, or kNotKnown
  std::uint64_t serial;
  DevicePlace place;
};
static_assert(sizeof(OutOfMemoryRecord) == 72);
inline constexpr std::uint64_t kNotKnown = ~std::uint64_t{0};

// The allocator's own statistics. They include all events of the device with a smaller serial.
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

// The call that made a driver allocation. DriverCall in capture.proto has the same numbers and describes each call.
enum class DriverCall : std::uint8_t {
  kMalloc = 1,
  kMallocAsync = 2,
  kMallocManaged = 3,
  kMemoryCreate = 4,  // `address` is the handle
  kHostAllocate = 5,  // the device is the CPU, as for kHostRegister
  kHostRegister = 6,
  kIpcOpen = 7,
  kContext = 8,        // `address` is the context
  kModuleLoad = 9,     // `address` is the CUmodule or CUlibrary
  kLibrary = 10,       // only on a simulated device
  kCommunicator = 11,  // only in DriverRefusedRecord
  kHandle = 12,        // only in DriverRefusedRecord
};

inline constexpr std::size_t kMaxLibraryName = 40;

// flags: DriverCall. `library`: file name of the calling object, perhaps cut; ends with NUL unless it fills the array.
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
  std::uint64_t bytes;        // requested bytes; 0: unknown
  std::uint64_t device_free;  // free bytes of the device, or kNotKnown
  std::uint64_t serial;
  std::uint8_t device_type;
  std::int8_t device_index;
  std::uint16_t reserved0;
  std::uint32_t error;  // result of the call
  char library[kMaxLibraryName];
};
static_assert(sizeof(DriverRefusedRecord) == 88);

enum class ReadingCause : std::uint8_t { kStart = 1, kPeak = 2, kRefused = 3, kRegular = 4, kLast = 5 };

// flags: ReadingCause. Each number may be kNotKnown; DeviceReading in capture.proto explains them.
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

// flags: DeviceCallKind.
struct KernelLaunchRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint64_t stream;
  std::uint32_t kernel;   // id in the ring's name table; 0: not known
  std::uint32_t grid[3];  // all 0: not known
  std::uint32_t block[3];
  std::uint16_t result;  // result of the call
  std::int8_t device_index;
  std::uint8_t reserved0;
  std::uint32_t correlation;  // CUPTI's correlation id; 0: not known
  std::uint32_t reserved1;
};
static_assert(sizeof(KernelLaunchRecord) == 64);

// flags: DeviceCallKind.
struct DeviceCallRecord {
  RecordHeader header;
  std::uint64_t tick;  // when the call returned
  std::uint64_t stream;
  std::uint64_t bytes;
  std::uint64_t graph;
  std::uint64_t graph_exec;
  std::uint64_t ticks;  // duration of the call
  std::uint16_t result;
  std::int8_t device_index;
  std::uint8_t copy_kind;     // cudaMemcpyKind plus 1; 0: not a copy
  std::uint32_t correlation;  // as in KernelLaunchRecord
};
static_assert(sizeof(DeviceCallRecord) == 64);

// flags: RunKind.
struct KernelRunRecord {
  RecordHeader header;
  std::uint64_t tick;   // when CUPTI reported the run
  std::uint64_t begin;  // tick at which the run began; at most `tick`
  std::uint64_t ns;     // duration in nanoseconds
  std::uint64_t bytes;  // bytes copied or set
  std::uint32_t correlation;
  std::uint32_t kernel;  // id in the ring's name table; 0: not known
  std::uint32_t stream;  // CUPTI's stream id
  std::int8_t device_index;
  std::uint8_t copy_kind;  // as in DeviceCallRecord
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

// How much is recorded. Hooks read the level from the two words of memoir_enabled_flag (ring.h).
enum class RecordingLevel : std::uint8_t {
  kOff = 0,
  kMemory = 1,  // allocations, deallocations, marks, steps
  kAll = 2,     // these, and ranges
};

// A switch to another recording level (kPause, kResume). flags: the new level in the low two bits, the previous level
// in the next two bits. The switch closes all open ranges, on every thread.
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

// A call of a Python function, or of a C function that Python calls, begins or ends on the thread.
struct CallRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint32_t code;    // id in the ring's name table; 0: not known, or the call ends
  std::uint32_t around;  // number of open calls that contain this call; all other open calls of the thread end here
};
static_assert(sizeof(CallRecord) == 24);

// Tensors that a module or an optimizer holds. flags: HolderKind. Contents, in order:
// 1. The struct.
// 2. Argument kinds and list lengths, as in RangeBeginRecord, padded to 8. The lists of a module: parameters, their
//    gradients, buffers. The lists of an optimizer: parameters, their gradients, and one list for each parameter with
//    its state. The lists of kGradient: one parameter, and its gradient.
// 3. For a module, `name_bytes` bytes, padded to 8: the names of its parameters, then of its buffers, each terminated
//    by NUL. An empty or missing name means that the name is unknown.
// 4. The tensors, as separate records (TensorRecord).
enum class HolderKind : std::uint8_t {
  kModule = 0,
  kOptimizer = 1,
  kMore = 2,      // continues the holder of the previous record
  kGradient = 3,  // the gradient that autograd has just accumulated
};
struct HoldsRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint64_t owner;  // module: id in the ring's name table; optimizer: its unique number
  std::uint32_t tensor_count;
  std::uint16_t list_count;
  std::uint16_t name_bytes;
};
static_assert(sizeof(HoldsRecord) == 32);

// A frame of a Python stack: the code that runs there, and its current line.
struct StackFrame {
  std::uint32_t code;  // id in the ring's name table; 0: the table is full
  std::uint32_t line;  // 0: not known
};
static_assert(sizeof(StackFrame) == 8);

// The Python stack of the thread from here on: the `kept` outermost frames of the previous StackRecord, then the
// `count` frames after the struct, outermost first. The first StackRecord of each ring extent has `kept` 0
// (ThreadSlot::stack_is_known), so that each extent is complete by itself.
struct StackRecord {
  RecordHeader header;
  std::uint64_t tick;
  std::uint32_t kept;
  std::uint32_t reserved;
};
static_assert(sizeof(StackRecord) == 24);

// Limits of one record, so that an empty ring extent always has room for it.
inline constexpr std::size_t kMaxRecordBytes = 4096;
inline constexpr std::size_t kMaxInlineName = 1024;  // longer texts are cut
inline constexpr std::size_t kMaxArguments = 512;    // kinds of further arguments are not recorded
inline constexpr std::size_t kMaxLists = 128;
inline constexpr std::size_t kMaxDimensions = 64;
inline constexpr std::size_t kMaxRecordFrames = (kMaxRecordBytes - sizeof(StackRecord)) / sizeof(StackFrame);

}  // namespace memoir

#endif  // INTERPOSE_RECORDS_RING_RECORD_H_
