//! Tests the structures and constants against the C headers, if these are installed.

use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

use contract::{AtomicElement, AtomicOperation};

use super::*;

const HEADERS: [&str; 9] = [
    "fabric",
    "fi_domain",
    "fi_eq",
    "fi_endpoint",
    "fi_cm",
    "fi_tagged",
    "fi_rma",
    "fi_atomic",
    "fi_errno",
];

/// A field: the structure in C, the field in C, and the offset here.
type Field = (&'static str, &'static str, usize);

macro_rules! fields {
    ($($c_struct:literal as $rust:ty { $($c_field:literal $field:ident),* $(,)? })*) => {
        vec![$($(($c_struct, $c_field, offset_of!($rust, $field))),*),*]
    };
}

fn fields() -> Vec<Field> {
    fields! {
        "struct fi_info" as Info { "next" next, "caps" caps, "mode" mode, "src_addr" src_addr, "tx_attr" tx_attr,
            "rx_attr" rx_attr, "ep_attr" ep_attr, "domain_attr" domain_attr, "fabric_attr" fabric_attr }
        "struct fi_tx_attr" as TxAttr { "msg_order" msg_order, "inject_size" inject_size, "size" size }
        "struct fi_rx_attr" as RxAttr { "msg_order" msg_order, "size" size }
        "struct fi_ep_attr" as EpAttr { "type" kind, "max_msg_size" max_msg_size, "mem_tag_format" mem_tag_format }
        "struct fi_domain_attr" as DomainAttr { "name" name, "threading" threading, "control_progress" control_progress,
            "data_progress" data_progress, "resource_mgmt" resource_mgmt, "av_type" av_type, "mr_mode" mr_mode,
            "cq_data_size" cq_data_size }
        "struct fi_fabric_attr" as FabricAttr { "name" name, "prov_name" prov_name }
        "struct fid" as Fid { "fclass" class, "context" context, "ops" ops }
        "struct fi_ops" as FidOps { "close" close, "bind" bind, "control" control }
        "struct fid_fabric" as Fabric { "fid" fid, "ops" ops }
        "struct fi_ops_fabric" as FabricOps { "domain" domain, "trywait" trywait }
        "struct fid_domain" as Domain { "ops" ops, "mr" mr }
        "struct fi_ops_domain" as DomainOps { "av_open" av_open, "cq_open" cq_open, "endpoint" endpoint }
        "struct fi_av_attr" as AvAttr { "type" kind, "count" count, "name" name, "flags" flags }
        "struct fid_av" as Av { "ops" ops }
        "struct fi_ops_av" as AvOps { "insert" insert }
        "struct fi_cq_attr" as CqAttr { "size" size, "format" format, "wait_obj" wait_obj, "wait_set" wait_set }
        "struct fid_cq" as Cq { "ops" ops }
        "struct fi_ops_cq" as CqOps { "read" read, "readerr" readerr }
        "struct fi_cq_tagged_entry" as CqTaggedEntry { "op_context" op_context, "len" len, "data" data, "tag" tag }
        "struct fi_cq_err_entry" as CqErrEntry { "op_context" op_context, "tag" tag, "olen" olen, "err" err,
            "err_data_size" err_data_size }
        "struct fid_ep" as Ep { "ops" ops, "cm" cm, "rma" rma, "tagged" tagged, "atomic" atomic }
        "struct fi_ops_ep" as EpOps { "cancel" cancel }
        "struct fi_ops_cm" as CmOps { "getname" getname }
        "struct fi_ops_tagged" as TaggedOps { "recv" recv, "senddata" senddata }
    }
}

fn fields_of_one_sided_operations() -> Vec<Field> {
    fields! {
        "struct fid_mr" as Mr { "fid" fid, "mem_desc" mem_desc, "key" key }
        "struct fi_ops_mr" as MrOps { "reg" reg }
        "struct iovec" as Iov { "iov_base" base, "iov_len" len }
        "struct fi_rma_iov" as RmaIov { "addr" addr, "len" len, "key" key }
        "struct fi_ioc" as Ioc { "addr" addr, "count" count }
        "struct fi_rma_ioc" as RmaIoc { "addr" addr, "count" count, "key" key }
        "struct fi_msg_rma" as MsgRma { "msg_iov" msg_iov, "desc" desc, "iov_count" iov_count, "addr" addr,
            "rma_iov" rma_iov, "rma_iov_count" rma_iov_count, "context" context, "data" data }
        "struct fi_msg_atomic" as MsgAtomic { "msg_iov" msg_iov, "desc" desc, "iov_count" iov_count, "addr" addr,
            "rma_iov" rma_iov, "rma_iov_count" rma_iov_count, "datatype" datatype, "op" op, "context" context,
            "data" data }
        "struct fi_ops_rma" as RmaOps { "read" read, "writemsg" writemsg }
        "struct fi_ops_atomic" as AtomicOps { "writemsg" writemsg, "readwrite" readwrite, "compwrite" compwrite,
            "writevalid" writevalid, "readwritevalid" readwritevalid, "compwritevalid" compwritevalid }
    }
}

/// Returns the constants: the name in C, and the value here.
fn constants() -> Vec<(&'static str, u64)> {
    vec![
        ("FI_RMA", RMA),
        ("FI_TAGGED", TAGGED),
        ("FI_ATOMIC", ATOMIC),
        ("FI_READ", READ),
        ("FI_WRITE", WRITE),
        ("FI_REMOTE_READ", REMOTE_READ),
        ("FI_REMOTE_WRITE", REMOTE_WRITE),
        ("FI_DELIVERY_COMPLETE", DELIVERY_COMPLETE),
        ("FI_ORDER_ATOMIC_RAR", ORDER_ATOMIC_RAR),
        ("FI_ORDER_ATOMIC_RAW", ORDER_ATOMIC_RAW),
        ("FI_ORDER_ATOMIC_WAR", ORDER_ATOMIC_WAR),
        ("FI_ORDER_ATOMIC_WAW", ORDER_ATOMIC_WAW),
        ("FI_MR_VIRT_ADDR", MR_VIRT_ADDR as u64),
        ("FI_MR_ENDPOINT", MR_ENDPOINT as u64),
        ("FI_MR_PROV_KEY", MR_PROV_KEY as u64),
        ("FI_CSWAP", CSWAP as u64),
        ("FI_RECV", RECV),
        ("FI_SEND", SEND),
        ("FI_DIRECTED_RECV", DIRECTED_RECV),
        ("FI_CONTEXT", CONTEXT),
        ("FI_CONTEXT2", CONTEXT2),
        ("FI_ORDER_SAS", ORDER_SAS),
        ("FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT", MR_MODES as u64),
        ("FI_EP_RDM", EP_RDM as u64),
        ("FI_THREAD_DOMAIN", THREAD_DOMAIN as u64),
        ("FI_PROGRESS_MANUAL", PROGRESS_MANUAL as u64),
        ("FI_RM_ENABLED", RM_ENABLED as u64),
        ("FI_AV_TABLE", AV_TABLE as u64),
        ("FI_CQ_FORMAT_TAGGED", CQ_FORMAT_TAGGED as u64),
        ("FI_WAIT_NONE", WAIT_NONE as u64),
        ("FI_WAIT_FD", WAIT_FD as u64),
        ("FI_GETWAIT", GETWAIT as u64),
        ("FI_ENABLE", ENABLE as u64),
        ("FI_ADDR_UNSPEC", ADDRESS_UNSPECIFIED),
        ("FI_EAGAIN", EAGAIN as u64),
        ("FI_EAVAIL", EAVAIL as u64),
        ("sizeof(struct fi_context2)", 64),
    ]
}

/// Returns the numbers of elements and atomic operations.
fn numbers() -> Vec<(&'static str, u64)> {
    vec![
        ("FI_INT8", AtomicElement::I8 as u64),
        ("FI_UINT8", AtomicElement::U8 as u64),
        ("FI_INT16", AtomicElement::I16 as u64),
        ("FI_UINT16", AtomicElement::U16 as u64),
        ("FI_INT32", AtomicElement::I32 as u64),
        ("FI_UINT32", AtomicElement::U32 as u64),
        ("FI_INT64", AtomicElement::I64 as u64),
        ("FI_UINT64", AtomicElement::U64 as u64),
        ("FI_FLOAT", AtomicElement::F32 as u64),
        ("FI_DOUBLE", AtomicElement::F64 as u64),
        ("FI_MIN", AtomicOperation::Minimum as u64),
        ("FI_MAX", AtomicOperation::Maximum as u64),
        ("FI_SUM", AtomicOperation::Sum as u64),
        ("FI_PROD", AtomicOperation::Product as u64),
        ("FI_LOR", AtomicOperation::LogicalOr as u64),
        ("FI_LAND", AtomicOperation::LogicalAnd as u64),
        ("FI_BOR", AtomicOperation::BitOr as u64),
        ("FI_BAND", AtomicOperation::BitAnd as u64),
        ("FI_LXOR", AtomicOperation::LogicalXor as u64),
        ("FI_BXOR", AtomicOperation::BitXor as u64),
        ("FI_ATOMIC_READ", AtomicOperation::Read as u64),
        ("FI_ATOMIC_WRITE", AtomicOperation::Write as u64),
    ]
}

#[test]
fn structures_and_constants_are_those_of_the_headers() {
    let header = ["/usr/include/rdma", "/usr/include"]
        .into_iter()
        .find(|folder| Path::new(folder).join("fi_tagged.h").exists());
    let compiler = ["cc", "gcc", "clang"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    let (Some(header), Some(compiler)) = (header, compiler) else {
        println!(
            "skipped: structures_and_constants_are_those_of_the_headers: no libfabric-dev or no C compiler"
        );
        return;
    };
    let fields = fields().into_iter().chain(fields_of_one_sided_operations());
    let mut source = HEADERS.map(|name| format!("#include <{name}.h>\n")).concat();
    source += "#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n";
    let mut expected = String::new();
    for (structure, field, offset) in fields {
        source +=
            &format!("printf(\"{structure}.{field} %zu\\n\", offsetof({structure}, {field}));\n");
        expected += &format!("{structure}.{field} {offset}\n");
    }
    for (name, value) in constants().into_iter().chain(numbers()) {
        source += &format!("printf(\"{name} %llu\\n\", (unsigned long long)({name}));\n");
        expected += &format!("{name} {value}\n");
    }
    source += "return 0; }\n";
    let folder = std::env::temp_dir().join(format!("fabric-ofi-layout-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, program) = (folder.join("layout.c"), folder.join("layout"));
    std::fs::write(&file, source).unwrap();
    let built = Command::new(compiler)
        .args(["-I", header, "-o"])
        .arg(&program)
        .arg(&file)
        .output()
        .unwrap();
    let printed = Command::new(&program).output();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    assert_eq!(String::from_utf8(printed.unwrap().stdout).unwrap(), expected);
}
