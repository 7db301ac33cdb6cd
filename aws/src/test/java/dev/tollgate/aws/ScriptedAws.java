package dev.tollgate.aws;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server that records the requests of AWS clients and sends scripted responses, for cases that
 * the engines cannot produce. An operation without a script gets an empty object, and AssumeRole
 * gets credentials for the tenant in its session tag.
 */
public final class ScriptedAws implements AutoCloseable {
  private static final Pattern ACCESS_KEY = Pattern.compile("Credential=([^/]+)/");
  private static final Pattern TAG =
      Pattern.compile("Tags\\.member\\.1\\.Key=tenantId&Tags\\.member\\.1\\.Value=([^&]+)");
  private static final Pattern ACTION = Pattern.compile("(?:^|&)Action=(\\w+)");

  /** A published version of the pool's processor. */
  public static final String PROCESSOR_ARN =
      "arn:aws:lambda:eu-central-1:000000000000:function:processor:7";

  private final HttpServer server;
  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final List<Request> requests = new CopyOnWriteArrayList<>();
  private final Map<String, Function<Request, Answer>> scripts = new ConcurrentHashMap<>();

  public ScriptedAws() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    server.setExecutor(executor);
    server.createContext("/", this::serve);
    server.start();
    on("AssumeRole", ScriptedAws::credentials);
  }

  /** The address of the server. */
  public String endpoint() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** The environment of a function that uses this server. */
  public Map<String, String> environment() {
    Map<String, String> environment = new HashMap<>();
    environment.put("AWS_REGION", "eu-central-1");
    environment.put("AWS_ENDPOINT_URL", endpoint());
    environment.put("AWS_ACCESS_KEY_ID", "own");
    environment.put("AWS_SECRET_ACCESS_KEY", "secret");
    environment.put("TENANT_TABLE", "TenantTable");
    environment.put("TIER_TABLE", "TierTable");
    environment.put("IDEMPOTENCY_TABLE", "IdempotencyTable");
    environment.put("SESSION_TABLE", "SessionTable");
    environment.put("LIMIT_TABLE", "LimitTable");
    environment.put("QUEUE_URL_PREFIX", endpoint() + "/000000000000/");
    environment.put("NAME_PREFIX", "blue_");
    environment.put("DEPLOYMENT", "Tollgate-blue");
    environment.put("TENANT_ROLE_ARN", "arn:aws:iam::000000000000:role/Tenant");
    environment.put("SCHEDULE_GROUP", "Group");
    environment.put("TOKEN_PRODUCER_ARN", "arn:aws:lambda:eu-central-1:000000000000:function:f:l");
    environment.put("SCHEDULE_ROLE_ARN", "arn:aws:iam::000000000000:role/Schedule");
    environment.put("SCHEDULE_DEAD_LETTER_ARN", "arn:aws:sqs:eu-central-1:000000000000:dead");
    environment.put("PROCESSOR_FUNCTION_ARN", PROCESSOR_ARN);
    environment.put("PROCESSOR_CODE_BUCKET", "Assets");
    environment.put("PROCESSOR_CODE_KEY", "0123.jar");
    environment.put("POOL_QUEUE_URL", endpoint() + "/000000000000/blue_tollgate_pool.fifo");
    environment.put(
        "POOL_DEAD_LETTER_URL", endpoint() + "/000000000000/blue_tollgate_pool_dead.fifo");
    environment.put("WEBSOCKET_URL", endpoint().replace("http", "ws") + "/abc/production");
    return environment;
  }

  /** Scripts the response of an operation. REST operations are named by method and path. */
  public void on(String operation, Function<Request, Answer> answer) {
    scripts.put(operation, answer);
  }

  /** All requests so far. */
  public List<Request> requests() {
    return List.copyOf(requests);
  }

  /** The requests of an operation, in their order. */
  public List<Request> requests(String operation) {
    return requests.stream().filter(request -> request.operation().equals(operation)).toList();
  }

  /** Forgets all recorded requests. */
  public void clear() {
    requests.clear();
  }

  /** The requested operations, in their order. */
  public List<String> operations() {
    return requests.stream().map(Request::operation).toList();
  }

  private void serve(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    String authorization = exchange.getRequestHeaders().getFirst("Authorization");
    Matcher key = ACCESS_KEY.matcher(authorization);
    Request request =
        new Request(
            operation(exchange, body),
            key.find() ? key.group(1) : "",
            Optional.ofNullable(exchange.getRequestHeaders().getFirst("X-Amz-Security-Token")),
            Optional.ofNullable(exchange.getRequestHeaders().getFirst("X-Amz-Invocation-Type")),
            Optional.ofNullable(exchange.getRequestHeaders().getFirst("Connection")),
            body);
    requests.add(request);
    Answer answer =
        scripts.getOrDefault(request.operation(), any -> Answer.ok("{}")).apply(request);
    if (answer.status() == Answer.BROKEN) {
      exchange.close();
      return;
    }
    byte[] bytes = answer.body().getBytes(StandardCharsets.UTF_8);
    answer.error().ifPresent(type -> exchange.getResponseHeaders().set("X-Amzn-ErrorType", type));
    exchange.getResponseHeaders().set("Content-Type", "application/x-amz-json-1.0");
    exchange.sendResponseHeaders(answer.status(), bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  private static String operation(HttpExchange exchange, String body) {
    String target = exchange.getRequestHeaders().getFirst("X-Amz-Target");
    if (target != null) {
      return target.substring(target.indexOf('.') + 1);
    }
    Matcher action = ACTION.matcher(body);
    return action.find()
        ? action.group(1)
        : exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath();
  }

  /** Credentials for the tenant in the session tag of an AssumeRole request. */
  public static Answer credentials(Request request) {
    Matcher tag = TAG.matcher(request.body());
    String tenant = tag.find() ? tag.group(1) : "nobody";
    return Answer.ok(
        """
        <AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
        <Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>
        <SessionToken>token of %s</SessionToken><Expiration>%s</Expiration></Credentials>
        </AssumeRoleResult></AssumeRoleResponse>"""
            .formatted(tenant, tenant, Instant.parse("2099-01-01T00:00:00Z")));
  }

  @Override
  public void close() {
    server.stop(0);
    executor.shutdownNow();
  }

  /**
   * A received request.
   *
   * @param operation its name; method and path if the protocol has none
   * @param accessKey the access key of its signature
   * @param token the session token of its signature
   * @param invocationType the requested type of a Lambda invocation, if it had one
   * @param connection its header {@code Connection}
   */
  public record Request(
      String operation,
      String accessKey,
      Optional<String> token,
      Optional<String> invocationType,
      Optional<String> connection,
      String body) {}

  /** A response. */
  public record Answer(int status, Optional<String> error, String body) {
    private static final int BROKEN = 0;

    /** Closes the connection without a response. */
    public static final Answer BREAK = new Answer(BROKEN, Optional.empty(), "");

    public static Answer ok(String body) {
      return new Answer(200, Optional.empty(), body);
    }

    /** An error of the service, with this code. */
    public static Answer failure(int status, String type) {
      return new Answer(
          status,
          Optional.of(type),
          """
          {"__type":"com.amazonaws#%s","message":"scripted failure"}"""
              .formatted(type));
    }
  }
}
