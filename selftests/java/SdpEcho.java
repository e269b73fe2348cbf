// SPDX-License-Identifier: GPL-2.0
// SdpEcho server|client ADDRESS PORT [blocking-connect]: what Java does with sockets. The server
// has a selector and returns what it gets; the client makes a connection of each kind, blocking
// and not. The JDK's own SDP (com.sun.sdp.conf) makes a new socket in connect(), which is
// a blocking one, whatever it was before.
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.util.Arrays;
import java.util.Random;

class SdpEcho {
	static final int SIZE = 1 << 20;

	static void serve(InetSocketAddress at) throws IOException {
		Selector selector = Selector.open();
		ServerSocketChannel listener = ServerSocketChannel.open();
		listener.bind(at).configureBlocking(false);
		listener.register(selector, SelectionKey.OP_ACCEPT);
		for (;;) {
			selector.select();
			for (SelectionKey key : selector.selectedKeys()) {
				if (key.isAcceptable()) {
					SocketChannel c = listener.accept();
					c.configureBlocking(false);
					c.register(selector, SelectionKey.OP_READ, ByteBuffer.allocateDirect(65536));
				} else {
					echo(key);
				}
			}
			selector.selectedKeys().clear();
		}
	}

	static void echo(SelectionKey key) throws IOException {
		SocketChannel c = (SocketChannel)key.channel();
		ByteBuffer b = (ByteBuffer)key.attachment();
		if (key.isReadable() && c.read(b) < 0) {
			c.close();
			return;
		}
		b.flip();
		c.write(b);
		b.compact();
		key.interestOps((b.hasRemaining() ? SelectionKey.OP_READ : 0) |
				(b.position() > 0 ? SelectionKey.OP_WRITE : 0));
	}

	static void check(byte[] got, byte[] sent) {
		if (!Arrays.equals(got, sent))
			throw new Error("what came back isn't what was sent");
	}

	// Blocking: another thread sends
	static void streams(InetSocketAddress to, byte[] data) throws Exception {
		try (Socket s = new Socket()) {
			s.setTcpNoDelay(true);
			s.setSoTimeout(60000);
			s.connect(to, 20000);
			Thread sender = new Thread(() -> {
				try {
					s.getOutputStream().write(data);
					s.shutdownOutput();
				} catch (IOException e) {
					throw new Error(e);
				}
			});
			sender.start();
			check(s.getInputStream().readNBytes(SIZE), data);
			sender.join();
		}
	}

	static void channels(InetSocketAddress to, byte[] data, boolean blocking) throws Exception {
		ByteBuffer out = ByteBuffer.wrap(data), in = ByteBuffer.allocate(SIZE);
		Selector selector = Selector.open();
		SocketChannel c = SocketChannel.open();
		if (blocking)
			c.connect(to);
		c.configureBlocking(false);
		c.register(selector, blocking ? SelectionKey.OP_WRITE : SelectionKey.OP_CONNECT);
		if (!blocking)
			c.connect(to);
		while (in.hasRemaining()) {
			selector.select();
			selector.selectedKeys().clear();
			if (c.isConnectionPending() && !c.finishConnect())
				continue;
			c.write(out);
			c.read(in);
			c.keyFor(selector).interestOps(SelectionKey.OP_READ |
						       (out.hasRemaining() ? SelectionKey.OP_WRITE : 0));
		}
		check(in.array(), data);
		c.close();
	}

	public static void main(String[] args) throws Exception {
		InetSocketAddress at = new InetSocketAddress(args[1], Integer.parseInt(args[2]));
		byte[] data = new byte[SIZE];

		if (args[0].equals("server"))
			serve(at);
		new Random(1).nextBytes(data);
		streams(at, data);
		channels(at, data, args.length > 3);
		System.out.println("same");
	}
}
