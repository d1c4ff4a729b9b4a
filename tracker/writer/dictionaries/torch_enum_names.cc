#include "tracker/writer/dictionaries/torch_enum_names.h"

#include <cstddef>
#include <iterator>

#include "interpose/records/ring_record.h"

namespace memoir {
namespace {

// In the order of torch/headeronly/core/ScalarType.h (2.11). New versions of torch only append values.
constexpr const char* kDtypes[] = {"uint8",
                                   "int8",
                                   "int16",
                                   "int32",
                                   "int64",
                                   "float16",
                                   "float32",
                                   "float64",
                                   "complex32",
                                   "complex64",
                                   "complex128",
                                   "bool",
                                   "qint8",
                                   "quint8",
                                   "qint32",
                                   "bfloat16",
                                   "quint4x2",
                                   "quint2x4",
                                   "bits1x8",
                                   "bits2x4",
                                   "bits4x2",
                                   "bits8",
                                   "bits16",
                                   "float8_e5m2",
                                   "float8_e4m3fn",
                                   "float8_e5m2fnuz",
                                   "float8_e4m3fnuz",
                                   "uint16",
                                   "uint32",
                                   "uint64",
                                   "uint1",
                                   "uint2",
                                   "uint3",
                                   "uint4",
                                   "uint5",
                                   "uint6",
                                   "uint7",
                                   "int1",
                                   "int2",
                                   "int3",
                                   "int4",
                                   "int5",
                                   "int6",
                                   "int7",
                                   "float8_e8m0fnu",
                                   "float4_e2m1fn_x2"};

// In the order of torch/headeronly/core/DeviceType.h. The names are those that DeviceTypeName(type, lower_case) returns
// there.
constexpr const char* kDevices[] = {"cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
                                    "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
                                    "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuseone"};

template <std::size_t size>
std::string NameOf(const char* const (&names)[size], std::uint8_t value, const char* prefix) {
  return value < size ? names[value] : prefix + std::to_string(value);
}

}  // namespace

std::string DtypeName(std::uint8_t scalar_type) { return NameOf(kDtypes, scalar_type, "dtype"); }
std::string DeviceTypeName(std::uint8_t device_type) {
  if (device_type == kPinnedMemory) return "pinned";
  return NameOf(kDevices, device_type, "device");
}

}  // namespace memoir
