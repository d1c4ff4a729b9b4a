// The field numbers of proto/memoir/v1/capture.proto for the messages that the recorded process writes and memoir-drain
// reads. The process must not link libprotobuf, because torch exports another copy of it. So the numbers are repeated
// here. A round-trip test reads all fields back with libprotobuf.
#ifndef TRACKER_WRITER_EVENTS_CAPTURE_FIELDS_H_
#define TRACKER_WRITER_EVENTS_CAPTURE_FIELDS_H_

#include <cstdint>

namespace memoir::field {

namespace part {
enum : std::uint32_t { kChunk = 1 };
}
namespace chunk {
enum : std::uint32_t {
  kSequence = 1,
  kProcess = 2,
  kChecksum = 3,
  kPayloadBytes = 4,
  kPayload = 5,
  kFirstTick = 6,
  kLastTick = 7,
  kEventCount = 8,
  kCompleteUntilTick = 9,
  kHasKeyframe = 10,
  kRecording = 11,
  kHeaderChecksum = 12,
  kIndex = 14,
  kChunkBytes = 15,
};
}
namespace process {
enum : std::uint32_t {
  kFormatVersion = 1,
  kPid = 2,
  kHost = 3,
  kRank = 4,
  kWorldSize = 5,
  kRestart = 6,
  kRankSource = 7,
  kProgram = 8,
  kMemoirVersion = 9,
  kTorchVersion = 10,
  kPythonVersion = 11,
  kStart = 12,
  kTicksPerSecond = 13,
  kRingPath = 14,
  kSources = 15,
  kSimulatedDevice = 16,
  kPart = 17,
  kBootId = 18,
  kRankConflict = 25,
  kForkedFrom = 26,
  kUnrecorded = 27,
  kRun = 28,
  kProcessStart = 29,
  kParentPid = 30,
  kParentStart = 31,
  kCoordinates = 32,
  kAllocatorSettings = 33,
};
}
namespace coordinate {
enum : std::uint32_t { kDimension = 1, kIndex = 2, kSize = 3 };
}
namespace unrecorded {
enum : std::uint32_t { kWhat = 1, kBeginTick = 2, kEndTick = 3, kWhy = 4 };
}
namespace clock {
enum : std::uint32_t { kTick = 1, kMonotonicNs = 2, kRealtimeNs = 3 };
}
namespace payload {
enum : std::uint32_t {
  kNames = 1,
  kLayouts = 2,
  kSignatures = 3,
  kThreads = 4,
  kDevices = 5,
  kTensors = 6,
  kRuns = 7,
  kClock = 8,
  kCounters = 9,
  kKeyframe = 10,
  kEnd = 11,
  kStacks = 12,
  kStretches = 13,
  kRepeats = 14,
  kRepeatedRecords = 15,
};
}
namespace stretch {
enum : std::uint32_t { kId = 1, kEvents = 2, kThread = 3, kOfHost = 4, kFreedEvent = 5 };
}
namespace repeats {
enum : std::uint32_t {
  kStretch = 1,
  kFirstEvent = 2,
  kEvents = 3,
  kTickDelta = 4,
  kTicks = 5,
  kStepDelta = 6,
  kStepNumber = 7,
  kAddressDelta = 8,
  kLivingSerial = 9,
  kSerialDelta = 10,
};
}
namespace repeated_records {
enum : std::uint32_t { kThread = 1, kEndRecord = 2, kStartStack = 3 };
}
namespace name {
enum : std::uint32_t {
  kId = 1,
  kHash = 2,
  kKind = 3,
  kText = 4,
  kSchema = 5,
  kArgumentIsWritten = 6,
  kModuleClass = 7,
  kModuleRoot = 8,
  kOverloads = 9,
  kCodeFile = 10,
};
}
namespace layout {
enum : std::uint32_t {
  kId = 1,
  kHash = 2,
  kDtype = 3,
  kDtypeName = 4,
  kSizes = 5,
  kStrides = 6,
  kHasStorage = 7,
  kShapeUnknown = 8,
};
}
namespace signature {
enum : std::uint32_t { kId = 1, kKinds = 2, kListLengths = 3 };
}
namespace stack {
enum : std::uint32_t { kId = 1, kParent = 2, kCode = 3, kLine = 4 };
}
namespace thread {
enum : std::uint32_t { kId = 1, kOsId = 2, kTorchId = 3, kName = 4, kWorksFor = 5 };
}
namespace device {
enum : std::uint32_t { kId = 1, kType = 2, kIndex = 3, kProduct = 4 };
}
namespace tensors {
enum : std::uint32_t { kImplDelta = 1, kStorageDelta = 2, kStorageBytes = 3, kLayout = 4, kDevice = 5, kTraits = 6 };
}
namespace run {  // run_columns.h has the columns of a run
enum : std::uint32_t {
  kThread = 1,
  kFirstRecord = 2,
  kRecordCount = 3,
  kStartDepth = 4,
  kFirstTick = 5,
  kKind = 6,
  kStartStack = 46,
  kRepeatedBefore = 64,
};
}
namespace counters {
enum : std::uint32_t {
  kDroppedRecords = 1,
  kDroppedAllocatedBytes = 2,
  kWaits = 3,
  kWaitNs = 4,
  kLostEvents = 5,
  kLostChunks = 6,
  kLastWriteError = 7,
  kFoldedEvents = 8,
  kFoldedParts = 9,
  kUntrackedBlocks = 10,
  kSlotlessRecords = 11,
  kForkedChildren = 12,
  kCutStacks = 13,
  kUnreadStacks = 14,
  kDeepCalls = 15,
};
}
namespace keyframe {
enum : std::uint32_t {
  kTick = 1,
  kEventsBefore = 2,
  kDevices = 3,
  kLive = 4,
  kOpen = 5,
  kOperators = 6,
  kIncomplete = 7,
  kRangesOff = 8,
  kMemoryOff = 9,
  kFreeing = 10,
  kSegments = 11,
  kOpenModules = 12,
  kDriver = 13,
  kReadings = 14,
  kHost = 15,
};
}
namespace device_totals {
enum : std::uint32_t {
  kDevice = 1,
  kLiveBytes = 2,
  kLiveBlocks = 3,
  kPeakBytes = 4,
  kPeakTick = 5,
  kAllocatedBytes = 6,
  kAllocations = 7,
  kDeallocations = 8,
  kActiveBytes = 9,
  kReservedBytes = 10,
  kPeakActiveBytes = 11,
  kPeakReservedBytes = 12,
  kAllocRetries = 13,
  kOoms = 14,
};
}
namespace live {
enum : std::uint32_t {
  kAddressDelta = 1,
  kBytes = 2,
  kSerialDelta = 3,
  kDevice = 4,
  kTickDelta = 5,
  kThread = 6,
  kOperatorName = 7,
  kLeafName = 8,
  kRequestedBytes = 9,
  kModule = 10,
  kPlace = 11,
  kStack = 12,
  kForwardStack = 13,
};
}
namespace segments {
enum : std::uint32_t {
  kAddressDelta = 1,
  kBytes = 2,
  kDevice = 3,
  kStream = 4,
  kPoolGraph = 5,
  kPoolUser = 6,
  kSmall = 7,
};
}
namespace driver_blocks {
enum : std::uint32_t {
  kAddressDelta = 1,
  kBytes = 2,
  kDevice = 3,
  kSerialDelta = 4,
  kTickDelta = 5,
  kDriverCall = 6,
  kLibrary = 7,
};
}
namespace reading {
enum : std::uint32_t {
  kDevice = 1,
  kTick = 2,
  kCause = 3,
  kFreeBytes = 4,
  kTotalBytes = 5,
  kProcessBytes = 6,
  kOtherProcessesBytes = 7,
  kPoolBytes = 8,
};
}
namespace host_reading {
enum : std::uint32_t { kTick = 1, kCause = 2, kFirstNumber = 3 };
}
namespace open {
enum : std::uint32_t { kThread = 1, kKind = 2, kName = 3, kBeginTick = 4, kModule = 5 };
}
namespace open_modules {
enum : std::uint32_t { kThread = 1, kModule = 2, kDepth = 3, kRecompute = 4 };
}
namespace operator_totals {
enum : std::uint32_t {
  kName = 1,
  kCount = 2,
  kOutermostCount = 3,
  kAllocations = 4,
  kAllocatedBytes = 5,
  kDeallocatedBytes = 6,
};
}
namespace end {
enum : std::uint32_t { kReason = 1, kMessage = 2, kHost = 3, kTraceback = 4, kSignal = 5 };
}
namespace traceback_frame {
enum : std::uint32_t { kFile = 1, kFunction = 2, kLine = 3 };
}
namespace index {
enum : std::uint32_t { kChunks = 1 };
}
namespace chunk_ref {
enum : std::uint32_t { kOffset = 1, kBytes = 2, kFirstTick = 3, kLastTick = 4, kEventCount = 5, kHasKeyframe = 6 };
}

}  // namespace memoir::field

namespace memoir {

// memoir.v1.EventKind.
enum class EventKind : std::uint8_t {
  kUnknown = 0,
#define MEMOIR_EVENT(Name, NAME, number, Record, variant, columns) k##Name = number,
#include "proto/memoir/events.def"
};

}  // namespace memoir

#endif  // TRACKER_WRITER_EVENTS_CAPTURE_FIELDS_H_
