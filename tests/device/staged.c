/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for aicore_copies_directly in programs that are to copy through the unified buffer, as on a card. */
int device_copies_directly(void);

int device_copies_directly(void)
{
    return 0;
}
