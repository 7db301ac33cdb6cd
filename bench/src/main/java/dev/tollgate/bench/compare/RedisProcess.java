package dev.tollgate.bench.compare;

import dev.tollgate.bench.contenders.Contenders;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Optional;
import redis.embedded.RedisServer;

/** A Redis server in a process of its own, from a jar that has the program for this system. */
final class RedisProcess implements AutoCloseable {
  private final RedisServer server;
  private final InetSocketAddress address;

  private RedisProcess(RedisServer server, InetSocketAddress address) {
    this.server = server;
    this.address = address;
  }

  /** Starts a server that keeps nothing; empty if there is no program for this system. */
  static Optional<RedisProcess> start() {
    try {
      int port = freePort();
      RedisServer server =
          RedisServer.newRedisServer()
              .port(port)
              .setting("bind 127.0.0.1")
              .setting("save \"\"")
              .setting("appendonly no")
              .build();
      server.start();
      InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
      return Contenders.answers(address)
          ? Optional.of(new RedisProcess(server, address))
          : Optional.empty();
    } catch (IOException | RuntimeException e) {
      return Optional.empty();
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  InetSocketAddress address() {
    return address;
  }

  @Override
  public void close() {
    try {
      server.stop();
    } catch (IOException e) {
      // The process ends with this one.
    }
  }
}
