// Made from abi/mpi5.txt, abi/beyond.txt and abi/served.txt; do not edit.
#![allow(dead_code)] // All of the ABI, used or not.

use std::ffi::c_int;

use super::handle;

pub(crate) const OP_NULL: Op = Op(0x020);
pub(crate) const SUM: Op = Op(0x021);
pub(crate) const MIN: Op = Op(0x022);
pub(crate) const MAX: Op = Op(0x023);
pub(crate) const PROD: Op = Op(0x024);
pub(crate) const BAND: Op = Op(0x028);
pub(crate) const BOR: Op = Op(0x029);
pub(crate) const BXOR: Op = Op(0x02a);
pub(crate) const LAND: Op = Op(0x030);
pub(crate) const LOR: Op = Op(0x031);
pub(crate) const LXOR: Op = Op(0x032);
pub(crate) const MINLOC: Op = Op(0x038);
pub(crate) const MAXLOC: Op = Op(0x039);
pub(crate) const REPLACE: Op = Op(0x03c);
pub(crate) const NO_OP: Op = Op(0x03d);
pub(crate) const COMM_NULL: Comm = Comm(0x100);
pub(crate) const COMM_WORLD: Comm = Comm(0x101);
pub(crate) const COMM_SELF: Comm = Comm(0x102);
pub(crate) const GROUP_NULL: Group = Group(0x108);
pub(crate) const GROUP_EMPTY: Group = Group(0x109);
pub(crate) const WIN_NULL: Win = Win(0x110);
pub(crate) const FILE_NULL: File = File(0x118);
pub(crate) const SESSION_NULL: Session = Session(0x120);
pub(crate) const MESSAGE_NULL: Message = Message(0x128);
pub(crate) const MESSAGE_NO_PROC: Message = Message(0x129);
pub(crate) const INFO_NULL: Info = Info(0x130);
pub(crate) const INFO_ENV: Info = Info(0x131);
pub(crate) const ERRHANDLER_NULL: Errhandler = Errhandler(0x140);
pub(crate) const ERRORS_ARE_FATAL: Errhandler = Errhandler(0x141);
pub(crate) const ERRORS_ABORT: Errhandler = Errhandler(0x142);
pub(crate) const ERRORS_RETURN: Errhandler = Errhandler(0x143);
pub(crate) const REQUEST_NULL: Request = Request(0x180);
pub(crate) const DATATYPE_NULL: Datatype = Datatype(0x200);
pub(crate) const AINT: Datatype = Datatype(0x201);
pub(crate) const COUNT: Datatype = Datatype(0x202);
pub(crate) const OFFSET: Datatype = Datatype(0x203);
pub(crate) const PACKED: Datatype = Datatype(0x207);
pub(crate) const SHORT: Datatype = Datatype(0x208);
pub(crate) const INT: Datatype = Datatype(0x209);
pub(crate) const LONG: Datatype = Datatype(0x20a);
pub(crate) const LONG_LONG: Datatype = Datatype(0x20b);
pub(crate) const LONG_LONG_INT: Datatype = LONG_LONG;
pub(crate) const UNSIGNED_SHORT: Datatype = Datatype(0x20c);
pub(crate) const UNSIGNED: Datatype = Datatype(0x20d);
pub(crate) const UNSIGNED_LONG: Datatype = Datatype(0x20e);
pub(crate) const UNSIGNED_LONG_LONG: Datatype = Datatype(0x20f);
pub(crate) const FLOAT: Datatype = Datatype(0x210);
pub(crate) const C_FLOAT_COMPLEX: Datatype = Datatype(0x212);
pub(crate) const C_COMPLEX: Datatype = C_FLOAT_COMPLEX;
pub(crate) const CXX_FLOAT_COMPLEX: Datatype = Datatype(0x213);
pub(crate) const DOUBLE: Datatype = Datatype(0x214);
pub(crate) const C_DOUBLE_COMPLEX: Datatype = Datatype(0x216);
pub(crate) const CXX_DOUBLE_COMPLEX: Datatype = Datatype(0x217);
pub(crate) const LOGICAL: Datatype = Datatype(0x218);
pub(crate) const INTEGER: Datatype = Datatype(0x219);
pub(crate) const REAL: Datatype = Datatype(0x21a);
pub(crate) const COMPLEX: Datatype = Datatype(0x21b);
pub(crate) const DOUBLE_PRECISION: Datatype = Datatype(0x21c);
pub(crate) const DOUBLE_COMPLEX: Datatype = Datatype(0x21d);
pub(crate) const CHARACTER: Datatype = Datatype(0x21e);
pub(crate) const LONG_DOUBLE: Datatype = Datatype(0x220);
pub(crate) const C_LONG_DOUBLE_COMPLEX: Datatype = Datatype(0x224);
pub(crate) const CXX_LONG_DOUBLE_COMPLEX: Datatype = Datatype(0x225);
pub(crate) const FLOAT_INT: Datatype = Datatype(0x228);
pub(crate) const DOUBLE_INT: Datatype = Datatype(0x229);
pub(crate) const LONG_INT: Datatype = Datatype(0x22a);
pub(crate) const TWO_INT: Datatype = Datatype(0x22b);
pub(crate) const SHORT_INT: Datatype = Datatype(0x22c);
pub(crate) const LONG_DOUBLE_INT: Datatype = Datatype(0x22d);
pub(crate) const TWO_REAL: Datatype = Datatype(0x230);
pub(crate) const TWO_DOUBLE_PRECISION: Datatype = Datatype(0x231);
pub(crate) const TWO_INTEGER: Datatype = Datatype(0x232);
pub(crate) const C_BOOL: Datatype = Datatype(0x238);
pub(crate) const CXX_BOOL: Datatype = Datatype(0x239);
pub(crate) const WCHAR: Datatype = Datatype(0x23c);
pub(crate) const INT8_T: Datatype = Datatype(0x240);
pub(crate) const UINT8_T: Datatype = Datatype(0x241);
pub(crate) const CHAR: Datatype = Datatype(0x243);
pub(crate) const SIGNED_CHAR: Datatype = Datatype(0x244);
pub(crate) const UNSIGNED_CHAR: Datatype = Datatype(0x245);
pub(crate) const BYTE: Datatype = Datatype(0x247);
pub(crate) const INT16_T: Datatype = Datatype(0x248);
pub(crate) const UINT16_T: Datatype = Datatype(0x249);
pub(crate) const INT32_T: Datatype = Datatype(0x250);
pub(crate) const UINT32_T: Datatype = Datatype(0x251);
pub(crate) const INT64_T: Datatype = Datatype(0x258);
pub(crate) const UINT64_T: Datatype = Datatype(0x259);
pub(crate) const LOGICAL1: Datatype = Datatype(0x2c0);
pub(crate) const INTEGER1: Datatype = Datatype(0x2c1);
pub(crate) const LOGICAL2: Datatype = Datatype(0x2c8);
pub(crate) const INTEGER2: Datatype = Datatype(0x2c9);
pub(crate) const REAL2: Datatype = Datatype(0x2ca);
pub(crate) const LOGICAL4: Datatype = Datatype(0x2d0);
pub(crate) const INTEGER4: Datatype = Datatype(0x2d1);
pub(crate) const REAL4: Datatype = Datatype(0x2d2);
pub(crate) const COMPLEX4: Datatype = Datatype(0x2d3);
pub(crate) const LOGICAL8: Datatype = Datatype(0x2d8);
pub(crate) const INTEGER8: Datatype = Datatype(0x2d9);
pub(crate) const REAL8: Datatype = Datatype(0x2da);
pub(crate) const COMPLEX8: Datatype = Datatype(0x2db);
pub(crate) const LOGICAL16: Datatype = Datatype(0x2e0);
pub(crate) const INTEGER16: Datatype = Datatype(0x2e1);
pub(crate) const REAL16: Datatype = Datatype(0x2e2);
pub(crate) const COMPLEX16: Datatype = Datatype(0x2e3);
pub(crate) const COMPLEX32: Datatype = Datatype(0x2eb);
pub(crate) const F_STATUS_SIZE: c_int = 8;
pub(crate) const F_SOURCE: c_int = 0;
pub(crate) const F_TAG: c_int = 1;
pub(crate) const F_ERROR: c_int = 2;
pub(crate) const SUCCESS: c_int = 0;
pub(crate) const ERR_BUFFER: c_int = 1;
pub(crate) const ERR_COUNT: c_int = 2;
pub(crate) const ERR_TYPE: c_int = 3;
pub(crate) const ERR_TAG: c_int = 4;
pub(crate) const ERR_COMM: c_int = 5;
pub(crate) const ERR_RANK: c_int = 6;
pub(crate) const ERR_REQUEST: c_int = 7;
pub(crate) const ERR_ROOT: c_int = 8;
pub(crate) const ERR_GROUP: c_int = 9;
pub(crate) const ERR_OP: c_int = 10;
pub(crate) const ERR_TOPOLOGY: c_int = 11;
pub(crate) const ERR_DIMS: c_int = 12;
pub(crate) const ERR_ARG: c_int = 13;
pub(crate) const ERR_UNKNOWN: c_int = 14;
pub(crate) const ERR_TRUNCATE: c_int = 15;
pub(crate) const ERR_OTHER: c_int = 16;
pub(crate) const ERR_INTERN: c_int = 17;
pub(crate) const ERR_PENDING: c_int = 18;
pub(crate) const ERR_IN_STATUS: c_int = 19;
pub(crate) const ERR_ACCESS: c_int = 20;
pub(crate) const ERR_AMODE: c_int = 21;
pub(crate) const ERR_ASSERT: c_int = 22;
pub(crate) const ERR_BAD_FILE: c_int = 23;
pub(crate) const ERR_BASE: c_int = 24;
pub(crate) const ERR_CONVERSION: c_int = 25;
pub(crate) const ERR_DISP: c_int = 26;
pub(crate) const ERR_DUP_DATAREP: c_int = 27;
pub(crate) const ERR_FILE_EXISTS: c_int = 28;
pub(crate) const ERR_FILE_IN_USE: c_int = 29;
pub(crate) const ERR_FILE: c_int = 30;
pub(crate) const ERR_INFO_KEY: c_int = 31;
pub(crate) const ERR_INFO_NOKEY: c_int = 32;
pub(crate) const ERR_INFO_VALUE: c_int = 33;
pub(crate) const ERR_INFO: c_int = 34;
pub(crate) const ERR_IO: c_int = 35;
pub(crate) const ERR_KEYVAL: c_int = 36;
pub(crate) const ERR_LOCKTYPE: c_int = 37;
pub(crate) const ERR_NAME: c_int = 38;
pub(crate) const ERR_NO_MEM: c_int = 39;
pub(crate) const ERR_NOT_SAME: c_int = 40;
pub(crate) const ERR_NO_SPACE: c_int = 41;
pub(crate) const ERR_NO_SUCH_FILE: c_int = 42;
pub(crate) const ERR_PORT: c_int = 43;
pub(crate) const ERR_QUOTA: c_int = 44;
pub(crate) const ERR_READ_ONLY: c_int = 45;
pub(crate) const ERR_RMA_ATTACH: c_int = 46;
pub(crate) const ERR_RMA_CONFLICT: c_int = 47;
pub(crate) const ERR_RMA_RANGE: c_int = 48;
pub(crate) const ERR_RMA_SHARED: c_int = 49;
pub(crate) const ERR_RMA_SYNC: c_int = 50;
pub(crate) const ERR_SERVICE: c_int = 51;
pub(crate) const ERR_SIZE: c_int = 52;
pub(crate) const ERR_SPAWN: c_int = 53;
pub(crate) const ERR_UNSUPPORTED_DATAREP: c_int = 54;
pub(crate) const ERR_UNSUPPORTED_OPERATION: c_int = 55;
pub(crate) const ERR_WIN: c_int = 56;
pub(crate) const ERR_RMA_FLAVOR: c_int = 57;
pub(crate) const ERR_PROC_ABORTED: c_int = 58;
pub(crate) const ERR_VALUE_TOO_LARGE: c_int = 59;
pub(crate) const ERR_SESSION: c_int = 60;
pub(crate) const ERR_ERRHANDLER: c_int = 61;
pub(crate) const ERR_ABI: c_int = 62;
pub(crate) const T_ERR_CANNOT_INIT: c_int = 1001;
pub(crate) const T_ERR_NOT_ACCESSIBLE: c_int = 1002;
pub(crate) const T_ERR_NOT_INITIALIZED: c_int = 1003;
pub(crate) const T_ERR_NOT_SUPPORTED: c_int = 1004;
pub(crate) const T_ERR_MEMORY: c_int = 1005;
pub(crate) const T_ERR_INVALID: c_int = 1006;
pub(crate) const T_ERR_INVALID_INDEX: c_int = 1007;
pub(crate) const T_ERR_INVALID_ITEM: c_int = 1008;
pub(crate) const T_ERR_INVALID_SESSION: c_int = 1009;
pub(crate) const T_ERR_INVALID_HANDLE: c_int = 1010;
pub(crate) const T_ERR_INVALID_NAME: c_int = 1011;
pub(crate) const T_ERR_OUT_OF_HANDLES: c_int = 1012;
pub(crate) const T_ERR_OUT_OF_SESSIONS: c_int = 1013;
pub(crate) const T_ERR_CVAR_SET_NOT_NOW: c_int = 1014;
pub(crate) const T_ERR_CVAR_SET_NEVER: c_int = 1015;
pub(crate) const T_ERR_PVAR_NO_WRITE: c_int = 1016;
pub(crate) const T_ERR_PVAR_NO_STARTSTOP: c_int = 1017;
pub(crate) const T_ERR_PVAR_NO_ATOMIC: c_int = 1018;
pub(crate) const ERR_LASTCODE: c_int = 0x3fff;
pub(crate) const MODE_APPEND: c_int = 1;
pub(crate) const MODE_CREATE: c_int = 2;
pub(crate) const MODE_DELETE_ON_CLOSE: c_int = 4;
pub(crate) const MODE_EXCL: c_int = 8;
pub(crate) const MODE_RDONLY: c_int = 16;
pub(crate) const MODE_RDWR: c_int = 32;
pub(crate) const MODE_SEQUENTIAL: c_int = 64;
pub(crate) const MODE_UNIQUE_OPEN: c_int = 128;
pub(crate) const MODE_WRONLY: c_int = 256;
pub(crate) const MODE_NOCHECK: c_int = 1024;
pub(crate) const MODE_NOPRECEDE: c_int = 2048;
pub(crate) const MODE_NOPUT: c_int = 4096;
pub(crate) const MODE_NOSTORE: c_int = 8192;
pub(crate) const MODE_NOSUCCEED: c_int = 16384;
pub(crate) const ANY_SOURCE: c_int = -1;
pub(crate) const ANY_TAG: c_int = -2;
pub(crate) const PROC_NULL: c_int = -3;
pub(crate) const ROOT: c_int = -4;
pub(crate) const UNDEFINED: c_int = -32766;
pub(crate) const THREAD_SINGLE: c_int = 0;
pub(crate) const THREAD_FUNNELED: c_int = 1024;
pub(crate) const THREAD_SERIALIZED: c_int = 2048;
pub(crate) const THREAD_MULTIPLE: c_int = 4096;
pub(crate) const ORDER_C: c_int = 0xC;
pub(crate) const ORDER_FORTRAN: c_int = 0xF;
pub(crate) const DISTRIBUTE_NONE: c_int = 16;
pub(crate) const DISTRIBUTE_BLOCK: c_int = 17;
pub(crate) const DISTRIBUTE_CYCLIC: c_int = 18;
pub(crate) const DISTRIBUTE_DFLT_DARG: c_int = 19;
pub(crate) const COMBINER_NAMED: c_int = 101;
pub(crate) const COMBINER_DUP: c_int = 102;
pub(crate) const COMBINER_CONTIGUOUS: c_int = 103;
pub(crate) const COMBINER_VECTOR: c_int = 104;
pub(crate) const COMBINER_HVECTOR: c_int = 105;
pub(crate) const COMBINER_INDEXED: c_int = 106;
pub(crate) const COMBINER_HINDEXED: c_int = 107;
pub(crate) const COMBINER_INDEXED_BLOCK: c_int = 108;
pub(crate) const COMBINER_HINDEXED_BLOCK: c_int = 109;
pub(crate) const COMBINER_STRUCT: c_int = 110;
pub(crate) const COMBINER_SUBARRAY: c_int = 111;
pub(crate) const COMBINER_DARRAY: c_int = 112;
pub(crate) const COMBINER_F90_REAL: c_int = 113;
pub(crate) const COMBINER_F90_COMPLEX: c_int = 114;
pub(crate) const COMBINER_F90_INTEGER: c_int = 115;
pub(crate) const COMBINER_RESIZED: c_int = 116;
pub(crate) const COMBINER_VALUE_INDEX: c_int = 117;
pub(crate) const TYPECLASS_INTEGER: c_int = 192;
pub(crate) const TYPECLASS_REAL: c_int = 193;
pub(crate) const TYPECLASS_COMPLEX: c_int = 194;
pub(crate) const IDENT: c_int = 201;
pub(crate) const CONGRUENT: c_int = 202;
pub(crate) const SIMILAR: c_int = 203;
pub(crate) const UNEQUAL: c_int = 204;
pub(crate) const CART: c_int = 211;
pub(crate) const GRAPH: c_int = 212;
pub(crate) const DIST_GRAPH: c_int = 213;
pub(crate) const COMM_TYPE_SHARED: c_int = 221;
pub(crate) const COMM_TYPE_HW_UNGUIDED: c_int = 222;
pub(crate) const COMM_TYPE_HW_GUIDED: c_int = 223;
pub(crate) const COMM_TYPE_RESOURCE_GUIDED: c_int = 224;
pub(crate) const LOCK_EXCLUSIVE: c_int = 301;
pub(crate) const LOCK_SHARED: c_int = 302;
pub(crate) const WIN_FLAVOR_CREATE: c_int = 311;
pub(crate) const WIN_FLAVOR_ALLOCATE: c_int = 312;
pub(crate) const WIN_FLAVOR_DYNAMIC: c_int = 313;
pub(crate) const WIN_FLAVOR_SHARED: c_int = 314;
pub(crate) const WIN_UNIFIED: c_int = 321;
pub(crate) const WIN_SEPARATE: c_int = 322;
pub(crate) const SEEK_CUR: c_int = 401;
pub(crate) const SEEK_END: c_int = 402;
pub(crate) const SEEK_SET: c_int = 403;
pub(crate) const KEYVAL_INVALID: c_int = 0;
pub(crate) const TAG_UB: c_int = 501;
pub(crate) const IO: c_int = 502;
pub(crate) const HOST: c_int = 503;
pub(crate) const WTIME_IS_GLOBAL: c_int = 504;
pub(crate) const APPNUM: c_int = 505;
pub(crate) const LASTUSEDCODE: c_int = 506;
pub(crate) const UNIVERSE_SIZE: c_int = 507;
pub(crate) const WIN_BASE: c_int = 601;
pub(crate) const WIN_DISP_UNIT: c_int = 602;
pub(crate) const WIN_SIZE: c_int = 603;
pub(crate) const WIN_CREATE_FLAVOR: c_int = 604;
pub(crate) const WIN_MODEL: c_int = 605;
pub(crate) const T_CB_REQUIRE_NONE: c_int = 0x00;
pub(crate) const T_CB_REQUIRE_MPI_RESTRICTED: c_int = 0x03;
pub(crate) const T_CB_REQUIRE_THREAD_SAFE: c_int = 0x0F;
pub(crate) const T_CB_REQUIRE_ASYNC_SIGNAL_SAFE: c_int = 0x3F;
pub(crate) const T_SOURCE_ORDERED: c_int = 1;
pub(crate) const T_SOURCE_UNORDERED: c_int = 2;
pub(crate) const T_VERBOSITY_USER_BASIC: c_int = 0x09;
pub(crate) const T_VERBOSITY_USER_DETAIL: c_int = 0x0a;
pub(crate) const T_VERBOSITY_USER_ALL: c_int = 0x0c;
pub(crate) const T_VERBOSITY_TUNER_BASIC: c_int = 0x11;
pub(crate) const T_VERBOSITY_TUNER_DETAIL: c_int = 0x12;
pub(crate) const T_VERBOSITY_TUNER_ALL: c_int = 0x14;
pub(crate) const T_VERBOSITY_MPIDEV_BASIC: c_int = 0x21;
pub(crate) const T_VERBOSITY_MPIDEV_DETAIL: c_int = 0x22;
pub(crate) const T_VERBOSITY_MPIDEV_ALL: c_int = 0x24;
pub(crate) const T_BIND_NO_OBJECT: c_int = 1;
pub(crate) const T_BIND_MPI_COMM: c_int = 2;
pub(crate) const T_BIND_MPI_DATATYPE: c_int = 3;
pub(crate) const T_BIND_MPI_ERRHANDLER: c_int = 4;
pub(crate) const T_BIND_MPI_FILE: c_int = 5;
pub(crate) const T_BIND_MPI_GROUP: c_int = 6;
pub(crate) const T_BIND_MPI_OP: c_int = 7;
pub(crate) const T_BIND_MPI_REQUEST: c_int = 8;
pub(crate) const T_BIND_MPI_WIN: c_int = 9;
pub(crate) const T_BIND_MPI_MESSAGE: c_int = 10;
pub(crate) const T_BIND_MPI_INFO: c_int = 11;
pub(crate) const T_BIND_MPI_SESSION: c_int = 12;
pub(crate) const T_SCOPE_CONSTANT: c_int = 1;
pub(crate) const T_SCOPE_READONLY: c_int = 2;
pub(crate) const T_SCOPE_LOCAL: c_int = 3;
pub(crate) const T_SCOPE_GROUP: c_int = 4;
pub(crate) const T_SCOPE_GROUP_EQ: c_int = 5;
pub(crate) const T_SCOPE_ALL: c_int = 6;
pub(crate) const T_SCOPE_ALL_EQ: c_int = 7;
pub(crate) const T_PVAR_CLASS_STATE: c_int = 1;
pub(crate) const T_PVAR_CLASS_LEVEL: c_int = 2;
pub(crate) const T_PVAR_CLASS_SIZE: c_int = 3;
pub(crate) const T_PVAR_CLASS_PERCENTAGE: c_int = 4;
pub(crate) const T_PVAR_CLASS_HIGHWATERMARK: c_int = 5;
pub(crate) const T_PVAR_CLASS_LOWWATERMARK: c_int = 6;
pub(crate) const T_PVAR_CLASS_COUNTER: c_int = 7;
pub(crate) const T_PVAR_CLASS_AGGREGATE: c_int = 8;
pub(crate) const T_PVAR_CLASS_TIMER: c_int = 9;
pub(crate) const T_PVAR_CLASS_GENERIC: c_int = 10;
pub(crate) const BOTTOM: usize = 0;
pub(crate) const IN_PLACE: usize = 1;
pub(crate) const BUFFER_AUTOMATIC: usize = 2;
pub(crate) const ARGV_NULL: usize = 0;
pub(crate) const ARGVS_NULL: usize = 0;
pub(crate) const ERRCODES_IGNORE: usize = 0;
pub(crate) const UNWEIGHTED: usize = 10;
pub(crate) const WEIGHTS_EMPTY: usize = 11;
pub(crate) const STATUS_IGNORE: usize = 0;
pub(crate) const STATUSES_IGNORE: usize = 0;
pub(crate) const NULL_COPY_FN: usize = 0;
pub(crate) const DUP_FN: usize = 1;
pub(crate) const NULL_DELETE_FN: usize = 0;
pub(crate) const COMM_NULL_COPY_FN: usize = 0;
pub(crate) const COMM_DUP_FN: usize = 1;
pub(crate) const COMM_NULL_DELETE_FN: usize = 0;
pub(crate) const TYPE_NULL_COPY_FN: usize = 0;
pub(crate) const TYPE_DUP_FN: usize = 1;
pub(crate) const TYPE_NULL_DELETE_FN: usize = 0;
pub(crate) const WIN_NULL_COPY_FN: usize = 0;
pub(crate) const WIN_DUP_FN: usize = 1;
pub(crate) const WIN_NULL_DELETE_FN: usize = 0;
pub(crate) const CONVERSION_FN_NULL: usize = 0;
pub(crate) const CONVERSION_FN_NULL_C: usize = 0;
pub(crate) const T_ENUM_NULL: usize = 0;
pub(crate) const T_CVAR_HANDLE_NULL: usize = 0;
pub(crate) const T_PVAR_SESSION_NULL: usize = 0;
pub(crate) const T_PVAR_HANDLE_NULL: usize = 0;
pub(crate) const T_PVAR_ALL_HANDLES: usize = 1;
pub(crate) const VERSION: c_int = 5;
pub(crate) const SUBVERSION: c_int = 0;
pub(crate) const ABI_VERSION: c_int = 1;
pub(crate) const ABI_SUBVERSION: c_int = 0;
pub(crate) const MAX_DATAREP_STRING: c_int = 128;
pub(crate) const MAX_ERROR_STRING: c_int = 512;
pub(crate) const MAX_INFO_KEY: c_int = 256;
pub(crate) const MAX_INFO_VAL: c_int = 1024;
pub(crate) const MAX_LIBRARY_VERSION_STRING: c_int = 8192;
pub(crate) const MAX_OBJECT_NAME: c_int = 128;
pub(crate) const MAX_PORT_NAME: c_int = 1024;
pub(crate) const MAX_PROCESSOR_NAME: c_int = 256;
pub(crate) const MAX_STRINGTAG_LEN: c_int = 1024;
pub(crate) const MAX_PSET_NAME_LEN: c_int = 1024;
pub(crate) const BSEND_OVERHEAD: c_int = 512;
pub(crate) const F_STATUS_IGNORE: usize = 0;
pub(crate) const F_STATUSES_IGNORE: usize = 0;
pub(crate) const F08_STATUS_IGNORE: usize = 0;
pub(crate) const F08_STATUSES_IGNORE: usize = 0;

handle!(Op);
handle!(Comm);
handle!(Group);
handle!(Win);
handle!(File);
handle!(Session);
handle!(Message);
handle!(Info);
handle!(Errhandler);
handle!(Request);
handle!(Datatype);

/// The names of the error classes.
pub(crate) const ERROR_CLASSES: &[(c_int, &str)] = &[
    (SUCCESS, "MPI_SUCCESS"),
    (ERR_BUFFER, "MPI_ERR_BUFFER"),
    (ERR_COUNT, "MPI_ERR_COUNT"),
    (ERR_TYPE, "MPI_ERR_TYPE"),
    (ERR_TAG, "MPI_ERR_TAG"),
    (ERR_COMM, "MPI_ERR_COMM"),
    (ERR_RANK, "MPI_ERR_RANK"),
    (ERR_REQUEST, "MPI_ERR_REQUEST"),
    (ERR_ROOT, "MPI_ERR_ROOT"),
    (ERR_GROUP, "MPI_ERR_GROUP"),
    (ERR_OP, "MPI_ERR_OP"),
    (ERR_TOPOLOGY, "MPI_ERR_TOPOLOGY"),
    (ERR_DIMS, "MPI_ERR_DIMS"),
    (ERR_ARG, "MPI_ERR_ARG"),
    (ERR_UNKNOWN, "MPI_ERR_UNKNOWN"),
    (ERR_TRUNCATE, "MPI_ERR_TRUNCATE"),
    (ERR_OTHER, "MPI_ERR_OTHER"),
    (ERR_INTERN, "MPI_ERR_INTERN"),
    (ERR_PENDING, "MPI_ERR_PENDING"),
    (ERR_IN_STATUS, "MPI_ERR_IN_STATUS"),
    (ERR_ACCESS, "MPI_ERR_ACCESS"),
    (ERR_AMODE, "MPI_ERR_AMODE"),
    (ERR_ASSERT, "MPI_ERR_ASSERT"),
    (ERR_BAD_FILE, "MPI_ERR_BAD_FILE"),
    (ERR_BASE, "MPI_ERR_BASE"),
    (ERR_CONVERSION, "MPI_ERR_CONVERSION"),
    (ERR_DISP, "MPI_ERR_DISP"),
    (ERR_DUP_DATAREP, "MPI_ERR_DUP_DATAREP"),
    (ERR_FILE_EXISTS, "MPI_ERR_FILE_EXISTS"),
    (ERR_FILE_IN_USE, "MPI_ERR_FILE_IN_USE"),
    (ERR_FILE, "MPI_ERR_FILE"),
    (ERR_INFO_KEY, "MPI_ERR_INFO_KEY"),
    (ERR_INFO_NOKEY, "MPI_ERR_INFO_NOKEY"),
    (ERR_INFO_VALUE, "MPI_ERR_INFO_VALUE"),
    (ERR_INFO, "MPI_ERR_INFO"),
    (ERR_IO, "MPI_ERR_IO"),
    (ERR_KEYVAL, "MPI_ERR_KEYVAL"),
    (ERR_LOCKTYPE, "MPI_ERR_LOCKTYPE"),
    (ERR_NAME, "MPI_ERR_NAME"),
    (ERR_NO_MEM, "MPI_ERR_NO_MEM"),
    (ERR_NOT_SAME, "MPI_ERR_NOT_SAME"),
    (ERR_NO_SPACE, "MPI_ERR_NO_SPACE"),
    (ERR_NO_SUCH_FILE, "MPI_ERR_NO_SUCH_FILE"),
    (ERR_PORT, "MPI_ERR_PORT"),
    (ERR_QUOTA, "MPI_ERR_QUOTA"),
    (ERR_READ_ONLY, "MPI_ERR_READ_ONLY"),
    (ERR_RMA_ATTACH, "MPI_ERR_RMA_ATTACH"),
    (ERR_RMA_CONFLICT, "MPI_ERR_RMA_CONFLICT"),
    (ERR_RMA_RANGE, "MPI_ERR_RMA_RANGE"),
    (ERR_RMA_SHARED, "MPI_ERR_RMA_SHARED"),
    (ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC"),
    (ERR_SERVICE, "MPI_ERR_SERVICE"),
    (ERR_SIZE, "MPI_ERR_SIZE"),
    (ERR_SPAWN, "MPI_ERR_SPAWN"),
    (ERR_UNSUPPORTED_DATAREP, "MPI_ERR_UNSUPPORTED_DATAREP"),
    (ERR_UNSUPPORTED_OPERATION, "MPI_ERR_UNSUPPORTED_OPERATION"),
    (ERR_WIN, "MPI_ERR_WIN"),
    (ERR_RMA_FLAVOR, "MPI_ERR_RMA_FLAVOR"),
    (ERR_PROC_ABORTED, "MPI_ERR_PROC_ABORTED"),
    (ERR_VALUE_TOO_LARGE, "MPI_ERR_VALUE_TOO_LARGE"),
    (ERR_SESSION, "MPI_ERR_SESSION"),
    (ERR_ERRHANDLER, "MPI_ERR_ERRHANDLER"),
    (ERR_ABI, "MPI_ERR_ABI"),
    (T_ERR_CANNOT_INIT, "MPI_T_ERR_CANNOT_INIT"),
    (T_ERR_NOT_ACCESSIBLE, "MPI_T_ERR_NOT_ACCESSIBLE"),
    (T_ERR_NOT_INITIALIZED, "MPI_T_ERR_NOT_INITIALIZED"),
    (T_ERR_NOT_SUPPORTED, "MPI_T_ERR_NOT_SUPPORTED"),
    (T_ERR_MEMORY, "MPI_T_ERR_MEMORY"),
    (T_ERR_INVALID, "MPI_T_ERR_INVALID"),
    (T_ERR_INVALID_INDEX, "MPI_T_ERR_INVALID_INDEX"),
    (T_ERR_INVALID_ITEM, "MPI_T_ERR_INVALID_ITEM"),
    (T_ERR_INVALID_SESSION, "MPI_T_ERR_INVALID_SESSION"),
    (T_ERR_INVALID_HANDLE, "MPI_T_ERR_INVALID_HANDLE"),
    (T_ERR_INVALID_NAME, "MPI_T_ERR_INVALID_NAME"),
    (T_ERR_OUT_OF_HANDLES, "MPI_T_ERR_OUT_OF_HANDLES"),
    (T_ERR_OUT_OF_SESSIONS, "MPI_T_ERR_OUT_OF_SESSIONS"),
    (T_ERR_CVAR_SET_NOT_NOW, "MPI_T_ERR_CVAR_SET_NOT_NOW"),
    (T_ERR_CVAR_SET_NEVER, "MPI_T_ERR_CVAR_SET_NEVER"),
    (T_ERR_PVAR_NO_WRITE, "MPI_T_ERR_PVAR_NO_WRITE"),
    (T_ERR_PVAR_NO_STARTSTOP, "MPI_T_ERR_PVAR_NO_STARTSTOP"),
    (T_ERR_PVAR_NO_ATOMIC, "MPI_T_ERR_PVAR_NO_ATOMIC"),
];

/// The names of the predefined datatypes; of several for one, the first.
pub(crate) const TYPE_NAMES: &[(Datatype, &str)] = &[
    (DATATYPE_NULL, "MPI_DATATYPE_NULL"),
    (AINT, "MPI_AINT"),
    (COUNT, "MPI_COUNT"),
    (OFFSET, "MPI_OFFSET"),
    (PACKED, "MPI_PACKED"),
    (SHORT, "MPI_SHORT"),
    (INT, "MPI_INT"),
    (LONG, "MPI_LONG"),
    (LONG_LONG, "MPI_LONG_LONG"),
    (UNSIGNED_SHORT, "MPI_UNSIGNED_SHORT"),
    (UNSIGNED, "MPI_UNSIGNED"),
    (UNSIGNED_LONG, "MPI_UNSIGNED_LONG"),
    (UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG"),
    (FLOAT, "MPI_FLOAT"),
    (C_FLOAT_COMPLEX, "MPI_C_FLOAT_COMPLEX"),
    (CXX_FLOAT_COMPLEX, "MPI_CXX_FLOAT_COMPLEX"),
    (DOUBLE, "MPI_DOUBLE"),
    (C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX"),
    (CXX_DOUBLE_COMPLEX, "MPI_CXX_DOUBLE_COMPLEX"),
    (LOGICAL, "MPI_LOGICAL"),
    (INTEGER, "MPI_INTEGER"),
    (REAL, "MPI_REAL"),
    (COMPLEX, "MPI_COMPLEX"),
    (DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION"),
    (DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX"),
    (CHARACTER, "MPI_CHARACTER"),
    (LONG_DOUBLE, "MPI_LONG_DOUBLE"),
    (C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX"),
    (CXX_LONG_DOUBLE_COMPLEX, "MPI_CXX_LONG_DOUBLE_COMPLEX"),
    (FLOAT_INT, "MPI_FLOAT_INT"),
    (DOUBLE_INT, "MPI_DOUBLE_INT"),
    (LONG_INT, "MPI_LONG_INT"),
    (TWO_INT, "MPI_2INT"),
    (SHORT_INT, "MPI_SHORT_INT"),
    (LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT"),
    (TWO_REAL, "MPI_2REAL"),
    (TWO_DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION"),
    (TWO_INTEGER, "MPI_2INTEGER"),
    (C_BOOL, "MPI_C_BOOL"),
    (CXX_BOOL, "MPI_CXX_BOOL"),
    (WCHAR, "MPI_WCHAR"),
    (INT8_T, "MPI_INT8_T"),
    (UINT8_T, "MPI_UINT8_T"),
    (CHAR, "MPI_CHAR"),
    (SIGNED_CHAR, "MPI_SIGNED_CHAR"),
    (UNSIGNED_CHAR, "MPI_UNSIGNED_CHAR"),
    (BYTE, "MPI_BYTE"),
    (INT16_T, "MPI_INT16_T"),
    (UINT16_T, "MPI_UINT16_T"),
    (INT32_T, "MPI_INT32_T"),
    (UINT32_T, "MPI_UINT32_T"),
    (INT64_T, "MPI_INT64_T"),
    (UINT64_T, "MPI_UINT64_T"),
    (LOGICAL1, "MPI_LOGICAL1"),
    (INTEGER1, "MPI_INTEGER1"),
    (LOGICAL2, "MPI_LOGICAL2"),
    (INTEGER2, "MPI_INTEGER2"),
    (REAL2, "MPI_REAL2"),
    (LOGICAL4, "MPI_LOGICAL4"),
    (INTEGER4, "MPI_INTEGER4"),
    (REAL4, "MPI_REAL4"),
    (COMPLEX4, "MPI_COMPLEX4"),
    (LOGICAL8, "MPI_LOGICAL8"),
    (INTEGER8, "MPI_INTEGER8"),
    (REAL8, "MPI_REAL8"),
    (COMPLEX8, "MPI_COMPLEX8"),
    (LOGICAL16, "MPI_LOGICAL16"),
    (INTEGER16, "MPI_INTEGER16"),
    (REAL16, "MPI_REAL16"),
    (COMPLEX16, "MPI_COMPLEX16"),
    (COMPLEX32, "MPI_COMPLEX32"),
];
