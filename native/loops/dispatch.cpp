// Chooses the table of kernels for this processor, once.
#include "loops/dispatch.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "loops/kernels.hpp"

namespace ctsne {

namespace baseline {
extern const Kernels table;
}
#ifdef CTSNE_X86
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}
#endif

namespace {

// The tables that this processor can use, the best one last.
std::vector<const Kernels*> usable_tables() {
  std::vector<const Kernels*> tables{&baseline::table};
#ifdef CTSNE_X86
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512cd") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx2) tables.push_back(&avx2::table);
  if (has_avx512) tables.push_back(&avx512::table);
#endif
  return tables;
}

const Kernels& choose() {
  const auto tables = usable_tables();
  const char* asked = std::getenv("CTSNE_ISA");
  if (asked == nullptr || *asked == '\0') return *tables.back();
  std::string names;
  for (const Kernels* table : tables) {
    if (std::string(table->name) == asked) return *table;
    names += (names.empty() ? "" : ", ") + std::string(table->name);
  }
  throw std::invalid_argument("CTSNE_ISA is '" + std::string(asked) +
                              "' in the environment; this processor supports " + names);
}

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const Kernels* table : usable_tables()) names.emplace_back(table->name);
  return names;
}

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

}  // namespace ctsne
