package dev.tollgate.local.services;

import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBRequestHandler;
import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBServerHandler;
import io.undertow.server.HttpHandler;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** DynamoDB Local on the loopback interface. */
public final class TableEngine implements AutoCloseable {
  private static final String LIBRARY_DIRECTORY = "org.sqlite.tmpdir";

  // The engine starts its jobs on threads of the same group, and would let them sleep on when it is
  // closed.
  private final ThreadGroup group = new ThreadGroup("dynamodb");
  private final EngineKey key = new EngineKey();
  private final Server server;
  private final ServerConnector connector;
  private final LocalDynamoDBServerHandler handler;

  private TableEngine(Optional<Path> directory) {
    QueuedThreadPool threads = new QueuedThreadPool(200, 8, 60_000, -1, null, group);
    threads.setName("dynamodb");
    threads.setDaemon(true);
    server = new Server(threads);
    server.setStopTimeout(0);
    connector = new ServerConnector(server, 1, 1);
    connector.setHost("127.0.0.1");
    connector.setIdleTimeout(0);
    server.addConnector(connector);
    // One database for all access keys, whose statuses change at once.
    handler =
        new LocalDynamoDBServerHandler(
            new LocalDynamoDBRequestHandler(
                0, directory.isEmpty(), directory.map(Path::toString).orElse(null), true, false),
            null);
    server.setHandler(
        new Handler.Wrapper(handler) {
          @Override
          public boolean handle(Request request, Response response, Callback callback)
              throws Exception {
            if (key.opens(Optional.ofNullable(request.getHeaders().get(EngineKey.header())))) {
              return super.handle(request, response, callback);
            }
            Response.writeError(request, response, callback, HttpStatus.FORBIDDEN_403);
            return true;
          }
        });
  }

  /**
   * Starts the engine.
   *
   * @param directory where to keep the tables; without it they are kept in memory
   * @throws Exception if it does not start
   */
  public static TableEngine start(Optional<Path> directory) throws Exception {
    giveTheLibraryItsOwnDirectory();
    TableEngine engine = new TableEngine(directory);
    engine.server.start();
    return engine;
  }

  /**
   * The engine unpacks its native library, and loads it from there: by default where all users of
   * the machine have their temporary files.
   */
  private static synchronized void giveTheLibraryItsOwnDirectory() throws IOException {
    if (System.getProperty(LIBRARY_DIRECTORY) == null) {
      Path directory = Files.createTempDirectory("tollgate-sqlite");
      directory.toFile().deleteOnExit(); // after the library, which the engine deletes likewise
      System.setProperty(LIBRARY_DIRECTORY, directory.toString());
    }
  }

  /** Serves {@code dynamodb}. */
  public HttpHandler handler() {
    Forwarder forwarder = new Forwarder(endpoint(), key);
    return forwarder::forward;
  }

  /** Where the engine listens, to whoever has its key. */
  URI endpoint() {
    return URI.create("http://127.0.0.1:" + connector.getLocalPort());
  }

  @Override
  public void close() {
    try {
      server.stop();
    } catch (Exception e) {
      throw new IllegalStateException("DynamoDB Local does not stop", e);
    } finally {
      handler.close();
      group.interrupt();
    }
  }
}
