package dev.tollgate.client;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * A server with scripted answers for AWS clients that records their operations. Without a script,
 * STS returns credentials and every other operation an empty object.
 */
final class ScriptedAws implements AutoCloseable {
  private static final String CREDENTIALS =
      """
      <AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
      <Credentials><AccessKeyId>tenant</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>
      <SessionToken>token</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>
      </AssumeRoleResult></AssumeRoleResponse>""";

  /** The header in which the SDK counts the attempts of a request. */
  static final String ATTEMPT = "amz-sdk-request";

  private final HttpServer server;
  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final List<String> operations = new CopyOnWriteArrayList<>();
  private final Map<String, Supplier<String>> scripts = new ConcurrentHashMap<>();

  ScriptedAws() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    server.setExecutor(executor);
    server.createContext("/", this::serve);
    server.start();
  }

  /** The environment variables of an application that uses this server. */
  Map<String, String> environment() {
    String endpoint = "http://127.0.0.1:" + server.getAddress().getPort();
    return Map.of(
        "AWS_REGION", "eu-central-1",
        "AWS_ENDPOINT_URL", endpoint,
        "AWS_ACCESS_KEY_ID", "own",
        "AWS_SECRET_ACCESS_KEY", "secret",
        "LIMIT_TABLE", "Limits",
        "QUEUE_URL_PREFIX", endpoint + "/000000000000/",
        "TENANT_ROLE_ARN", "arn:aws:iam::000000000000:role/Claims",
        "TOKEN_PRODUCER_ARN", "arn:aws:lambda:eu-central-1:000000000000:function:f:live");
  }

  /** Sets the answer to an operation. */
  void on(String operation, Supplier<String> answer) {
    scripts.put(operation, answer);
  }

  /** The requested operations, in order, without repeated requests. */
  List<String> operations() {
    return List.copyOf(operations);
  }

  /** Whether the SDK has not sent this request before, by its header {@link #ATTEMPT}. */
  static boolean isFirstAttempt(String header) {
    return header.startsWith("attempt=1;");
  }

  private void serve(HttpExchange exchange) throws IOException {
    exchange.getRequestBody().readAllBytes();
    String operation =
        Optional.ofNullable(exchange.getRequestHeaders().getFirst("X-Amz-Target"))
            .map(target -> target.substring(target.indexOf('.') + 1))
            .orElse("AssumeRole");
    // A machine that is busy elsewhere may answer so late that the SDK repeats a request.
    if (isFirstAttempt(exchange.getRequestHeaders().getFirst(ATTEMPT))) {
      operations.add(operation);
    }
    String answer =
        scripts
            .getOrDefault(operation, () -> operation.equals("AssumeRole") ? CREDENTIALS : "{}")
            .get();
    byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
    executor.shutdownNow();
  }
}
