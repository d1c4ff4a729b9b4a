// The rows of chunks that follow one another (docs/capture_format.md, "Stretches"), as if one chunk had them all: a
// step that goes on in the next chunk is one step, and what lives between two chunks is what rows have allocated.
#ifndef TOOLS_MODEL_JOINED_ROWS_H_
#define TOOLS_MODEL_JOINED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "tools/model/chunk_source.h"
#include "tools/model/stretch_table.h"
#include "tools/read/stretch.h"

namespace memoir {

// By row; nullptr: an address row.
using StretchesOfRows = std::vector<std::shared_ptr<const Stretch>>;

class JoinedRows {
 public:
  struct OfChunk {
    std::shared_ptr<Chunk> chunk;
    std::size_t first_row = 0;
    std::uint32_t living = 0;  // addresses of its last row, where that is an address row and none of `rows`
  };

  // False: the chunk's rows do not go on where the last ones ended. The first chunk's always do. A step of another
  // thread may lie between two chunks unseen: then the next one frees other blocks than these rows know.
  bool Add(const std::shared_ptr<Chunk>& chunk, StretchTable& stretches);

  // Steps are counted from the first one.
  const std::vector<RepeatRow>& rows() const { return rows_; }
  const StretchesOfRows& stretches() const { return stretches_; }
  absl::Span<const StretchEvent> EventsOf(std::size_t row) const {
    return absl::MakeConstSpan(stretches_[row]->events).subspan(rows_[row].first_event, rows_[row].events);
  }
  const std::vector<OfChunk>& chunks() const { return chunks_; }
  const Repeats& RepeatsOf(std::size_t chunk) const { return chunks_[chunk].chunk->payload->repeats; }
  std::size_t ChunkOf(std::size_t row) const;
  // Rows of the last chunk from the first on whose stretch is not known, or that does not fit it, are left out.
  bool damaged() const { return damaged_; }

 private:
  bool GoesOn(const RepeatRow& row) const;

  std::vector<RepeatRow> rows_;
  StretchesOfRows stretches_;
  std::vector<OfChunk> chunks_;
  bool damaged_ = false;
};

// Rows that follow one another, of one step. A writer that follows the wrong stretch at first has several in a step,
// and so has one that frees blocks of the chunk before.
struct RowsOfStep {
  std::size_t first_row = 0, rows = 0;
  std::uint64_t step = 0;
  const Stretch* whole = nullptr;  // what all of them together are; nullptr: not a whole step, or an address row
  std::size_t end_row() const { return first_row + rows; }
};
std::vector<RowsOfStep> StepsOf(const JoinedRows& joined);

}  // namespace memoir

#endif  // TOOLS_MODEL_JOINED_ROWS_H_
