package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.e2e.models.ValidatedTraffic;
import dev.tollgate.local.LocalCloud;
import dev.tollgate.local.Options;
import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import dev.tollgate.local.events.EventSources;
import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.testing.ManualClock;
import dev.tollgate.local.testing.TestCloud;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** The synthesized stack on a local cloud, with a clock that tests move. */
final class LocalDeployment extends Deployment implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path ASSEMBLY = Path.of("../infra/target/cdk.out");

  /** The log of the functions of all deployments, also of earlier runs. */
  static final Path LOG = Path.of("target/endtoend.log");

  private final TestCloud stack;
  private final LocalCloud cloud;
  private final ManualClock clock;
  private final HttpClient http = HttpClient.newHttpClient();

  private LocalDeployment(Path assembly, Map<String, URI> keySets, FaultPlan faults) {
    this(assembly, keySets, faults, UnaryOperator.identity(), TestCloud::start);
  }

  private LocalDeployment(
      Path assembly,
      Map<String, URI> keySets,
      FaultPlan faults,
      UnaryOperator<Options> change,
      Function<Function<ManualClock, Options>, TestCloud> start) {
    stack =
        start.apply(
            clock ->
                change.apply(
                    new Options(
                            assembly,
                            "127.0.0.1",
                            0,
                            Optional.empty(),
                            Optional.of(LOG),
                            keySets,
                            clock)
                        .with(faults)
                        .observedBy(ValidatedTraffic::validate)));
    cloud = stack.cloud();
    clock = stack.clock();
  }

  /**
   * Starts a separate deployment, for a test that counts requests, reads everything in the cloud or
   * moves the clock far.
   */
  static LocalDeployment own() {
    return of(ASSEMBLY);
  }

  /** Starts a deployment of another assembly. */
  static LocalDeployment of(Path assembly) {
    return of(assembly, Map.of());
  }

  /** Starts a deployment of another assembly that finds the keys of token issuers here. */
  static LocalDeployment of(Path assembly, Map<String, URI> keySets) {
    LocalDeployment deployment = new LocalDeployment(assembly, keySets, FaultPlan.none());
    UsedGrants.watch(deployment.cloud.policies());
    return deployment;
  }

  /** Starts a deployment whose clock begins at the system's time, which real processes have. */
  static LocalDeployment atSystemTime() {
    LocalDeployment deployment =
        new LocalDeployment(
            ASSEMBLY,
            Map.of(),
            FaultPlan.none(),
            UnaryOperator.identity(),
            options -> TestCloud.start(InstantSource.system().instant(), options));
    UsedGrants.watch(deployment.cloud.policies());
    return deployment;
  }

  /**
   * Starts a deployment whose functions share credentials, and whose used permissions {@link
   * GrantsIT} does not count.
   */
  static LocalDeployment sharingCredentials(FaultPlan faults) {
    return new LocalDeployment(Assembly.sharingCredentials(), Map.of(), faults);
  }

  /** Starts a deployment that enforces no policies. */
  static LocalDeployment withoutIam() {
    return new LocalDeployment(
        ASSEMBLY, Map.of(), FaultPlan.none(), Options::withoutIam, TestCloud::start);
  }

  /**
   * Starts a deployment of an application with an attached API, whose used permissions {@link
   * GrantsIT} does not count.
   */
  static LocalDeployment attached(Path assembly) {
    return new LocalDeployment(assembly, Map.of(), FaultPlan.none());
  }

  /** Starts a deployment with planned faults. */
  static LocalDeployment withFaults(FaultPlan faults) {
    return new LocalDeployment(ASSEMBLY, Map.of(), faults);
  }

  @Override
  public void close() {
    cloud.close();
  }

  /** The deployment that all tests share; each test uses its own tenants. */
  static LocalDeployment shared() {
    return Shared.DEPLOYMENT;
  }

  @Override
  public Map<String, String> outputs() {
    return cloud.outputs();
  }

  @Override
  public void pass(Duration time) throws InterruptedException {
    advance(time);
  }

  /** Holds the shared deployment, which starts at the first use. */
  private static final class Shared {
    private static final LocalDeployment DEPLOYMENT = of(ASSEMBLY);

    static {
      Runtime.getRuntime().addShutdownHook(new Thread(DEPLOYMENT::close));
    }
  }

  LocalCloud cloud() {
    return cloud;
  }

  ManualClock clock() {
    return clock;
  }

  /** Moves the clock to each full minute on the way, so that every schedule fires. */
  void advance(Duration by) throws InterruptedException {
    stack.advance(by);
  }

  /** A client of an AWS service with unrestricted permissions. */
  <B extends AwsClientBuilder<B, C>, C> C inspect(B builder) {
    return client(builder, credentials(cloud.accessKey("inspector")));
  }

  /** A client of an AWS service with these credentials. */
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
   * The AWS requests of functions because of the action, except those of event source mappings.
   * What was under way before is awaited first. A call that the SDK repeats, because this machine
   * is busy, counts once.
   */
  List<Request> requestsOf(Action action) throws Exception {
    cloud.settle();
    cloud.requests().clear();
    action.run();
    cloud.settle();
    Set<String> seen = new HashSet<>();
    return cloud.requests().list().stream()
        .filter(request -> !request.principal().name().endsWith(EventSources.PRINCIPAL_SUFFIX))
        .filter(request -> seen.add(request.invocation()))
        .toList();
  }

  /**
   * Whether a request fetches, shares or renews a tenant's credentials, which a function needs once
   * in most of an hour.
   */
  static boolean isForCredentials(Request request) {
    return request.operation().equals("AssumeRole")
        || request.resource().filter("TablesCredentials"::equals).isPresent();
  }

  /** The tables whose rows an inspector may read: all but the credentials that functions share. */
  static List<String> readableTables(DynamoDbClient tables) {
    return tables.listTables().tableNames().stream()
        .filter(table -> !table.equals("TablesCredentials"))
        .toList();
  }

  /** Invokes a function with an event, as API Gateway would. */
  void invoke(String function, String event) throws IOException, InterruptedException {
    HttpResponse<String> response = invocation(function, event);
    if (response.statusCode() != 200
        || response.headers().firstValue("X-Amz-Function-Error").isPresent()) {
      throw new AssertionError(response.statusCode() + " " + response.body());
    }
  }

  /** Lambda's response to an invocation, also if the function failed. */
  HttpResponse<String> invocation(String function, String event)
      throws IOException, InterruptedException {
    return post("lambda", "/2015-03-31/functions/" + function + "/invocations", event);
  }

  /** The response of a service of which the tests have no client. */
  HttpResponse<String> post(String service, String path, String body)
      throws IOException, InterruptedException {
    AccessKey key = cloud.accessKey("inspector");
    HttpRequest request =
        HttpRequest.newBuilder(cloud.endpoint().resolve(path))
            .header(
                "Authorization",
                "AWS4-HMAC-SHA256 Credential="
                    + key.accessKeyId()
                    + "/20260101/us-east-1/"
                    + service
                    + "/aws4_request, SignedHeaders=host, Signature=0")
            .header("X-Amz-Security-Token", key.sessionToken())
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return http.send(request, HttpResponse.BodyHandlers.ofString());
  }

  /**
   * Closes a socket, unless the stack has, and waits until the stack has processed the disconnect.
   */
  void close(Handshake handshake) throws InterruptedException {
    handshake
        .socket()
        .sendClose(WebSocket.NORMAL_CLOSURE, "")
        .exceptionally(closedByStack -> handshake.socket())
        .join();
    handshake.closed().join();
    cloud.settle();
  }

  /** Requests page after page of a check, and returns all findings. */
  static List<JsonNode> allFindings(UnaryOperator<String> send) {
    List<JsonNode> findings = new ArrayList<>();
    String query = "?limit=10";
    while (true) {
      JsonNode part;
      try {
        part = JSON.readTree(send.apply(query));
      } catch (JsonProcessingException malformed) {
        throw new AssertionError(malformed);
      }
      assertThat(part.has("findings")).as("%s", part).isTrue();
      part.path("findings").forEach(findings::add);
      if (!part.has("next")) {
        return findings;
      }
      query = "?limit=10&cursor=" + part.path("next").asText();
    }
  }

  /** A step of a test whose requests are recorded. */
  @FunctionalInterface
  interface Action {
    void run() throws Exception;
  }
}
