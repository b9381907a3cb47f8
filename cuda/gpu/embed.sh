#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Prints C that defines an array of the bytes of a file, as `const unsigned char NAME[]`, aligned for any type.
# usage: embed.sh NAME FILE
set -eu
# The checksum changes the C if the file changes, so that it is compiled again.
cat <<C
/* $(cksum <"$2") */
__asm__(".section .rodata\n"
        ".balign 16\n"
        ".global $1\n"
        ".hidden $1\n"
        ".type $1, %object\n"
        "$1:\n"
        ".incbin \"$(realpath "$2")\"\n"
        ".size $1, . - $1\n"
        ".previous\n");
C
