// What NCCL takes of a card for its own buffers, outside of torch, as the table of cards estimates it (profiles.txt).
//
// One object for each communicator, which refunds it all in the end. NCCL connects when it is first used: a
// communicator takes its part at its first collective, and one for each peer on its machine at the first send or
// receive. A card of which nothing is known is charged nothing.
//
// Any thread.
#ifndef INTERPOSE_SIMCUDA_NCCL_BUFFERS_H_
#define INTERPOSE_SIMCUDA_NCCL_BUFFERS_H_

#include <cstdint>
#include <set>
#include <string>

#include "interpose/simcuda/device.h"
#include "interpose/simcuda/library_charges.h"
#include "interpose/simcuda/mutex.h"
#include "interpose/simcuda/user_tables/profile.h"

namespace memoir::simcuda {

class NcclBuffers {
 public:
  // What the communicator takes at once.
  std::string ForItself(Device& device, std::uint64_t bytes);
  // "", or one line: the card has not so much left. Always the same device.
  std::string ForCollective(Device& device, const Profile& profile, int ranks);
  // At most `most_peers` are charged: what ranks of other machines take is not known.
  std::string ForPeer(Device& device, const Profile& profile, int peer, int most_peers);

  std::uint64_t bytes() const;

 private:
  std::string Take(Device& device, std::uint64_t bytes, const std::string& what);

  mutable Mutex mutex_;
  LibraryCharge charge_{"libnccl.so.2"};
  bool collective_ = false;
  std::set<int> peers_;
};

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_NCCL_BUFFERS_H_
