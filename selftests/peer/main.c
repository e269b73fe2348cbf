// SPDX-License-Identifier: GPL-2.0
/*
 * The device, the words of a command, and the table of commands.
 */
#include <linux/crc32.h>
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include "peer.h"

static DEFINE_MUTEX(peers_lock);
static LIST_HEAD(peers);

struct peer_device {
	struct list_head	list;
	struct ib_device	*dev;
};

static LIST_HEAD(devices);
static DEFINE_MUTEX(devices_lock);

static const char * const event_names[EV_COUNT] = {
	[EV_REQ] = "req", [EV_REP] = "rep", [EV_RTU] = "rtu", [EV_REJ] = "rej",
	[EV_CM_TIMEOUT] = "cmtimeout", [EV_DREQ] = "dreq", [EV_DREP] = "drep",
	[EV_TIMEWAIT] = "timewait", [EV_COMM_EST] = "commest", [EV_QP_ERROR] = "qperr",
	[EV_FLUSHED] = "flushed", [EV_SEND_ERROR] = "senderr", [EV_GONE] = "gone",
};

/* --- replies and arguments ---------------------------------------------- */

void reply(struct peer *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	p->reply_len += vscnprintf(p->reply + p->reply_len, PEER_REPLY_MAX - p->reply_len, fmt, ap);
	va_end(ap);
}

void reply_hex(struct peer *p, const u8 *data, u32 len)
{
	len = min_t(size_t, len, (PEER_REPLY_MAX - p->reply_len - 1) / 2);
	bin2hex(p->reply + p->reply_len, data, len);
	p->reply_len += 2 * len;
}

static bool is_key(const char *word)
{
	return strchr(word, '=');
}

/* The @n-th word after the command that is not key=value, or NULL */
const char *arg(const struct args *a, int n)
{
	int i;

	for (i = 1; i < a->n; i++)
		if (!is_key(a->word[i]) && !n--)
			return a->word[i];
	return NULL;
}

const char *arg_key(const struct args *a, const char *key)
{
	size_t len = strlen(key);
	int i;

	for (i = 1; i < a->n; i++)
		if (!strncmp(a->word[i], key, len) && a->word[i][len] == '=')
			return a->word[i] + len + 1;
	return NULL;
}

static u64 parse_num(struct args *a, const char *s, u64 dflt)
{
	u64 num;
	s64 neg;

	if (!s || !strcmp(s, "auto"))
		return dflt;
	if (!kstrtou64(s, 0, &num))
		return num;
	if (!kstrtos64(s, 0, &neg))
		return neg;
	a->err = -EINVAL;
	return dflt;
}

u64 arg_num(struct args *a, int n, u64 dflt)
{
	return parse_num(a, arg(a, n), dflt);
}

u64 arg_keynum(struct args *a, const char *key, u64 dflt)
{
	return parse_num(a, arg_key(a, key), dflt);
}

/* Hex digits up to the end or a colon; returns bytes, or a negative errno */
int arg_hex(const char *s, u8 *buf, u32 max)
{
	size_t digits = strcspn(s, ":");

	if (digits % 2 || digits / 2 > max || hex2bin(buf, s, digits / 2))
		return -EINVAL;
	return digits / 2;
}

/* --- events -------------------------------------------------------------- */

void peer_event(struct peer *p, enum peer_event ev)
{
	set_bit(ev, &p->events);
	wake_up_all(&p->wait);
}

/* Waits for one of @events; 0, -ETIMEDOUT, -ENODEV or -ERESTARTSYS */
int peer_wait(struct peer *p, unsigned long events, u64 ms)
{
	long left;

	left = wait_event_interruptible_timeout(p->wait,
						READ_ONCE(p->events) & (events | BIT(EV_GONE)),
						msecs_to_jiffies(ms));
	if (left < 0)
		return left;
	if (READ_ONCE(p->events) & events)
		return 0;
	return left ? -ENODEV : -ETIMEDOUT;
}

static void reply_events(struct peer *p, unsigned long events)
{
	const char *sep = "";
	int i;

	for_each_set_bit(i, &events, EV_COUNT) {
		reply(p, "%s%s", sep, event_names[i]);
		sep = ",";
	}
	if (!*sep)
		reply(p, "none");
}

/* --- commands ------------------------------------------------------------ */

static int cmd_post(struct peer *p, struct args *a)
{
	u64 count = arg_num(a, 0, 1), size = arg_num(a, 1, p->buf_size);

	return a->err ?: qp_post(p, count, size);
}

static int cmd_repost(struct peer *p, struct args *a)
{
	bool on = arg_num(a, 0, 1);

	spin_lock(&p->lock);
	p->repost = on;
	spin_unlock(&p->lock);
	return a->err;
}

static struct peer_buf *next_message(struct peer *p)
{
	struct peer_buf *b;

	spin_lock(&p->lock);
	b = list_first_entry_or_null(&p->rx, struct peer_buf, list);
	if (b)
		list_del_init(&b->list);
	spin_unlock(&p->lock);
	return b;
}

/* The next message, in order; an error if none comes or none can */
static struct peer_buf *await_message(struct peer *p, unsigned long until, int *err)
{
	const unsigned long over = BIT(EV_GONE) | BIT(EV_FLUSHED) | BIT(EV_QP_ERROR);
	struct peer_buf *b;
	long left;

	left = wait_event_interruptible_timeout(p->wait,
						!list_empty_careful(&p->rx) ||
						(READ_ONCE(p->events) & over),
						time_before(jiffies, until) ? until - jiffies : 0);
	b = next_message(p);
	*err = b ? 0 : left < 0 ? left : left ? -ENOTCONN : -ETIMEDOUT;
	return b;
}

static int cmd_recv(struct peer *p, struct args *a)
{
	unsigned long until = jiffies + msecs_to_jiffies(arg_num(a, 0, PEER_TIMEOUT));
	struct peer_buf *b;
	int err;

	if (a->err)
		return a->err;
	b = await_message(p, until, &err);
	if (!b)
		return err;
	msg_print(p, b, arg_keynum(a, "hex", 0));
	msg_count_payload(p, b);
	qp_consume(p, b);
	return 0;
}

/* Drops messages until one of the given kind */
static int cmd_expect(struct peer *p, struct args *a)
{
	unsigned long until = jiffies + msecs_to_jiffies(arg_num(a, 1, PEER_TIMEOUT));
	int mid = arg(a, 0) ? msg_mid(arg(a, 0)) : -EINVAL;
	struct peer_buf *b;
	int err = a->err ?: min(mid, 0);
	bool found = false;

	while (!err && !found) {
		b = await_message(p, until, &err);
		if (!b)
			break;
		found = b->len && b->data[0] == mid;
		if (found)
			msg_print(p, b, arg_keynum(a, "hex", 0));
		msg_count_payload(p, b);
		qp_consume(p, b);
	}
	return err;
}

static int cmd_await(struct peer *p, struct args *a)
{
	const char *names = arg(a, 0);
	u64 ms = arg_num(a, 1, PEER_TIMEOUT);
	unsigned long events = 0;
	size_t len;
	int i, err;

	for (; names && *names; names += len + !!names[len]) {
		len = strcspn(names, ",");
		for (i = 0; i < EV_COUNT; i++)
			if (strlen(event_names[i]) == len && !strncmp(names, event_names[i], len))
				break;
		if (i == EV_COUNT)
			return -EINVAL;
		events |= BIT(i);
	}
	if (!events || a->err)
		return -EINVAL;
	err = peer_wait(p, events, ms);
	if (!err)
		reply_events(p, READ_ONCE(p->events) & events);
	return err;
}

static int cmd_status(struct peer *p, struct args *a)
{
	spin_lock(&p->lock);
	reply(p, "%s events=", p->established ? "established" : p->listen_id ? "listening" : "idle");
	reply_events(p, READ_ONCE(p->events));
	reply(p, " credits=%d posted=%u pending=%u tx_mseq=%u rx_mseq=%u peer_size=%u rx_bytes=%llu rx_crc=%08x rdcompl=%llu sendsm=%u disconn=%d%d bad_count=%u bad=%s",
	      (s32)(p->limit - p->tx_mseq), p->posted, p->tx_pending, p->tx_mseq, p->rx_mseq,
	      p->peer_size, p->rx_bytes, ~p->rx_crc, p->rd_completed, p->sendsm_count,
	      p->disconn_sent, p->disconn_rcvd, p->bad_count, p->bad_count ? p->bad : "none");
	spin_unlock(&p->lock);
	return 0;
}

static int cmd_flush(struct peer *p, struct args *a)
{
	u64 ms = arg_num(a, 0, PEER_TIMEOUT);

	return a->err ?: qp_flush(p, 0, ms);
}

static int cmd_disconn(struct peer *p, struct args *a)
{
	return msg_send_wait(p, SDP_MID_DISCONN, NULL, 0, PEER_TIMEOUT);
}

static int cmd_abort(struct peer *p, struct args *a)
{
	return msg_send_wait(p, SDP_MID_ABORT, NULL, 0, PEER_TIMEOUT);
}

static int cmd_credit(struct peer *p, struct args *a)
{
	return msg_send_wait(p, SDP_MID_DATA, NULL, 0, PEER_TIMEOUT);
}

static int cmd_kill(struct peer *p, struct args *a)
{
	return qp_kill(p);
}

static int cmd_close(struct peer *p, struct args *a)
{
	cm_close(p);
	if (arg_keynum(a, "all", 0))
		cm_unlisten(p);
	return 0;
}

static int cmd_auto(struct peer *p, struct args *a)
{
	static const char * const modes[] = { "off", "sink", "echo" };
	static const char * const adverts[] = { "read", "sendsm", "ignore" };
	int mode = match_string(modes, ARRAY_SIZE(modes), arg(a, 0) ?: "sink");
	int on_advert = match_string(adverts, ARRAY_SIZE(adverts), arg_key(a, "srcavail") ?: "read");
	bool updates = arg_keynum(a, "credits", 1);

	if (mode < 0 || on_advert < 0 || a->err)
		return -EINVAL;
	WRITE_ONCE(p->credit_updates, updates);
	WRITE_ONCE(p->on_advert, on_advert);
	WRITE_ONCE(p->mode, mode);
	if (mode == AUTO_OFF)
		cancel_work_sync(&p->work);
	else
		queue_work(system_long_wq, &p->work);
	return 0;
}

/* rread RKEY VA LEN [hex=1] */
static int cmd_rread(struct peer *p, struct args *a)
{
	u64 rkey = arg_num(a, 0, 0), va = arg_num(a, 1, 0), len = arg_num(a, 2, 0);
	struct peer_buf *b;
	int err;

	if (a->err || len > PEER_MSG_MAX)
		return -EINVAL;
	b = qp_buf(p, max_t(u32, len, 1), DMA_FROM_DEVICE);
	if (IS_ERR(b))
		return PTR_ERR(b);
	err = qp_rdma(p, IB_WR_RDMA_READ, rkey, va, b, len);
	if (err > 0) {
		reply(p, "failed %s", ib_wc_status_msg(err));
	} else if (!err) {
		reply(p, "ok len=%llu crc=%08x", len, ~crc32_le(~0, b->data, len));
		if (arg_keynum(a, "hex", 0)) {
			reply(p, " hex=");
			reply_hex(p, b->data, len);
		}
	}
	qp_buf_free(b, DMA_FROM_DEVICE);
	return min(err, 0);
}

/* rwrite RKEY VA LEN [seed=N] [off=N] */
static int cmd_rwrite(struct peer *p, struct args *a)
{
	u64 rkey = arg_num(a, 0, 0), va = arg_num(a, 1, 0), len = arg_num(a, 2, 0);
	struct peer_buf *b;
	int err;

	if (a->err || len > PEER_MSG_MAX)
		return -EINVAL;
	b = qp_buf(p, max_t(u32, len, 1), DMA_TO_DEVICE);
	if (IS_ERR(b))
		return PTR_ERR(b);
	msg_pattern(b->data, len, arg_keynum(a, "seed", 0), arg_keynum(a, "off", 0));
	err = qp_rdma(p, IB_WR_RDMA_WRITE, rkey, va, b, len);
	if (err > 0)
		reply(p, "failed %s", ib_wc_status_msg(err));
	qp_buf_free(b, DMA_TO_DEVICE);
	return min(err, 0);
}

/* mrcrc ID [OFF LEN] [hex=1] */
static int cmd_mrcrc(struct peer *p, struct args *a)
{
	struct peer_mr *mr = qp_find_mr(p, arg_num(a, 0, 0));
	u64 off = arg_num(a, 1, 0), len;

	if (!mr || off > mr->len)
		return -EINVAL;
	len = arg_num(a, 2, mr->len - off);
	if (a->err || len > mr->len - off)
		return -EINVAL;
	ib_dma_sync_single_for_cpu(p->dev, sg_dma_address(&mr->sg), mr->sg.length,
				   DMA_BIDIRECTIONAL);
	reply(p, "ok crc=%08x", ~crc32_le(~0, mr->mem + off, len));
	if (arg_keynum(a, "hex", 0)) {
		reply(p, " hex=");
		reply_hex(p, mr->mem + off, len);
	}
	return 0;
}

#define HELLO_KEYS " post bufsz raw at plen mid flags bufs len mseq ack version ipvcap adverts "
#define MSG_KEYS " mid flags bufs len mseq ack num mode sid alen rkey va nd "

/* Commands and the keys each of them takes, a space before and behind each */
static const struct {
	const char	*name;
	int		(*run)(struct peer *p, struct args *a);
	const char	*keys;
} commands[] = {
	{ "connect",	cm_connect,	HELLO_KEYS "des rcvsz port extadverts srcip dstip src sid nowait nortu timeout cmtimeout retries " },
	{ "wait",	cm_wait,	" timeout nortu " },
	{ "listen",	cm_listen,	" dev sid " },
	{ "accept",	cm_accept,	HELLO_KEYS "rcvsz timeout nowait " },
	{ "reject",	cm_reject,	" data timeout " },
	{ "rtu",	cm_rtu,		"" },
	{ "dreq",	cm_dreq,	"" },
	{ "post",	cmd_post,	"" },
	{ "repost",	cmd_repost,	"" },
	{ "send",	msg_build_send,	MSG_KEYS "ext payload trunc mr inline force times timeout at " },
	{ "sendraw",	msg_send_raw,	" force timeout " },
	{ "recv",	cmd_recv,	" hex " },
	{ "expect",	cmd_expect,	" hex " },
	{ "await",	cmd_await,	"" },
	{ "status",	cmd_status,	"" },
	{ "flush",	cmd_flush,	"" },
	{ "credit",	cmd_credit,	"" },
	{ "disconn",	cmd_disconn,	"" },
	{ "abort",	cmd_abort,	"" },
	{ "kill",	cmd_kill,	"" },
	{ "close",	cmd_close,	" all " },
	{ "auto",	cmd_auto,	" srcavail credits " },
	{ "source",	auto_source,	" msg seed off timeout " },
	{ "mr",		qp_mr,		" seed off " },
	{ "inv",	qp_invalidate,	"" },
	{ "mrcrc",	cmd_mrcrc,	" hex " },
	{ "rread",	cmd_rread,	" hex " },
	{ "rwrite",	cmd_rwrite,	" seed off " },
};

/* A mistyped key must not pass for a default */
static bool keys_known(const struct args *a, const char *known)
{
	char key[16];
	int i;

	for (i = 1; i < a->n; i++) {
		if (!is_key(a->word[i]))
			continue;
		scnprintf(key, sizeof(key), " %.*s ", (int)strcspn(a->word[i], "="), a->word[i]);
		if (!strstr(known, key))
			return false;
	}
	return true;
}

static int run_command(struct peer *p, struct args *a)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(a->word[0], commands[i].name))
			return keys_known(a, commands[i].keys) ? commands[i].run(p, a) : -EINVAL;
	return -EOPNOTSUPP;
}

static void execute(struct peer *p, char *line)
{
	struct args a = {};
	char *word;
	int err;

	p->reply_len = 0;
	p->reply_off = 0;
	while ((word = strsep(&line, " \t\n")) && a.n < PEER_WORDS)
		if (*word)
			a.word[a.n++] = word;
	if (word)
		err = -E2BIG;
	else
		err = a.n ? run_command(p, &a) : -EINVAL;

	if (err == -ETIMEDOUT || err == -ENOTCONN) {
		p->reply_len = 0;
		reply(p, err == -ETIMEDOUT ? "timeout" : "closed");
	} else if (err) {
		p->reply_len = 0;
		reply(p, "error %d", err == -ERESTARTSYS ? -EINTR : err);
	} else if (!p->reply_len) {
		reply(p, "ok");
	}
	reply(p, "\n");
}

/* --- the device ---------------------------------------------------------- */

static int peer_open(struct inode *inode, struct file *file)
{
	struct peer *p = kvzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	p->reply = vzalloc(PEER_REPLY_MAX);
	if (!p->reply) {
		kvfree(p);
		return -ENOMEM;
	}
	mutex_init(&p->cmd);
	mutex_init(&p->tx);
	spin_lock_init(&p->lock);
	init_waitqueue_head(&p->wait);
	INIT_LIST_HEAD(&p->mrs);
	INIT_LIST_HEAD(&p->rx);
	INIT_LIST_HEAD(&p->spare);
	INIT_LIST_HEAD(&p->sent_out);
	INIT_WORK(&p->work, auto_work);
	auto_reset(p);
	p->buf_size = PEER_BUF_SIZE;

	mutex_lock(&peers_lock);
	list_add(&p->all, &peers);
	mutex_unlock(&peers_lock);
	file->private_data = p;
	return stream_open(inode, file);
}

static int peer_release(struct inode *inode, struct file *file)
{
	struct peer *p = file->private_data;

	mutex_lock(&peers_lock);
	list_del(&p->all);
	mutex_unlock(&peers_lock);

	mutex_lock(&p->cmd);
	cm_close(p);
	cm_unlisten(p);
	mutex_unlock(&p->cmd);
	vfree(p->reply);
	kvfree(p);
	return 0;
}

static ssize_t peer_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct peer *p = file->private_data;
	char *line;

	if (len > PEER_REPLY_MAX)
		return -EMSGSIZE;
	line = memdup_user_nul(buf, len);
	if (IS_ERR(line))
		return PTR_ERR(line);
	if (mutex_lock_interruptible(&p->cmd)) {
		kfree(line);
		return -ERESTARTSYS;
	}
	execute(p, line);
	mutex_unlock(&p->cmd);
	kfree(line);
	return len;
}

static ssize_t peer_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	struct peer *p = file->private_data;

	if (mutex_lock_interruptible(&p->cmd))
		return -ERESTARTSYS;
	len = min(len, p->reply_len - p->reply_off);
	if (copy_to_user(buf, p->reply + p->reply_off, len))
		len = -EFAULT;
	else
		p->reply_off += len;
	mutex_unlock(&p->cmd);
	return len;
}

static const struct file_operations peer_fops = {
	.owner		= THIS_MODULE,
	.open		= peer_open,
	.release	= peer_release,
	.read		= peer_read,
	.write		= peer_write,
};

static struct miscdevice peer_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "sdp_peer",
	.fops	= &peer_fops,
	.mode	= 0600,
};

/* --- devices below ------------------------------------------------------- */

/* Good until the caller's command ends, see peer_remove_device() */
struct ib_device *peer_device(const char *name)
{
	struct ib_device *found = NULL;
	struct peer_device *d;

	mutex_lock(&devices_lock);
	list_for_each_entry(d, &devices, list)
		if (!found && (!name || !strcmp(name, dev_name(&d->dev->dev))))
			found = d->dev;
	mutex_unlock(&devices_lock);
	return found;
}

static int peer_add_device(struct ib_device *dev)
{
	struct peer_device *d = kzalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return -ENOMEM;
	d->dev = dev;
	mutex_lock(&devices_lock);
	list_add_tail(&d->list, &devices);
	mutex_unlock(&devices_lock);
	return 0;
}

static void forget_device(struct ib_device *dev)
{
	struct peer_device *d, *tmp;

	mutex_lock(&devices_lock);
	list_for_each_entry_safe(d, tmp, &devices, list) {
		if (d->dev == dev) {
			list_del(&d->list);
			kfree(d);
		}
	}
	mutex_unlock(&devices_lock);
}

/*
 * A command that found the device before it was forgotten holds its peer's
 * mutex and has put the device into peer->dev when it lets go.
 */
static void peer_remove_device(struct ib_device *dev, void *data)
{
	struct peer *p;

	forget_device(dev);
	mutex_lock(&peers_lock);
	list_for_each_entry(p, &peers, all) {
		if (READ_ONCE(p->dev) == dev)
			peer_event(p, EV_GONE);
		mutex_lock(&p->cmd);
		if (p->dev == dev) {
			cm_close(p);
			cm_unlisten(p);
			peer_event(p, EV_GONE);
		}
		mutex_unlock(&p->cmd);
	}
	mutex_unlock(&peers_lock);
}

static struct ib_client peer_client = {
	.name	= "sdp_peer",
	.add	= peer_add_device,
	.remove	= peer_remove_device,
};

static int __init peer_module_init(void)
{
	int err = ib_register_client(&peer_client);

	if (err)
		return err;
	err = misc_register(&peer_misc);
	if (err)
		ib_unregister_client(&peer_client);
	return err;
}

static void __exit peer_module_exit(void)
{
	misc_deregister(&peer_misc);
	ib_unregister_client(&peer_client);
}

module_init(peer_module_init);
module_exit(peer_module_exit);
MODULE_DESCRIPTION("Scriptable SDP peer, for tests only");
MODULE_LICENSE("GPL");
