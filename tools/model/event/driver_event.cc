#include "tools/model/event/driver_event.h"

namespace memoir {

std::string_view ToString(v1::DriverCall call) {
  switch (call) {
    case v1::MALLOC:
      return "malloc";
    case v1::MALLOC_ASYNC:
      return "malloc_async";
    case v1::MALLOC_MANAGED:
      return "malloc_managed";
    case v1::MEMORY_CREATE:
      return "memory_create";
    case v1::HOST_ALLOCATE:
      return "host_allocate";
    case v1::HOST_REGISTER:
      return "host_register";
    case v1::IPC_OPEN:
      return "ipc_open";
    case v1::CONTEXT:
      return "context";
    case v1::MODULE_LOAD:
      return "module_load";
    case v1::LIBRARY:
      return "library";
    case v1::COMMUNICATOR:
      return "communicator";
    case v1::HANDLE:
      return "handle";
    default:
      return "unknown";
  }
}

std::string_view ToString(v1::ReadingCause cause) {
  switch (cause) {
    case v1::START:
      return "start";
    case v1::PEAK:
      return "peak";
    case v1::REFUSED:
      return "refused";
    case v1::REGULAR:
      return "regular";
    case v1::LAST:
      return "last";
    default:
      return "unknown";
  }
}

}  // namespace memoir
