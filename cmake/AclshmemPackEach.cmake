# SPDX-License-Identifier: Apache-2.0
# Read by CPack once per kind of package: the .deb have a fixed place, the archive is unpacked anywhere.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGING_INSTALL_PREFIX /opt/aclshmem)
else()
  set(CPACK_PACKAGING_INSTALL_PREFIX /)
endif()
