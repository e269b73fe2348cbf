// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a function of the kernel slow, for tests of what others do meanwhile:
 * whoever calls it spins a while first, so a race that is won once in a
 * thousand runs is won in most of them.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>

static char *function;
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "name of the function");

static unsigned int ms = 1;
module_param(ms, uint, 0444);
MODULE_PARM_DESC(ms, "milliseconds each call takes longer, at most 1000 (default 1)");

static int delay_call(struct kprobe *p, struct pt_regs *regs)
{
	mdelay(ms);
	return 0;
}

static struct kprobe delay_probe = { .pre_handler = delay_call };

static int __init delay_init(void)
{
	if (!function || ms > 1000) {
		pr_err("sdp_delay: give function=NAME, and ms=N up to 1000\n");
		return -EINVAL;
	}
	delay_probe.symbol_name = function;
	return register_kprobe(&delay_probe);
}

static void __exit delay_exit(void)
{
	unregister_kprobe(&delay_probe);
}

module_init(delay_init);
module_exit(delay_exit);
MODULE_DESCRIPTION("SDP self-tests: slow functions");
MODULE_LICENSE("GPL");
