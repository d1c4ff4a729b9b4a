// Writes the part files of one process, which are numbered. Appends chunks to the open part. Under a size limit, evicts
// parts: the oldest first, and important parts last (important_parts.h).
//
// The caller passes each chunk as bytes, with the facts for the part's index. After a failed write the part is cut back
// to its last complete chunk and closed; the caller then opens a new part. Throws only std::bad_alloc, and never ends
// the program. In a recorded program, call all functions inside of RunInOwnFiles (interpose/system/own_files.h), except
// for the destructor, which calls RunInOwnFiles itself.
#ifndef TRACKER_WRITER_FILE_PART_SINK_H_
#define TRACKER_WRITER_FILE_PART_SINK_H_

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace memoir {

// An entry of a part's index: a ChunkRef of capture.proto, without the chunk's offset and size, which PartSink adds.
struct ChunkFacts {
  std::uint64_t first_tick = 0;
  std::uint64_t last_tick = 0;
  std::uint64_t event_count = 0;
  bool has_keyframe = false;
};

// Returns the path of a part: "<folder>/<stem>.p0000.memoir".
std::string PartPath(const std::string& folder, const std::string& stem, std::uint32_t number);
// Returns the remedy for a folder that cannot be made or written to, as the end of an error message.
std::string RemedyFor(int error_number);
// Like RemedyFor, for a recording that has begun. Such a recording cannot use another folder.
std::string RemedyDuringRecording(int error_number);
// Makes the folder and its parents. With any umask, only their owner has access (0700). Returns "" or one line with the
// error and the remedy. Throws only if there is no memory.
std::string MakeFolder(const std::string& folder);

class PartSink {
 public:
  // `first_number`: number of the first part. If the file with this number exists already, the next free number is
  // used.
  PartSink(std::string folder, std::string stem, std::uint64_t max_bytes, std::uint32_t first_number);
  ~PartSink();
  PartSink(const PartSink&) = delete;
  PartSink& operator=(const PartSink&) = delete;

  // Creates the file of the next part. If a file with its number exists, the number is skipped, and the file is not
  // overwritten. False: last_error() has the cause, and an open part stays open.
  bool PrepareNext();
  // Begins the next part, and creates its file if PrepareNext has not. False: last_error() has the cause.
  bool Open();
  bool is_open() const { return fd_ >= 0; }
  std::uint32_t number() const { return number_; }
  std::string path() const { return PartPath(folder_, stem_, number_); }

  // Returns true if a chunk of `bytes` fits without an eviction.
  bool HasRoom(std::uint64_t bytes) const;
  // Decides which parts are evicted for a chunk of at most `bytes`. The oldest parts that are not in `kept` are evicted
  // first, then the least important parts of `kept`. `kept` has numbers of parts, the most important first. If these
  // parts are larger than half of the size limit together, the last of them are not protected. Evicted parts are
  // counted now, so that the chunk contains the count, but are removed only when the chunk is on disk. So if the
  // process is killed in between, every removed part is counted.
  void PlanRoom(std::uint64_t bytes, std::span<const std::uint32_t> kept);
  // Appends a complete chunk (with tag and length), and removes the parts that PlanRoom has chosen. False: no byte of
  // the chunk is on disk, the part is closed, and last_error() has the cause.
  bool Append(std::string_view chunk, const ChunkFacts& facts);
  // The encoded Index of the chunks that the part has so far.
  const std::string& index() const { return index_; }
  // Closes the part. False: written data may not be on disk, and last_error() has the cause. Network file systems
  // report such errors only when a file is closed.
  bool Close();
  // Removes the open part. Returns false if the part still exists.
  bool Remove();
  // Returns true if another program has removed the open part: no file has its name, or another file has it. Later
  // writes to the part are lost.
  bool WasRemoved() const;
  // Closes a part that was removed, and sets last_error().
  void Forget();

  std::uint64_t part_bytes() const { return offset_; }
  std::uint64_t part_chunks() const { return chunks_; }
  std::uint64_t part_events() const { return parts_.empty() ? 0 : parts_.back().events; }
  std::uint64_t bytes_written() const { return bytes_written_; }
  std::uint64_t folded_events() const { return folded_events_; }
  std::uint64_t folded_parts() const { return folded_parts_; }
  const std::string& last_error() const { return last_error_; }
  int last_errno() const { return last_errno_; }  // errno of last_error(); 0: no system error

 private:
  struct Part {
    std::string path;
    std::uint32_t number = 0;
    std::uint64_t bytes = 0;
    std::uint64_t events = 0;
  };
  bool WriteAll(std::string_view bytes);
  std::size_t LeastImportant(std::size_t count, std::span<const std::uint32_t> kept) const;
  void RemovePlanned();
  void Abandon();
  void NoteError(const char* what, const std::string& file, int error_number);

  std::string folder_;
  std::string stem_;
  std::uint64_t max_bytes_;
  int fd_ = -1;
  int next_fd_ = -1;  // file of the part next_number_, if PrepareNext has created it
  std::uint32_t number_ = 0;
  std::uint32_t next_number_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t chunks_ = 0;
  std::string index_;
  std::deque<Part> parts_;            // oldest first; the last one is open
  std::vector<std::string> planned_;  // paths of the parts that are removed with the next chunk
  std::uint64_t bytes_on_disk_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t folded_events_ = 0;
  std::uint64_t folded_parts_ = 0;
  std::string last_error_;
  int last_errno_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_FILE_PART_SINK_H_
