// The sizes of workspaces that NVIDIA's libraries request from their callers: the formulas of workspaces.txt, and the
// parser of files in this form.
//
// Parsed once, then read by any thread. This file does not depend on CUDA.
#ifndef SIMCUDA_USER_TABLES_WORKSPACES_H_
#define SIMCUDA_USER_TABLES_WORKSPACES_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

namespace memoir::simcuda {

// The variables of formulas. kNames (workspaces.cc) contains their names in the same order; the name of kCount is
// "elements". The name of a formula determines which variables the formula may use.
enum class Word { kCount, kElement, kM, kN, kBatch, kX, kW, kY, kConverted, kTaps };
inline constexpr std::size_t kWords = 10;

struct WorkspaceFigure {
  Word word;
  std::uint64_t value;
};

class Workspaces {
 public:
  // Adds the formulas of `text`. A formula replaces an earlier one with the same name. Returns "" or an error message
  // with its line number; the formulas before the error stay.
  std::string Parse(std::string_view text);

  // Returns the bytes of the workspace `name`, at most 2^62. 0 if there is no formula. `figures`: the values of the
  // formula's variables; a variable that is not listed is 0.
  std::uint64_t Bytes(std::string_view name, std::initializer_list<WorkspaceFigure> figures) const;

  std::size_t size() const { return formulas_.size(); }

 private:
  std::map<std::string, std::string, std::less<>> formulas_;  // source text, which Parse has checked
};

// The most bytes that a formula can result in.
inline constexpr std::uint64_t kMostWorkspace = std::uint64_t{1} << 62;

}  // namespace memoir::simcuda

#endif  // SIMCUDA_USER_TABLES_WORKSPACES_H_
