package dev.tollgate.local.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.endpoint.Authorization;
import dev.tollgate.local.endpoint.Endpoint;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.endpoint.RecordedRequests;
import dev.tollgate.local.hosts.AllowedHosts;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.testing.ManualClock;
import dev.tollgate.local.testing.SlowReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.apigatewaymanagementapi.ApiGatewayManagementApiClient;
import software.amazon.awssdk.services.apigatewaymanagementapi.model.GoneException;
import software.amazon.awssdk.services.apigatewaymanagementapi.model.LimitExceededException;

/** A client that does not read is felt by nobody but itself, and not for long. */
@Timeout(60)
class SlowReaderTest {
  private static final int OTHERS = 20;
  private static final String LONGEST = "x".repeat(128 * 1024);

  private final ManualClock clock = new ManualClock(Instant.parse("2026-03-12T19:03:58Z"));
  private final ScriptedFunctions functions = new ScriptedFunctions();
  private final AccessKeys keys = new AccessKeys();
  private final Endpoint frontDoor =
      new Endpoint(keys, Authorization.NONE, new RecordedRequests(), handler -> handler, clock);
  private final Gateway gateway =
      new Gateway(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
          AllowedHosts.LOCAL,
          functions,
          NoServices.INSTANCE,
          Environment.of("App", clock),
          frontDoor::guard,
          line -> {});
  private final AccessKey key =
      keys.issue(Principal.of("test", "arn:aws:iam::000000000000:role/test"));
  private final ApiGatewayManagementApiClient management =
      ApiGatewayManagementApiClient.builder()
          .endpointOverride(
              URI.create(
                  "http://127.0.0.1:%d/ws1/production".formatted(gateway.address().getPort())))
          .region(Region.US_EAST_1)
          .credentialsProvider(
              StaticCredentialsProvider.create(
                  AwsSessionCredentials.create(
                      key.accessKeyId(), key.secretAccessKey(), key.sessionToken())))
          .overrideConfiguration(
              settings -> settings.retryStrategy(retries -> retries.maxAttempts(1)))
          .httpClientBuilder(ApacheHttpClient.builder())
          .build();

  @BeforeEach
  void addApi() {
    gateway.add(
        ScriptedFunctions.api(
            Map.of("$connect", "connect", "$disconnect", "disconnect"), Optional.empty()));
    functions.define("connect", "{\"statusCode\":200}");
    functions.define("disconnect", "{\"statusCode\":200}");
  }

  @AfterEach
  void close() {
    management.close();
    gateway.close();
    frontDoor.close();
    functions.close();
  }

  @Test
  void others_get_their_messages_while_a_client_does_not_read_which_is_closed_once()
      throws Exception {
    SlowReader reader = SlowReader.connect(uri());
    try {
      String slow = lastId();
      CompletableFuture<Void> blocked = fill(slow);

      for (int i = 0; i < OTHERS; i++) {
        Client.Connected other = Client.connect(uri());
        post(lastId(), "hello");
        assertThat(other.nextMessage()).isEqualTo("hello");
      }
      assertThat(blocked).as("the client's buffer is still full").isNotDone();

      assertThatThrownBy(blocked::join).hasCauseInstanceOf(LimitExceededException.class);
      gateway.settle();
      assertThat(functions.events("disconnect"))
          .singleElement()
          .satisfies(
              event ->
                  assertThat(event.at("/requestContext/connectionId").asText()).isEqualTo(slow));
      assertThatThrownBy(() -> post(slow, "more")).isInstanceOf(GoneException.class);
    } finally {
      reader.close();
    }
  }

  /** Sends to a client until a message waits for it. */
  private CompletableFuture<Void> fill(String slow) throws Exception {
    while (true) {
      CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> post(slow, LONGEST));
      try {
        sent.get(1, TimeUnit.SECONDS);
      } catch (TimeoutException full) {
        return sent;
      }
    }
  }

  private URI uri() {
    return URI.create(gateway.endpoint("ws", "ws1") + "/production");
  }

  private String lastId() {
    var events = functions.events("connect");
    return events.get(events.size() - 1).at("/requestContext/connectionId").asText();
  }

  private void post(String id, String text) {
    management.postToConnection(r -> r.connectionId(id).data(SdkBytes.fromUtf8String(text)));
  }
}
