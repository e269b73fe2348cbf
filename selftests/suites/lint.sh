# SPDX-License-Identifier: GPL-2.0
# What sparse, W=1, checkpatch and shellcheck have to say.
# topology: host
# time: 600
exec bash "$LAB_TREE/selftests/lint.sh" all
