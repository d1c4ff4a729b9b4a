// CUPTI, by which torch's profiler looks at a GPU: refused before it looks, so that the profiler goes on with what it
// sees of the CPU. The real one asks the driver for private tables; refused those, that of CUDA 13.2 (torch 2.15) calls
// itself until the stack is full, whatever it was asked.
//
// What torch imports, declared by hand: no build needs CUPTI's headers.
#include <cstddef>
#include <cstdint>

#include "interpose/simcuda/api/exported.h"

namespace {

constexpr int kSuccess = 0, kNotSupported = 27;  // as CUptiResult numbers them

}  // namespace

SIMULATED int cuptiGetVersion(std::uint32_t* version) {
  *version = 0;
  return kNotSupported;
}

SIMULATED int cuptiGetResultString(int, const char** text) {
  *text = "CUPTI_ERROR_NOT_SUPPORTED: this GPU is simulated";
  return kSuccess;
}

SIMULATED int cuptiSubscribe(void** subscriber, void*, void*) {
  *subscriber = nullptr;
  return kNotSupported;
}

SIMULATED int cuptiGetCallbackName(int, std::uint32_t, const char** name) {
  *name = nullptr;
  return kNotSupported;
}

SIMULATED int cuptiActivityGetNextRecord(std::uint8_t*, std::size_t, void** record) {
  *record = nullptr;
  return kNotSupported;
}

SIMULATED int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  *dropped = 0;
  return kNotSupported;
}

SIMULATED int cuptiActivityPopExternalCorrelationId(int, std::uint64_t* id) {
  if (id != nullptr) *id = 0;
  return kNotSupported;
}

SIMULATED int cuptiActivityDisable(int) { return kNotSupported; }
SIMULATED int cuptiActivityEnable(int) { return kNotSupported; }
SIMULATED int cuptiActivityEnableCudaEventDeviceTimestamps(std::uint8_t) { return kNotSupported; }
SIMULATED int cuptiActivityEnableDriverApi(std::uint32_t, std::uint8_t) { return kNotSupported; }
SIMULATED int cuptiActivityEnableRuntimeApi(std::uint32_t, std::uint8_t) { return kNotSupported; }
SIMULATED int cuptiActivityFlushAll(std::uint32_t) { return kNotSupported; }
SIMULATED int cuptiActivityPushExternalCorrelationId(int, std::uint64_t) { return kNotSupported; }
SIMULATED int cuptiActivityRegisterCallbacks(void*, void*) { return kNotSupported; }
SIMULATED int cuptiActivityRegisterTimestampCallback(void*) { return kNotSupported; }
SIMULATED int cuptiActivitySetAttribute(int, std::size_t*, void*) { return kNotSupported; }
SIMULATED int cuptiEnableCallback(std::uint32_t, void*, int, std::uint32_t) { return kNotSupported; }
SIMULATED int cuptiEnableDomain(std::uint32_t, void*, int) { return kNotSupported; }
SIMULATED int cuptiFinalize() { return kNotSupported; }
SIMULATED int cuptiUnsubscribe(void*) { return kNotSupported; }
