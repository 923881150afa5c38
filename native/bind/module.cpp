// The Python module. The files in this folder are all that knows Python: they check arguments once,
// release the interpreter lock and call the kernels.
#include <nanobind/stl/string.h>

#include "bind/arrays.hpp"
#include "loops/dispatch.hpp"
#include "loops/kernels.hpp"

NB_MODULE(_native, m) {
  m.doc() = "Compiled kernels of ctsne; private.";
  ctsne::kernels();  // so that a wrong CTSNE_ISA is refused at import
  m.def(
      "instruction_set", [] { return ctsne::kernels().name; },
      "Name of the instruction set that the kernels use on this processor.");
  m.def("instruction_sets", ctsne::instruction_sets,
        "Names of the instruction sets that this processor supports, the best one last.");
  ctsne_python::define_search(m);
  ctsne_python::define_queries(m);
  ctsne_python::define_similarity(m);
  ctsne_python::define_layout(m);
  ctsne_python::define_mesh(m);
  ctsne_python::define_place(m);
}
