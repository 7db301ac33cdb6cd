package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.e2e.local.Prices.Cost;
import dev.tollgate.e2e.local.Prices.Measured;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The cost that unauthenticated callers and clients can cause. This test counts requests; {@code
 * docs/prices.yaml} has the prices and the assumptions for what cannot be counted. SECURITY.md has
 * the resulting table.
 */
@Tag("nightly")
final class StrangerCostsIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();
  private static final Path SECURITY = Path.of("../SECURITY.md");
  private static final Prices PRICES =
      Prices.of(
          Path.of("../docs/prices.yaml"),
          Path.of("../infra/target/cdk.out/Tollgate.template.json"));
  private static final String HEAD =
      "| a million of | API | functions | rows | queues | data and logs | $ |\n"
          + "| --- | --- | --- | --- | --- | --- | --- |";
  private static final List<String> AUTHORIZER = List.of("Authorizer");
  private static final String UNKNOWN_SESSION = "0".repeat(32);
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  /** The highest permitted cost of a million requests of a caller without session and token. */
  private static final double MAX_DOLLARS = 4.00;

  /** The largest body that an HTTP API accepts. */
  private static final int MAX_BYTES = 10 * 1024 * 1024;

  private static final int FULL_PAGE = 25;

  /** Requests that need no session, no token and no open deployment, or cost no more than those. */
  private final List<Priced> unauthenticated = new ArrayList<>();

  /** More expensive requests; SECURITY.md lists the limits of their number. */
  private final List<Priced> expensive = new ArrayList<>();

  private final List<Priced> clients = new ArrayList<>();

  /** A row of the table. */
  private record Priced(String name, Cost cost) {
    static Priced of(Measured one) {
      return new Priced(one.name(), PRICES.of(one));
    }
  }

  @Test
  void the_cost_table_in_the_security_document_matches_the_measured_requests() throws Exception {
    handshakes();
    sessions();
    pages();
    frames();
    admitted();
    sessionThatEnds();

    StringBuilder table = new StringBuilder(HEAD);
    Stream.of(unauthenticated, expensive, clients)
        .flatMap(List::stream)
        .forEach(one -> table.append('\n').append(one.cost().row(one.name())));
    System.out.println("What a stranger can make you pay, for SECURITY.md:\n" + table);
    unauthenticated.forEach(
        one -> assertThat(one.cost().sum()).as(one.name()).isLessThanOrEqualTo(MAX_DOLLARS));
    assertThat(Files.readString(SECURITY)).contains(table + "\n\n");
  }

  /**
   * Shows that a handshake that waited a second for the queue, as handshakes once did, would exceed
   * the limit.
   */
  @Test
  void a_second_of_the_authorizer_exceeds_the_cost_limit() {
    Cost waiting =
        new Cost(0, PRICES.file().at("/prices/lambda-gb-second/dollars").asDouble(), 0, 0, 0);
    assertThat(waiting.sum()).isGreaterThan(MAX_DOLLARS);
  }

  /** The requests of an action, without those still in progress from the one before. */
  private static List<Request> requestsOf(LocalDeployment.Action action) throws Exception {
    DEPLOYMENT.cloud().settle();
    return DEPLOYMENT.requestsOf(action);
  }

  private void handshakes() throws Exception {
    unauthenticated.add(
        handshake("handshakes with malformed ids", AUTHORIZER, "NOBODY", UNKNOWN_SESSION));
    unauthenticated.add(
        handshake(
            "handshakes, each for another unknown tenant", AUTHORIZER, "nobody", UNKNOWN_SESSION));

    DEPLOYMENT.onboard("known", "gold", "{}");
    refused("known", UNKNOWN_SESSION);
    unauthenticated.add(
        handshake(
            "handshakes with unknown sessions of a tenant", AUTHORIZER, "known", UNKNOWN_SESSION));

    DEPLOYMENT.onboard("drained", "gold", "{\"tenantPerMinute\":1}");
    String session = DEPLOYMENT.open("drained");
    assertThat(DEPLOYMENT.connect("drained", session).status()).isEqualTo(101);
    refused("drained", UNKNOWN_SESSION);
    unauthenticated.add(
        handshake(
            "the same of a tenant whose bucket is empty", AUTHORIZER, "drained", UNKNOWN_SESSION));

    DEPLOYMENT.onboard("halted", "gold", "{}");
    String halted = DEPLOYMENT.open("halted");
    DEPLOYMENT.control("PATCH", "/tenants/halted", "{\"status\":\"SUSPENDED\"}");
    refused("halted", halted);
    unauthenticated.add(
        handshake("handshakes at a suspended tenant", AUTHORIZER, "halted", halted));

    refused("drained", session);
    clients.add(
        handshake(
            "handshakes of a session, refused for the tenant's rate",
            List.of("Authorizer", "Connect"),
            "drained",
            session));
  }

  private static void refused(String tenant, String session) {
    assertThat(DEPLOYMENT.connect(tenant, session).status()).isIn(403, 429);
  }

  private static Priced handshake(
      String name, List<String> functions, String tenant, String session) throws Exception {
    List<Request> requests = requestsOf(() -> refused(tenant, session));
    return Priced.of(new Measured(name, false, functions, requests, 0, List.of(), false));
  }

  private void sessions() throws Exception {
    String url = DEPLOYMENT.cloud().outputs().getOrDefault("SessionURL", "");
    DEPLOYMENT.onboard("creator", "gold", "{\"tenantPerMinute\":1}");
    unauthenticated.add(
        http("`PUT /session`, each for another unknown tenant", "PUT", url + "?tenantId=no-one"));
    expensive.add(largestBody(url));
    DEPLOYMENT.open("creator");
    int status = 201;
    while (status == 201) {
      status = DEPLOYMENT.session("PUT", "?tenantId=creator").status();
    }
    unauthenticated.add(
        http("`PUT /session` of a tenant, refused for its rate", "PUT", url + "?tenantId=creator"));
    String unknown = url + Deployment.query("creator", UNKNOWN_SESSION);
    unauthenticated.add(http("`GET /session` with unknown sessions of a tenant", "GET", unknown));
    unauthenticated.add(http("`DELETE /session` of the same", "DELETE", unknown));
    IntStream.range(0, FULL_PAGE)
        .parallel()
        .forEach(i -> DEPLOYMENT.onboard("%s-%02d".formatted("a".repeat(33), i), "bronze", "{}"));
    unauthenticated.add(
        http(
            "`GET /tenant`, in a demonstration",
            "GET",
            DEPLOYMENT.cloud().outputs().getOrDefault("TenantURL", "")));
  }

  /**
   * A created session exists until its end, and the tenant's rate limits the number of creations.
   * Its end costs once more: the housekeeper ends it.
   */
  private void sessionThatEnds() throws Exception {
    DEPLOYMENT.onboard("leaver", "gold", "{\"sessionTTL\":60}");
    DEPLOYMENT.open("leaver");
    // Until all other sessions have ended.
    DEPLOYMENT.advance(Duration.ofMinutes(8));
    Priced creation =
        http(
            "`PUT /session` of a tenant in an open deployment, and the session's end",
            "PUT",
            DEPLOYMENT.cloud().outputs().get("SessionURL") + "?tenantId=leaver");
    List<Request> end =
        requestsOf(() -> DEPLOYMENT.advance(Duration.ofMinutes(3))).stream()
            .filter(request -> request.principal().name().equals("HousekeeperAllTenants"))
            .filter(request -> Set.of("UpdateItem", "DeleteItem").contains(request.operation()))
            .filter(
                request -> request.resource().filter(name -> name.contains("Session")).isPresent())
            .toList();
    assertThat(end).extracting(Request::operation).containsExactly("UpdateItem", "DeleteItem");
    expensive.add(
        0, new Priced(creation.name(), creation.cost().plus(PRICES.within("Housekeeper", end))));
  }

  private void admitted() throws Exception {
    DEPLOYMENT.onboard("guest", "gold", "{}");
    String session = DEPLOYMENT.open("guest");
    DEPLOYMENT.close(DEPLOYMENT.connect("guest", session));
    List<Request> requests =
        requestsOf(
            () -> {
              Handshake open = DEPLOYMENT.connect("guest", session);
              assertThat(open.status()).isEqualTo(101);
              DEPLOYMENT.close(open);
            });
    clients.add(
        0,
        Priced.of(
            new Measured(
                "handshakes that are admitted, each with its disconnect",
                false,
                List.of("Authorizer", "Connect", "Disconnect"),
                requests,
                0,
                List.of(),
                false)));
  }

  /**
   * A body that no route reads. AWS bills a body of more than about 6 MB, but does not pass it on.
   */
  private static Priced largestBody(String url) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + "?tenantId=no-one"))
            .PUT(HttpRequest.BodyPublishers.ofByteArray(new byte[MAX_BYTES]));
    int[] bytes = new int[1];
    List<Request> requests = requestsOf(() -> bytes[0] = send(request));
    return Priced.of(
        new Measured(
            "`PUT /session` with a body of 10 MB",
            true,
            List.of("SessionApi"),
            requests,
            MAX_BYTES,
            List.of(bytes[0]),
            false));
  }

  private static Priced http(String name, String method, String url) throws Exception {
    int[] bytes = new int[1];
    List<Request> requests =
        requestsOf(
            () ->
                bytes[0] =
                    send(
                        HttpRequest.newBuilder(URI.create(url))
                            .method(method, HttpRequest.BodyPublishers.noBody())));
    return Priced.of(
        new Measured(name, true, List.of("SessionApi"), requests, 0, List.of(bytes[0]), false));
  }

  private static int send(HttpRequest.Builder request) throws IOException, InterruptedException {
    return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofByteArray()).body().length;
  }

  private void pages() throws Exception {
    String sample = DEPLOYMENT.cloud().outputs().get("SampleClient");
    String operator = DEPLOYMENT.cloud().outputs().get("OperatorPage");
    Map<String, URI> files = new LinkedHashMap<>();
    for (String page : List.of(sample, operator)) {
      files.put(page, URI.create(page));
    }
    for (String name :
        List.of("console.css", "operator.js", "sample.js", "tenant.js", "uPlot.iife.min.js")) {
      files.put(name, URI.create(sample).resolve(name));
    }
    unauthenticated.add(
        page(
            "the largest file of the pages, compressed",
            largest(files, file -> fetched(file, "gzip")),
            "gzip"));
    unauthenticated.add(
        page(
            "the same without gzip",
            largest(files, file -> fetched(file, "identity")),
            "identity"));
  }

  private static URI largest(Map<String, URI> files, ToIntFunction<URI> size) {
    return files.values().stream()
        .reduce((one, other) -> size.applyAsInt(other) > size.applyAsInt(one) ? other : one)
        .orElseThrow();
  }

  private static int fetched(URI file, String encoding) {
    try {
      return send(HttpRequest.newBuilder(file).header("accept-encoding", encoding));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  private static Priced page(String name, URI file, String encoding) throws Exception {
    int[] bytes = new int[1];
    List<Request> requests = requestsOf(() -> bytes[0] = fetched(file, encoding));
    System.out.printf("%s: %s, %d bytes%n", name, file.getPath(), bytes[0]);
    return Priced.of(
        new Measured(name, true, List.of("Console"), requests, 0, List.of(bytes[0]), false));
  }

  private void frames() throws Exception {
    DEPLOYMENT.onboard("talker", "gold", "{}");
    Handshake sender = DEPLOYMENT.connect("talker", DEPLOYMENT.open("talker"));
    String good = "{\"action\":\"PooledSQS\",\"message\":\"%s\"}";
    exchange(sender, good.formatted("warm"), "accepted", "reply");
    clients.add(
        frame(
            "frames: messages of 100 bytes",
            sender,
            good.formatted("a".repeat(60)),
            "accepted",
            "reply"));
    clients.add(
        frame(
            "frames: messages of 120 KB",
            sender,
            good.formatted("a".repeat(120 * 1024)),
            "accepted",
            "reply"));
    clients.add(frame("frames of an unknown action", sender, "{\"action\":\"x\"}", "error"));
    clients.add(
        frame(
            "frames without a message", sender, "{\"action\":\"PooledSQS\"}", "accepted", "error"));
    DEPLOYMENT.close(sender);

    DEPLOYMENT.onboard("silenced", "gold", "{\"messagesPerMinute\":1}");
    Handshake throttled = DEPLOYMENT.connect("silenced", DEPLOYMENT.open("silenced"));
    exchange(throttled, good.formatted("paid"), "accepted", "reply");
    exchange(throttled, good.formatted("empty"), "accepted", "error");
    clients.add(
        frame(
            "frames over `messagesPerMinute`",
            throttled,
            good.formatted("more"),
            "accepted",
            "error"));
    DEPLOYMENT.close(throttled);
  }

  private static List<Integer> exchange(Handshake client, String frame, String... answers)
      throws Exception {
    int before = client.frames().texts().size();
    Map<String, Integer> counts = new LinkedHashMap<>();
    for (String type : answers) {
      counts.put(type, client.frames().of(type).size() + 1);
    }
    client.send(frame);
    for (Map.Entry<String, Integer> type : counts.entrySet()) {
      client.frames().await(type.getKey(), type.getValue());
    }
    List<String> texts = client.frames().texts();
    return texts.subList(before, texts.size()).stream()
        .map(text -> text.getBytes(StandardCharsets.UTF_8).length)
        .toList();
  }

  private static Priced frame(String name, Handshake client, String frame, String... answers)
      throws Exception {
    List<Integer> bytes = new ArrayList<>();
    List<Request> requests = requestsOf(() -> bytes.addAll(exchange(client, frame, answers)));
    boolean processed = answers.length > 1;
    return Priced.of(
        new Measured(
            name,
            false,
            processed ? List.of("PoolProcessor") : List.of(),
            requests,
            frame.length(),
            bytes,
            processed));
  }
}
