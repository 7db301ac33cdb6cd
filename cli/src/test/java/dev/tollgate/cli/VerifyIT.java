package dev.tollgate.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.command.Main;
import dev.tollgate.cli.context.Outputs;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.local.InProcessCloud;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.verify.Bounds;
import dev.tollgate.cli.verify.Check;
import dev.tollgate.cli.verify.Deployment;
import dev.tollgate.cli.verify.HttpDeployment;
import dev.tollgate.cli.verify.Report;
import dev.tollgate.cli.verify.Result;
import dev.tollgate.cli.verify.Verification;
import dev.tollgate.local.LocalCloud;
import dev.tollgate.local.Options;
import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.faults.Fault;
import dev.tollgate.local.testing.TestCloud;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Element;

/**
 * {@code tollgate verify} against the complete stack on a local cloud, whose clock moves where the
 * checks wait; and against the same stack with a fault in the area of each check.
 */
@Tag("nightly")
final class VerifyIT {
  /** Short, because checks of faulty deployments wait as long as this. */
  private static final Bounds SHORT =
      new Bounds(
          Duration.ofSeconds(2),
          Duration.ofSeconds(2),
          Duration.ofMinutes(3),
          Duration.ofSeconds(10));

  /** How the names of the slow tier and of a planted one end. */
  private static final String SLOW_TIER = "-slow";

  private static final String FAST_TIER = "-fast";

  @TempDir private static Path directory;
  private static TestCloud stack;
  private static LocalCloud cloud;
  private static Path outputs;

  @BeforeAll
  static void start() {
    stack =
        TestCloud.start(
            clock ->
                new Options(
                    Path.of("../infra/target/cdk.out"),
                    "127.0.0.1",
                    0,
                    Optional.empty(),
                    Optional.of(Path.of("target/endtoend.log")),
                    Map.of(),
                    clock));
    cloud = stack.cloud();
    outputs = directory.resolve(Outputs.DEFAULT);
    cloud.writeOutputs(outputs);
  }

  @AfterAll
  static void stop() {
    stack.close();
  }

  /** A shell in which waiting moves the clock of the cloud. */
  private static Shell shell(StringWriter out, StringWriter err) {
    return new Shell(
        new ByteArrayInputStream(new byte[0]),
        new PrintWriter(out, true),
        new PrintWriter(err, true),
        directory,
        Optional.empty(),
        Map.of(),
        Optional.empty(),
        () -> ChronoUnit.NANOS.between(Instant.EPOCH, stack.clock().instant()),
        VerifyIT::pass);
  }

  private static void pass(Duration time) throws InterruptedException {
    // A fill that a refusal requested starts at once, but not before the refusal is answered.
    cloud.settle();
    stack.advance(time);
  }

  private static Api controlPlane() {
    return api("ControlPlaneURL");
  }

  private static Api api(String output) {
    return new Api(
        Api.client(), URI.create(cloud.outputs().getOrDefault(output, "")), Optional.empty());
  }

  private static Deployment deployment() {
    Api sessions = api("SessionURL");
    return new HttpDeployment(
        controlPlane(),
        tenant -> sessions,
        URI.create(cloud.outputs().getOrDefault("WebSocketURL", "")));
  }

  private static List<String> leftOver() {
    JsonNode tenants = controlPlane().get("/tenants?prefix=verify-").orThrow().json();
    JsonNode tiers = controlPlane().get("/tiers").orThrow().json();
    return Stream.concat(
            tenants.findValuesAsText("tenantId").stream(),
            tiers.findValuesAsText("tier").stream().filter(tier -> tier.startsWith("verify-")))
        .toList();
  }

  @Test
  void every_check_passes_and_the_report_has_them_all() throws Exception {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Path junit = directory.resolve("report.xml");

    int exitCode =
        Main.commandLine(shell(out, err), InProcessCloud::start)
            .execute(
                "verify",
                "--outputs",
                outputs.toString(),
                "--parallel",
                "1",
                "--junit",
                junit.toString(),
                "--json");

    assertThat(exitCode).as("%s%n%s", out, err).isZero();
    JsonNode report = Json.read("report", out.toString());
    assertThat(report.path("passed").asBoolean()).isTrue();
    assertThat(report.path("checks").findValuesAsText("name"))
        .isEqualTo(Verification.allChecks().stream().map(Check::name).toList());
    assertThat(report.path("checks").findValuesAsText("result")).containsOnly("PASSED");
    assertThat(report.findValuesAsText("latest admission after a due time, asked for 2 s after it"))
        .as("a clock that stands still while a handshake takes place")
        .containsExactly("2.0 s");
    assertThat(report.findValues("handshakes repeated after an early refusal")).isEmpty();
    Element suite =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(junit.toFile())
            .getDocumentElement();
    assertThat(suite.getElementsByTagName("testcase").getLength())
        .as("the checks, and the run as a whole")
        .isEqualTo(Verification.allChecks().size() + 1);
    assertThat(suite.getAttribute("failures")).isEqualTo("0");
    assertThat(leftOver()).isEmpty();
  }

  /**
   * A fault.
   *
   * @param area the name of the check that must fail
   * @param seen part of what that check must say
   * @param onCloud injects the fault into the cloud; closing the result removes it
   * @param between misbehaves between the checks and the cloud
   */
  private record Planted(
      String area, String seen, OnCloud onCloud, UnaryOperator<Deployment> between) {
    @Override
    public String toString() {
      return area + ": " + seen;
    }
  }

  private interface OnCloud {
    AutoCloseable plant();
  }

  private static Planted refused(String area, String seen, Predicate<Call> calls) {
    return new Planted(
        area,
        seen,
        () ->
            cloud
                .faults()
                .inject(calls, 100_000, new Fault.Refused(400, "InvalidAction", "planted")),
        UnaryOperator.identity());
  }

  private static Planted between(String area, String seen, UnaryOperator<Deployment> misbehaving) {
    return new Planted(area, seen, () -> () -> {}, misbehaving);
  }

  private static boolean concerns(Call call, String text) {
    return call.body().contains(text)
        || call.resource().orElse("").contains(text)
        || call.query().values().stream().anyMatch(value -> value.contains(text));
  }

  private static List<Planted> faults() {
    return List.of(
        refused(
            "onboard",
            "PROVISIONING",
            call -> call.operation().equals("CreateQueue") && concerns(call, "-onboard_")),
        refused(
            "retune",
            "60",
            call ->
                call.principal().name().startsWith("TokenProducer")
                    && call.service().equals("sqs")
                    && concerns(call, "-retune_")),
        refused(
            "due",
            "s late",
            call ->
                call.principal().name().startsWith("TokenProducer")
                    && call.service().equals("sqs")
                    && concerns(call, "-due_")),
        refused(
            "answers",
            "none",
            call ->
                call.operation().equals("SendMessageBatch")
                    && call.principal().name().equals("ApiGateway")
                    && concerns(call, "-answers")),
        refused(
            "offboard",
            "202",
            call -> call.operation().equals("DeleteQueue") && concerns(call, "-offboard_")),
        new Planted(
            "disconnect",
            "2",
            () -> {
              cloud
                  .faults()
                  .loseEvents(
                      (function, event) ->
                          event.contains("DISCONNECT") && event.contains("-disconnect"));
              return () -> cloud.faults().loseEvents((function, event) -> false);
            },
            UnaryOperator.identity()),
        between(
            "race",
            "6",
            to -> onboarding(to, "-race", "tenantConnections\":5", "tenantConnections\":6")),
        between("suspend", "101", VerifyIT::ignoringSuspension),
        between("refusal", "429", VerifyIT::impatient),
        between("limits", "403", VerifyIT::hidingLimits),
        between("pool", "m-1", VerifyIT::swapping),
        between("silo", "100000.0", VerifyIT::normalizing),
        between("push", "push-1", to -> repeatingPushes(to, "-push")),
        between("doctor", "MISSING", VerifyIT::losingQueues),
        between("changes", "with If-Match", VerifyIT::unconditional),
        between(
            "sessions",
            "expiresAt",
            to ->
                onboarding(to, "-sessions", "overrides\":{", "overrides\":{\"sessionTTL\":3600,")),
        TWICE_AS_FAST);
  }

  /** A second fault in the area of a check that another fault fails, too. */
  private static final Planted TWICE_AS_FAST =
      between("due", "tokens while 12 were due", VerifyIT::filledTwiceAsFast);

  @Test
  void every_check_fails_when_a_fault_is_planted_in_each_area() throws Exception {
    List<Planted> oneInEachArea =
        faults().stream().filter(planted -> !planted.equals(TWICE_AS_FAST)).toList();

    List<Result> results = run(oneInEachArea, Verification.allChecks());

    assertThat(results).hasSameSizeAs(oneInEachArea);
    for (Planted planted : oneInEachArea) {
      assertThat(results)
          .filteredOn(result -> result.check().name().equals(planted.area()))
          .singleElement()
          .satisfies(result -> assertSeen(planted, result));
    }
  }

  @Test
  void the_check_of_due_tokens_fails_when_the_bucket_is_filled_twice_as_fast() throws Exception {
    assertSeen(TWICE_AS_FAST, run(List.of(TWICE_AS_FAST), named(TWICE_AS_FAST.area())).get(0));
  }

  /** Further faults, each of which one quick check must see. */
  static List<Planted> furtherFaults() {
    if (!allRequested()) {
      return List.of();
    }
    return List.of(
        between("changes", "Idempotency-Replayed", VerifyIT::forgettingKeys),
        between("changes", "dryRun", to -> changingControl(to, "dryRun=true", "dryRun=false")),
        between(
            "changes", "tenants with prefix", to -> changingControl(to, "prefix=", "prefix=no-")),
        between("changes", "status 200", to -> broken(to, "/activity")),
        between("changes", "status 200", to -> broken(to, "/tiers/")),
        between(
            "sessions",
            "sockets admitted with sessionPerMinute 2",
            to -> onboarding(to, "-sessions", "sessionPerMinute\":2", "sessionPerMinute\":200")),
        between(
            "sessions",
            "lastsUntil",
            to ->
                onboarding(
                    to, "-sessions", "overrides\":{", "overrides\":{\"sessionLifetime\":86400,")),
        between("pool", "push-1", to -> repeatingPushes(to, "-pool")),
        between("sessions", "with its sessionId", to -> brokenSessions(to, "PUT")),
        between("sessions", "DELETE /session", to -> brokenSessions(to, "DELETE")));
  }

  /** With {@code -Pnightly} or {@code -Dverify.all=true}. */
  @ParameterizedTest(allowZeroInvocations = true)
  @MethodSource("furtherFaults")
  void a_further_fault_fails_the_check_of_its_area(Planted planted) throws Exception {
    assertSeen(planted, run(List.of(planted), named(planted.area())).get(0));
  }

  static List<Planted> faultsOneByOne() {
    return allRequested() ? faults() : List.of();
  }

  private static boolean allRequested() {
    return Boolean.getBoolean("verify.all") || Integer.getInteger("tests.times", 1) > 1;
  }

  /** A run of all checks for each fault: with {@code -Pnightly} or {@code -Dverify.all=true}. */
  @ParameterizedTest(allowZeroInvocations = true)
  @MethodSource("faultsOneByOne")
  void a_planted_fault_fails_the_check_of_its_area_and_no_other(Planted planted) throws Exception {
    List<Result> broken =
        run(List.of(planted), Verification.allChecks()).stream()
            .filter(result -> !(result instanceof Result.Passed))
            .toList();

    assertThat(broken).singleElement().satisfies(result -> assertSeen(planted, result));
  }

  private static List<Check> named(String name) {
    return Verification.allChecks().stream().filter(check -> check.name().equals(name)).toList();
  }

  private static void assertSeen(Planted planted, Result result) {
    assertThat(result).as("%s", planted).isInstanceOf(Result.Failed.class);
    assertThat(result.check().name()).isEqualTo(planted.area());
    Result.Failed failed = (Result.Failed) result;
    assertThat(failed.expected() + ", seen: " + failed.seen()).contains(planted.seen());
  }

  /** Runs checks while all these faults are planted. Nothing of the run is left afterwards. */
  private static List<Result> run(List<Planted> faults, List<Check> checks) throws Exception {
    StringWriter ignored = new StringWriter();
    String prefix = "verify-" + Integer.toString(faults.toString().hashCode() >>> 1, 36);
    Deployment misbehaving = deployment();
    for (Planted planted : faults) {
      misbehaving = planted.between().apply(misbehaving);
    }
    Verification run = new Verification(misbehaving, shell(ignored, ignored), SHORT, prefix);
    Deque<AutoCloseable> onCloud = new ArrayDeque<>();
    Report report;
    try {
      for (Planted planted : faults) {
        onCloud.push(planted.onCloud().plant());
      }
      report = run.run(checks, 1, result -> {});
    } finally {
      for (AutoCloseable fault : onCloud) {
        fault.close();
      }
    }
    assertThat(report.passed()).isFalse();
    stack.advance(Duration.ofMinutes(1));
    assertThat(run.removeAll()).isEmpty();
    controlPlane().send("DELETE", "/tiers/" + prefix + FAST_TIER, Optional.empty());
    assertThat(leftOver()).isEmpty();
    return report.results();
  }

  /** Passes everything on. */
  private abstract static class Passing implements Deployment {
    private final Deployment to;

    Passing(Deployment to) {
      this.to = to;
    }

    @Override
    public Response control(
        String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
      return to.control(method, path, body, headers);
    }

    @Override
    public Response sessions(String method, String tenantId, Optional<String> sessionId) {
      return to.sessions(method, tenantId, sessionId);
    }

    @Override
    public CompletableFuture<Handshake> handshake(
        Map<String, String> parameters, Listener listener) {
      return to.handshake(parameters, listener);
    }
  }

  /** A control plane that onboards tenants with other values than it was told. */
  private static Deployment onboarding(
      Deployment to, String tenants, String value, String instead) {
    return new Passing(to) {
      @Override
      public Response control(
          String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
        return super.control(
            method,
            path,
            body.map(
                json ->
                    json.path("tenantId").asText().endsWith(tenants)
                        ? Json.parse(Json.write(json).replace(value, instead)).orElseThrow()
                        : json),
            headers);
      }
    };
  }

  /** A control plane that gives a tenant a tier of the same capacity and twice the rate. */
  private static Deployment filledTwiceAsFast(Deployment to) {
    return new Passing(to) {
      @Override
      public Response control(
          String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
        if (path.endsWith(SLOW_TIER)) {
          body.ifPresent(
              tier -> {
                String faster =
                    Json.write(tier)
                        .replace("tenantPerMinute\":6", "tenantPerMinute\":12")
                        .replaceFirst("}$", ",\"buckets\":{\"connect\":{\"capacity\":6}}}");
                super.control(method, path.replace(SLOW_TIER, FAST_TIER), Json.parse(faster))
                    .orThrow();
              });
        }
        return super.control(
            method,
            path,
            body.map(
                json ->
                    json.path("tenantId").asText().endsWith("-due")
                        ? ((ObjectNode) json)
                            .put("tier", json.path("tier").asText().replace(SLOW_TIER, FAST_TIER))
                        : json),
            headers);
      }
    };
  }

  /** A control plane that ignores If-Match. */
  private static Deployment unconditional(Deployment to) {
    return new Passing(to) {
      @Override
      public Response control(
          String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
        return super.control(
            method, path, body, headers.containsKey("If-Match") ? Map.of() : headers);
      }
    };
  }

  /** A control plane that ignores Idempotency-Key. */
  private static Deployment forgettingKeys(Deployment to) {
    return new Passing(to) {
      @Override
      public Response control(
          String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
        Response response = super.control(method, path, body, Map.of());
        return response.status() == 200 && headers.containsKey("Idempotency-Key")
            ? new Response(201, response.headers(), response.body())
            : response;
      }
    };
  }

  /** A control plane that reads something else in a request's path. */
  private static Deployment changingControl(Deployment to, String text, String instead) {
    return new Passing(to) {
      @Override
      public Response control(
          String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
        return super.control(method, path.replace(text, instead), body, headers);
      }
    };
  }

  private static final Response BROKEN =
      new Response(
          500,
          HttpHeaders.of(
              Map.of("Content-Type", List.of("application/json")), (name, value) -> true),
          "{\"message\":\"Internal Server Error\"}");

  /** A control plane that cannot show something. */
  private static Deployment broken(Deployment to, String path) {
    return new Passing(to) {
      @Override
      public Response control(
          String method, String asked, Optional<JsonNode> body, Map<String, String> headers) {
        return method.equals("GET") && asked.startsWith(path)
            ? BROKEN
            : super.control(method, asked, body, headers);
      }
    };
  }

  /** A session API that answers 500 to requests about a session. */
  private static Deployment brokenSessions(Deployment to, String method) {
    return new Passing(to) {
      @Override
      public Response sessions(String asked, String tenantId, Optional<String> sessionId) {
        return asked.equals(method) && sessionId.isPresent()
            ? BROKEN
            : super.sessions(asked, tenantId, sessionId);
      }
    };
  }

  /** A control plane that answers a suspension as if it had been done. */
  private static Deployment ignoringSuspension(Deployment to) {
    return new Passing(to) {
      @Override
      public Response control(
          String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
        boolean suspends =
            path.endsWith("-suspend")
                && body.filter(json -> json.path("status").asText().equals("SUSPENDED"))
                    .isPresent();
        return suspends
            ? super.control("GET", path, Optional.empty())
            : super.control(method, path, body, headers);
      }
    };
  }

  /** A session API whose Retry-After is too short. */
  private static Deployment impatient(Deployment to) {
    return new Passing(to) {
      @Override
      public Response sessions(String method, String tenantId, Optional<String> sessionId) {
        Response response = super.sessions(method, tenantId, sessionId);
        if (!tenantId.endsWith("-refusal")) {
          return response;
        }
        Map<String, List<String>> headers = new TreeMap<>(response.headers().map());
        headers.computeIfPresent("retry-after", (name, value) -> List.of("1"));
        return new Response(
            response.status(), HttpHeaders.of(headers, (name, value) -> true), response.body());
      }
    };
  }

  /** A WebSocket API that answers 403 where it should answer 429. */
  private static Deployment hidingLimits(Deployment to) {
    return new Passing(to) {
      @Override
      public CompletableFuture<Handshake> handshake(
          Map<String, String> parameters, Listener listener) {
        return super.handshake(parameters, listener)
            .thenApply(
                handshake ->
                    handshake.equals(new Handshake.Refused(429))
                            && parameters.getOrDefault("tenantId", "").contains("-limits")
                        ? new Handshake.Refused(403)
                        : handshake);
      }
    };
  }

  /** A listener that changes frames of messages before it passes them on. */
  private static Deployment changing(
      Deployment to, String tenants, BiConsumer<Deployment.Listener, String> pass) {
    return new Passing(to) {
      @Override
      public CompletableFuture<Handshake> handshake(
          Map<String, String> parameters, Listener listener) {
        if (!parameters.getOrDefault("tenantId", "").endsWith(tenants)) {
          return super.handshake(parameters, listener);
        }
        return super.handshake(
            parameters,
            new Listener() {
              @Override
              public void frame(String text) {
                pass.accept(listener, text);
              }

              @Override
              public void closed(int code) {
                listener.closed(code);
              }
            });
      }
    };
  }

  /** A queue that swaps two messages. */
  private static Deployment swapping(Deployment to) {
    Deque<String> held = new ArrayDeque<>();
    return changing(
        to,
        "-pool",
        (listener, text) -> {
          if (text.startsWith("{\"type\":\"message\",\"id\":\"m-1\"")) {
            held.add(text);
          } else {
            listener.frame(text);
            if (!held.isEmpty() && text.startsWith("{\"type\":\"message\"")) {
              listener.frame(held.remove());
            }
          }
        });
  }

  /** A control plane that sends each push twice. */
  private static Deployment repeatingPushes(Deployment to, String tenants) {
    return changing(
        to,
        tenants,
        (listener, text) -> {
          listener.frame(text);
          if (text.startsWith("{\"type\":\"push\"")) {
            listener.frame(text);
          }
        });
  }

  /** A processor that writes numbers as it read them. */
  private static Deployment normalizing(Deployment to) {
    return changing(
        to, "-silo", (listener, text) -> listener.frame(text.replace("1e5", "100000.0")));
  }

  /** Somebody who deletes a queue before the doctor comes. */
  private static Deployment losingQueues(Deployment to) {
    return new Passing(to) {
      private String tenant = "";

      @Override
      public Response control(
          String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
        if (path.equals("/drift")) {
          deleteQueue("connect_" + tenant + "_token_bucket");
        }
        String onboarded = body.map(json -> json.path("tenantId").asText()).orElse("");
        tenant = onboarded.endsWith("-doctor") ? onboarded : tenant;
        return super.control(method, path, body, headers);
      }
    };
  }

  private static void deleteQueue(String name) {
    AccessKey key = cloud.accessKey("somebody");
    HttpRequest request =
        HttpRequest.newBuilder(cloud.endpoint())
            .header("Content-Type", "application/x-amz-json-1.0")
            .header("X-Amz-Target", "AmazonSQS.DeleteQueue")
            .header(
                "Authorization",
                "AWS4-HMAC-SHA256 Credential="
                    + key.accessKeyId()
                    + "/20260101/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=0")
            .header("X-Amz-Security-Token", key.sessionToken())
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"QueueUrl\":\"https://sqs.us-east-1.amazonaws.com/000000000000/"
                        + name
                        + "\"}"))
            .build();
    try {
      HttpResponse<String> response =
          HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
      assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  @Test
  void a_terminated_run_removes_its_tenants_and_tiers() throws Exception {
    Path log = directory.resolve("terminated.log");
    Process terminated =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "verify",
                "--check",
                "due",
                "--outputs",
                outputs.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    while (leftOver().stream().noneMatch(name -> name.endsWith("-due"))
        && !terminated.waitFor(200, TimeUnit.MILLISECONDS)) {
      // The tenant is not onboarded yet.
    }
    terminated.destroy();

    assertThat(terminated.waitFor(30, TimeUnit.SECONDS)).as(Files.readString(log)).isTrue();
    assertThat(Files.readString(log)).contains("Removing 4 tenants and tiers", "All were removed");
    assertThat(leftOver()).isEmpty();
  }
}
