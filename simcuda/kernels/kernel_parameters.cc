#include "simcuda/kernels/kernel_parameters.h"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace memoir::simcuda {
namespace {

// A cubin is an ELF file with a section .nv.info.KERNEL of attributes. NVIDIA does not document the section.
// Disassemblers read each attribute as: one byte for its form, one byte for its number, and two bytes. In the long form
// the two bytes are a length, and a value of this length follows. In the other forms they are the value.

constexpr std::string_view kInfoSection = ".nv.info.";
constexpr std::uint8_t kLongForm = 4;
constexpr std::uint8_t kParameter = 0x17;       // index (4 bytes), ordinal (2), offset (2), flags with the size (4)
constexpr std::uint8_t kParameterBytes = 0x19;  // bytes of all parameters, as a value of two bytes
constexpr unsigned kSizeShift = 18;

template <typename T>
T Load(std::string_view bytes, std::size_t at) {
  T value{};
  if (at <= bytes.size() && sizeof(T) <= bytes.size() - at) std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

std::string_view Part(std::string_view bytes, std::uint64_t at, std::uint64_t count) {
  if (at > bytes.size()) return {};
  return bytes.substr(at, count);
}

// Returns the parameters in a section .nv.info.KERNEL. nullopt if the section does not list them one by one.
std::optional<KernelParameters> ParametersOfInfo(std::string_view info) {
  KernelParameters parameters;
  unsigned all = 0;
  while (info.size() >= 4) {
    const auto form = static_cast<std::uint8_t>(info[0]), attribute = static_cast<std::uint8_t>(info[1]);
    const auto length = Load<std::uint16_t>(info, 2);
    if (attribute == kParameterBytes) all = length;
    if (attribute == kParameter && form == kLongForm) {
      const auto ordinal = Load<std::uint16_t>(info, 8);
      if (parameters.size() <= ordinal) parameters.resize(ordinal + 1u);
      parameters[ordinal] = Load<std::uint32_t>(info, 12) >> kSizeShift;
    }
    info.remove_prefix(std::min<std::size_t>(info.size(), form == kLongForm ? 4u + length : 4u));
  }
  if (all > 0 && parameters.empty()) return std::nullopt;
  return parameters;
}

ModuleParameters ParametersOfElf(std::string_view image) {
  ModuleParameters found;
  const auto header = Load<Elf64_Ehdr>(image, 0);
  const auto section = [&](unsigned i) { return Load<Elf64_Shdr>(image, header.e_shoff + i * sizeof(Elf64_Shdr)); };
  const Elf64_Shdr names = section(header.e_shstrndx);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr one = section(i);
    std::string_view name = Part(image, names.sh_offset + one.sh_name, image.size());
    name = name.substr(0, name.find('\0'));
    if (!name.starts_with(kInfoSection)) continue;
    if (auto parameters = ParametersOfInfo(Part(image, one.sh_offset, one.sh_size)))
      found.emplace(name.substr(kInfoSection.size()), std::move(*parameters));
  }
  return found;
}

std::size_t BytesOfElf(const void* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr)) return 0;
  std::uint64_t end = header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, static_cast<const char*>(image) + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS) end = std::max(end, section.sh_offset + section.sh_size);
  }
  return end;
}

// PTX: `.entry name(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 b[24])`

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.'; }

std::string_view TakeWord(std::string_view& text) {
  const auto first = std::ranges::find_if(text, IsWord);
  const auto end = std::find_if_not(first, text.end(), IsWord);
  const std::string_view word(first, end);
  text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  return word;
}

// Returns the size of one element of ".u64", ".b8" and similar words; 0 for other words.
std::uint32_t BytesOfType(std::string_view word) {
  if (word.size() < 3 || word[0] != '.' || std::string_view("usbf").find(word[1]) == std::string_view::npos) return 0;
  const std::string digits(word.substr(2));
  char* end = nullptr;
  const unsigned long bits = std::strtoul(digits.c_str(), &end, 10);
  return *end == '\0' ? static_cast<std::uint32_t>(bits / 8) : 0;
}

std::uint32_t BytesOfPtxParameter(std::string_view text) {
  std::uint32_t bytes = 0, elements = 1;
  const std::size_t bracket = text.find('[');
  if (bracket != std::string_view::npos) {
    elements = static_cast<std::uint32_t>(std::strtoul(std::string(text.substr(bracket + 1)).c_str(), nullptr, 10));
    text = text.substr(0, bracket);
  }
  while (bytes == 0) {
    const std::string_view word = TakeWord(text);
    if (word.empty()) break;
    bytes = BytesOfType(word);
  }
  return bytes * elements;
}

KernelParameters ParametersOfPtxEntry(std::string_view list) {
  KernelParameters parameters;
  while (list.find(".param") != std::string_view::npos) {
    const std::size_t comma = std::min(list.find(','), list.size());
    parameters.push_back(BytesOfPtxParameter(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parameters;
}

ModuleParameters ParametersOfPtx(std::string_view text) {
  constexpr std::string_view kEntry = ".entry";
  ModuleParameters found;
  for (std::size_t at = text.find(kEntry); at != std::string_view::npos; at = text.find(kEntry)) {
    text.remove_prefix(at + kEntry.size());
    const std::string name(TakeWord(text));
    const std::size_t next = text.find_first_not_of(" \t\r\n");
    const bool takes_some = next != std::string_view::npos && text[next] == '(';
    found.emplace(name, takes_some ? ParametersOfPtxEntry(text.substr(0, text.find(')'))) : KernelParameters());
  }
  return found;
}

bool IsPtx(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  return text.substr(first).starts_with("//") || text.substr(first).starts_with(".version");
}

constexpr std::array<std::string_view, 20> kNumbers = {
    "bool",           "char",          "signed char",        "unsigned char", "short",
    "unsigned short", "int",           "unsigned int",       "long",          "unsigned long",
    "long long",      "float",         "unsigned long long", "double",        "__half",
    "half",           "__nv_bfloat16", "c10::Half",          "c10::BFloat16", "void"};

// Returns the last list in parentheses; empty if there is no list.
std::string_view ParametersIn(std::string_view name) {
  if (!name.ends_with(')')) return {};
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
    if (depth == 0) return name.substr(i + 1, name.size() - i - 2);
  }
  return {};
}

// Takes the next parameter from the list, without leading spaces.
std::string_view TakeParameter(std::string_view& list) {
  int depth = 0;
  std::size_t i = 0;
  for (; i < list.size() && (list[i] != ',' || depth > 0); ++i) {
    if (std::string_view("(<[{").find(list[i]) != std::string_view::npos) ++depth;
    if (std::string_view(")>]}").find(list[i]) != std::string_view::npos) --depth;
  }
  std::string_view one = list.substr(0, i);
  list.remove_prefix(std::min(i + 1, list.size()));
  while (one.starts_with(' ')) one.remove_prefix(1);
  return one;
}

// Returns how many bytes of a parameter may contain addresses of memory that the kernel writes. nullopt if `type` is a
// structure.
std::optional<std::uint32_t> BytesOfCppParameter(std::string_view type) {
  if (std::ranges::count(kNumbers, type) > 0) return 0;
  if (!type.ends_with('*')) return std::nullopt;
  // 0 for a pointer to const numbers. Not 0 for a pointer to const pointers or structures, because through these the
  // kernel may reach memory that it writes.
  const bool constant = type.ends_with(" const*");
  const std::string_view to = type.substr(0, type.size() - (constant ? 7 : 1));
  return constant && std::ranges::count(kNumbers, to) > 0 ? 0 : sizeof(void*);
}

}  // namespace

std::size_t BytesOfImage(const void* image) {
  const auto* const text = static_cast<const char*>(image);
  if (std::memcmp(text, ELFMAG, 1) == 0) return std::memcmp(text, ELFMAG, SELFMAG) == 0 ? BytesOfElf(image) : 0;
  const bool may_be_ptx = *text == '/' || *text == '.' || std::isspace(static_cast<unsigned char>(*text)) != 0;
  return may_be_ptx ? std::strlen(text) : 0;
}

ModuleParameters ParametersOfImage(std::string_view image) {
  if (image.starts_with(std::string_view(ELFMAG, SELFMAG))) return ParametersOfElf(image);
  return IsPtx(image) ? ParametersOfPtx(image) : ModuleParameters();
}

std::optional<KernelParameters> ParametersOfName(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                         &std::free);
  if (status != 0 || name == nullptr || !std::string_view(name.get()).ends_with(')')) return std::nullopt;
  std::string_view list = ParametersIn(name.get());
  KernelParameters parameters;
  while (!list.empty()) {
    const std::optional<std::uint32_t> bytes = BytesOfCppParameter(TakeParameter(list));
    if (!bytes.has_value()) return std::nullopt;
    parameters.push_back(*bytes);
  }
  return parameters;
}

}  // namespace memoir::simcuda
