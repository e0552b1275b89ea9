package bot;

import java.io.BufferedInputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/** A connection to the server: over TCP, over TLS, or this process's own standard input and output. */
public final class Connection implements AutoCloseable {
    public static final String DEFAULT_ADDRESS = "tcp://127.0.0.1:7878";
    public static final String STDIO = "stdio:";

    private static final Pattern ADDRESS = Pattern.compile("(tcp|tls)://(?:\\[([^]]+)]|([^:/@\\[\\]]+)):(\\d{1,5})");
    private static final int CONNECT_MS = 10_000;

    private final Socket socket; // null over standard streams
    private final InputStream input;
    private final OutputStream output;

    private Connection(Socket socket, InputStream input, OutputStream output) {
        this.socket = socket;
        this.input = new BufferedInputStream(input);
        this.output = output;
    }

    /** Connects to {@code tcp://HOST:PORT}, {@code tls://HOST:PORT} or {@code stdio:}. */
    public static Connection open(String address) throws IOException, ClientException {
        if (address.equals(STDIO)) {
            System.setOut(System.err); // the output of a player must not mix with the messages
            return new Connection(null, System.in, new FileOutputStream(FileDescriptor.out));
        }
        Matcher parts = ADDRESS.matcher(address);
        if (!parts.matches() || !isPort(Integer.parseInt(parts.group(4)))) {
            String forms = "tcp://HOST:PORT, tls://HOST:PORT or " + STDIO;
            throw new ClientException("not an address:  " + address + "; it is " + forms, ClientException.USAGE);
        }
        String host = parts.group(2) != null ? parts.group(2) : parts.group(3);
        Socket socket = connected(host, Integer.parseInt(parts.group(4)), parts.group(1).equals("tls"));
        return new Connection(socket, socket.getInputStream(), socket.getOutputStream());
    }

    private static boolean isPort(int number) {
        return number >= 1 && number <= 65_535;
    }

    private static Socket connected(String host, int port, boolean secure) throws IOException {
        InetSocketAddress place = new InetSocketAddress(host, port);
        if (place.isUnresolved()) {
            throw new UnknownHostException("no such host: " + host);
        }
        Socket socket = new Socket();
        try {
            socket.connect(place, CONNECT_MS);
            socket.setTcpNoDelay(true);
            socket.setKeepAlive(true); // detects a peer that died silently
            return secure ? secured(socket, host, port) : socket;
        } catch (IOException error) {
            socket.close();
            throw error;
        }
    }

    private static Socket secured(Socket plain, String host, int port) throws IOException {
        SSLSocketFactory factory = (SSLSocketFactory) SSLSocketFactory.getDefault();
        SSLSocket socket = (SSLSocket) factory.createSocket(plain, host, port, true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS"); // the certificate must be for this host
        socket.setSSLParameters(parameters);
        socket.setSoTimeout(CONNECT_MS);
        socket.startHandshake();
        socket.setSoTimeout(0); // other players may think for long
        return socket;
    }

    /** Sends a message in one write: two for one line would wait for each other on the network. */
    public void send(Json message) throws IOException {
        output.write(Codec.encode(message));
        output.flush();
    }

    /** Returns the next message, or null at the end. */
    public Json receive() throws IOException, ClientException {
        byte[] line = Codec.readLine(input);
        return line == null ? null : Codec.decode(line);
    }

    @Override
    public void close() {
        try {
            if (socket != null) {
                socket.close();
            }
        } catch (IOException error) {
            // the connection is gone anyway
        }
    }
}
