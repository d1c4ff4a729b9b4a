#include "simcuda/collectives/nccl_buffers.h"

#include "simcuda/process/simulation_message.h"

namespace memoir::simcuda {

std::string NcclBuffers::ForItself(Device& device, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  return Take(device, bytes, "a communicator");
}

std::string NcclBuffers::ForCollective(Device& device, const CardProfile& profile, int ranks) {
  const std::lock_guard lock(mutex_);
  if (collective_ || ranks < 2) return "";
  const std::uint64_t bytes = ranks == 2 ? profile.nccl_pair : profile.nccl_group;
  std::string error = Take(device, bytes, "a communicator of " + std::to_string(ranks) + " ranks");
  collective_ = error.empty();
  return error;
}

std::string NcclBuffers::ForPeer(Device& device, const CardProfile& profile, int peer, int most_peers) {
  const std::lock_guard lock(mutex_);
  if (peers_.contains(peer) || static_cast<int>(peers_.size()) >= most_peers) return "";
  std::string error = Take(device, profile.nccl_peer, "what is sent to and received from a rank");
  if (error.empty()) peers_.insert(peer);
  return error;
}

std::uint64_t NcclBuffers::bytes() const {
  const std::lock_guard lock(mutex_);
  return charge_.bytes();
}

std::string NcclBuffers::Take(Device& device, std::uint64_t bytes, const std::string& what) {
  if (!charge_.Add(device, bytes)) {
    return "NCCL needs " + ReadableBytes(bytes) + " of device " + std::to_string(device.ordinal()) + " for " + what +
           " (an estimate, from a table), and has not so much left";
  }
  return "";
}

}  // namespace memoir::simcuda
