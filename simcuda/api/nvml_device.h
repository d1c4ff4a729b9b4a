// Shared by the functions of the simulated libnvidia-ml.so.1: NVML's results and handles, and access to the simulated
// device. NVML's header is in no wheel that torch needs, so its types are copied from its reference manual.
//
// Any thread. No state.
#ifndef SIMCUDA_API_NVML_DEVICE_H_
#define SIMCUDA_API_NVML_DEVICE_H_

#include <dlfcn.h>

#include <cstdio>

namespace memoir::simcuda::nvml {

// nvmlReturn_t
enum NvmlResult {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNotFound = 6,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kVersionMismatch = 25,
};

// nvmlDevice_t: an opaque pointer, here the ordinal plus 1.
using DeviceHandle = void*;

inline DeviceHandle HandleOf(int ordinal) {
  return reinterpret_cast<DeviceHandle>(static_cast<unsigned long>(ordinal) + 1);
}

inline int OrdinalOf(DeviceHandle device) { return static_cast<int>(reinterpret_cast<unsigned long>(device)) - 1; }

// Returns a function of libmemoir_simcuda.so. nullptr if that library is not preloaded.
template <typename Function>
Function* FindSimulated(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// Returns the bytes that `function` of libmemoir_simcuda.so reports for `device`. 0 if that library is not preloaded.
inline unsigned long long Bytes(const char* function, DeviceHandle device) {
  auto* const get = FindSimulated<unsigned long long(int)>(function);
  return get == nullptr ? 0 : get(OrdinalOf(device));
}

// Copies `text` into `buffer` of `length` bytes.
inline NvmlResult WriteText(const char* text, char* buffer, unsigned length) {
  if (buffer == nullptr) return kInvalidArgument;
  const int written = std::snprintf(buffer, length, "%s", text);
  return written < static_cast<int>(length) ? kSuccess : kInsufficientSize;
}

}  // namespace memoir::simcuda::nvml

#endif  // SIMCUDA_API_NVML_DEVICE_H_
