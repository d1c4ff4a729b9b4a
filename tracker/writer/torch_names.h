// The texts of torch's enumerations, without its headers: the ring carries numbers. New values show as "dtype46",
// "device21".
#ifndef TRACKER_WRITER_TORCH_NAMES_H_
#define TRACKER_WRITER_TORCH_NAMES_H_

#include <cstdint>
#include <string>

namespace memoir {

std::string DtypeName(std::uint8_t scalar_type);       // c10::ScalarType: "float32"
std::string DeviceTypeName(std::uint8_t device_type);  // c10::DeviceType: "cuda"

}  // namespace memoir

#endif  // TRACKER_WRITER_TORCH_NAMES_H_
