// The contents of profiles.txt and workspaces.txt, which are compiled into the library.
#ifndef SIMCUDA_CONFIGURATION_BUILT_IN_TABLES_H_
#define SIMCUDA_CONFIGURATION_BUILT_IN_TABLES_H_

#include <string_view>

namespace memoir::simcuda {

std::string_view BuiltInProfiles();
std::string_view BuiltInWorkspaces();

}  // namespace memoir::simcuda

#endif  // SIMCUDA_CONFIGURATION_BUILT_IN_TABLES_H_
