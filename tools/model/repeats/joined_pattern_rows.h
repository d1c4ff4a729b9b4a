// Joins the pattern rows of consecutive chunks (docs/capture_format.md, "Stretches") into one list. In this list, a
// step that begins in one chunk and ends in the next is one step. A row that frees a block is in the same list as the
// earlier row that allocated the block.
//
// A chunk also has address rows. An address row has no pattern and no events. It contains the addresses of live host
// blocks that earlier rows allocated.
#ifndef TOOLS_MODEL_REPEATS_JOINED_PATTERN_ROWS_H_
#define TOOLS_MODEL_REPEATS_JOINED_PATTERN_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "tools/model/parts/chunk_source.h"
#include "tools/model/repeats/step_pattern_table.h"
#include "tools/read/chunk/step_pattern.h"

namespace memoir {

// The pattern of each row in JoinedPatternRows::rows(). nullptr: the row is an address row, which has no pattern.
using RowPatterns = std::vector<std::shared_ptr<const StepPattern>>;

class JoinedPatternRows {
 public:
  struct ChunkRows {
    std::shared_ptr<Chunk> chunk;
    std::size_t first_row = 0;
    // Number of blocks in the address row at the end of the chunk, if Add removed this row from rows() because it
    // appended a further chunk. Otherwise 0.
    std::uint32_t live_blocks = 0;
  };

  // Appends the rows of `chunk`. If these rows do not begin where the last rows ended, returns false and appends
  // nothing. The first chunk is always appended. Add does not detect a step that another thread made between two
  // chunks. After such a step, rows may free blocks that no row allocated.
  bool Add(const std::shared_ptr<Chunk>& chunk, StepPatternTable& patterns);

  // Rows of all chunks. PatternRow::step counts the steps of all chunks, from the first step of the first chunk.
  const std::vector<PatternRow>& rows() const { return rows_; }
  const RowPatterns& patterns() const { return patterns_; }
  absl::Span<const PatternEvent> EventsOf(std::size_t row) const {
    return absl::MakeConstSpan(patterns_[row]->events).subspan(rows_[row].first_event, rows_[row].events);
  }
  const std::vector<ChunkRows>& chunks() const { return chunks_; }
  const PatternRows& RowsOfChunk(std::size_t chunk) const { return chunks_[chunk].chunk->payload->pattern_rows; }
  std::size_t ChunkOf(std::size_t row) const;
  // True if the last chunk has a row whose pattern is unknown, or whose events are not in its pattern. This row and all
  // later rows are missing in rows().
  bool damaged() const { return damaged_; }

 private:
  bool Continues(const PatternRow& row) const;

  std::vector<PatternRow> rows_;
  RowPatterns patterns_;
  std::vector<ChunkRows> chunks_;
  bool damaged_ = false;
};

// Consecutive rows of one step, or one address row. A step has several rows if the recorder ended a row within the
// step. For example, it ends a row:
// - if the step deviates from the pattern and continues like another pattern,
// - after the free of a block that no row of the chunk allocated,
// - at the end of a chunk.
struct StepRows {
  std::size_t first_row = 0, rows = 0;
  std::uint64_t step = 0;
  // The pattern of the step if the rows contain the whole step. nullptr for a part of a step, or for an address row.
  const StepPattern* whole = nullptr;
  std::size_t end_row() const { return first_row + rows; }
};
// Divides the rows of `joined` into steps and address rows, in order.
std::vector<StepRows> FindSteps(const JoinedPatternRows& joined);

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEATS_JOINED_PATTERN_ROWS_H_
