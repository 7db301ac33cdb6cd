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
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
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

  /** Messages of the longest size that no operating system's socket buffers hold together. */
  private static final int UNREAD = 100;

  private static final String LONGEST = "x".repeat(128 * 1024);

  private final ManualClock clock = new ManualClock(Instant.parse("2026-03-12T19:03:58Z"));
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final ScriptedFunctions functions = new ScriptedFunctions();
  private final AccessKeys keys = new AccessKeys();
  private final Endpoint frontDoor =
      new Endpoint(keys, Authorization.NONE, new RecordedRequests(), handler -> handler, clock);
  private final AccessKey key =
      keys.issue(Principal.of("test", "arn:aws:iam::000000000000:role/test"));

  @BeforeEach
  void defineFunctions() {
    functions.define("connect", "{\"statusCode\":200}");
    functions.define("disconnect", "{\"statusCode\":200}");
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
    frontDoor.close();
    functions.close();
  }

  @Test
  void others_get_their_messages_while_a_client_does_not_read() throws Exception {
    try (Server server = new Server(Duration.ofHours(1))) {
      List<CompletableFuture<Void>> unread =
          Stream.generate(
                  () ->
                      CompletableFuture.runAsync(() -> server.post(server.slow, LONGEST), threads))
              .limit(UNREAD)
              .toList();

      for (int i = 0; i < OTHERS; i++) {
        Client.Connected other = Client.connect(server.uri());
        server.post(lastId(), "hello");
        assertThat(other.nextMessage()).isEqualTo("hello");
      }

      assertThat(unread).anyMatch(message -> !message.isDone());
    }
  }

  @Test
  void client_that_does_not_read_is_closed_once() throws Exception {
    try (Server server = new Server(ConnectionsApi.MAX_SEND_TIME)) {
      assertThatThrownBy(
              () -> {
                for (int i = 0; i < UNREAD; i++) {
                  server.post(server.slow, LONGEST);
                }
              })
          .isInstanceOf(LimitExceededException.class);
      server.gateway.settle();

      assertThat(functions.events("disconnect"))
          .singleElement()
          .satisfies(
              event ->
                  assertThat(event.at("/requestContext/connectionId").asText())
                      .isEqualTo(server.slow));
      assertThatThrownBy(() -> server.post(server.slow, "more")).isInstanceOf(GoneException.class);
    }
  }

  private String lastId() {
    var events = functions.events("connect");
    return events.get(events.size() - 1).at("/requestContext/connectionId").asText();
  }

  /** A gateway with a time limit for unread messages, and a client that reads none. */
  private final class Server implements AutoCloseable {
    private final Gateway gateway;
    private final ApiGatewayManagementApiClient management;
    private final SlowReader reader;
    private final String slow;

    Server(Duration maxSendTime) throws IOException {
      gateway =
          new Gateway(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
              AllowedHosts.LOCAL,
              functions,
              NoServices.INSTANCE,
              Environment.of("App", clock),
              frontDoor::guard,
              line -> {},
              maxSendTime);
      gateway.add(
          ScriptedFunctions.api(
              Map.of("$connect", "connect", "$disconnect", "disconnect"), Optional.empty()));
      management =
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
              .httpClientBuilder(ApacheHttpClient.builder().maxConnections(2 * UNREAD))
              .build();
      reader = SlowReader.connect(uri());
      slow = lastId();
    }

    URI uri() {
      return URI.create(gateway.endpoint("ws", "ws1") + "/production");
    }

    void post(String id, String text) {
      management.postToConnection(r -> r.connectionId(id).data(SdkBytes.fromUtf8String(text)));
    }

    @Override
    public void close() throws IOException {
      reader.close();
      management.close();
      gateway.close();
    }
  }
}
