// Which addresses of which libraries and programs stand in the stacks of a capture.
#ifndef TOOLS_SYMBOLIZE_NATIVE_ADDRESSES_H_
#define TOOLS_SYMBOLIZE_NATIVE_ADDRESSES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "tools/read/symbols.h"

namespace memoir {

using NativeAddresses = std::map<NativeObjectName, std::set<std::uint32_t>>;

// Of all processes and runs. Errors as OpenFolder; a damaged chunk is passed over.
absl::StatusOr<NativeAddresses> FindNativeAddresses(const std::string& capture);

}  // namespace memoir

#endif  // TOOLS_SYMBOLIZE_NATIVE_ADDRESSES_H_
