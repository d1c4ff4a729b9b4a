// A library that brings libtorch into a program that knows nothing of it (host.c).
#include <cstdio>
#include <exception>

#include "tests/libtorch/net.h"

extern "C" __attribute__((visibility("default"))) int train(const char* device_name) {
  try {
    const torch::Device device(device_name);
    Net net;
    net->to(device);
    const memoir::Watch watch(net);
    torch::optim::Adam optimizer(net->parameters());
    for (std::uint64_t step = 0; step < 3; ++step) Train(net, optimizer, device, step);
    memoir::Mark("trained");
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
