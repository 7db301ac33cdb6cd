package dev.tollgate.local.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.RecordedRequests;
import dev.tollgate.local.faults.Fault;
import dev.tollgate.local.faults.Faults;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;

@WithLocalCloud("src/test/resources/table.cdk.out")
final class WithLocalCloudTest {
  private static TestCloud ofClass;

  @BeforeAll
  static void keep(TestCloud cloud) {
    ofClass = cloud;
  }

  private static DynamoDbClient client(URI aws, AccessKey key) {
    return DynamoDbClient.builder()
        .endpointOverride(aws)
        .region(Region.US_EAST_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(
                AwsSessionCredentials.create(
                    key.accessKeyId(), key.secretAccessKey(), key.sessionToken())))
        .build();
  }

  private static Map<String, AttributeValue> thing() {
    return Map.of("id", AttributeValue.fromS("1"));
  }

  @Test
  void role_reads_what_its_policy_allows_and_the_request_is_recorded(
      URI aws,
      @StackOutput("TableName") String table,
      @RoleCredentials("Reader") AccessKey key,
      RecordedRequests requests) {
    requests.clear();
    try (DynamoDbClient reader = client(aws, key)) {
      assertThat(reader.getItem(r -> r.tableName(table).key(thing())).hasItem()).isFalse();
      assertThatThrownBy(() -> reader.putItem(r -> r.tableName(table).item(thing())))
          .isInstanceOf(DynamoDbException.class)
          .hasMessageContaining("not authorized");
    }
    assertThat(requests.list())
        .extracting(RecordedRequests.Request::operation)
        .containsExactly("GetItem", "PutItem");
  }

  @Test
  void injected_fault_strikes(URI aws, @RoleCredentials("Reader") AccessKey key, Faults faults) {
    try (DynamoDbClient reader = client(aws, key);
        Faults.Injection injection =
            faults.inject(
                call -> call.operation().equals("GetItem"),
                1,
                new Fault.Refused(400, "ValidationException", "planted"))) {
      assertThatThrownBy(() -> reader.getItem(r -> r.tableName("Things").key(thing())))
          .hasMessageContaining("planted");
      assertThat(injection.count()).isEqualTo(1);
    }
  }

  @Test
  void clock_stands_still_until_it_is_moved(TestCloud cloud, ManualClock clock)
      throws InterruptedException {
    Instant before = clock.instant();

    cloud.advance(Duration.ofHours(1));

    assertThat(clock.instant()).isEqualTo(before.plus(Duration.ofHours(1)));
  }

  @Nested
  final class NestedClass {
    @Test
    void nested_class_uses_the_same_cloud(TestCloud cloud) {
      assertThat(cloud).isSameAs(ofClass);
    }
  }
}
