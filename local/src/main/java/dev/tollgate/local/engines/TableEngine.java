package dev.tollgate.local.engines;

import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBRequestHandler;
import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBServerHandler;
import dev.tollgate.local.endpoint.Call;
import io.undertow.server.HttpHandler;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpTester;
import org.eclipse.jetty.server.LocalConnector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** DynamoDB Local, called in this process without a port. */
public final class TableEngine implements AutoCloseable {
  private static final String LIBRARY_DIRECTORY = "org.sqlite.tmpdir";
  private static final long ANSWER_SECONDS = 60;
  private static final List<String> FORWARDED =
      List.of("Authorization", "Content-Type", "X-Amz-Target");

  /** The region of all ARNs of DynamoDB Local, which no service model allows. */
  private static final String ENGINE_REGION = "ddblocal";

  /**
   * DynamoDB Local's logger that warns of a missing JAXB, which nobody can add. The field keeps the
   * level, because loggers without a reference are collected.
   */
  private static final Logger BASE64_LOGGER = Logger.getLogger("com.amazonaws.util.Base64");

  static {
    BASE64_LOGGER.setLevel(Level.SEVERE);
  }

  private static final String ARN = "arn:aws:dynamodb:%s:";
  private static final String RECORD_REGION = "\"awsRegion\":\"%s\"";

  /** The operations whose requests and answers have ARNs. */
  private static final Set<String> OPERATIONS_WITH_ARNS =
      Set.of(
          "CreateTable",
          "DeleteTable",
          "DescribeStream",
          "DescribeTable",
          "GetRecords",
          "GetShardIterator",
          "ListStreams",
          "UpdateTable");

  /**
   * Written while an engine starts, read while one answers. All engines of a process share a static
   * table of operations, which each fills anew when it starts: meanwhile, the others would not know
   * their operations.
   */
  private static final ReadWriteLock OPERATIONS = new ReentrantReadWriteLock();

  // DynamoDB Local starts its jobs on threads of the same group, and does not end them when closed.
  private final ThreadGroup group = new ThreadGroup("dynamodb");
  private final Server server;
  private final LocalConnector connector;
  private final LocalDynamoDBServerHandler handler;
  private final String region;

  /**
   * Starts the engine.
   *
   * @param directory the directory for tables; without it they are kept in memory
   * @param region the region in ARNs
   * @throws Exception if it does not start
   */
  public TableEngine(Optional<Path> directory, String region) throws Exception {
    this.region = region;
    giveTheLibraryItsOwnDirectory();
    QueuedThreadPool threads = new QueuedThreadPool(200, 8, 60_000, -1, null, group);
    threads.setName("dynamodb");
    threads.setDaemon(true);
    server = new Server(threads);
    server.setStopTimeout(0);
    connector = new LocalConnector(server);
    server.addConnector(connector);
    // One database for all access keys, where the status of a table changes at once.
    LocalDynamoDBRequestHandler database =
        new LocalDynamoDBRequestHandler(
            0, directory.isEmpty(), directory.map(Path::toString).orElse(null), true, false);
    OPERATIONS.writeLock().lock();
    try {
      handler = new LocalDynamoDBServerHandler(database, null);
    } finally {
      OPERATIONS.writeLock().unlock();
    }
    server.setHandler(handler);
    server.start();
  }

  /**
   * Has the engine unpack and load its native library in a directory of its own. The default is the
   * directory for temporary files of all users of the machine.
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
    return exchange -> {
      HttpTester.Request request = HttpTester.newRequest();
      request.setMethod(exchange.getRequestMethod().toString());
      request.setURI("/");
      request.put(HttpHeader.HOST, "dynamodb");
      request.put(HttpHeader.CONNECTION, "close");
      for (String name : FORWARDED) {
        request.put(name, exchange.getRequestHeaders().getFirst(name));
      }
      Call call = Call.of(exchange);
      boolean hasArns = OPERATIONS_WITH_ARNS.contains(call.operation());
      String body = hasArns ? moved(call.body(), region, ENGINE_REGION) : call.body();
      request.setContent(body.getBytes(StandardCharsets.UTF_8));
      HttpTester.Response response = HttpTester.parseResponse(answer(request));
      Map<String, String> headers = new HashMap<>();
      response.forEach(header -> headers.put(header.getName(), header.getValue()));
      String answer = new String(response.getContentBytes(), StandardCharsets.UTF_8);
      new EngineAnswer(
              response.getStatus(),
              headers,
              hasArns ? moved(answer, ENGINE_REGION, region) : answer)
          .send(exchange);
    };
  }

  private ByteBuffer answer(HttpTester.Request request) throws Exception {
    OPERATIONS.readLock().lock();
    try {
      return connector.getResponse(request.generate(), ANSWER_SECONDS, TimeUnit.SECONDS);
    } finally {
      OPERATIONS.readLock().unlock();
    }
  }

  /** A body whose ARNs and records are of another region. */
  private static String moved(String body, String from, String to) {
    return body.replace(ARN.formatted(from), ARN.formatted(to))
        .replace(RECORD_REGION.formatted(from), RECORD_REGION.formatted(to));
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
