/* SPDX-License-Identifier: GPL-2.0 */
/* Which RDMA device belongs to a network interface; see device.c. */
#ifndef SDP_CHECK_DEVICE_H
#define SDP_CHECK_DEVICE_H

#include <stdbool.h>

/**
 * struct rdma_port - a port of an RDMA device
 * @name:	the device's name
 * @port:	number of the port
 * @state:	as sysfs has it, "ACTIVE" if it works
 */
struct rdma_port {
	char name[64];
	unsigned int port;
	char state[32];
};

/**
 * device_find() - find the RDMA port behind a network interface
 * @ifname:	interface, NULL for any port, an active one first
 * @p:		where to put it
 *
 * Return: false if there is none.
 */
bool device_find(const char *ifname, struct rdma_port *p);

#endif
