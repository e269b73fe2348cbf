# SPDX-License-Identifier: GPL-2.0
# OpenMPI and stress-ng's sockets over SDP.
# topology: one
# set: apps
# time: 400
# needs: mpirun stress-ng python3
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
# shellcheck source=../apps.sh
. "$LAB_TREE/selftests/apps.sh"
sdp_load || exit

by_modes app_mpi
app_stress_ng ""
