// The part files of one process: append-only, numbered, kept under a size cap by removing the oldest, but for those
// that hold what people ask for.
//
// Knows chunks only as bytes and index entries. After a failed write the part is cut back to its last whole chunk and
// closed; whoever writes opens a fresh one later. A descriptor that the program has closed, and may have been given for
// a file of its own, is not touched: the part is opened anew by its path. Never throws but for memory, never ends the
// program. One thread.
#ifndef TRACKER_WRITER_PART_SINK_H_
#define TRACKER_WRITER_PART_SINK_H_

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/kept_file.h"

namespace memoir {

// An entry of the index: Index.ChunkRef without its offset, which the sink knows.
struct ChunkFacts {
  std::uint64_t first_tick = 0;
  std::uint64_t last_tick = 0;
  std::uint64_t event_count = 0;
  bool has_keyframe = false;
};

// "<folder>/<stem>.p0000.memoir".
std::string PartPath(const std::string& folder, const std::string& stem, std::uint32_t number);
// What to do about a folder that cannot be made or written to: the end of a message's line.
std::string FixFor(int error_number);
// The same, where no other folder can be chosen any more.
std::string MakeRoomFor(int error_number);
// Makes the folder and its parents, for their owner alone (0700) whatever the umask. "" or one line that says what is
// wrong and what to do. Does not throw but for memory.
std::string MakeFolder(const std::string& folder);

class PartSink {
 public:
  // `first_number`: of the first part, where no file of that number is there already.
  PartSink(std::string folder, std::string stem, std::uint64_t max_bytes, std::uint32_t first_number);
  ~PartSink();
  PartSink(const PartSink&) = delete;
  PartSink& operator=(const PartSink&) = delete;

  // Creates the file of the next part; numbers that exist already are skipped, never overwritten. False: last_error(),
  // and a part that is open stays so.
  bool PrepareNext();
  // Begins it, creating its file where that was not done. False: last_error().
  bool Open();
  bool is_open() const { return file_.fd >= 0; }
  std::uint32_t number() const { return number_; }
  std::string path() const { return PartPath(folder_, stem_, number_); }

  // Whether the cap evicts nothing for a chunk of so many bytes.
  bool HasRoom(std::uint64_t bytes) const;
  // Decides which parts the cap evicts for a chunk of at most so many bytes: the oldest that are not in `kept` (numbers
  // of parts, the most important first), which may take half of the cap; then the least important of
  // these. They are counted at once, so that the chunk can say so, and go only when it is on file: a process killed in
  // between has evicted nothing that no chunk counts.
  void PlanRoom(std::uint64_t bytes, std::span<const std::uint32_t> kept);
  // Appends a whole chunk (with tag and length), and removes what was planned. False: nothing of it is on file, the
  // part is closed, and last_error() says why.
  bool Append(std::string_view chunk, const ChunkFacts& facts);
  // Encoded Index of the part so far.
  const std::string& index() const { return index_; }
  // False: what was written may not be on file (network file systems say so only here), and last_error() says why.
  bool Close();
  // Takes the open part away again. False: it is still there.
  bool Remove();
  // Whether somebody else has: the open part's name is gone, or another file's. What is written then is lost.
  bool WasRemoved() const;
  // Leaves a part that was removed, and notes that as the last error.
  void Forget();

  std::uint64_t part_bytes() const { return offset_; }
  std::uint64_t part_chunks() const { return chunks_; }
  std::uint64_t part_events() const { return parts_.empty() ? 0 : parts_.back().events; }
  std::uint64_t bytes_written() const { return bytes_written_; }
  std::uint64_t folded_events() const { return folded_events_; }
  std::uint64_t folded_parts() const { return folded_parts_; }
  const std::string& last_error() const { return last_error_; }
  int last_errno() const { return last_errno_; }  // of last_error(), 0: none

 private:
  struct Part {
    std::string path;
    std::uint32_t number = 0;
    std::uint64_t bytes = 0;
    std::uint64_t events = 0;
  };
  bool KeepPartOpen(std::uint64_t bytes);
  bool WriteAll(std::string_view bytes);
  std::size_t LeastImportant(std::size_t count, std::span<const std::uint32_t> kept) const;
  void RemovePlanned();
  void Abandon();
  void NoteError(const char* what, const std::string& file, int error_number);

  std::string folder_;
  std::string stem_;
  std::uint64_t max_bytes_;
  KeptFile file_;
  KeptFile next_;  // prepared, of next_number_
  std::uint32_t number_ = 0;
  std::uint32_t next_number_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t chunks_ = 0;
  std::string index_;
  std::deque<Part> parts_;            // oldest first; the last one is written
  std::vector<std::string> planned_;  // evicted with the next chunk
  std::uint64_t bytes_on_disk_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t folded_events_ = 0;
  std::uint64_t folded_parts_ = 0;
  std::string last_error_;
  int last_errno_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PART_SINK_H_
