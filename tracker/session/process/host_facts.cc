#include "tracker/session/process/host_facts.h"

#include <dlfcn.h>
#include <unistd.h>

namespace memoir {

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  std::string host(name);
  for (char& c : host) {
    if (c == '/' || c == '\n') c = '_';
  }
  return host.empty() ? "host" : host;
}

std::string SimulatedDevice() {
  const auto describe = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "memoir_simulated_device"));
  return describe == nullptr ? "" : describe();
}

}  // namespace memoir
