package dev.tollgate.e2e.local;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A network between a client and a server that loses what the server sends, and breaks. */
final class LossyProxy implements AutoCloseable {
  private final ServerSocket listener;
  private final URI target;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private volatile boolean losing;

  /** A proxy to the host and port of a URL. */
  LossyProxy(URI target) throws IOException {
    this.target = target;
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  private static void start(Runnable action) {
    Thread thread = new Thread(action, "proxy");
    thread.setDaemon(true);
    thread.start();
  }

  /** The target's URL through this proxy. */
  String url() {
    return target.toString().replace(":" + target.getPort(), ":" + listener.getLocalPort());
  }

  /** Loses all that the server sends from now on. */
  void loseAnswers() {
    losing = true;
  }

  /** Breaks all connections without a word. New ones work. */
  void cut() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    sockets.clear();
    losing = false;
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listener.accept();
        Socket server = new Socket(target.getHost(), target.getPort());
        sockets.addAll(List.of(client, server));
        start(() -> copy(client, server, false));
        start(() -> copy(server, client, true));
      }
    } catch (IOException closed) {
      // The test has ended.
    }
  }

  private void copy(Socket from, Socket to, boolean isLossy) {
    byte[] buffer = new byte[8192];
    try (from;
        to;
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        if (!(isLossy && losing)) {
          out.write(buffer, 0, read);
          out.flush();
        }
      }
    } catch (IOException cut) {
      // Closing both ends is all there is to do.
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    cut();
  }
}
