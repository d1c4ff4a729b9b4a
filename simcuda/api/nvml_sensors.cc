// More of the simulated libnvidia-ml.so.1 (nvml.cc): versions, and the sensors of an idle card. Kernels take no time on
// the simulated device, so the card is always idle, and its sensors report constants. Clocks and compute capability
// come from profiles.txt.
//
// In Python, a function that is missing here raises FUNCTION_NOT_FOUND, as with an older driver.
#include "simcuda/api/exported.h"
#include "simcuda/api/nvml_device.h"

namespace {

namespace nvml = memoir::simcuda::nvml;
using nvml::DeviceHandle;
using nvml::FindSimulated;
using nvml::NvmlResult;

constexpr char kDriverVersion[] = "580.95.05";
constexpr char kVersion[] = "13.580.95.05";

constexpr unsigned kTemperature = 40;          // degrees Celsius
constexpr unsigned kPower = 70'000;            // milliwatts
constexpr unsigned kPowerLimit = 300'000;      // milliwatts
constexpr unsigned kSamplingPeriod = 167'000;  // microseconds
constexpr unsigned kMemoryClock = 2;           // NVML_CLOCK_MEM

// CUDA's numbers of a device's attributes.
enum Attribute { kClockRate = 13, kMemoryClockRate = 36, kComputeMajor = 75, kComputeMinor = 76 };

struct Utilization {
  unsigned gpu, memory;  // percent of the time
};

struct Temperature {
  unsigned version, sensor;
  int degrees;
};

int AttributeOf(DeviceHandle device, Attribute attribute) {
  int value = 0;
  auto* const get = FindSimulated<int(int*, int, int)>("cuDeviceGetAttribute");
  return get != nullptr && get(&value, attribute, nvml::OrdinalOf(device)) == 0 ? value : 0;
}

template <typename Value>
NvmlResult Set(DeviceHandle device, Value* to, Value value) {
  if (device == nullptr || to == nullptr) return nvml::kInvalidArgument;
  *to = value;
  return nvml::kSuccess;
}

}  // namespace

SIMULATED int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return nvml::WriteText(kDriverVersion, version, length);
}

SIMULATED int nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  return nvml::WriteText(kVersion, version, length);
}

SIMULATED int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  auto* const get = FindSimulated<int(int*)>("cudaDriverGetVersion");
  return get != nullptr && get(version) == 0 ? nvml::kSuccess : nvml::kNotFound;
}

SIMULATED int nvmlSystemGetCudaDriverVersion(int* version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

SIMULATED const char* nvmlErrorString(NvmlResult result) {
  switch (result) {
    case nvml::kSuccess:
      return "The operation was successful";
    case nvml::kUninitialized:
      return "Uninitialized";
    case nvml::kInvalidArgument:
      return "Invalid Argument";
    case nvml::kNotSupported:
      return "Not Supported";
    case nvml::kNotFound:
      return "Not Found";
    case nvml::kInsufficientSize:
      return "Insufficient Size";
    case nvml::kDriverNotLoaded:
      return "Driver Not Loaded";
    case nvml::kVersionMismatch:
      return "Argument version mismatch";
  }
  return "Unknown Error";
}

SIMULATED int nvmlDeviceGetCudaComputeCapability(DeviceHandle device, int* major, int* minor) {
  const NvmlResult result = Set(device, major, AttributeOf(device, kComputeMajor));
  return result != nvml::kSuccess ? result : Set(device, minor, AttributeOf(device, kComputeMinor));
}

SIMULATED int nvmlDeviceGetUtilizationRates(DeviceHandle device, Utilization* utilization) {
  return Set(device, utilization, Utilization{0, 0});
}

SIMULATED int nvmlDeviceGetEncoderUtilization(DeviceHandle device, unsigned* percent, unsigned* period) {
  const NvmlResult result = Set(device, percent, 0u);
  return result != nvml::kSuccess ? result : Set(device, period, kSamplingPeriod);
}

SIMULATED int nvmlDeviceGetDecoderUtilization(DeviceHandle device, unsigned* percent, unsigned* period) {
  return nvmlDeviceGetEncoderUtilization(device, percent, period);
}

SIMULATED int nvmlDeviceGetTemperature(DeviceHandle device, unsigned, unsigned* degrees) {
  return Set(device, degrees, kTemperature);
}

SIMULATED int nvmlDeviceGetTemperatureV(DeviceHandle device, Temperature* temperature) {
  if (temperature == nullptr) return nvml::kInvalidArgument;
  return Set(device, &temperature->degrees, static_cast<int>(kTemperature));
}

SIMULATED int nvmlDeviceGetPowerUsage(DeviceHandle device, unsigned* milliwatts) {
  return Set(device, milliwatts, kPower);
}

SIMULATED int nvmlDeviceGetPowerManagementLimit(DeviceHandle device, unsigned* milliwatts) {
  return Set(device, milliwatts, kPowerLimit);
}

SIMULATED int nvmlDeviceGetEnforcedPowerLimit(DeviceHandle device, unsigned* milliwatts) {
  return Set(device, milliwatts, kPowerLimit);
}

// Returns a clock in MHz. CUDA reports it in kHz.
SIMULATED int nvmlDeviceGetClockInfo(DeviceHandle device, unsigned clock, unsigned* megahertz) {
  const int kilohertz = AttributeOf(device, clock == kMemoryClock ? kMemoryClockRate : kClockRate);
  return Set(device, megahertz, static_cast<unsigned>(kilohertz / 1000));
}

SIMULATED int nvmlDeviceGetMaxClockInfo(DeviceHandle device, unsigned clock, unsigned* megahertz) {
  return nvmlDeviceGetClockInfo(device, clock, megahertz);
}

// Returns P0, the highest performance state.
SIMULATED int nvmlDeviceGetPerformanceState(DeviceHandle device, unsigned* state) { return Set(device, state, 0u); }

// Returns the default mode, in which many processes may use the card.
SIMULATED int nvmlDeviceGetComputeMode(DeviceHandle device, unsigned* mode) { return Set(device, mode, 0u); }

SIMULATED int nvmlDeviceGetPersistenceMode(DeviceHandle device, unsigned* mode) { return Set(device, mode, 1u); }

// A data-centre card has no fan, and a simulated card is never divided (MIG).
SIMULATED int nvmlDeviceGetFanSpeed(DeviceHandle, unsigned*) { return nvml::kNotSupported; }
SIMULATED int nvmlDeviceGetMigMode(DeviceHandle, unsigned*, unsigned*) { return nvml::kNotSupported; }

// Changes nothing, so the caller's initial state stays: no fabric.
SIMULATED int nvmlDeviceGetGpuFabricInfoV(DeviceHandle, void*) { return nvml::kSuccess; }

SIMULATED int nvmlDeviceGetNvLinkRemoteDeviceType(DeviceHandle, unsigned, void*) { return nvml::kNotSupported; }
SIMULATED int nvmlDeviceGetNvLinkRemotePciInfo_v2(DeviceHandle, unsigned, void*) { return nvml::kNotSupported; }
