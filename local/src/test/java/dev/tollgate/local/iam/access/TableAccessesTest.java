package dev.tollgate.local.iam.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.template.Environment;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TableAccessesTest {
  private static final String STREAM =
      "arn:aws:dynamodb:us-east-1:000000000000:table/Rows/stream/2026-01-01T00:00:00.000";

  private final TableAccesses accesses =
      new TableAccesses(Environment.of("App", InstantSource.system()), new TableKeys());

  @ParameterizedTest
  @CsvSource({"ListStreams, *", "DescribeStream, " + STREAM, "GetShardIterator, " + STREAM})
  void streams_are_listed_without_a_resource_and_read_by_their_arn(
      String operation, String resource) {
    assertThat(
            accesses.of(
                call(operation, "{\"TableName\":\"Rows\",\"StreamArn\":\"" + STREAM + "\"}")))
        .containsExactly(Access.to("dynamodb:" + operation, resource));
  }

  @ParameterizedTest
  @ValueSource(strings = {"GetResourcePolicy", "PutResourcePolicy", "DeleteResourcePolicy"})
  void policies_of_tables_are_named_by_the_arn(String operation) {
    String table = "arn:aws:dynamodb:us-east-1:000000000000:table/Rows";
    assertThat(accesses.of(call(operation, "{\"ResourceArn\":\"" + table + "\"}")))
        .containsExactly(Access.to("dynamodb:" + operation, table));
  }

  private static Call call(String operation, String body) {
    return new Call(
        "dynamodb",
        operation,
        Principal.of("App", "role"),
        "key",
        Instant.EPOCH,
        Optional.empty(),
        "POST",
        "/",
        Map.of(),
        body);
  }
}
