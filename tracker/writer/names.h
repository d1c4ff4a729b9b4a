// Names of ranges, marks, modules and Python code: operators, modules and code, which the ring's table defines once,
// and free texts, which come with their record.
//
// Texts are bounded: past kMaxTexts those that nothing refers to any more are forgotten, and come back under a new id.
// Notes of torch.compile (docs/event_schema.md) are kept, up to kMaxNoteBytes: every part has to have them.
// One thread.
#ifndef TRACKER_WRITER_NAMES_H_
#define TRACKER_WRITER_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "interpose/ring_reader.h"
#include "tracker/writer/content_hash.h"

namespace memoir {

inline constexpr std::size_t kMaxTexts = 8 * 1024;
inline constexpr std::size_t kMaxNoteBytes = 1024 * 1024;

class Names {
 public:
  struct Name {
    std::uint32_t id = 0;
    std::uint32_t ring_id = 0;  // 0: a text
    bool is_operator = false;   // has a schema
    bool is_module = false;
    bool is_code = false;
    std::uint32_t part = 0;  // last defined in
    ContentHash hash;
    std::string text;  // of a text; an operator's stays in the ring
  };
  using MarkUsed = std::function<void(std::unordered_set<std::uint32_t>*)>;

  // `mark_used` adds the ids that stacks and live blocks hold.
  Names(const RingReader& ring, MarkUsed mark_used) : ring_(ring), mark_used_(std::move(mark_used)) {}

  // Of the ring's table, so a module's and that of code too; nullptr when the ring has no such name.
  Name* Operator(std::uint32_t ring_id);
  Name* Text(std::string_view text);
  Name* ById(std::uint32_t id);  // nullptr: forgotten

  // Appends the NameDef to a Payload unless this part has it.
  void Define(Name* name, std::uint32_t part, std::string* payload);
  void DefineNotes(std::uint32_t part, std::string* payload);

 private:
  Name* Add(const ContentHash& hash);
  void KeepNote(const Name& name);
  void ForgetUnused();

  const RingReader& ring_;
  MarkUsed mark_used_;
  std::vector<Name*> operators_;                            // by ring id
  std::unordered_map<std::uint32_t, Name> names_;           // by id; nodes stay where they are
  std::unordered_map<std::uint64_t, std::uint32_t> texts_;  // low half of the hash to id
  std::vector<std::uint32_t> notes_;                        // ids, in order; those are not forgotten
  std::size_t note_bytes_ = 0;
  std::uint32_t last_id_ = 0;
  std::size_t max_texts_ = kMaxTexts;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_NAMES_H_
