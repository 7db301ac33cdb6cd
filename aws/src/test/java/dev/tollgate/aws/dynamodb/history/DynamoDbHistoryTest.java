package dev.tollgate.aws.dynamodb.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.history.Change;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.history.History;
import dev.tollgate.core.history.Span;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.HistoryContract;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.SdkResponse;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchWriteItemRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchWriteItemResponse;
import software.amazon.awssdk.services.dynamodb.model.WriteRequest;

@ExtendWith(Engines.class)
class DynamoDbHistoryTest extends HistoryContract {
  private final Engines.Tables tables;
  private final String table;
  private final History history;

  DynamoDbHistoryTest(Engines.Tables tables) {
    this.tables = tables;
    table = tables.history();
    history = new DynamoDbHistory(tables.client(), table);
  }

  @Override
  protected History history() {
    return history;
  }

  @Test
  void rows_that_stay_unprocessed_are_sent_again() {
    Instant minute = Samples.NOW.truncatedTo(ChronoUnit.MINUTES);
    Throttling throttling = new Throttling();
    List<Change> changes =
        IntStream.range(0, 60)
            .mapToObj(
                i ->
                    new Change(new TenantId("t" + i), minute, new Counts(1, Map.of(), 1, Map.of())))
            .toList();

    new DynamoDbHistory(tables.client(throttling), table).add("batch", changes);

    assertThat(throttling.unprocessed).isPositive();
    Span span = new Span(minute, minute.plusSeconds(60));
    assertThat(history.active(span)).hasSize(60);
    assertThat(history.ofAll(span).values())
        .containsExactly(new Counts(60, Map.of(), 60, Map.of()));
    changes.forEach(change -> assertThat(history.of(change.tenant(), span)).hasSize(1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "globex 3 7",
        "globex 3 7 TENANT_RATE connect=1/1",
        "globex 3 7  connect=5",
        "globex 3 7 NEW_REASON=1 ",
        "globex many 7  ",
        "acme 0 0  ",
      })
  void a_damaged_line_of_the_ranking_hides_no_other_tenant(String line) {
    Instant minute = Samples.NOW.truncatedTo(ChronoUnit.MINUTES).minus(Duration.ofDays(20));
    TenantId acme = new TenantId("acme");
    Counts counts = new Counts(3, Map.of(), 7, Map.of());
    String at = HistoryRow.at(minute) + "/batch/0";
    tables
        .client()
        .putItem(
            request ->
                request
                    .tableName(table)
                    .item(
                        HistoryRow.writeRanking(
                            at, List.of(HistoryRow.line(acme, counts), line), minute)));

    assertThat(history.active(new Span(minute, minute.plusSeconds(60))))
        .isEqualTo(Map.of(acme, counts));
  }

  @ParameterizedTest
  @ValueSource(strings = {"tenants=N", "other=S"})
  void a_damaged_row_of_the_ranking_hides_no_other_tenant(String damage) {
    Instant minute = Samples.NOW.truncatedTo(ChronoUnit.MINUTES).minus(Duration.ofDays(21));
    TenantId acme = new TenantId("acme");
    Counts counts = new Counts(3, Map.of(), 7, Map.of());
    Map<String, AttributeValue> damaged =
        new HashMap<>(HistoryRow.writeRanking(HistoryRow.at(minute) + "/a/0", List.of(), minute));
    damaged.remove("tenants");
    AttributeValue seven =
        damage.endsWith("N") ? AttributeValue.fromN("7") : AttributeValue.fromS("7");
    damaged.put(damage.split("=", -1)[0], seven);
    Map<String, AttributeValue> good =
        HistoryRow.writeRanking(
            HistoryRow.at(minute) + "/b/0", List.of(HistoryRow.line(acme, counts)), minute);
    for (Map<String, AttributeValue> row : List.of(damaged, good)) {
      tables.client().putItem(request -> request.tableName(table).item(row));
    }

    assertThat(history.active(new Span(minute, minute.plusSeconds(60))))
        .isEqualTo(Map.of(acme, counts));
  }

  @Test
  void an_hour_whose_writer_stopped_is_not_marked_as_written() {
    Instant hour = Samples.NOW.truncatedTo(ChronoUnit.HOURS).minus(Duration.ofDays(9));
    Span span = new Span(hour, hour.plusSeconds(3_600));
    Map<TenantId, Counts> tenants =
        IntStream.range(0, 60)
            .boxed()
            .collect(
                Collectors.toMap(
                    i -> new TenantId("stopped" + i), i -> new Counts(i, Map.of(), 1, Map.of())));
    Counts all = new Counts(1_770, Map.of(), 60, Map.of());
    AtomicInteger requests = new AtomicInteger();
    ExecutionInterceptor stopping =
        new ExecutionInterceptor() {
          @Override
          public void beforeExecution(
              Context.BeforeExecution context, ExecutionAttributes attributes) {
            if (requests.incrementAndGet() == 3) {
              throw SdkClientException.create("stopped");
            }
          }
        };
    History stopped = new DynamoDbHistory(tables.client(stopping), table);

    assertThatThrownBy(() -> stopped.putHour(hour, tenants, all)).isInstanceOf(Unavailable.class);
    assertThat(tenants.keySet())
        .filteredOn(tenant -> !history.hours(tenant, span).isEmpty())
        .hasSize(50);
    assertThat(history.hoursOfAll(span)).isEmpty();

    stopped.putHour(hour, tenants, all);
    tenants.forEach(
        (tenant, counts) ->
            assertThat(history.hours(tenant, span)).isEqualTo(Map.of(hour, counts)));
    assertThat(history.hoursOfAll(span)).isEqualTo(Map.of(hour, all));
  }

  /** Writes each row with a probability of 70 %, as a table that is asked too much. */
  private static final class Throttling implements ExecutionInterceptor {
    private final Random random = new Random(1);
    private List<WriteRequest> left = List.of();
    private int unprocessed;

    @Override
    public SdkRequest modifyRequest(Context.ModifyRequest context, ExecutionAttributes attributes) {
      if (!(context.request() instanceof BatchWriteItemRequest request)) {
        return context.request();
      }
      List<WriteRequest> written =
          new ArrayList<>(request.requestItems().values().iterator().next());
      left = new ArrayList<>();
      for (int i = written.size() - 1; i > 0; i--) {
        if (random.nextInt(10) < 3) {
          left.add(written.remove(i));
        }
      }
      unprocessed += left.size();
      String name = request.requestItems().keySet().iterator().next();
      return request.toBuilder().requestItems(Map.of(name, written)).build();
    }

    @Override
    public SdkResponse modifyResponse(
        Context.ModifyResponse context, ExecutionAttributes attributes) {
      return context.response() instanceof BatchWriteItemResponse response && !left.isEmpty()
          ? response.toBuilder().unprocessedItems(Map.of(name(context), left)).build()
          : context.response();
    }

    private static String name(Context.ModifyResponse context) {
      return ((BatchWriteItemRequest) context.request()).requestItems().keySet().iterator().next();
    }
  }
}
