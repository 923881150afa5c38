// Chooses the table of kernels for this processor, once.
#include <cstdlib>
#include <string_view>

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

const Kernels& choose() {
#ifdef CTSNE_X86
  const char* asked = std::getenv("CTSNE_ISA");
  const std::string_view limit = asked ? asked : "avx512";
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512cd") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (limit == "baseline") return baseline::table;
  if (has_avx512 && limit != "avx2") return avx512::table;
  if (has_avx2) return avx2::table;
#endif
  return baseline::table;
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

}  // namespace ctsne
