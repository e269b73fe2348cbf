// SPDX-License-Identifier: GPL-2.0
/*
 * Makes functions of the kernel slow, for tests of what others do meanwhile:
 * whoever calls one spins a while first, or behind it, so a race that is won
 * once in a thousand runs is won in most of them.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>

static char *functions[4];
static int n_functions;
module_param_array_named(function, functions, charp, &n_functions, 0444);
MODULE_PARM_DESC(function, "names of the functions, up to four");

static unsigned int ms = 1;
module_param(ms, uint, 0444);
MODULE_PARM_DESC(ms, "milliseconds each call takes longer, at most 1000 (default 1)");

static bool after;
module_param(after, bool, 0444);
MODULE_PARM_DESC(after, "not before they begin but when they have ended (default no)");

static int delay_call(struct kprobe *p, struct pt_regs *regs)
{
	mdelay(ms);
	return 0;
}

static int delay_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	mdelay(ms);
	return 0;
}

static struct kprobe delay_probes[ARRAY_SIZE(functions)];
static struct kprobe *delay_list[ARRAY_SIZE(functions)];
static struct kretprobe delay_returns[ARRAY_SIZE(functions)];
static struct kretprobe *delay_return_list[ARRAY_SIZE(functions)];

static int __init delay_init(void)
{
	int i;

	if (!n_functions || ms > 1000) {
		pr_err("sdp_delay: give function=NAME[,NAME...], and ms=N up to 1000\n");
		return -EINVAL;
	}
	for (i = 0; i < n_functions; i++) {
		delay_probes[i].pre_handler = delay_call;
		delay_probes[i].symbol_name = functions[i];
		delay_list[i] = &delay_probes[i];
		delay_returns[i].handler = delay_return;
		delay_returns[i].kp.symbol_name = functions[i];
		delay_return_list[i] = &delay_returns[i];
	}
	if (after)
		return register_kretprobes(delay_return_list, n_functions);
	return register_kprobes(delay_list, n_functions);
}

static void __exit delay_exit(void)
{
	if (after)
		unregister_kretprobes(delay_return_list, n_functions);
	else
		unregister_kprobes(delay_list, n_functions);
}

module_init(delay_init);
module_exit(delay_exit);
MODULE_DESCRIPTION("SDP self-tests: slow functions");
MODULE_LICENSE("GPL");
