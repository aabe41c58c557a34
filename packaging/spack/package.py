"""A Spack package of Cornerstone: an MPI, and a laboratory for message-passing machines.

In a checkout, with this file in a repository of your own as packages/cornerstone/package.py:
    spack dev-build cornerstone@main
"""

import os

from spack.package import *


class Cornerstone(Package):
    """An MPI under the standard ABI that is fast where ranks outnumber processors, and a laboratory that measures,
    explains and predicts message passing."""

    maintainers = []
    license("MIT OR Apache-2.0")

    version("main")

    depends_on("c", type="build")
    depends_on("rust@1.95:", type="build")
    depends_on("python@3.9:", type="build")

    provides("mpi@:5.0")

    def install(self, spec, prefix):
        python = which("python3")
        python("packaging/package.py", "install", prefix)

    def setup_run_environment(self, env):
        self._compilers(env)
        env.prepend_path("MANPATH", self.prefix.share.man)

    def setup_dependent_build_environment(self, env, dependent_spec):
        self._compilers(env)
        # The compilers behind mpicc and mpicxx are those of the dependent package.
        env.set("CORNERSTONE_CC", dependent_spec.package.module.spack_cc)
        env.set("CORNERSTONE_CXX", dependent_spec.package.module.spack_cxx)

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = os.path.join(self.prefix.bin, "mpicc")
        self.spec.mpicxx = os.path.join(self.prefix.bin, "mpicxx")
        self.spec.mpifc = os.path.join(self.prefix.bin, "mpifort")

    def _compilers(self, env):
        env.set("MPICC", self.prefix.bin.mpicc)
        env.set("MPICXX", self.prefix.bin.mpicxx)

    @property
    def headers(self):
        return find_headers("mpi", self.prefix.include)

    @property
    def libs(self):
        return find_libraries("libmpi_abi", self.prefix.lib, shared=True)
