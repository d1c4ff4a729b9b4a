// Returns the names of the values of torch's enumerations (dtypes, device types), because the ring contains only
// numbers. Needs no headers of torch. If a value is newer than the tables, its name is made from its number: "dtype46",
// "device21".
#ifndef TRACKER_WRITER_DICTIONARIES_TORCH_ENUM_NAMES_H_
#define TRACKER_WRITER_DICTIONARIES_TORCH_ENUM_NAMES_H_

#include <cstdint>
#include <string>

namespace memoir {

std::string DtypeName(std::uint8_t scalar_type);       // c10::ScalarType: "float32"
std::string DeviceTypeName(std::uint8_t device_type);  // c10::DeviceType: "cuda"

}  // namespace memoir

#endif  // TRACKER_WRITER_DICTIONARIES_TORCH_ENUM_NAMES_H_
