/* Empty: the tests of MPICH expect this file, which would name extensions that only MPICH has. */
