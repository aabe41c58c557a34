/* As include/mpitestconf.h, for the part of the tests that makes datatypes. */
#pragma once
#include "include/mpitestconf.h"
