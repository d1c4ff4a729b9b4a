#include "interpose/simcuda/communicator.h"

#include <algorithm>
#include <chrono>

#include "interpose/simcuda/message.h"

namespace memoir::simcuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLookMilliseconds = 500;   // between two looks at who still lives
constexpr int kSeveralMilliseconds = 5;  // where calls wait at several boards: only one of them can wake

// "rank 1", "ranks 1, 2 and 61 more"
std::string Names(const std::vector<int>& ranks) {
  constexpr std::size_t kMost = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(ranks.size(), kMost); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return ranks.size() <= kMost ? text : text + " and " + std::to_string(ranks.size() - kMost) + " more";
}

// Every other rank holds what this one holds.
void CompleteAlone(Call& call, const std::vector<Call>& calls) {
  call.done = true;
  const Call* source = &call;
  if (call.kind == Call::Kind::kReceive) {
    // What this rank sends to itself, all send to it; else what it sends to the other, or to any, it gets from there.
    const auto sent = [&](auto to) {
      return std::ranges::find_if(calls, [&](const Call& other) {
        return other.kind == Call::Kind::kSend && other.communicator == call.communicator &&
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
  Parts parts;
  parts.same = true;
  parts.of.assign(static_cast<std::size_t>(call.communicator->ranks()), part.empty() ? nullptr : part.data());
  call.finish(parts);
}

struct Trouble {
  Communicator* communicator = nullptr;
  std::string line;
};

std::string Of(const Communicator& communicator) { return " of " + std::to_string(communicator.ranks()); }

// A call that waits for somebody who has ended.
Trouble FindEnded(const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    if (call.done) continue;
    Communicator& communicator = *call.communicator;
    for (const int rank : communicator.WaitsFor(call)) {
      if (!communicator.board().IsHere(rank) || communicator.board().IsAlive(rank)) continue;
      return {&communicator, "rank " + std::to_string(rank) + Of(communicator) + " (process " +
                                 std::to_string(communicator.board().Process(rank)) + ") ended before its part of " +
                                 call.name + ", for which rank " + std::to_string(communicator.rank()) + " waits"};
    }
  }
  return {};
}

Trouble GiveUp(const std::vector<Call>& calls, int seconds) {
  const auto call = std::ranges::find(calls, false, &Call::done);
  Communicator& communicator = *call->communicator;
  return {&communicator, Names(communicator.WaitsFor(*call)) + Of(communicator) + " did not come to " + call->name +
                             " within " + std::to_string(seconds) + " s; rank " + std::to_string(communicator.rank()) +
                             " gives up (MEMOIR_SIM_TIMEOUT)"};
}

std::string Report(const Trouble& trouble) {
  Say(trouble.line);
  trouble.communicator->Fail(trouble.line);
  return trouble.line;
}

enum class Pass { kMoved, kStuck, kDone };

// One attempt at each call that is not done.
Pass TryAll(std::vector<Call>& calls, Trouble& trouble) {
  bool moved = false, left = false;
  for (Call& call : calls) {
    if (call.done) continue;
    if (std::string error = call.communicator->error(); !error.empty()) {
      trouble = {call.communicator.get(), std::move(error)};
      return Pass::kStuck;
    }
    moved = call.communicator->Advance(call) || moved;
    if (std::string wrong = call.communicator->WhatIsWrong(call); !wrong.empty()) {
      trouble = {call.communicator.get(), std::move(wrong)};
      return Pass::kStuck;
    }
    left = left || !call.done;
  }
  return !left ? Pass::kDone : moved ? Pass::kMoved : Pass::kStuck;
}

}  // namespace

std::string CompleteCalls(std::vector<Call>& calls, int patience_seconds) {
  for (Call& call : calls) {
    if (!call.communicator->meets()) CompleteAlone(call, calls);
  }
  auto last_move = Clock::now(), last_look = last_move;
  while (true) {
    const auto first = std::ranges::find(calls, false, &Call::done);
    if (first == calls.end()) return "";
    const Communicator& waited = *first->communicator;
    const bool several =
        std::ranges::any_of(calls, [&](const Call& call) { return !call.done && call.communicator.get() != &waited; });
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
      // It may have done its part just before it ended.
      Trouble ignored;
      if (trouble.communicator != nullptr && TryAll(calls, ignored) == Pass::kStuck) return Report(trouble);
      if (now - last_move >= std::chrono::seconds(patience_seconds)) return Report(GiveUp(calls, patience_seconds));
    }
    waited.board().Wait(seen, several ? kSeveralMilliseconds : kLookMilliseconds);
  }
}

std::string Communicator::Meet(const Invitation& invitation, int physical_device, int node, Call* call) {
  next_send_.assign(static_cast<std::size_t>(ranks_), 0);
  next_receive_ = next_send_;
  invitation_ = invitation;
  call->kind = Call::Kind::kJoin;
  call->name = "ncclCommInitRank";
  return board_.Join(invitation, ranks_, rank_, physical_device, node);
}

void Communicator::Abort() {
  Fail("the communicator was aborted");
  if (meets()) board_.Wake();
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

void Communicator::Enqueue(Call& call) {
  if (!meets()) return;
  const std::lock_guard lock(mutex_);
  const auto peer = static_cast<std::size_t>(call.peer);
  if (call.kind == Call::Kind::kCollective) call.number = next_collective_++;
  if (call.kind == Call::Kind::kSend) call.number = next_send_[peer]++;
  if (call.kind == Call::Kind::kReceive) call.number = next_receive_[peer]++;
}

bool Communicator::AllHere() const {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (!board_.IsHere(rank)) return false;
  }
  return true;
}

bool Communicator::Advance(Call& call) {
  switch (call.kind) {
    case Call::Kind::kJoin:
      call.done = AllHere();
      if (call.done) CloseInvitation(invitation_);
      return call.done;
    case Call::Kind::kSend:
      return AdvanceSend(call);
    case Call::Kind::kReceive:
      return AdvanceReceive(call);
    case Call::Kind::kCollective:
      break;
  }
  return AdvanceCollective(call);
}

bool Communicator::Post(Call& call, int lane) {
  char* const room = call.posted ? nullptr : board_.Room(lane, call.number);
  if (room == nullptr) return false;
  if (call.gives > 0) call.give(room);
  board_.Commit(lane, call.number, call.gives);
  return call.posted = true;
}

bool Communicator::AdvanceCollective(Call& call) {
  const bool moved = Post(call, board_.LaneOf(rank_));
  if (!call.posted || finished_.load(std::memory_order_acquire) != call.number) return moved;
  if (!WaitsFor(call).empty() || !WhatIsWrong(call).empty()) return moved;
  Parts parts;
  for (int rank = 0; rank < ranks_; ++rank) {
    const bool needed = call.needs == kEverybody || call.needs == rank;
    parts.of.push_back(needed ? board_.Peek(board_.LaneOf(rank), call.number) : nullptr);
  }
  if (call.finish) call.finish(parts);
  for (int rank = 0; rank < ranks_; ++rank) board_.Take(board_.LaneOf(rank), rank_, call.number);
  finished_.store(call.number + 1, std::memory_order_release);
  board_.Wake();
  return call.done = true;
}

bool Communicator::AdvanceSend(Call& call) { return call.done = Post(call, board_.LaneBetween(rank_, call.peer)); }

bool Communicator::AdvanceReceive(Call& call) {
  const int lane = board_.LaneBetween(call.peer, rank_);
  const bool turn = call.number == 0 || board_.HasTaken(lane, rank_, call.number - 1);
  if (!turn || !board_.Posted(lane, call.number) || !WhatIsWrong(call).empty()) return false;
  Parts parts;
  parts.same = true;
  parts.of.push_back(board_.Peek(lane, call.number));
  call.finish(parts);
  board_.Take(lane, rank_, call.number);
  board_.Wake();
  return call.done = true;
}

std::string Communicator::WhatIsWrong(const Call& call) const {
  if (call.kind == Call::Kind::kJoin) return board_.SharedDevice();
  if (call.done || call.kind == Call::Kind::kSend) return "";
  for (int rank = 0; rank < ranks_; ++rank) {
    const bool collective = call.kind == Call::Kind::kCollective;
    if (collective ? call.needs != kEverybody && call.needs != rank : call.peer != rank) continue;
    const int lane = collective ? board_.LaneOf(rank) : board_.LaneBetween(rank, rank_);
    if (!board_.Posted(lane, call.number) || (collective && finished_.load() != call.number)) continue;
    if (!collective && call.number > 0 && !board_.HasTaken(lane, rank_, call.number - 1)) continue;
    const std::size_t given = board_.Bytes(lane, call.number);
    if (given == call.takes) continue;
    return std::string(call.name) + ": rank " + std::to_string(rank) + " gives " + std::to_string(given) +
           " bytes where rank " + std::to_string(rank_) + " takes " + std::to_string(call.takes) +
           "; the ranks' calls differ";
  }
  return "";
}

std::vector<int> Communicator::WaitsFor(const Call& call) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < ranks_; ++rank) {
    bool waits = false;
    switch (call.kind) {
      case Call::Kind::kJoin:
        waits = !board_.IsHere(rank) || !board_.IsAlive(rank);
        break;
      case Call::Kind::kSend:
        waits = rank == call.peer;
        break;
      case Call::Kind::kReceive:
        waits = rank == call.peer && !board_.Posted(board_.LaneBetween(rank, rank_), call.number);
        break;
      case Call::Kind::kCollective:
        if (call.posted) {
          waits = (call.needs == kEverybody || call.needs == rank) && !board_.Posted(board_.LaneOf(rank), call.number);
        } else {
          waits =
              call.number >= Board::kDepth && !board_.HasTaken(board_.LaneOf(rank_), rank, call.number - Board::kDepth);
        }
    }
    if (waits) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace memoir::simcuda
