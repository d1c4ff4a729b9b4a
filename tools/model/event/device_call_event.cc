#include "tools/model/event/device_call_event.h"

namespace memoir {

std::string_view ToString(v1::DeviceCall call) {
  switch (call) {
    case v1::LAUNCH_KERNEL:
      return "cudaLaunchKernel";
    case v1::LAUNCH_KERNEL_EXC:
      return "cudaLaunchKernelExC";
    case v1::LAUNCH_COOPERATIVE_KERNEL:
      return "cudaLaunchCooperativeKernel";
    case v1::CU_LAUNCH_KERNEL:
      return "cuLaunchKernel";
    case v1::CU_LAUNCH_KERNEL_EX:
      return "cuLaunchKernelEx";
    case v1::CU_LAUNCH_COOPERATIVE_KERNEL:
      return "cuLaunchCooperativeKernel";
    case v1::COPY:
      return "cudaMemcpy";
    case v1::COPY_ASYNC:
      return "cudaMemcpyAsync";
    case v1::SET:
      return "cudaMemset";
    case v1::SET_ASYNC:
      return "cudaMemsetAsync";
    case v1::STREAM_SYNCHRONIZE:
      return "cudaStreamSynchronize";
    case v1::DEVICE_SYNCHRONIZE:
      return "cudaDeviceSynchronize";
    case v1::EVENT_SYNCHRONIZE:
      return "cudaEventSynchronize";
    case v1::STREAM_BEGIN_CAPTURE:
      return "cudaStreamBeginCapture";
    case v1::STREAM_END_CAPTURE:
      return "cudaStreamEndCapture";
    case v1::GRAPH_INSTANTIATE:
      return "cudaGraphInstantiate";
    case v1::GRAPH_LAUNCH:
      return "cudaGraphLaunch";
    case v1::GRAPH_DESTROY:
      return "cudaGraphDestroy";
    case v1::GRAPH_EXEC_DESTROY:
      return "cudaGraphExecDestroy";
    default:
      return "unknown";
  }
}

std::string_view ToString(v1::RunKind kind) {
  switch (kind) {
    case v1::RUN_OF_KERNEL:
      return "kernel";
    case v1::RUN_OF_COPY:
      return "copy";
    case v1::RUN_OF_FILL:
      return "fill";
    default:
      return "";
  }
}

std::string_view ToString(v1::CopyKind kind) {
  switch (kind) {
    case v1::HOST_TO_HOST:
      return "host_to_host";
    case v1::HOST_TO_DEVICE:
      return "host_to_device";
    case v1::DEVICE_TO_HOST:
      return "device_to_host";
    case v1::DEVICE_TO_DEVICE:
      return "device_to_device";
    case v1::BY_ADDRESS:
      return "by_address";
    default:
      return "";
  }
}

}  // namespace memoir
