// Writes Python's pickle format: dictionaries, lists, tuples of two, text, numbers and truth values, and nothing that a
// reader would execute. Protocol 2, which every Python since 2.3 reads.
//
// This class only writes; tools/import/snapshot/pickle_reader.h reads pickles. Values are written in order. The keys
// and values of a dictionary are written in turn: key, value, key, value, ...
#ifndef TOOLS_VIEW_JSON_PICKLE_H_
#define TOOLS_VIEW_JSON_PICKLE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace memoir {

class Pickle {
 public:
  // `write` receives the bytes in order: some during the other calls, and the rest in End.
  explicit Pickle(std::function<void(std::string_view)> write);

  void BeginDictionary();
  void EndDictionary();
  void BeginList();
  void EndList();
  void Text(std::string_view utf8);
  // Writes the text and stores it under the number, for Recall.
  void Remember(std::string_view utf8, std::uint32_t number);
  // Stores the value that was written last under `number`, for Recall.
  void Keep(std::uint32_t number);
  void Recall(std::uint32_t number);
  void Boolean(bool value);
  void Integer(std::uint64_t value);
  void Real(double value);
  void EndPair();  // makes a tuple of the two values that were written last
  void End();

 private:
  void Little(std::uint64_t value, int bytes);
  void Flush(std::size_t most);

  std::function<void(std::string_view)> write_;
  std::string bytes_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_JSON_PICKLE_H_
