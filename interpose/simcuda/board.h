// Where the ranks of one communicator meet when each is a process of its own: memory that they share, on one machine.
//
//   rank r ── Room, Commit ──► lane of r ── Posted, Peek, Take ──► every other rank      (collectives)
//   rank r ── Room, Commit ──► lane of r to q ──────────────────► rank q                (send and receive)
//
// A lane holds messages in order, numbered from 0, kDepth of them at a time, each of up to kMostBytes. The memory has
// no name in any file system: one process makes it and its invitation says which of its descriptors it is; the others
// open that through /proc. So it is gone with the last process, however that ends. Pages exist where something was
// written.
//
// Any thread. Nothing here blocks but Wait, which sleeps in the kernel.
#ifndef INTERPOSE_SIMCUDA_BOARD_H_
#define INTERPOSE_SIMCUDA_BOARD_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace memoir::simcuda {

// What travels from the process that makes the memory to the others; plain bytes.
struct Invitation {
  std::uint64_t mark = 0;   // that it is one
  std::uint64_t nonce = 0;  // and of which memory
  std::int32_t process = 0, file = -1;
};

// Makes the memory. Where it is refused, `file` is -1 and errno says why. Its descriptor stays open until
// CloseInvitation, in the process that made it: once all have joined, or never.
Invitation Invite();
void CloseInvitation(const Invitation& invitation);

class Board {
 public:
  static constexpr int kMostRanks = 64;
  static constexpr std::size_t kMostBytes = 1u << 20;
  static constexpr std::uint64_t kDepth = 4;

  Board() = default;
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  // Becomes `rank` of `ranks`, on `device` of `node`: no two may have the same, as with real cards. "", or what is
  // wrong.
  std::string Join(const Invitation& invitation, int ranks, int rank, int device, int node);
  bool joined() const { return base_ != nullptr; }

  bool IsHere(int rank) const;   // has joined, ever
  bool IsAlive(int rank) const;  // and its process runs
  int Process(int rank) const;
  // One line if two ranks are on one device; "" otherwise, also while some are not here.
  std::string SharedDevice() const;

  int LaneOf(int rank) const { return rank; }
  int LaneBetween(int from, int to) const { return ranks_ + from * ranks_ + to; }

  // Where the lane's message `number` is to be written, or nullptr: not its turn, or no room before readers have taken
  // older ones. The caller is the lane's only writer.
  char* Room(int lane, std::uint64_t number) const;
  void Commit(int lane, std::uint64_t number, std::size_t bytes);
  bool HasTaken(int lane, int reader, std::uint64_t number) const;

  bool Posted(int lane, std::uint64_t number) const;
  const char* Peek(int lane, std::uint64_t number) const;  // of one that is posted, and not taken
  std::size_t Bytes(int lane, std::uint64_t number) const;
  void Take(int lane, int reader, std::uint64_t number);  // in order of numbers

  // Changes with every event on the board. Wait returns once it is not `seen` any more, or after the time.
  std::uint32_t Signal() const;
  void Wait(std::uint32_t seen, int milliseconds) const;
  void Wake() const;

 private:
  struct Head;
  struct Member;
  struct Lane;
  struct Layout {
    std::size_t members = 0, lanes = 0, slots = 0, end = 0;  // where each begins
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

#endif  // INTERPOSE_SIMCUDA_BOARD_H_
