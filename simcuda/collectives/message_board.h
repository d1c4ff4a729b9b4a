// Shared memory through which the ranks of one communicator exchange messages, in one or more processes of one machine.
//
//   rank r ── Room, Commit ──► lane of r ── IsPosted, Peek, Take ──► every other rank      (collectives)
//   rank r ── Room, Commit ──► lane of r to q ────────────────────► rank q                (send and receive)
//
// A lane holds messages in order, numbered from 0, at most kDepth at a time, each of at most kMostBytes. The memory has
// no name in any file system. The process that creates it sends an invitation with the number of the memory's
// descriptor, and the other processes open this descriptor through /proc. So the memory disappears with the last
// process, however that process ends. Only written pages occupy memory.
//
// Any thread. Only Wait blocks; it sleeps in the kernel.
#ifndef SIMCUDA_COLLECTIVES_MESSAGE_BOARD_H_
#define SIMCUDA_COLLECTIVES_MESSAGE_BOARD_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace memoir::simcuda {

// The process that creates the memory sends these bytes to the other processes.
struct Invitation {
  std::uint64_t mark = 0;   // identifies these bytes as an invitation
  std::uint64_t nonce = 0;  // identifies the memory
  std::int32_t process = 0, file = -1;
};

// Creates the memory. On failure `file` is -1 and errno has the cause. The creating process keeps the descriptor open
// until CloseInvitation, which it calls when all ranks have joined.
Invitation Invite();
void CloseInvitation(const Invitation& invitation);

class MessageBoard {
 public:
  static constexpr int kMostRanks = 64;
  static constexpr std::size_t kMostBytes = 1u << 20;
  static constexpr std::uint64_t kDepth = 4;

  MessageBoard() = default;
  ~MessageBoard();
  MessageBoard(const MessageBoard&) = delete;
  MessageBoard& operator=(const MessageBoard&) = delete;

  // Joins as `rank` of `ranks`, on `device` of `node`. No two ranks may use the same device, as with real cards.
  // Returns "" or an error message.
  std::string Join(const Invitation& invitation, int ranks, int rank, int device, int node);
  bool joined() const { return base_ != nullptr; }

  bool IsHere(int rank) const;   // the rank has joined; stays true
  bool IsAlive(int rank) const;  // the rank has joined and its process runs
  int Process(int rank) const;
  // Returns an error message if two ranks that have joined use one device. "" otherwise.
  std::string SharedDevice() const;

  int LaneOf(int rank) const { return rank; }
  int LaneBetween(int from, int to) const { return ranks_ + from * ranks_ + to; }

  // Returns the place for the lane's message `number`. nullptr if a previous message is not committed yet, or if
  // readers have not yet taken the older message in the same slot. Each lane has one writer.
  char* Room(int lane, std::uint64_t number) const;
  void Commit(int lane, std::uint64_t number, std::size_t bytes);
  bool HasTaken(int lane, int reader, std::uint64_t number) const;

  bool IsPosted(int lane, std::uint64_t number) const;
  const char* Peek(int lane, std::uint64_t number) const;  // for a message that is posted and not taken
  std::size_t Bytes(int lane, std::uint64_t number) const;
  void Take(int lane, int reader, std::uint64_t number);  // in the order of the message numbers

  // The value of Signal changes with every event on the board. Wait returns when the value differs from `seen`, or
  // after `milliseconds`.
  std::uint32_t Signal() const;
  void Wait(std::uint32_t seen, int milliseconds) const;
  void Wake() const;

 private:
  struct Head;
  struct Member;
  struct Lane;
  struct Layout {
    std::size_t members = 0, lanes = 0, slots = 0, end = 0;  // offsets in bytes; `end`: size of the memory
  };

  static Layout LayoutOf(int ranks);
  Head& head() const;
  Member& member(int rank) const;
  Lane& lane(int index) const;
  char* Slot(int lane, std::uint64_t number) const;
  bool IsToAll(int lane) const { return lane < ranks_; }

  char* base_ = nullptr;
  Layout layout_;
  int ranks_ = 0;
};

}  // namespace memoir::simcuda

#endif  // SIMCUDA_COLLECTIVES_MESSAGE_BOARD_H_
