package dev.tollgate.aws.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;

/** The credentials of a function: keys in variables, or the endpoint of its container. */
class SdkClientsTest {
  private static final String ENDPOINT = "aws.containerCredentialsFullUri";
  private static final String AUTHORIZATION = "aws.containerAuthorizationToken";

  private final AtomicInteger reads = new AtomicInteger();
  private final HttpServer container = server();
  private volatile Duration lifetime = Duration.ofHours(6);

  private static HttpServer server() {
    try {
      return HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Sets properties of the system that take the place of the variables which Lambda sets. */
  @BeforeEach
  void serve() {
    container.createContext("/credentials", this::answer);
    container.start();
    System.setProperty(
        ENDPOINT, "http://127.0.0.1:" + container.getAddress().getPort() + "/credentials");
    System.setProperty(AUTHORIZATION, "secret of the container");
  }

  @AfterEach
  void stop() {
    System.clearProperty(ENDPOINT);
    System.clearProperty(AUTHORIZATION);
    container.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    boolean known =
        "secret of the container".equals(exchange.getRequestHeaders().getFirst("Authorization"));
    String body =
        """
        {"AccessKeyId":"ASIA%d","SecretAccessKey":"secret","Token":"token","Expiration":"%s"}"""
            .formatted(reads.incrementAndGet(), Instant.now().plus(lifetime));
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(known ? 200 : 403, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Test
  void without_keys_in_variables_the_credentials_are_those_of_the_container() {
    AwsCredentialsProvider credentials = SdkClients.credentials(Map.of("AWS_ACCESS_KEY_ID", ""));
    for (int i = 0; i < 2; i++) {
      assertThat(credentials.resolveCredentials())
          .isInstanceOfSatisfying(
              AwsSessionCredentials.class,
              session -> {
                assertThat(session.accessKeyId()).isEqualTo("ASIA1");
                assertThat(session.sessionToken()).isEqualTo("token");
              });
    }
    assertThat(reads).hasValue(1);
  }

  /** A snapshot may be restored long after its credentials have ended. */
  @Test
  void credentials_of_the_container_that_end_are_read_again() {
    lifetime = Duration.ofSeconds(1);
    AwsCredentialsProvider credentials = SdkClients.credentials(Map.of());
    assertThat(credentials.resolveCredentials().accessKeyId()).isEqualTo("ASIA1");
    lifetime = Duration.ofHours(6);
    assertThat(credentials.resolveCredentials().accessKeyId()).isEqualTo("ASIA2");
  }

  @Test
  void keys_in_variables_come_before_the_container() {
    Map<String, String> environment =
        Map.of(
            "AWS_ACCESS_KEY_ID", "ASIA0",
            "AWS_SECRET_ACCESS_KEY", "secret",
            "AWS_SESSION_TOKEN", "token");
    assertThat(SdkClients.credentials(environment).resolveCredentials())
        .isEqualTo(AwsSessionCredentials.create("ASIA0", "secret", "token"));
    assertThat(reads).hasValue(0);
  }

  @Test
  void a_key_without_its_secret_is_refused() {
    assertThatThrownBy(() -> SdkClients.credentials(Map.of("AWS_ACCESS_KEY_ID", "ASIA0")))
        .isInstanceOf(MissingVariable.class)
        .hasMessageContaining("AWS_SECRET_ACCESS_KEY");
  }
}
