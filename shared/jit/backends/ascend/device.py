"""The properties of an NPU as ACL tells them (deep_jit.md section 21)."""

from __future__ import annotations

from ...device import Device, DeviceProperties
from .acl import Acl
from .acl_types import DeviceAttribute

__all__ = ["read_device"]


def read_device(acl: Acl, index: int) -> Device:
    """Asks ACL for everything a runtime wants to know of device `index`, once.

    Raises:
        LaunchError: there is no such device, or ACL does not know a property.
    """

    def number(attribute: DeviceAttribute) -> int:
        return acl.device_info(index, attribute)

    properties = DeviceProperties(
        soc_name=acl.soc_name(),
        npu_arch=number(DeviceAttribute.NPU_ARCH),
        num_aicpu_cores=number(DeviceAttribute.AICPU_CORES),
        num_aicore_cores=number(DeviceAttribute.AICORE_CORES),
        num_cube_cores=number(DeviceAttribute.CUBE_CORES),
        num_vec_cores=number(DeviceAttribute.VECTOR_CORES),
        warp_size=number(DeviceAttribute.WARP_SIZE),
        max_threads_per_vec_core=number(DeviceAttribute.MAX_THREADS_PER_VECTOR_CORE),
        num_ubuf_bytes_per_vec_core=number(DeviceAttribute.UBUF_BYTES_PER_VECTOR_CORE),
        global_memory_bytes=number(DeviceAttribute.GLOBAL_MEMORY_BYTES),
        num_l2_cache_bytes=number(DeviceAttribute.L2_CACHE_BYTES),
    )
    return Device(properties, index, kind="npu")
