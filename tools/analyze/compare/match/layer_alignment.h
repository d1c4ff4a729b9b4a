// Finds, for each numbered module of model A, the same module of model B. If B has one more layer before the module,
// A's "layers.2" is B's "layers.3".
//
//     A  layers.0 Linear   layers.1 ReLU                  layers.2 Linear
//     B  layers.0 Linear   layers.1 ReLU  layers.2 Norm   layers.3 Linear      layers.2 is new
//
// Two modules match if they, and all modules inside of them, have the same classes. If several matches are possible,
// modules with the same shapes of parameters are preferred. The order of modules is kept. If A and B have equally many
// numbered modules in a place, modules match by their numbers.
#ifndef TOOLS_ANALYZE_COMPARE_MATCH_LAYER_ALIGNMENT_H_
#define TOOLS_ANALYZE_COMPARE_MATCH_LAYER_ALIGNMENT_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace memoir {

struct AlignedModule {
  std::string root, path;  // common names (module_names.h)
  std::string class_name;
  std::string shapes;  // shapes of the parameters of this module alone, as text; empty: unknown
};

// Alike layers whose count differs between A and B. Because they are alike, it is unknown which of them were added.
struct LayerCount {
  std::string place;  // path of the module that contains the layers: "layers"
  std::size_t a = 0, b = 0;
  std::string root;
  std::vector<std::string> left;  // paths, under common names, of the layers without a match
  // Returns true if the module is one of `left`, or lies inside of such a module.
  bool Has(const std::string& of_root, const std::string& path) const;
};

// Returns the counts for printing. Merges counts with equal `a` and equal `b` whose places differ only in layer
// numbers, for example into "layers.*.experts". `left` is empty in all results.
std::vector<LayerCount> WithPlacesMerged(const std::vector<LayerCount>& counts);

class LayerAlignment {
 public:
  LayerAlignment() = default;
  LayerAlignment(const std::vector<AlignedModule>& a, const std::vector<AlignedModule>& b);

  // Returns the path that A's module has in B. If B lacks the module, returns the path that the module would have in B,
  // and appends "(A)" if another module of B has this path.
  std::string PlaceInB(const std::string& root, const std::string& path) const;
  const std::vector<LayerCount>& counts() const { return counts_; }

 private:
  struct Node {
    std::string class_name, shapes;
    std::map<std::string, Node> children;
    std::string ClassesText() const;  // classes of the node and of all modules inside of it
    std::string WholeText() const;    // classes and shapes of these modules
  };
  using NumberedNodes = std::vector<std::pair<std::string, const Node*>>;
  static std::map<std::string, Node> TreesOf(const std::vector<AlignedModule>& modules);
  static NumberedNodes NumberedOf(const Node& node);
  // Returns pairs of indices in `a` and `b`: each pair is one module.
  static std::vector<std::pair<std::size_t, std::size_t>> Match(const NumberedNodes& a, const NumberedNodes& b);
  // Returns true if the layer before or after layers[index] has the same classes and shapes.
  static bool IsOneOfAlike(const NumberedNodes& layers, std::size_t index);

  void Align(const std::string& root, const Node& a, const Node& b, const std::string& path_a,
             const std::string& path_b);
  void AlignNumbered(const std::string& root, const Node& a, const Node& b, const std::string& path_a,
                     const std::string& path_b);

  std::map<std::string, std::map<std::string, std::string>> in_b_;  // by root: path in A, and path in B if it differs
  std::vector<LayerCount> counts_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_MATCH_LAYER_ALIGNMENT_H_
