// SPDX-License-Identifier: GPL-2.0
/*
 * What a Java program does with sockets, in lines. Run without and with -Dcom.sun.sdp.conf,
 * which makes the JDK open SDP sockets: the lines must be the same. Argument: an address.
 */
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;

public class SdpTest {
    static InetAddress addr;

    static void say(String what, Object answer) {
        System.out.println(what + ": " + answer);
    }

    interface Action {
        Object run() throws Exception;
    }

    /** What it returns, or what it throws */
    static void ask(String what, Action a) {
        try {
            say(what, a.run());
        } catch (Exception e) {
            say(what, e.getClass().getSimpleName());
        }
    }

    static byte[] pattern(int n) {
        byte[] b = new byte[n];
        for (int i = 0; i < n; i++)
            b[i] = (byte) (i * 7);
        return b;
    }

    static Thread start(Action a) {
        Thread t = new Thread(() -> {
            try {
                a.run();
            } catch (Exception e) {
                say("a thread", e);
            }
        });
        t.start();
        return t;
    }

    static void streams() throws Exception {
        ServerSocket l = new ServerSocket(0, 10, addr);
        Socket c = new Socket(addr, l.getLocalPort());
        Socket s = l.accept();
        byte[] data = pattern(300000);
        OutputStream out = c.getOutputStream();
        InputStream in = s.getInputStream();

        say("addresses", c.getInetAddress().equals(addr) && s.getPort() == c.getLocalPort());
        Thread t = start(() -> {
            out.write(data);
            return null;
        });
        say("300000 bytes", Arrays.equals(in.readNBytes(data.length), data));
        t.join();
        c.getOutputStream().write(new byte[5]);
        for (int i = 0; i < 100 && in.available() < 5; i++)
            Thread.sleep(20);
        say("available()", in.available());
        in.readNBytes(5);
        c.setTcpNoDelay(true);
        c.setKeepAlive(true);
        c.setSoLinger(true, 3);
        c.setReuseAddress(true);
        c.setTrafficClass(8);
        say("options", c.getTcpNoDelay() + " " + c.getKeepAlive() + " " + c.getSoLinger() + " "
            + c.getReuseAddress());
        s.setSoTimeout(200);
        ask("read() with a timeout", () -> in.read());
        s.setSoTimeout(0);
        s.setOOBInline(true);
        c.sendUrgentData(77);
        say("urgent byte, inline", in.read());
        c.shutdownOutput();
        say("the end", in.read());
        ask("write() after shutdownOutput()", () -> {
            out.write(1);
            return "written";
        });
        s.getOutputStream().write(9);
        say("the other way", c.getInputStream().read());
        c.close();
        s.close();
        l.close();
    }

    static void closing() throws Exception {
        ServerSocket l = new ServerSocket(0, 10, addr);
        Socket c = new Socket(addr, l.getLocalPort());
        Socket s = l.accept();

        start(() -> {
            Thread.sleep(300);
            c.close();
            return null;
        });
        ask("close() while in read()", () -> c.getInputStream().read());
        say("what the peer reads", s.getInputStream().read());
        start(() -> {
            Thread.sleep(300);
            l.close();
            return null;
        });
        ask("close() while in accept()", () -> l.accept());
        ask("connect(), nobody there", () -> new Socket(addr, l.getLocalPort()));
    }

    static void channels() throws Exception {
        Selector sel = Selector.open();
        ServerSocketChannel l = ServerSocketChannel.open();
        l.bind(new InetSocketAddress(addr, 0));
        l.configureBlocking(false);
        l.register(sel, SelectionKey.OP_ACCEPT);
        SocketChannel c = SocketChannel.open();
        c.configureBlocking(false);
        SocketChannel s = null;
        boolean up = c.connect(l.getLocalAddress());
        // The JDK's own SDP puts another socket in its place, which blocks
        c.configureBlocking(true);
        c.configureBlocking(false);
        if (!up)
            c.register(sel, SelectionKey.OP_CONNECT);

        while (s == null || !up) {
            sel.select(5000);
            if (sel.selectedKeys().isEmpty())
                break;
            for (SelectionKey k : sel.selectedKeys()) {
                if (k.isAcceptable())
                    s = l.accept();
                else if (k.isConnectable())
                    up = c.finishConnect();
            }
            sel.selectedKeys().clear();
        }
        say("selector: accepted and connected", s != null && up);
        s.configureBlocking(false);
        s.register(sel, SelectionKey.OP_READ);
        c.register(sel, SelectionKey.OP_WRITE);
        ByteBuffer out = ByteBuffer.wrap(pattern(500000)), in = ByteBuffer.allocateDirect(500000);
        while (in.hasRemaining()) {
            if (sel.select(5000) == 0)
                break;
            for (SelectionKey k : sel.selectedKeys()) {
                if (k.isReadable())
                    s.read(in);
                if (k.isWritable() && c.write(out) >= 0 && !out.hasRemaining())
                    k.interestOps(0);
            }
            sel.selectedKeys().clear();
        }
        in.flip();
        out.flip();
        say("selector: 500000 bytes", in.equals(out));
        say("read(), nothing there", s.read(ByteBuffer.allocate(10)));
        c.setOption(StandardSocketOptions.TCP_NODELAY, true);
        say("option", c.getOption(StandardSocketOptions.TCP_NODELAY));
        c.shutdownOutput();
        sel.select(5000);
        say("read() at the end", s.read(ByteBuffer.allocate(10)));
        sel.close();
        c.configureBlocking(true);
        SocketChannel blocked = c;
        start(() -> {
            Thread.sleep(300);
            blocked.close();
            return null;
        });
        ask("channel closed while in read()", () -> c.read(ByteBuffer.allocate(10)));
        s.close();
        l.close();
    }

    public static void main(String[] args) throws Exception {
        addr = InetAddress.getByName(args[0]);
        streams();
        closing();
        channels();
    }
}
