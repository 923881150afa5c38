// The instruction sets that kernels can use on this processor. Not part of kernels.hpp: what that
// includes is compiled for every instruction set.
#pragma once

#include <string>
#include <vector>

namespace ctsne {

// Names of the tables that this processor can use, the best one last.
std::vector<std::string> instruction_sets();

}  // namespace ctsne
