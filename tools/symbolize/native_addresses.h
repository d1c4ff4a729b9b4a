// Finds the addresses of libraries and programs in the stacks of a capture.
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

// Returns the addresses in all processes and runs. Damaged chunks are skipped. Returns the errors of OpenFolder.
absl::StatusOr<NativeAddresses> FindNativeAddresses(const std::string& capture);

}  // namespace memoir

#endif  // TOOLS_SYMBOLIZE_NATIVE_ADDRESSES_H_
