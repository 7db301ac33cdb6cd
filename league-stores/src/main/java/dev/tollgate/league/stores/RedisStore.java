package dev.tollgate.league.stores;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.JedisPoolConfig;
import redis.embedded.RedisServer;

/** A Redis server in a process of its own, from a jar that has the program for this system. */
record RedisStore(RedisServer server, JedisPool pool) implements AutoCloseable {
  /** More than callers claim at the same time. */
  private static final int CONNECTIONS = 64;

  static RedisStore start() {
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
      JedisPoolConfig configuration = new JedisPoolConfig();
      configuration.setMaxTotal(CONNECTIONS);
      configuration.setMaxIdle(CONNECTIONS);
      return new RedisStore(
          server,
          new JedisPool(configuration, "127.0.0.1", port, (int) Duration.ofSeconds(10).toMillis()));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** A port of the loopback interface that is free now. */
  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Override
  public void close() {
    pool.close();
    try {
      server.stop();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
