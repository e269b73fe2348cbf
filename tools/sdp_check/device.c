// SPDX-License-Identifier: GPL-2.0
/*
 * From a network interface to an RDMA device: RoCE ports have the interfaces of their GIDs in
 * sysfs, VLANs included; an IPoIB interface has its device there; of iWARP only the
 * RDMA subsystem's netlink tells.
 */
#include <dirent.h>
#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define CLASS		"/sys/class/infiniband"
#define PATH_SIZE	512

/**
 * struct search - what is sought, and the best found so far
 * @ifname:	see device_find()
 * @best:	what there is to return
 * @found:	there is something
 */
struct search {
	const char *ifname;
	struct rdma_port *best;
	bool found;
};

/* The first line of a file, empty if it can't be read */
static void read_line(const char *path, char *line, size_t len)
{
	FILE *f = fopen(path, "re");

	*line = 0;
	if (!f)
		return;
	if (fgets(line, len, f))
		line[strcspn(line, "\n")] = 0;
	fclose(f);
}

/* "4: ACTIVE" */
static void read_state(struct rdma_port *p)
{
	char path[PATH_SIZE], line[64], *name;

	snprintf(path, sizeof(path), CLASS "/%s/ports/%u/state", p->name, p->port);
	read_line(path, line, sizeof(line));
	name = strchr(line, ' ');
	snprintf(p->state, sizeof(p->state), "%s", name ? name + 1 : "unknown");
}

static bool is_active(const struct rdma_port *p)
{
	return !strcmp(p->state, "ACTIVE");
}

static void found(struct search *s, const char *name, unsigned int port)
{
	struct rdma_port p = { .port = port };

	snprintf(p.name, sizeof(p.name), "%s", name);
	read_state(&p);
	if (!s->found || (is_active(&p) && !is_active(s->best)))
		*s->best = p;
	s->found = true;
}

/* Calls @fn for each entry of a directory but the hidden ones */
static void for_each(const char *path, void (*fn)(const char *path, const char *name, void *arg),
		     void *arg)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	if (!dir)
		return;
	while ((e = readdir(dir)))
		if (*e->d_name != '.')
			fn(path, e->d_name, arg);
	closedir(dir);
}

/**
 * struct at_port - a port whose GIDs are looked at
 * @search:	see there
 * @name:	device
 * @port:	its port
 */
struct at_port {
	struct search *search;
	const char *name;
	unsigned int port;
};

static void look_at_gid(const char *path, const char *name, void *arg)
{
	const struct at_port *at = arg;
	char file[PATH_SIZE], line[64];

	snprintf(file, sizeof(file), "%.400s/%.80s", path, name);
	read_line(file, line, sizeof(line));
	if (*line && !strcmp(line, at->search->ifname))
		found(at->search, at->name, at->port);
}

static void look_at_port(const char *path, const char *name, void *arg)
{
	struct at_port at = *(struct at_port *)arg;
	char ndevs[PATH_SIZE];

	at.port = atoi(name);
	if (!at.search->ifname) {
		found(at.search, at.name, at.port);
		return;
	}
	snprintf(ndevs, sizeof(ndevs), "%.300s/%.80s/gid_attrs/ndevs", path, name);
	for_each(ndevs, look_at_gid, &at);
}

static void look_at_device(const char *path, const char *name, void *arg)
{
	struct at_port at = { .search = arg, .name = name };
	char ports[PATH_SIZE];

	snprintf(ports, sizeof(ports), "%.300s/%.80s/ports", path, name);
	for_each(ports, look_at_port, &at);
}

/* The device an IPoIB interface is on; its port is dev_port, from 0 */
static void look_at_ipoib(const char *path, const char *name, void *arg)
{
	struct search *s = arg;
	char file[PATH_SIZE], line[16];

	(void)path;
	snprintf(file, sizeof(file), "/sys/class/net/%s/dev_port", s->ifname);
	read_line(file, line, sizeof(line));
	found(s, name, atoi(line) + 1);
}

static bool is_ipoib(const char *ifname)
{
	char path[PATH_SIZE], line[16];

	snprintf(path, sizeof(path), "/sys/class/net/%s/type", ifname);
	read_line(path, line, sizeof(line));
	return !strcmp(line, "32");		/* ARPHRD_INFINIBAND */
}

/* A reply of RDMA_NLDEV_CMD_PORT_GET */
static int port_attr(const struct nlattr *attr, void *data)
{
	const struct nlattr **tb = data;

	if (mnl_attr_get_type(attr) < RDMA_NLDEV_ATTR_MAX)
		tb[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

static int look_at_link(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[RDMA_NLDEV_ATTR_MAX] = { NULL };
	struct search *s = data;

	mnl_attr_parse(nlh, 0, port_attr, tb);
	if (tb[RDMA_NLDEV_ATTR_NDEV_NAME] && tb[RDMA_NLDEV_ATTR_DEV_NAME] &&
	    tb[RDMA_NLDEV_ATTR_PORT_INDEX] &&
	    !strcmp(mnl_attr_get_str(tb[RDMA_NLDEV_ATTR_NDEV_NAME]), s->ifname))
		found(s, mnl_attr_get_str(tb[RDMA_NLDEV_ATTR_DEV_NAME]),
		      mnl_attr_get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]));
	return MNL_CB_OK;
}

/* Asks the RDMA subsystem; says nothing when it isn't there */
static void ask(uint16_t command, uint16_t flags, const uint32_t *index,
		int (*reply)(const struct nlmsghdr *nlh, void *data), void *data)
{
	struct mnl_socket *nl = mnl_socket_open(NETLINK_RDMA);
	char buf[8192];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	ssize_t n;

	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	if (index)
		mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, *index);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) ||
	    mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		goto out;
	do {
		n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	} while (n > 0 &&
		 mnl_cb_run(buf, n, 0, mnl_socket_get_portid(nl), reply, data) > MNL_CB_STOP);
out:
	if (nl)
		mnl_socket_close(nl);
}

static int look_at_links(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[RDMA_NLDEV_ATTR_MAX] = { NULL };
	uint32_t index;

	mnl_attr_parse(nlh, 0, port_attr, tb);
	if (tb[RDMA_NLDEV_ATTR_DEV_INDEX]) {
		index = mnl_attr_get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
		ask(RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP, &index, look_at_link, data);
	}
	return MNL_CB_OK;
}

bool device_find(const char *ifname, struct rdma_port *p)
{
	struct search s = { .ifname = ifname, .best = p };
	char path[PATH_SIZE];

	for_each(CLASS, look_at_device, &s);
	if (ifname && is_ipoib(ifname)) {
		snprintf(path, sizeof(path), "/sys/class/net/%s/device/infiniband", ifname);
		for_each(path, look_at_ipoib, &s);
	}
	if (ifname && !s.found)
		ask(RDMA_NLDEV_CMD_GET, NLM_F_DUMP, NULL, look_at_links, &s);
	return s.found;
}
