#include "simcuda/configuration/built_in_tables.h"

#include "simcuda/configuration/built_in_profiles.h"
#include "simcuda/configuration/built_in_workspaces.h"

namespace memoir::simcuda {

std::string_view BuiltInProfiles() { return kBuiltInProfiles; }
std::string_view BuiltInWorkspaces() { return kBuiltInWorkspaces; }

}  // namespace memoir::simcuda
