// The Python module. The files in this folder are all that knows Python: they check arguments once,
// release the interpreter lock and call the kernels.
#include "bind/arrays.hpp"
#include "loops/kernels.hpp"

NB_MODULE(_native, m) {
  m.doc() = "Compiled kernels of ctsne; private.";
  m.def(
      "instruction_set", [] { return ctsne::kernels().name; },
      "Name of the instruction set that the kernels use on this processor.");
  ctsne_python::define_search(m);
  ctsne_python::define_similarity(m);
  ctsne_python::define_layout(m);
  ctsne_python::define_mesh(m);
}
