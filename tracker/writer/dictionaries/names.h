// Assigns ids to the names of ranges, marks, modules, kernels and Python code. The ring's table contains the names of
// operators, modules, kernels and code, each once. All other names are free texts, and each record contains its text.
//
// Free texts are bounded: when there are kMaxTexts, texts that are not used are forgotten. If such a text is used
// again, it gets a new id. Notes of torch.compile (docs/event_schema.md) are never forgotten, because every part must
// contain them; they have at most kMaxNoteBytes. One thread.
#ifndef TRACKER_WRITER_DICTIONARIES_NAMES_H_
#define TRACKER_WRITER_DICTIONARIES_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "interpose/ring/ring_reader.h"
#include "tracker/writer/dictionaries/content_hash.h"

namespace memoir {

inline constexpr std::size_t kMaxTexts = 8 * 1024;
inline constexpr std::size_t kMaxNoteBytes = 1024 * 1024;

class Names {
 public:
  struct Name {
    std::uint32_t id = 0;
    std::uint32_t ring_id = 0;  // id in the ring's table; 0: a free text
    bool is_operator = false;   // the name has a schema
    bool is_module = false;
    bool is_code = false;
    std::uint32_t part = 0;  // part in which the name was last defined
    ContentHash hash;
    std::string text;  // only for a free text; other names stay in the ring
  };
  using MarkUsed = std::function<void(std::unordered_set<std::uint32_t>*)>;

  // `mark_used` adds to its argument the ids of the names that open ranges and live blocks use.
  Names(const RingReader& ring, MarkUsed mark_used) : ring_(ring), mark_used_(std::move(mark_used)) {}

  // Returns a name of the ring's table: of an operator, a module, a kernel or code. nullptr if the ring has no such
  // name.
  Name* FindOperator(std::uint32_t ring_id);
  // Returns the name of a free text. Adds it if it is unknown.
  Name* FindText(std::string_view text);
  Name* FindById(std::uint32_t id);  // nullptr: the name was forgotten

  // Appends the NameDef to a Payload, unless this part has it already.
  void Define(Name* name, std::uint32_t part, std::string* payload);
  // Appends the NameDefs of all notes of torch.compile that this part lacks.
  void DefineNotes(std::uint32_t part, std::string* payload);

 private:
  Name* Add(const ContentHash& hash);
  void KeepNote(const Name& name);
  void ForgetUnused();

  const RingReader& ring_;
  MarkUsed mark_used_;
  std::vector<Name*> operators_;                            // by ring id
  std::unordered_map<std::uint32_t, Name> names_;           // by id; the addresses of names do not change
  std::unordered_map<std::uint64_t, std::uint32_t> texts_;  // low half of the hash to id
  std::vector<std::uint32_t> notes_;                        // ids of notes, oldest first; never forgotten
  std::size_t note_bytes_ = 0;
  std::uint32_t last_id_ = 0;
  std::size_t max_texts_ = kMaxTexts;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_DICTIONARIES_NAMES_H_
