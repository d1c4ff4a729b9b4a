// One rank's end of an NCCL communicator, and the calls that go through it.
//
// A communicator either meets: each rank is a process, or a device of one, and small parts go over a board. Or it is
// alone: one process stands for a world of which the other ranks are not there (MEMOIR_SIM_WORLD), and each of them is
// taken to hold what this one holds.
//
// Real NCCL queues a call on a stream; here the calling thread waits for the other ranks. It sleeps, at most for
// `patience`, and gives up as soon as a rank that it waits for has ended. What a rank only gives, it does not wait for.
//
// Nothing here knows of CUDA, or where the bytes of a call are. Any thread.
#ifndef INTERPOSE_SIMCUDA_COMMUNICATOR_H_
#define INTERPOSE_SIMCUDA_COMMUNICATOR_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "interpose/simcuda/board.h"
#include "interpose/simcuda/mutex.h"
#include "interpose/simcuda/nccl_buffers.h"
#include "interpose/simcuda/reduction.h"

namespace memoir::simcuda {

class Communicator;

constexpr int kEverybody = -1, kNobody = -2;

// One call, on one communicator. The functions are called on the thread that completes it.
struct Call {
  enum class Kind { kJoin, kCollective, kSend, kReceive };

  std::shared_ptr<Communicator> communicator;
  Kind kind = Kind::kCollective;
  const char* name = "";                     // of NCCL's function
  int peer = 0;                              // of kSend and kReceive
  std::size_t gives = 0;                     // bytes of this rank's part, at most Board::kMostBytes
  std::function<void(char* room)> give;      // writes them
  int needs = kNobody;                       // whose parts: everybody's, nobody's or one rank's
  std::size_t takes = 0;                     // bytes of each of these
  std::function<void(const Parts&)> finish;  // parts that are not needed are null

  // How far it is.
  std::uint64_t number = 0;
  bool posted = false, done = false;
};

class Communicator {
 public:
  // Alone.
  Communicator(int ranks, int rank, int device) : ranks_(ranks), rank_(rank), device_(device) {}

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }
  int device() const { return device_; }
  bool meets() const { return board_.joined(); }

  // From now on it meets the others. `call` is then to be completed. "", or what is wrong.
  std::string Meet(const Invitation& invitation, int physical_device, int node, Call* call);

  // Calls under way, and later ones, end with an error.
  void Abort();
  void Fail(const std::string& line);
  std::string error() const;  // "": none

  // Gives `call` its place in the order of this communicator's calls. As NCCL: in the same order on every rank.
  void Enqueue(Call& call);

  // For CompleteCalls: how far a call gets without waiting. True: something moved.
  bool Advance(Call& call);
  std::string WhatIsWrong(const Call& call) const;  // with what the others gave
  std::vector<int> WaitsFor(const Call& call) const;
  const Board& board() const { return board_; }
  NcclBuffers& buffers() { return buffers_; }

 private:
  bool AdvanceCollective(Call& call);
  bool AdvanceSend(Call& call);
  bool AdvanceReceive(Call& call);
  bool Post(Call& call, int lane);
  bool AllHere() const;

  const int ranks_, rank_, device_;
  Board board_;
  Invitation invitation_;
  NcclBuffers buffers_;
  std::atomic<bool> stopped_{false};
  mutable Mutex mutex_;
  std::string error_;
  std::uint64_t next_collective_ = 0;
  std::vector<std::uint64_t> next_send_, next_receive_;  // by peer
  std::atomic<std::uint64_t> finished_{0};               // collectives, in order
};

// Completes all of them, whichever can go on first. "", or one line that was also said.
std::string CompleteCalls(std::vector<Call>& calls, int patience_seconds);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_COMMUNICATOR_H_
