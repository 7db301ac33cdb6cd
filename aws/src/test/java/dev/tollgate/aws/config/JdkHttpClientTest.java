package dev.tollgate.aws.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpFullResponse;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

final class JdkHttpClientTest {
  private static final String TABLES = "{\"TableNames\":[\"Tenant\"]}";

  @AutoClose("shutdownNow")
  private final ScheduledExecutorService timeouts = Executors.newSingleThreadScheduledExecutor();

  /** Which of the next requests are aborted while they wait for the response. */
  private final Queue<Boolean> aborted = new ArrayDeque<>();

  private DynamoDbClient client() {
    SdkClients clients =
        new SdkClients(
            new SdkClients.Access(
                Optional.of(Region.US_EAST_1),
                StaticCredentialsProvider.create(AwsBasicCredentials.create("id", "secret")),
                Optional.empty()),
            new JdkHttpClient(new Answering()),
            timeouts);
    return clients.repeating(DynamoDbClient.builder()).build();
  }

  private final class Answering implements SdkHttpClient {
    @Override
    public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
      return new ExecutableHttpRequest() {
        @Override
        public HttpExecuteResponse call() {
          if (aborted.remove()) {
            throw new NullPointerException("because \"this.http\" is null");
          }
          return HttpExecuteResponse.builder()
              .response(SdkHttpFullResponse.builder().statusCode(200).build())
              .responseBody(
                  AbortableInputStream.create(
                      new ByteArrayInputStream(TABLES.getBytes(StandardCharsets.UTF_8))))
              .build();
        }

        @Override
        public void abort() {
          throw new IllegalStateException("no request takes so long");
        }
      };
    }

    @Override
    public void close() {}
  }

  @Test
  void an_aborted_request_is_repeated() {
    aborted.addAll(List.of(true, true, false));

    try (DynamoDbClient client = client()) {
      assertThat(client.listTables().tableNames()).containsExactly("Tenant");
    }
  }

  @Test
  void a_request_that_is_aborted_each_time_fails_as_the_sdk_reports_it() {
    aborted.addAll(List.of(true, true, true));

    try (DynamoDbClient client = client()) {
      assertThatThrownBy(client::listTables)
          .isInstanceOf(SdkClientException.class)
          .hasRootCauseInstanceOf(NullPointerException.class)
          .hasCauseInstanceOf(IOException.class);
    }
  }
}
