// What NVIDIA's libraries ask their callers for as workspace: the formulas of workspaces.txt, and the parser of files
// in that form.
//
// Made once, then read by any thread. Nothing here knows of CUDA.
#ifndef INTERPOSE_SIMCUDA_USER_TABLES_WORKSPACES_H_
#define INTERPOSE_SIMCUDA_USER_TABLES_WORKSPACES_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

namespace memoir::simcuda {

// The words of formulas, in the order of kNames (workspaces.cc); kCount is "elements". Which of them a formula may use
// depends on its name.
enum class Word { kCount, kElement, kM, kN, kBatch, kX, kW, kY, kConverted, kTaps };
inline constexpr std::size_t kWords = 10;

struct Figure {
  Word word;
  std::uint64_t value;
};

class Workspaces {
 public:
  // Adds the formulas of `text`; one of the same name replaces the older. Returns "" or what is wrong, with its line
  // number; what came before it stays.
  std::string Parse(std::string_view text);

  // Bytes of the workspace of that name; 0 where there is no formula. Never more than 2^62.
  std::uint64_t Bytes(std::string_view name, std::initializer_list<Figure> figures) const;

  std::size_t size() const { return formulas_.size(); }

 private:
  std::map<std::string, std::string, std::less<>> formulas_;  // as they are written: each was evaluated once
};

// The most bytes that a formula can give.
inline constexpr std::uint64_t kMostWorkspace = std::uint64_t{1} << 62;

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_USER_TABLES_WORKSPACES_H_
