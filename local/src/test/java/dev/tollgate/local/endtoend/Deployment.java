package dev.tollgate.local.endtoend;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.local.LocalCloud;
import dev.tollgate.local.Options;
import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import dev.tollgate.local.events.EventSources;
import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.iam.Policies;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.regions.Region;

/** The synthesized stack on a local cloud with a clock that tests move, and a user's view of it. */
final class Deployment implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path ASSEMBLY = Path.of("../infra/target/cdk.out");
  private static final Collection<Policies> POLICIES = new ConcurrentLinkedQueue<>();
  private static final Deployment ONLY = of(ASSEMBLY);

  private final ManualClock clock =
      new ManualClock(Instant.now().truncatedTo(ChronoUnit.MINUTES).plusSeconds(5));
  private final LocalCloud cloud;
  private final HttpClient http = HttpClient.newHttpClient();

  private Deployment(Path assembly, Map<String, URI> keySets, FaultPlan faults) {
    cloud =
        LocalCloud.start(
            new Options(
                    assembly,
                    "127.0.0.1",
                    0,
                    Optional.empty(),
                    Optional.of(Path.of("target/endtoend.log")),
                    keySets,
                    clock)
                .with(faults));
    Runtime.getRuntime().addShutdownHook(new Thread(cloud::close));
  }

  /**
   * One more deployment of the stack, for tests that look at all there is, or move its clock far.
   */
  static Deployment own() {
    return of(ASSEMBLY);
  }

  /** A deployment of another assembly. */
  static Deployment of(Path assembly) {
    return of(assembly, Map.of());
  }

  /** A deployment of another assembly, where the keys of issuers of tokens are told. */
  static Deployment of(Path assembly, Map<String, URI> keySets) {
    Deployment deployment = new Deployment(assembly, keySets, FaultPlan.none());
    POLICIES.add(deployment.cloud.policies());
    return deployment;
  }

  /** One more deployment of the stack, for tests whose requests prove no grant to be needed. */
  static Deployment attacked() {
    return new Deployment(ASSEMBLY, Map.of(), FaultPlan.none());
  }

  /** One more deployment of the stack, where things go wrong. */
  static Deployment stricken(FaultPlan faults) {
    return new Deployment(ASSEMBLY, Map.of(), faults);
  }

  /** The policies of all deployments so far, but those attacked. */
  static Collection<Policies> policies() {
    return List.copyOf(POLICIES);
  }

  @Override
  public void close() {
    cloud.close();
  }

  /** The deployment that all tests share; each uses tenants of its own. */
  static Deployment shared() {
    return ONLY;
  }

  LocalCloud cloud() {
    return cloud;
  }

  ManualClock clock() {
    return clock;
  }

  /**
   * Moves the clock on through every full minute on the way, so that schedules fire as they would.
   */
  void advance(Duration by) throws InterruptedException {
    Instant end = clock.instant().plus(by);
    Instant minute = clock.instant().truncatedTo(ChronoUnit.MINUTES).plusSeconds(60);
    for (; !minute.isAfter(end); minute = minute.plusSeconds(60)) {
      clock.set(minute);
      cloud.settle();
    }
    clock.set(end);
    cloud.settle();
  }

  /** A client of an AWS service, for a look at what functions have made. */
  <B extends AwsClientBuilder<B, C>, C> C inspect(B builder) {
    return client(builder, credentials(cloud.accessKey("inspector")));
  }

  /** A client of an AWS service for whoever has these credentials. */
  <B extends AwsClientBuilder<B, C>, C> C client(B builder, AwsSessionCredentials credentials) {
    return builder
        .endpointOverride(cloud.endpoint())
        .region(Region.US_EAST_1)
        .credentialsProvider(StaticCredentialsProvider.create(credentials))
        .build();
  }

  static AwsSessionCredentials credentials(AccessKey key) {
    return AwsSessionCredentials.create(
        key.accessKeyId(), key.secretAccessKey(), key.sessionToken());
  }

  /**
   * What functions asked of AWS while this ran; not what event source mappings asked to bring them
   * their events.
   */
  List<Request> requestsOf(Action action) throws Exception {
    cloud.requests().clear();
    action.run();
    cloud.settle();
    return cloud.requests().list().stream()
        .filter(request -> !request.principal().name().endsWith(EventSources.PRINCIPAL_SUFFIX))
        .toList();
  }

  /** Invokes a function as API Gateway would, with an event of the test's own. */
  void invoke(String function, String event) throws IOException, InterruptedException {
    HttpResponse<String> response = invocation(function, event);
    if (response.statusCode() != 200
        || response.headers().firstValue("X-Amz-Function-Error").isPresent()) {
      throw new AssertionError(response.statusCode() + " " + response.body());
    }
  }

  /** What Lambda says of an invocation, be it that the function failed. */
  HttpResponse<String> invocation(String function, String event)
      throws IOException, InterruptedException {
    AccessKey key = cloud.accessKey("inspector");
    HttpRequest request =
        HttpRequest.newBuilder(
                cloud.endpoint().resolve("/2015-03-31/functions/" + function + "/invocations"))
            .header(
                "Authorization",
                "AWS4-HMAC-SHA256 Credential="
                    + key.accessKeyId()
                    + "/20260101/us-east-1/lambda/aws4_request, SignedHeaders=host, Signature=0")
            .header("X-Amz-Security-Token", key.sessionToken())
            .POST(HttpRequest.BodyPublishers.ofString(event))
            .build();
    return http.send(request, HttpResponse.BodyHandlers.ofString());
  }

  Answer control(String method, String path, String body) {
    return send(cloud.outputs().get("ControlPlaneURL") + path, method, body, "application/json");
  }

  Answer control(String method, String path) {
    return control(method, path, "");
  }

  Answer onboard(String tenant, String tier, String overrides) {
    return control(
        "POST",
        "/tenants",
        "{\"tenantId\":\""
            + tenant
            + "\",\"tier\":\""
            + tier
            + "\",\"overrides\":"
            + overrides
            + "}");
  }

  Answer session(String method, String query) {
    return send(cloud.outputs().get("SessionURL") + query, method, "", "application/json");
  }

  /** Creates a session and returns its id. */
  String open(String tenant) {
    Answer created = session("PUT", "?tenantId=" + tenant);
    if (created.status() != 201) {
      throw new AssertionError(created);
    }
    return created.body().get("sessionId").asText();
  }

  Answer send(String url, String method, String body, String contentType) {
    return send(url, method, body, Map.of("content-type", contentType));
  }

  Answer send(String url, String method, String body, Map<String, String> headers) {
    return send(url, method, body.getBytes(StandardCharsets.UTF_8), headers);
  }

  /** Sends a body that need not be text. */
  Answer send(String url, String method, byte[] body, Map<String, String> headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url))
            .timeout(Duration.ofSeconds(60))
            .method(method, HttpRequest.BodyPublishers.ofByteArray(body));
    headers.forEach(request::header);
    try {
      HttpResponse<String> response =
          http.send(request.build(), HttpResponse.BodyHandlers.ofString());
      String text = new String(body, StandardCharsets.UTF_8);
      Contracts.check(cloud.outputs(), request.build(), text, response);
      JsonNode document =
          response.body().isEmpty() ? JSON.createObjectNode() : JSON.readTree(response.body());
      return new Answer(response.statusCode(), response.headers().map(), document);
    } catch (IOException e) {
      throw new AssertionError(url, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(url, e);
    }
  }

  /** Tries to open a socket; does not wait for it. */
  CompletableFuture<Handshake> handshake(String query) {
    URI url = URI.create(cloud.outputs().get("WebSocketURL") + query);
    Frames frames = new Frames();
    return http.newWebSocketBuilder()
        .buildAsync(url, frames)
        .handle((socket, thrown) -> handshake(socket, thrown, frames));
  }

  Handshake connect(String tenant, String session) {
    return handshake(query(tenant, session)).join();
  }

  /** Opens many sockets at once. */
  List<Handshake> connectAll(int sockets, String tenant, List<String> sessions) {
    List<CompletableFuture<Handshake>> pending = new ArrayList<>();
    for (int i = 0; i < sockets; i++) {
      pending.add(handshake(query(tenant, sessions.get(i % sessions.size()))));
    }
    return pending.stream().map(CompletableFuture::join).toList();
  }

  static String query(String tenant, String session) {
    return "?tenantId=" + tenant + "&sessionId=" + session;
  }

  /** Closes a socket and waits until the stack knows. */
  void close(Handshake handshake) throws InterruptedException {
    handshake.socket().sendClose(WebSocket.NORMAL_CLOSURE, "").join();
    handshake.closed().join();
    cloud.settle();
  }

  private static Handshake handshake(WebSocket socket, Throwable thrown, Frames frames) {
    if (thrown == null) {
      Contracts.SOCKETS.checkHandshake(101);
      return new Handshake(101, socket, frames);
    }
    Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
    if (cause instanceof WebSocketHandshakeException refused) {
      Contracts.SOCKETS.checkHandshake(refused.getResponse().statusCode());
      return new Handshake(refused.getResponse().statusCode(), socket, frames);
    }
    throw new AssertionError(thrown);
  }

  /**
   * What became of a handshake.
   *
   * @param frames what the socket is sent
   */
  record Handshake(int status, WebSocket socket, Frames frames) {
    /** Well below the 32 KB that one frame may have, whatever the characters. */
    private static final int FRAME_CHARS = 8_000;

    /** The code with which the other side closes, once it has. */
    CompletableFuture<Integer> closed() {
      return frames.closed();
    }

    /** Sends a message, in several frames if it is long. */
    void send(String message) {
      frames.sent(message);
      int from = 0;
      while (message.length() - from > FRAME_CHARS) {
        int to = from + FRAME_CHARS;
        if (Character.isHighSurrogate(message.charAt(to - 1))) {
          to--;
        }
        socket.sendText(message.substring(from, to), false).join();
        from = to;
      }
      socket.sendText(message.substring(from), true).join();
    }
  }

  /** What a request was answered with. */
  record Answer(int status, Map<String, List<String>> headers, JsonNode body) {
    String header(String name) {
      return headers.getOrDefault(name, List.of("none")).get(0);
    }
  }

  /** Something that is done to the deployment. */
  @FunctionalInterface
  interface Action {
    void run() throws Exception;
  }
}
