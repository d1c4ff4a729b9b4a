// libtorch_nvtx: ranges of NVTX's own headers in a program without Python.
#include <nvtx3/nvToolsExt.h>
#include <torch/torch.h>

#include <cstdio>

int main() {
  nvtxRangePushA("outer of the program");
  torch::Tensor x = torch::ones({64, 64});
  {
    const nvtxDomainHandle_t domain = nvtxDomainCreateA("its domain");
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "inner of the program";
    nvtxDomainRangePushEx(domain, &attributes);
    x = x.mul(2);
    nvtxDomainRangePop(domain);
  }
  nvtxRangePop();
  std::printf("%.0f\n", x.sum().item<double>());
  return 0;
}
