package dev.tollgate.bench.contenders;

import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/** Limiters in one DynamoDB item a key, without a library. */
final class TableLimiters implements Contender {
  private static final String ARRIVAL = "arrival";
  private static final String COUNT = "count";

  private final String name;
  private final boolean conditional;
  private final DynamoDbClient client;
  private final InstantSource clock;

  private TableLimiters(String name, boolean conditional, PeerTable table, InstantSource clock) {
    this.name = name;
    this.conditional = conditional;
    this.client = table.client();
    this.clock = clock;
  }

  /**
   * A token bucket as one number (GCRA), changed by conditional writes. This is the least that
   * exact shared state costs: one request.
   */
  static Contender conditional(PeerTable table, InstantSource clock) {
    return new TableLimiters(Contenders.UPDATE_ITEM, true, table, clock);
  }

  /**
   * Reads a count, compares it, and then raises it, as the sample checks its limits: callers at the
   * same time all see the same count. It admits too many, and shows that the measurement sees that.
   */
  static Contender checkThenAct(PeerTable table, InstantSource clock) {
    return new TableLimiters(Contenders.CHECK_THEN_ACT, false, table, clock);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public List<Limiter> open(Purpose purpose, int keys) {
    String prefix = UUID.randomUUID() + "-";
    return IntStream.range(0, keys)
        .mapToObj(key -> prefix + key)
        .map(key -> conditional ? bucket(key, purpose.terms()) : counter(key, purpose.terms()))
        .toList();
  }

  private Limiter bucket(String key, Terms terms) {
    long interval = (long) (TimeUnit.MINUTES.toMicros(1) / terms.perMinute());
    long burst = interval * terms.capacity();
    return () -> {
      long now = TimeUnit.MILLISECONDS.toMicros(clock.millis());
      // Most decisions find a bucket that is neither full nor new.
      String condition = "arrival >= :now AND arrival <= :latest";
      String update = "SET arrival = arrival + :interval";
      Map<String, AttributeValue> values =
          Map.of(
              ":now", number(now),
              ":latest", number(now + burst - interval),
              ":interval", number(interval));
      while (true) {
        try {
          write(key, update, condition, values);
          return true;
        } catch (ConditionalCheckFailedException e) {
          AttributeValue arrival = e.item().get(ARRIVAL);
          if (arrival != null && Long.parseLong(arrival.n()) > now + burst - interval) {
            return false;
          }
          // The bucket is full: it starts anew, unless another caller does that first.
          boolean full = arrival == null || Long.parseLong(arrival.n()) < now;
          condition =
              full
                  ? "attribute_not_exists(arrival) OR arrival < :now"
                  : "arrival >= :now AND arrival <= :latest";
          update = full ? "SET arrival = :next" : "SET arrival = arrival + :interval";
          values =
              full
                  ? Map.of(":now", number(now), ":next", number(now + interval))
                  : Map.of(
                      ":now", number(now),
                      ":latest", number(now + burst - interval),
                      ":interval", number(interval));
        }
      }
    };
  }

  private Limiter counter(String key, Terms terms) {
    return () -> {
      AttributeValue count =
          client
              .getItem(
                  read ->
                      read.tableName(PeerTable.NAME)
                          .key(Map.of(PeerTable.KEY, AttributeValue.fromS(key)))
                          .consistentRead(true))
              .item()
              .get(COUNT);
      if (count != null && Long.parseLong(count.n()) >= terms.capacity()) {
        return false;
      }
      client.updateItem(
          write ->
              write
                  .tableName(PeerTable.NAME)
                  .key(Map.of(PeerTable.KEY, AttributeValue.fromS(key)))
                  .updateExpression("ADD #count :one")
                  .expressionAttributeNames(Map.of("#count", COUNT))
                  .expressionAttributeValues(Map.of(":one", number(1))));
      return true;
    };
  }

  private void write(
      String key, String update, String condition, Map<String, AttributeValue> values) {
    client.updateItem(
        UpdateItemRequest.builder()
            .tableName(PeerTable.NAME)
            .key(Map.of(PeerTable.KEY, AttributeValue.fromS(key)))
            .updateExpression(update)
            .conditionExpression(condition)
            .expressionAttributeValues(values)
            .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)
            .build());
  }

  private static AttributeValue number(long value) {
    return AttributeValue.fromN(Long.toString(value));
  }

  @Override
  public void close() {
    client.close();
  }
}
