// Charges the memory that NCCL takes for its buffers outside of torch, as profiles.txt estimates it.
//
// Each communicator has one object, whose destructor refunds all charges. NCCL connects ranks at their first use of a
// communicator. So a communicator is charged at its first collective, and for each peer on the same machine at the
// first send to or receive from this peer. A card without figures in profiles.txt is charged nothing.
//
// Any thread.
#ifndef SIMCUDA_COLLECTIVES_NCCL_BUFFERS_H_
#define SIMCUDA_COLLECTIVES_NCCL_BUFFERS_H_

#include <cstdint>
#include <set>
#include <string>

#include "simcuda/machine/device.h"
#include "simcuda/machine/library_charges.h"
#include "simcuda/process/mutex.h"
#include "simcuda/user_tables/card_profile.h"

namespace memoir::simcuda {

class NcclBuffers {
 public:
  // Charges the memory that the communicator itself takes. This and the following functions return "", or one line if
  // the card has too little memory left. All calls on one object use the same device.
  std::string ForItself(Device& device, std::uint64_t bytes);
  // Charges the memory for collectives, at the first call.
  std::string ForCollective(Device& device, const CardProfile& profile, int ranks);
  // Charges the memory for sends to and receives from `peer`, at the first call with this peer. At most `most_peers`
  // peers are charged, because the memory that NCCL takes for ranks of other machines is unknown.
  std::string ForPeer(Device& device, const CardProfile& profile, int peer, int most_peers);

  std::uint64_t bytes() const;

 private:
  std::string Take(Device& device, std::uint64_t bytes, const std::string& what);

  mutable Mutex mutex_;
  LibraryCharge charge_{"libnccl.so.2"};
  bool collective_ = false;
  std::set<int> peers_;
};

}  // namespace memoir::simcuda

#endif  // SIMCUDA_COLLECTIVES_NCCL_BUFFERS_H_
