package dev.tollgate.aws.credentials;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;

@ExtendWith(Engines.class)
class CredentialTableTest extends CredentialStoreContract {
  private static final String ROLE = "arn:aws:iam::000000000000:role/path/ConnectTenant";
  private static final TenantId ACME = new TenantId("acme");

  private final ManualClock clock = new ManualClock(Samples.NOW);
  private final List<String> log = new ArrayList<>();
  private final CredentialFailures failures = new CredentialFailures(clock, log::add);
  private final Engines.Tables tables;
  private final String table;
  private final CredentialTable store;

  CredentialTableTest(Engines.Tables tables) {
    this.tables = tables;
    table = tables.idempotency();
    store = new CredentialTable(tables.client(), table, ROLE, failures, clock);
  }

  @Override
  CredentialStore store() {
    return store;
  }

  @Test
  void another_role_has_other_rows() {
    TemporaryCredentials credentials = until(Samples.NOW.plusSeconds(3_600));
    store.store(ACME, credentials);

    assertThat(new CredentialTable(tables.client(), table, ROLE + "2", failures, clock).find(ACME))
        .isEmpty();
    assertThat(tables.client().scan(r -> r.tableName(table)).items())
        .singleElement()
        .satisfies(
            row ->
                assertThat(row).containsEntry("key", AttributeValue.fromS("ConnectTenant/acme")));
  }

  @ParameterizedTest
  @CsvSource({
    "accessKeyId, missing",
    "secretAccessKey, number",
    "sessionToken, missing",
    "endsAt, missing",
    "endsAt, text",
    "schema, number"
  })
  void a_garbled_row_is_no_row_and_is_replaced(String attribute, String wrong) {
    TemporaryCredentials credentials =
        until(Instant.ofEpochSecond(Samples.NOW.getEpochSecond() + 3_600));
    store.store(ACME, credentials);
    Map<String, AttributeValue> row =
        new HashMap<>(tables.client().scan(r -> r.tableName(table)).items().get(0));
    switch (wrong) {
      case "missing" -> row.remove(attribute);
      case "number" -> row.put(attribute, AttributeValue.fromN("99"));
      default -> row.put(attribute, AttributeValue.fromS("soon"));
    }
    tables.client().putItem(r -> r.tableName(table).item(row));

    assertThat(store.find(ACME)).isEmpty();

    store.store(ACME, credentials);
    assertThat(store.find(ACME)).contains(credentials);
  }

  static Stream<SdkException> failures() {
    return Stream.of(
        SdkClientException.create("Rate exceeded"),
        DynamoDbException.builder()
            .awsErrorDetails(
                AwsErrorDetails.builder()
                    .errorCode("AccessDeniedException")
                    .errorMessage("not authorized, with an explicit deny")
                    .build())
            .statusCode(400)
            .build());
  }

  @ParameterizedTest
  @MethodSource("failures")
  void a_table_that_fails_is_empty_and_is_asked_once_in_ten_seconds(SdkException failure) {
    AtomicInteger requests = new AtomicInteger();
    CredentialTable failing =
        new CredentialTable(
            tables.client(
                new ExecutionInterceptor() {
                  @Override
                  public void beforeExecution(
                      Context.BeforeExecution request, ExecutionAttributes attributes) {
                    requests.incrementAndGet();
                    throw failure;
                  }
                }),
            table,
            ROLE,
            failures,
            clock);

    assertThat(failing.find(ACME)).isEmpty();
    failing.store(ACME, until(Samples.NOW));
    assertThat(failing.claimRenewal(ACME, Samples.NOW, Samples.NOW)).isFalse();
    assertThat(requests).hasValue(1);

    clock.advance(Duration.ofSeconds(10));
    assertThat(failing.find(ACME)).isEmpty();
    assertThat(requests).hasValue(2);
    assertThat(log)
        .singleElement()
        .asString()
        .contains("\"Source\":\"TABLE\"", "\"CredentialFailures\":1,", failure.getMessage());
  }
}
