// One rank's side of an NCCL communicator, and the calls that this rank makes on it.
//
// Here, as in NCCL, the peers of a rank are the other ranks of its communicator. A communicator has peers or is alone.
// If it has peers, each rank is a process or one device of a process. The bytes that a rank contributes to a call are
// its part of the call. The ranks exchange their parts over a board (message_board.h). If the communicator is alone,
// this process represents a world whose other ranks do not exist (MEMOIR_SIM_WORLD); each other rank is assumed to have
// the same data as this rank.
//
// Real NCCL queues a call on a stream. Here the calling thread waits for the other ranks, for at most
// `patience_seconds`. If the process of an awaited rank ends, the call fails within about a second. The thread does not
// wait for ranks to which it only sends.
//
// This file does not depend on CUDA: `give` and `finish` read and write the bytes of a call, in device memory or
// elsewhere. Any thread.
#ifndef SIMCUDA_COLLECTIVES_COMMUNICATOR_H_
#define SIMCUDA_COLLECTIVES_COMMUNICATOR_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "simcuda/collectives/message_board.h"
#include "simcuda/collectives/nccl_buffers.h"
#include "simcuda/collectives/reduction.h"
#include "simcuda/process/mutex.h"

namespace memoir::simcuda {

class Communicator;

constexpr int kAllRanks = -1, kNoRank = -2;

// One call of NCCL on one communicator. `give` and `finish` are called on the thread that completes the call.
struct NcclCall {
  enum class Kind { kJoin, kCollective, kSend, kReceive };

  std::shared_ptr<Communicator> communicator;
  Kind kind = Kind::kCollective;
  const char* name = "";                         // name of NCCL's function
  int peer = 0;                                  // the other rank of kSend and kReceive
  std::size_t gives = 0;                         // bytes that this rank contributes, at most MessageBoard::kMostBytes
  std::function<void(char* room)> give;          // writes these bytes to `room`
  int needs = kNoRank;                           // ranks whose parts are needed: kAllRanks, kNoRank, or one rank
  std::size_t takes = 0;                         // bytes of each needed part
  std::function<void(const RankParts&)> finish;  // parts that are not needed are nullptr

  // Progress. `posted`: this rank's part is on the board.
  std::uint64_t number = 0;
  bool posted = false, done = false;
};

class Communicator {
 public:
  // Creates a communicator that is alone until Meet is called.
  Communicator(int ranks, int rank, int device) : ranks_(ranks), rank_(rank), device_(device) {}

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }
  int device() const { return device_; }
  bool has_peers() const { return board_.joined(); }

  // Joins the other ranks, which become this rank's peers. The caller must then complete `call` (CompleteCalls).
  // Returns "" or an error.
  std::string Meet(const Invitation& invitation, int physical_device, int node, NcclCall* call);

  // Makes current and later calls end with an error.
  void Abort();
  void Fail(const std::string& line);
  std::string error() const;  // "" if there is no error

  // Sets the number of `call`: its place in the order of this communicator's calls. As in NCCL, all ranks must enqueue
  // their calls in the same order.
  void Enqueue(NcclCall& call);

  // Advances a call as far as possible without waiting. Returns true if the call advanced. For CompleteCalls.
  bool Advance(NcclCall& call);
  std::string DescribeProblem(const NcclCall& call) const;  // compares `call` with the calls of other ranks
  std::vector<int> AwaitedRanks(const NcclCall& call) const;
  const MessageBoard& board() const { return board_; }
  NcclBuffers& buffers() { return buffers_; }

 private:
  bool AdvanceCollective(NcclCall& call);
  bool AdvanceSend(NcclCall& call);
  bool AdvanceReceive(NcclCall& call);
  bool Post(NcclCall& call, int lane);
  bool AreAllHere() const;

  const int ranks_, rank_, device_;
  MessageBoard board_;
  Invitation invitation_;
  NcclBuffers buffers_;
  std::atomic<bool> stopped_{false};
  mutable Mutex mutex_;
  std::string error_;
  std::uint64_t next_collective_ = 0;
  std::vector<std::uint64_t> next_send_, next_receive_;  // by peer
  std::atomic<std::uint64_t> finished_{0};               // finished collectives; they finish in the order of `number`
};

// Completes all calls, in any order in which they can advance. Returns "" or an error message, which it has also
// printed.
std::string CompleteCalls(std::vector<NcclCall>& calls, int patience_seconds);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_COLLECTIVES_COMMUNICATOR_H_
