//! SCI_LIB: the fourteen functions of table 4.

use std::ffi::{c_int, c_long, c_uint};

use crate::running::{Options, Port, begin, bytes, end, node, place_for, room, with_sci};

/// The library's information about itself, for C.
#[repr(C)]
pub(crate) struct Info {
    node: c_int,
    nodes: c_int,
    memory_is_shared: c_int,
    ports: c_int,
    segments: c_int,
    free_bytes: usize,
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sci_init_lib(options: *const Options) -> c_int {
    // SAFETY: the caller passes options or null, as the header requires.
    unsafe { begin(options, false) as c_int }
}

#[unsafe(no_mangle)]
extern "C" fn sci_close_lib() -> c_int {
    end(false) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sci_lib_info(info: *mut Info) -> c_int {
    with_sci(|sci, _| {
        // SAFETY: the caller passes a place for the result, as the header requires.
        let place = unsafe { place_for(info)? };
        let found = sci.sci_lib_info();
        *place = Info {
            node: found.node as c_int,
            nodes: found.nodes as c_int,
            memory_is_shared: found.memory_is_shared.into(),
            ports: found.ports as c_int,
            segments: found.segments as c_int,
            free_bytes: found.free_bytes,
        };
        Ok(0)
    }) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn sci_create_receive_port(name: c_uint) -> c_int {
    with_sci(|sci, open| Ok(open.add_port(Port::Receive(sci.sci_create_receive_port(name)?))))
        as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sci_receive_port_connected(port: c_int, node: *mut c_int) -> c_int {
    with_sci(|sci, open| {
        // SAFETY: the caller passes a place for the result, as the header requires.
        let place = unsafe { place_for(node)? };
        let Some(peer) = sci.sci_receive_port_connected(open.receive_port(port)?)? else {
            return Ok(0);
        };
        *place = peer as c_int;
        Ok(1)
    }) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn sci_connect_transmit_port(to: c_int, name: c_uint) -> c_int {
    with_sci(|sci, open| {
        Ok(open.add_port(Port::Transmit(sci.sci_connect_transmit_port(node(to), name)?)))
    }) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sci_read_msg(port: c_int, buffer: *mut u8, length: usize) -> c_long {
    with_sci(|sci, open| {
        // SAFETY: the caller passes memory of this length, as the header requires.
        let room = unsafe { room(buffer, length)? };
        Ok(sci.sci_read_msg(open.receive_port(port)?, room)? as c_long)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sci_write_msg(port: c_int, data: *const u8, length: usize) -> c_int {
    with_sci(|sci, open| {
        // SAFETY: the caller passes memory of this length, as the header requires.
        let data = unsafe { bytes(data, length)? };
        Ok(sci.sci_write_msg(open.transmit_port(port)?, data).map(|()| 0)?)
    }) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn sci_remove_receive_port(port: c_int) -> c_int {
    with_sci(|sci, open| {
        open.receive_port(port)?;
        let Port::Receive(port) = open.take_port(port)? else { return Ok(0) };
        Ok(sci.sci_remove_receive_port(port).map(|()| 0)?)
    }) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn sci_remove_transmit_port(port: c_int) -> c_int {
    with_sci(|sci, open| {
        open.transmit_port(port)?;
        let Port::Transmit(port) = open.take_port(port)? else { return Ok(0) };
        Ok(sci.sci_remove_transmit_port(port).map(|()| 0)?)
    }) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn sci_create_shm(key: c_uint, length: usize) -> c_int {
    with_sci(|sci, open| Ok(open.add_segment(sci.sci_create_shm(key, length)?))) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn sci_map_shm(of: c_int, key: c_uint) -> c_int {
    with_sci(|sci, open| Ok(open.add_segment(sci.sci_map_shm(node(of), key)?))) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn sci_unmap_shm(segment: c_int) -> c_int {
    with_sci(|sci, open| Ok(sci.sci_unmap_shm(open.segment(segment)?).map(|()| 0)?)) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn sci_remove_shm(segment: c_int) -> c_int {
    with_sci(|sci, open| Ok(sci.sci_remove_shm(open.segment(segment)?).map(|()| 0)?)) as c_int
}
