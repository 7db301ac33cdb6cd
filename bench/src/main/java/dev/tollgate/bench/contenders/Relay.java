package dev.tollgate.bench.contenders;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A TCP relay on the loopback interface that counts and delays requests. A request begins with the
 * first bytes that a client sends after a response, whatever the protocol; so a client must wait
 * for the response before it sends the next request on the same connection. The delay passes once
 * for each request, before its first byte goes on.
 */
public final class Relay implements AutoCloseable {
  private static final int BUFFER = 16 * 1024;
  private static final Pattern TARGET =
      Pattern.compile("(?i)\\r\\nx-amz-target: *[^.\\s]+\\.(\\w+)");
  private static final Pattern ACTION = Pattern.compile("(?:^|[\\n&])Action=(\\w+)");
  private static final Pattern COMMAND = Pattern.compile("^\\*\\d+\\r\\n\\$\\d+\\r\\n(\\w+)\\r\\n");

  /**
   * The operation of a request of an AWS API, such as {@code UpdateItem}; {@code other} if unknown.
   */
  public static final UnaryOperator<String> AWS =
      head -> {
        Matcher target = TARGET.matcher(head);
        Matcher action = ACTION.matcher(head);
        if (target.find()) {
          return target.group(1);
        }
        return action.find() ? action.group(1) : "other";
      };

  /** The command of a Redis request in upper case, such as {@code EVALSHA}. */
  public static final UnaryOperator<String> REDIS =
      head -> {
        Matcher command = COMMAND.matcher(head);
        return command.find() ? command.group(1).toUpperCase(Locale.ROOT) : "other";
      };

  private final ServerSocket server;
  private final InetSocketAddress target;
  private final UnaryOperator<String> operationOf;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final Map<String, LongAdder> requests = new ConcurrentHashMap<>();
  private final ThreadMXBean clocks = ManagementFactory.getThreadMXBean();
  private final Set<Long> threads = ConcurrentHashMap.newKeySet();
  private final AtomicLong endedNanos = new AtomicLong();
  private volatile LongSupplier delayNanos = () -> 0;

  /**
   * Opens a relay on a free port.
   *
   * @param operationOf names the operation of a request from its first bytes
   */
  public Relay(InetSocketAddress target, UnaryOperator<String> operationOf) {
    this.target = target;
    this.operationOf = operationOf;
    try {
      server = new ServerSocket(0, 256, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    start(this::accept);
  }

  /** The port that clients connect to. */
  public int port() {
    return server.getLocalPort();
  }

  /** Delays each request from now on. Called once for each request, by several threads. */
  public void delay(LongSupplier nanos) {
    delayNanos = nanos;
  }

  /** What has passed so far. */
  public Wire wire() {
    Map<String, Long> counts = new HashMap<>();
    requests.forEach((operation, count) -> counts.put(operation, count.sum()));
    long cpu = endedNanos.get();
    for (long thread : threads) {
      cpu += Math.max(0, clocks.getThreadCpuTime(thread));
    }
    return new Wire(counts, cpu);
  }

  @Override
  public void close() {
    close(server);
    sockets.forEach(Relay::close);
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = open(server.accept());
        Socket service = open(new Socket(target.getAddress(), target.getPort()));
        AtomicBoolean answered = new AtomicBoolean(true);
        start(() -> forward(client, service, answered));
        start(() -> back(service, client, answered));
      } catch (IOException e) {
        // The relay is closed, or the service is: its clients see a connection that ends.
      }
    }
  }

  private Socket open(Socket socket) throws IOException {
    socket.setTcpNoDelay(true);
    sockets.add(socket);
    return socket;
  }

  private void forward(Socket client, Socket service, AtomicBoolean answered) {
    byte[] buffer = new byte[BUFFER];
    try {
      InputStream in = client.getInputStream();
      OutputStream out = service.getOutputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        if (answered.getAndSet(false)) {
          count(new String(buffer, 0, read, StandardCharsets.ISO_8859_1));
          pause(delayNanos.getAsLong());
        }
        out.write(buffer, 0, read);
      }
    } catch (IOException e) {
      // One side closed its connection.
    } finally {
      end(client, service);
    }
  }

  private void back(Socket service, Socket client, AtomicBoolean answered) {
    byte[] buffer = new byte[BUFFER];
    try {
      InputStream in = service.getInputStream();
      OutputStream out = client.getOutputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        // Before the client has the answer and can send the next request.
        answered.set(true);
        out.write(buffer, 0, read);
      }
    } catch (IOException e) {
      // One side closed its connection.
    } finally {
      end(service, client);
    }
  }

  private void count(String head) {
    requests.computeIfAbsent(operationOf.apply(head), name -> new LongAdder()).increment();
  }

  private static void pause(long nanos) {
    long end = System.nanoTime() + nanos;
    for (long left = nanos; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private void end(Socket one, Socket other) {
    close(one);
    close(other);
    sockets.remove(one);
    sockets.remove(other);
  }

  private void start(Runnable work) {
    Thread thread =
        new Thread(
            () -> {
              long id = Thread.currentThread().getId();
              threads.add(id);
              try {
                work.run();
              } finally {
                threads.remove(id);
                endedNanos.addAndGet(clocks.getCurrentThreadCpuTime());
              }
            },
            "relay");
    thread.setDaemon(true);
    thread.start();
  }

  private static void close(AutoCloseable connection) {
    try {
      connection.close();
    } catch (Exception e) {
      // Nothing is lost: both sides are closed anyway.
    }
  }
}
