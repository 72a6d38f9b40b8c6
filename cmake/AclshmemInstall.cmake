# SPDX-License-Identifier: Apache-2.0
# What is installed, and under which target names others find it.
