// Made from abi/ and the data of the standard ABI; do not edit.

use std::ffi::c_int;

pub(crate) const OP: &[(u32, u16)] = &[
    (0x18000000, 0x020), // OP_NULL
    (0x58000003, 0x021), // SUM
    (0x58000002, 0x022), // MIN
    (0x58000001, 0x023), // MAX
    (0x58000004, 0x024), // PROD
    (0x58000006, 0x028), // BAND
    (0x58000008, 0x029), // BOR
    (0x5800000a, 0x02a), // BXOR
    (0x58000005, 0x030), // LAND
    (0x58000007, 0x031), // LOR
    (0x58000009, 0x032), // LXOR
    (0x5800000b, 0x038), // MINLOC
    (0x5800000c, 0x039), // MAXLOC
    (0x5800000d, 0x03c), // REPLACE
    (0x5800000e, 0x03d), // NO_OP
];

pub(crate) const COMM: &[(u32, u16)] = &[
    (0x04000000, 0x100), // COMM_NULL
    (0x44000000, 0x101), // COMM_WORLD
    (0x44000001, 0x102), // COMM_SELF
];

pub(crate) const GROUP: &[(u32, u16)] = &[
    (0x08000000, 0x108), // GROUP_NULL
    (0x48000000, 0x109), // GROUP_EMPTY
];

pub(crate) const WIN: &[(u32, u16)] = &[
    (0x20000000, 0x110), // WIN_NULL
];

pub(crate) const FILE: &[(u32, u16)] = &[
    (0, 0x118), // FILE_NULL
];

pub(crate) const SESSION: &[(u32, u16)] = &[
    (0x38000000, 0x120), // SESSION_NULL
];

pub(crate) const MESSAGE: &[(u32, u16)] = &[
    (0x2c000000, 0x128), // MESSAGE_NULL
    (0x6c000000, 0x129), // MESSAGE_NO_PROC
];

pub(crate) const INFO: &[(u32, u16)] = &[
    (0x1c000000, 0x130), // INFO_NULL
    (0x5c000001, 0x131), // INFO_ENV
];

pub(crate) const ERRHANDLER: &[(u32, u16)] = &[
    (0x14000000, 0x140), // ERRHANDLER_NULL
    (0x54000000, 0x141), // ERRORS_ARE_FATAL
    (0x54000003, 0x142), // ERRORS_ABORT
    (0x54000001, 0x143), // ERRORS_RETURN
];

pub(crate) const REQUEST: &[(u32, u16)] = &[
    (0x2c000000, 0x180), // REQUEST_NULL
];

pub(crate) const DATATYPE: &[(u32, u16)] = &[
    (0x0c000000, 0x200), // DATATYPE_NULL
    (0x4c000843, 0x201), // AINT
    (0x4c000845, 0x202), // COUNT
    (0x4c000844, 0x203), // OFFSET
    (0x4c00010f, 0x207), // PACKED
    (0x4c000203, 0x208), // SHORT
    (0x4c000405, 0x209), // INT
    (0x4c000807, 0x20a), // LONG
    (0x4c000809, 0x20b), // LONG_LONG
    (0x4c000204, 0x20c), // UNSIGNED_SHORT
    (0x4c000406, 0x20d), // UNSIGNED
    (0x4c000808, 0x20e), // UNSIGNED_LONG
    (0x4c000819, 0x20f), // UNSIGNED_LONG_LONG
    (0x4c00040a, 0x210), // FLOAT
    (0x4c000840, 0x212), // C_FLOAT_COMPLEX
    (0x4c000834, 0x213), // CXX_FLOAT_COMPLEX
    (0x4c00080b, 0x214), // DOUBLE
    (0x4c001041, 0x216), // C_DOUBLE_COMPLEX
    (0x4c001035, 0x217), // CXX_DOUBLE_COMPLEX
    (0x4c00041d, 0x218), // LOGICAL
    (0x4c00041b, 0x219), // INTEGER
    (0x4c00041c, 0x21a), // REAL
    (0x4c00081e, 0x21b), // COMPLEX
    (0x4c00081f, 0x21c), // DOUBLE_PRECISION
    (0x4c001022, 0x21d), // DOUBLE_COMPLEX
    (0x4c00011a, 0x21e), // CHARACTER
    (0x4c00100c, 0x220), // LONG_DOUBLE
    (0x4c002042, 0x224), // C_LONG_DOUBLE_COMPLEX
    (0x4c002036, 0x225), // CXX_LONG_DOUBLE_COMPLEX
    (0x8c000000, 0x228), // FLOAT_INT
    (0x8c000001, 0x229), // DOUBLE_INT
    (0x8c000002, 0x22a), // LONG_INT
    (0x4c000816, 0x22b), // 2INT
    (0x8c000003, 0x22c), // SHORT_INT
    (0x8c000004, 0x22d), // LONG_DOUBLE_INT
    (0x4c000821, 0x230), // 2REAL
    (0x4c001023, 0x231), // 2DOUBLE_PRECISION
    (0x4c000820, 0x232), // 2INTEGER
    (0x4c00013f, 0x238), // C_BOOL
    (0x4c000133, 0x239), // CXX_BOOL
    (0x4c00040e, 0x23c), // WCHAR
    (0x4c000137, 0x240), // INT8_T
    (0x4c00013b, 0x241), // UINT8_T
    (0x4c000101, 0x243), // CHAR
    (0x4c000118, 0x244), // SIGNED_CHAR
    (0x4c000102, 0x245), // UNSIGNED_CHAR
    (0x4c00010d, 0x247), // BYTE
    (0x4c000238, 0x248), // INT16_T
    (0x4c00023c, 0x249), // UINT16_T
    (0x4c000439, 0x250), // INT32_T
    (0x4c00043d, 0x251), // UINT32_T
    (0x4c00083a, 0x258), // INT64_T
    (0x4c00083e, 0x259), // UINT64_T
    (0x4c000147, 0x2c0), // LOGICAL1
    (0x4c00012d, 0x2c1), // INTEGER1
    (0x4c000248, 0x2c8), // LOGICAL2
    (0x4c00022f, 0x2c9), // INTEGER2
    (0x4c000226, 0x2ca), // REAL2
    (0x4c000449, 0x2d0), // LOGICAL4
    (0x4c000430, 0x2d1), // INTEGER4
    (0x4c000427, 0x2d2), // REAL4
    (0x4c00042e, 0x2d3), // COMPLEX4
    (0x4c00084a, 0x2d8), // LOGICAL8
    (0x4c000831, 0x2d9), // INTEGER8
    (0x4c000829, 0x2da), // REAL8
    (0x4c000828, 0x2db), // COMPLEX8
    (0x4c00104b, 0x2e0), // LOGICAL16
    (0x4c001032, 0x2e1), // INTEGER16
    (0x4c00102b, 0x2e2), // REAL16
    (0x4c00102a, 0x2e3), // COMPLEX16
    (0x4c00202c, 0x2eb), // COMPLEX32
];

pub(crate) const RANK_NUMBER: &[(c_int, c_int)] = &[
    (-1, -3), // PROC_NULL
    (-2, -1), // ANY_SOURCE
    (-3, -4), // ROOT
];

pub(crate) const TAG_NUMBER: &[(c_int, c_int)] = &[
    (-1, -2), // ANY_TAG
];

pub(crate) const ERROR_CODE: &[(c_int, c_int)] = &[
    (1, 1), // ERR_BUFFER
    (2, 2), // ERR_COUNT
    (3, 3), // ERR_TYPE
    (4, 4), // ERR_TAG
    (5, 5), // ERR_COMM
    (6, 6), // ERR_RANK
    (19, 7), // ERR_REQUEST
    (7, 8), // ERR_ROOT
    (8, 9), // ERR_GROUP
    (9, 10), // ERR_OP
    (10, 11), // ERR_TOPOLOGY
    (11, 12), // ERR_DIMS
    (12, 13), // ERR_ARG
    (13, 14), // ERR_UNKNOWN
    (14, 15), // ERR_TRUNCATE
    (15, 16), // ERR_OTHER
    (16, 17), // ERR_INTERN
    (18, 18), // ERR_PENDING
    (17, 19), // ERR_IN_STATUS
    (20, 20), // ERR_ACCESS
    (21, 21), // ERR_AMODE
    (53, 22), // ERR_ASSERT
    (22, 23), // ERR_BAD_FILE
    (46, 24), // ERR_BASE
    (23, 25), // ERR_CONVERSION
    (52, 26), // ERR_DISP
    (24, 27), // ERR_DUP_DATAREP
    (25, 28), // ERR_FILE_EXISTS
    (26, 29), // ERR_FILE_IN_USE
    (27, 30), // ERR_FILE
    (29, 31), // ERR_INFO_KEY
    (31, 32), // ERR_INFO_NOKEY
    (30, 33), // ERR_INFO_VALUE
    (28, 34), // ERR_INFO
    (32, 35), // ERR_IO
    (48, 36), // ERR_KEYVAL
    (47, 37), // ERR_LOCKTYPE
    (33, 38), // ERR_NAME
    (34, 39), // ERR_NO_MEM
    (35, 40), // ERR_NOT_SAME
    (36, 41), // ERR_NO_SPACE
    (37, 42), // ERR_NO_SUCH_FILE
    (38, 43), // ERR_PORT
    (39, 44), // ERR_QUOTA
    (40, 45), // ERR_READ_ONLY
    (56, 46), // ERR_RMA_ATTACH
    (49, 47), // ERR_RMA_CONFLICT
    (55, 48), // ERR_RMA_RANGE
    (57, 49), // ERR_RMA_SHARED
    (50, 50), // ERR_RMA_SYNC
    (41, 51), // ERR_SERVICE
    (51, 52), // ERR_SIZE
    (42, 53), // ERR_SPAWN
    (43, 54), // ERR_UNSUPPORTED_DATAREP
    (44, 55), // ERR_UNSUPPORTED_OPERATION
    (45, 56), // ERR_WIN
    (58, 57), // ERR_RMA_FLAVOR
    (76, 58), // ERR_PROC_ABORTED
    (77, 59), // ERR_VALUE_TOO_LARGE
    (75, 60), // ERR_SESSION
    (80, 61), // ERR_ERRHANDLER
    (81, 62), // ERR_ABI
    (61, 1001), // T_ERR_CANNOT_INIT
    (79, 1002), // T_ERR_NOT_ACCESSIBLE
    (60, 1003), // T_ERR_NOT_INITIALIZED
    (78, 1004), // T_ERR_NOT_SUPPORTED
    (59, 1005), // T_ERR_MEMORY
    (74, 1006), // T_ERR_INVALID
    (62, 1007), // T_ERR_INVALID_INDEX
    (63, 1008), // T_ERR_INVALID_ITEM
    (67, 1009), // T_ERR_INVALID_SESSION
    (64, 1010), // T_ERR_INVALID_HANDLE
    (73, 1011), // T_ERR_INVALID_NAME
    (65, 1012), // T_ERR_OUT_OF_HANDLES
    (66, 1013), // T_ERR_OUT_OF_SESSIONS
    (68, 1014), // T_ERR_CVAR_SET_NOT_NOW
    (69, 1015), // T_ERR_CVAR_SET_NEVER
    (71, 1016), // T_ERR_PVAR_NO_WRITE
    (70, 1017), // T_ERR_PVAR_NO_STARTSTOP
    (72, 1018), // T_ERR_PVAR_NO_ATOMIC
    (0x3fffffff, 0x3fff), // ERR_LASTCODE
];

pub(crate) const FILE_MODE: &[(c_int, c_int)] = &[
    (128, 1), // MODE_APPEND
    (1, 2), // MODE_CREATE
    (16, 4), // MODE_DELETE_ON_CLOSE
    (64, 8), // MODE_EXCL
    (2, 16), // MODE_RDONLY
    (8, 32), // MODE_RDWR
    (256, 64), // MODE_SEQUENTIAL
    (32, 128), // MODE_UNIQUE_OPEN
    (4, 256), // MODE_WRONLY
];

pub(crate) const ASSERTION: &[(c_int, c_int)] = &[
    (1024, 1024), // MODE_NOCHECK
    (8192, 2048), // MODE_NOPRECEDE
    (4096, 4096), // MODE_NOPUT
    (2048, 8192), // MODE_NOSTORE
    (16384, 16384), // MODE_NOSUCCEED
];

pub(crate) const THREAD_LEVEL: &[(c_int, c_int)] = &[
    (0, 0), // THREAD_SINGLE
    (1, 1024), // THREAD_FUNNELED
    (2, 2048), // THREAD_SERIALIZED
    (3, 4096), // THREAD_MULTIPLE
];

pub(crate) const ARRAY_ORDER: &[(c_int, c_int)] = &[
    (56, 0xC), // ORDER_C
    (57, 0xF), // ORDER_FORTRAN
];

pub(crate) const DISTRIBUTION: &[(c_int, c_int)] = &[
    (123, 16), // DISTRIBUTE_NONE
    (121, 17), // DISTRIBUTE_BLOCK
    (122, 18), // DISTRIBUTE_CYCLIC
    (-49767, 19), // DISTRIBUTE_DFLT_DARG
];

pub(crate) const COMBINER: &[(c_int, c_int)] = &[
    (1, 101), // COMBINER_NAMED
    (2, 102), // COMBINER_DUP
    (3, 103), // COMBINER_CONTIGUOUS
    (4, 104), // COMBINER_VECTOR
    (6, 105), // COMBINER_HVECTOR
    (7, 106), // COMBINER_INDEXED
    (9, 107), // COMBINER_HINDEXED
    (10, 108), // COMBINER_INDEXED_BLOCK
    (19, 109), // COMBINER_HINDEXED_BLOCK
    (12, 110), // COMBINER_STRUCT
    (13, 111), // COMBINER_SUBARRAY
    (14, 112), // COMBINER_DARRAY
    (15, 113), // COMBINER_F90_REAL
    (16, 114), // COMBINER_F90_COMPLEX
    (17, 115), // COMBINER_F90_INTEGER
    (18, 116), // COMBINER_RESIZED
    (20, 117), // COMBINER_VALUE_INDEX
];

pub(crate) const TYPE_CLASS: &[(c_int, c_int)] = &[
    (2, 192), // TYPECLASS_INTEGER
    (1, 193), // TYPECLASS_REAL
    (3, 194), // TYPECLASS_COMPLEX
];

pub(crate) const COMPARISON: &[(c_int, c_int)] = &[
    (0, 201), // IDENT
    (1, 202), // CONGRUENT
    (2, 203), // SIMILAR
    (3, 204), // UNEQUAL
];

pub(crate) const TOPOLOGY_KIND: &[(c_int, c_int)] = &[
    (2, 211), // CART
    (1, 212), // GRAPH
    (3, 213), // DIST_GRAPH
];

pub(crate) const SPLIT_KIND: &[(c_int, c_int)] = &[
    (1, 221), // COMM_TYPE_SHARED
    (3, 222), // COMM_TYPE_HW_UNGUIDED
    (2, 223), // COMM_TYPE_HW_GUIDED
    (4, 224), // COMM_TYPE_RESOURCE_GUIDED
];

pub(crate) const LOCK_KIND: &[(c_int, c_int)] = &[
    (234, 301), // LOCK_EXCLUSIVE
    (235, 302), // LOCK_SHARED
];

pub(crate) const WINDOW_FLAVOR: &[(c_int, c_int)] = &[
    (1, 311), // WIN_FLAVOR_CREATE
    (2, 312), // WIN_FLAVOR_ALLOCATE
    (3, 313), // WIN_FLAVOR_DYNAMIC
    (4, 314), // WIN_FLAVOR_SHARED
];

pub(crate) const WINDOW_MODEL: &[(c_int, c_int)] = &[
    (2, 321), // WIN_UNIFIED
    (1, 322), // WIN_SEPARATE
];

pub(crate) const SEEK_START: &[(c_int, c_int)] = &[
    (602, 401), // SEEK_CUR
    (604, 402), // SEEK_END
    (600, 403), // SEEK_SET
];

pub(crate) const KEY_VALUE: &[(c_int, c_int)] = &[
    (0x24000000, 0), // KEYVAL_INVALID
    (0x64400001, 501), // TAG_UB
    (0x64400005, 502), // IO
    (0x64400003, 503), // HOST
    (0x64400007, 504), // WTIME_IS_GLOBAL
    (0x6440000d, 505), // APPNUM
    (0x6440000b, 506), // LASTUSEDCODE
    (0x64400009, 507), // UNIVERSE_SIZE
    (0x66000001, 601), // WIN_BASE
    (0x66000005, 602), // WIN_DISP_UNIT
    (0x66000003, 603), // WIN_SIZE
    (0x66000007, 604), // WIN_CREATE_FLAVOR
    (0x66000009, 605), // WIN_MODEL
];

/// The same by name.
pub(crate) mod keys {
    use std::ffi::c_int;

    pub(crate) const IO: c_int = 0x64400005;
    pub(crate) const HOST: c_int = 0x64400003;
    pub(crate) const LASTUSEDCODE: c_int = 0x6440000b;
    pub(crate) const WIN_CREATE_FLAVOR: c_int = 0x66000007;
    pub(crate) const WIN_MODEL: c_int = 0x66000009;
}

pub(crate) const VERBOSITY: &[(c_int, c_int)] = &[
    (221, 0x09), // T_VERBOSITY_USER_BASIC
    (222, 0x0a), // T_VERBOSITY_USER_DETAIL
    (223, 0x0c), // T_VERBOSITY_USER_ALL
    (224, 0x11), // T_VERBOSITY_TUNER_BASIC
    (225, 0x12), // T_VERBOSITY_TUNER_DETAIL
    (226, 0x14), // T_VERBOSITY_TUNER_ALL
    (227, 0x21), // T_VERBOSITY_MPIDEV_BASIC
    (228, 0x22), // T_VERBOSITY_MPIDEV_DETAIL
    (229, 0x24), // T_VERBOSITY_MPIDEV_ALL
];

pub(crate) const BOUND_OBJECT: &[(c_int, c_int)] = &[
    (9700, 1), // T_BIND_NO_OBJECT
    (9701, 2), // T_BIND_MPI_COMM
    (9702, 3), // T_BIND_MPI_DATATYPE
    (9703, 4), // T_BIND_MPI_ERRHANDLER
    (9704, 5), // T_BIND_MPI_FILE
    (9705, 6), // T_BIND_MPI_GROUP
    (9706, 7), // T_BIND_MPI_OP
    (9707, 8), // T_BIND_MPI_REQUEST
    (9708, 9), // T_BIND_MPI_WIN
    (9709, 10), // T_BIND_MPI_MESSAGE
    (9710, 11), // T_BIND_MPI_INFO
    (9711, 12), // T_BIND_MPI_SESSION
];

pub(crate) const VARIABLE_SCOPE: &[(c_int, c_int)] = &[
    (60438, 1), // T_SCOPE_CONSTANT
    (60439, 2), // T_SCOPE_READONLY
    (60440, 3), // T_SCOPE_LOCAL
    (60441, 4), // T_SCOPE_GROUP
    (60442, 5), // T_SCOPE_GROUP_EQ
    (60443, 6), // T_SCOPE_ALL
    (60444, 7), // T_SCOPE_ALL_EQ
];

pub(crate) const VARIABLE_CLASS: &[(c_int, c_int)] = &[
    (240, 1), // T_PVAR_CLASS_STATE
    (241, 2), // T_PVAR_CLASS_LEVEL
    (242, 3), // T_PVAR_CLASS_SIZE
    (243, 4), // T_PVAR_CLASS_PERCENTAGE
    (244, 5), // T_PVAR_CLASS_HIGHWATERMARK
    (245, 6), // T_PVAR_CLASS_LOWWATERMARK
    (246, 7), // T_PVAR_CLASS_COUNTER
    (247, 8), // T_PVAR_CLASS_AGGREGATE
    (248, 9), // T_PVAR_CLASS_TIMER
    (249, 10), // T_PVAR_CLASS_GENERIC
];

pub(crate) const ADDRESSES: &[(isize, isize)] = &[
    (-1, 1), // IN_PLACE
    (-2, 2), // BUFFER_AUTOMATIC
];
