#include "simcuda/collectives/communicator.h"

#include <algorithm>
#include <chrono>

#include "simcuda/process/simulation_message.h"

namespace memoir::simcuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLookMilliseconds = 500;   // between two checks whether the awaited ranks run
constexpr int kSeveralMilliseconds = 5;  // the longest wait at one board while calls wait at several boards

// "rank 1", "ranks 1, 2 and 61 more"
std::string Names(const std::vector<int>& ranks) {
  constexpr std::size_t kMost = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(ranks.size(), kMost); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return ranks.size() <= kMost ? text : text + " and " + std::to_string(ranks.size() - kMost) + " more";
}

// Completes a call of a communicator that is alone. Every other rank is assumed to have the same data as this one.
void CompleteAlone(NcclCall& call, const std::vector<NcclCall>& calls) {
  call.done = true;
  const NcclCall* source = &call;
  if (call.kind == NcclCall::Kind::kReceive) {
    // Every other rank is assumed to send the same messages as this rank. So this rank receives one of the messages
    // that it sends: a message to its own rank, else a message to the peer, else any message.
    const auto sent = [&](auto to) {
      return std::ranges::find_if(calls, [&](const NcclCall& other) {
        return other.kind == NcclCall::Kind::kSend && other.communicator == call.communicator &&
               other.gives == call.takes && to(other.peer);
      });
    };
    auto found = sent([&](int peer) { return peer == call.communicator->rank(); });
    if (found == calls.end()) found = sent([&](int peer) { return peer == call.peer; });
    if (found == calls.end()) found = sent([](int) { return true; });
    source = found == calls.end() ? nullptr : &*found;
  }
  if (!call.finish) return;
  std::vector<char> part(source == nullptr ? 0 : source->gives);
  if (!part.empty()) source->give(part.data());
  RankParts parts;
  parts.same = true;
  parts.of.assign(static_cast<std::size_t>(call.communicator->ranks()), part.empty() ? nullptr : part.data());
  call.finish(parts);
}

struct Trouble {
  Communicator* communicator = nullptr;
  std::string line;
};

std::string Of(const Communicator& communicator) { return " of " + std::to_string(communicator.ranks()); }

// Finds a call that waits for a rank whose process has ended.
Trouble FindEnded(const std::vector<NcclCall>& calls) {
  for (const NcclCall& call : calls) {
    if (call.done) continue;
    Communicator& communicator = *call.communicator;
    for (const int rank : communicator.AwaitedRanks(call)) {
      if (!communicator.board().IsHere(rank) || communicator.board().IsAlive(rank)) continue;
      return {&communicator, "rank " + std::to_string(rank) + Of(communicator) + " (process " +
                                 std::to_string(communicator.board().Process(rank)) + ") ended before its part of " +
                                 call.name + ", for which rank " + std::to_string(communicator.rank()) + " waits"};
    }
  }
  return {};
}

Trouble GiveUp(const std::vector<NcclCall>& calls, int seconds) {
  const auto call = std::ranges::find(calls, false, &NcclCall::done);
  Communicator& communicator = *call->communicator;
  return {&communicator, Names(communicator.AwaitedRanks(*call)) + Of(communicator) + " did not come to " + call->name +
                             " within " + std::to_string(seconds) + " s; rank " + std::to_string(communicator.rank()) +
                             " gives up (MEMOIR_SIM_TIMEOUT)"};
}

std::string Report(const Trouble& trouble) {
  PrintMessage(trouble.line);
  trouble.communicator->Fail(trouble.line);
  return trouble.line;
}

enum class Pass { kMoved, kStuck, kDone };

// Advances each call that is not done, once.
Pass TryAll(std::vector<NcclCall>& calls, Trouble& trouble) {
  bool moved = false, left = false;
  for (NcclCall& call : calls) {
    if (call.done) continue;
    if (std::string error = call.communicator->error(); !error.empty()) {
      trouble = {call.communicator.get(), std::move(error)};
      return Pass::kStuck;
    }
    moved = call.communicator->Advance(call) || moved;
    if (std::string wrong = call.communicator->DescribeProblem(call); !wrong.empty()) {
      trouble = {call.communicator.get(), std::move(wrong)};
      return Pass::kStuck;
    }
    left = left || !call.done;
  }
  return !left ? Pass::kDone : moved ? Pass::kMoved : Pass::kStuck;
}

}  // namespace

std::string CompleteCalls(std::vector<NcclCall>& calls, int patience_seconds) {
  for (NcclCall& call : calls) {
    if (!call.communicator->has_peers()) CompleteAlone(call, calls);
  }
  auto last_move = Clock::now(), last_look = last_move;
  while (true) {
    const auto first = std::ranges::find(calls, false, &NcclCall::done);
    if (first == calls.end()) return "";
    const Communicator& waited = *first->communicator;
    const bool several = std::ranges::any_of(
        calls, [&](const NcclCall& call) { return !call.done && call.communicator.get() != &waited; });
    const std::uint32_t seen = waited.board().Signal();
    Trouble trouble;
    const Pass pass = TryAll(calls, trouble);
    if (trouble.communicator != nullptr) {
      if (trouble.communicator->error().empty()) return Report(trouble);
      return trouble.line;
    }
    if (pass == Pass::kDone) return "";
    const auto now = Clock::now();
    if (pass == Pass::kMoved) {
      last_move = last_look = now;
      continue;
    }
    if (now - last_look >= std::chrono::milliseconds(kLookMilliseconds)) {
      last_look = now;
      trouble = FindEnded(calls);
      // The ended rank may have contributed its part just before its end, so the calls are tried once more.
      Trouble ignored;
      if (trouble.communicator != nullptr && TryAll(calls, ignored) == Pass::kStuck) return Report(trouble);
      if (now - last_move >= std::chrono::seconds(patience_seconds)) return Report(GiveUp(calls, patience_seconds));
    }
    waited.board().Wait(seen, several ? kSeveralMilliseconds : kLookMilliseconds);
  }
}

std::string Communicator::Meet(const Invitation& invitation, int physical_device, int node, NcclCall* call) {
  next_send_.assign(static_cast<std::size_t>(ranks_), 0);
  next_receive_ = next_send_;
  invitation_ = invitation;
  call->kind = NcclCall::Kind::kJoin;
  call->name = "ncclCommInitRank";
  return board_.Join(invitation, ranks_, rank_, physical_device, node);
}

void Communicator::Abort() {
  Fail("the communicator was aborted");
  if (has_peers()) board_.Wake();
}

void Communicator::Fail(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (error_.empty()) error_ = line;
  stopped_.store(true, std::memory_order_release);
}

std::string Communicator::error() const {
  if (!stopped_.load(std::memory_order_acquire)) return "";
  const std::lock_guard lock(mutex_);
  return error_;
}

void Communicator::Enqueue(NcclCall& call) {
  if (!has_peers()) return;
  const std::lock_guard lock(mutex_);
  const auto peer = static_cast<std::size_t>(call.peer);
  if (call.kind == NcclCall::Kind::kCollective) call.number = next_collective_++;
  if (call.kind == NcclCall::Kind::kSend) call.number = next_send_[peer]++;
  if (call.kind == NcclCall::Kind::kReceive) call.number = next_receive_[peer]++;
}

bool Communicator::AreAllHere() const {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (!board_.IsHere(rank)) return false;
  }
  return true;
}

bool Communicator::Advance(NcclCall& call) {
  switch (call.kind) {
    case NcclCall::Kind::kJoin:
      call.done = AreAllHere();
      if (call.done) CloseInvitation(invitation_);
      return call.done;
    case NcclCall::Kind::kSend:
      return AdvanceSend(call);
    case NcclCall::Kind::kReceive:
      return AdvanceReceive(call);
    case NcclCall::Kind::kCollective:
      break;
  }
  return AdvanceCollective(call);
}

bool Communicator::Post(NcclCall& call, int lane) {
  char* const room = call.posted ? nullptr : board_.Room(lane, call.number);
  if (room == nullptr) return false;
  if (call.gives > 0) call.give(room);
  board_.Commit(lane, call.number, call.gives);
  return call.posted = true;
}

bool Communicator::AdvanceCollective(NcclCall& call) {
  const bool moved = Post(call, board_.LaneOf(rank_));
  if (!call.posted || finished_.load(std::memory_order_acquire) != call.number) return moved;
  if (!AwaitedRanks(call).empty() || !DescribeProblem(call).empty()) return moved;
  RankParts parts;
  for (int rank = 0; rank < ranks_; ++rank) {
    const bool needed = call.needs == kAllRanks || call.needs == rank;
    parts.of.push_back(needed ? board_.Peek(board_.LaneOf(rank), call.number) : nullptr);
  }
  if (call.finish) call.finish(parts);
  for (int rank = 0; rank < ranks_; ++rank) board_.Take(board_.LaneOf(rank), rank_, call.number);
  finished_.store(call.number + 1, std::memory_order_release);
  board_.Wake();
  return call.done = true;
}

bool Communicator::AdvanceSend(NcclCall& call) { return call.done = Post(call, board_.LaneBetween(rank_, call.peer)); }

bool Communicator::AdvanceReceive(NcclCall& call) {
  const int lane = board_.LaneBetween(call.peer, rank_);
  const bool turn = call.number == 0 || board_.HasTaken(lane, rank_, call.number - 1);
  if (!turn || !board_.IsPosted(lane, call.number) || !DescribeProblem(call).empty()) return false;
  RankParts parts;
  parts.same = true;
  parts.of.push_back(board_.Peek(lane, call.number));
  call.finish(parts);
  board_.Take(lane, rank_, call.number);
  board_.Wake();
  return call.done = true;
}

std::string Communicator::DescribeProblem(const NcclCall& call) const {
  if (call.kind == NcclCall::Kind::kJoin) return board_.SharedDevice();
  if (call.done || call.kind == NcclCall::Kind::kSend) return "";
  for (int rank = 0; rank < ranks_; ++rank) {
    const bool collective = call.kind == NcclCall::Kind::kCollective;
    if (collective ? call.needs != kAllRanks && call.needs != rank : call.peer != rank) continue;
    const int lane = collective ? board_.LaneOf(rank) : board_.LaneBetween(rank, rank_);
    if (!board_.IsPosted(lane, call.number) || (collective && finished_.load() != call.number)) continue;
    if (!collective && call.number > 0 && !board_.HasTaken(lane, rank_, call.number - 1)) continue;
    const std::size_t given = board_.Bytes(lane, call.number);
    if (given == call.takes) continue;
    return std::string(call.name) + ": rank " + std::to_string(rank) + " gives " + std::to_string(given) +
           " bytes where rank " + std::to_string(rank_) + " takes " + std::to_string(call.takes) +
           "; the ranks' calls differ";
  }
  return "";
}

std::vector<int> Communicator::AwaitedRanks(const NcclCall& call) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < ranks_; ++rank) {
    bool waits = false;
    switch (call.kind) {
      case NcclCall::Kind::kJoin:
        waits = !board_.IsHere(rank) || !board_.IsAlive(rank);
        break;
      case NcclCall::Kind::kSend:
        waits = rank == call.peer;
        break;
      case NcclCall::Kind::kReceive:
        waits = rank == call.peer && !board_.IsPosted(board_.LaneBetween(rank, rank_), call.number);
        break;
      case NcclCall::Kind::kCollective:
        if (call.posted) {
          waits = (call.needs == kAllRanks || call.needs == rank) && !board_.IsPosted(board_.LaneOf(rank), call.number);
        } else {
          waits = call.number >= MessageBoard::kDepth &&
                  !board_.HasTaken(board_.LaneOf(rank_), rank, call.number - MessageBoard::kDepth);
        }
    }
    if (waits) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace memoir::simcuda
