package dev.tollgate.bench.compare;

import dev.tollgate.bench.contenders.Contender;
import dev.tollgate.bench.contenders.Contenders;
import dev.tollgate.bench.contenders.Wire;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * List prices of requests, in dollars.
 *
 * @param readUnit of a strongly consistent read of DynamoDB
 * @param writeUnit of a write; a failed conditional write costs as much
 * @param queueRequest of a request to a standard queue
 * @param invocation of a function
 */
record Prices(double readUnit, double writeUnit, double queueRequest, double invocation) {
  private static final double MILLION = 1e6;

  /** The producer sends ten tokens in a request. */
  private static final double MINTED = 0.1;

  private static final Set<String> READS = Set.of("GetItem");
  private static final Set<String> WRITES = Set.of("UpdateItem", "PutItem", "DeleteItem");
  private static final Set<String> QUEUE =
      Set.of(
          "ReceiveMessage",
          "DeleteMessage",
          "DeleteMessageBatch",
          "SendMessageBatch",
          "ChangeMessageVisibility",
          "ChangeMessageVisibilityBatch",
          "GetQueueAttributes");

  /**
   * Reads {@code docs/prices.yaml}.
   *
   * @throws IllegalArgumentException if a price is missing
   */
  static Prices read(Path file) {
    try {
      Object document =
          new Load(LoadSettings.builder().setLabel(file.toString()).build())
              .loadFromString(Files.readString(file));
      return new Prices(
          price(document, "dynamodb-read-unit"),
          price(document, "dynamodb-write-unit"),
          price(document, "sqs-standard-request"),
          price(document, "lambda-invocation"));
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": " + e, e);
    }
  }

  private static double price(Object document, String name) {
    if (document instanceof Map<?, ?> file
        && file.get("prices") instanceof Map<?, ?> prices
        && prices.get(name) instanceof Map<?, ?> price
        && price.get("dollars") instanceof Number dollars
        && price.get("for") instanceof Number count) {
      return dollars.doubleValue() / count.doubleValue();
    }
    throw new IllegalArgumentException(
        "price " + name + ": none (expected: dollars, and for how many)");
  }

  /**
   * The price of a million decisions: the requests on the wire and, for Tollgate, the requests that
   * minted the tokens. Empty for Redis, which AWS bills by the hour, and without decisions.
   */
  OptionalDouble perMillion(Contender contender, Wire wire, long decisions, long admitted) {
    if (decisions == 0 || Contenders.ON_REDIS.contains(contender.name())) {
      return OptionalDouble.empty();
    }
    double dollars =
        wire.requests().entrySet().stream()
            .mapToDouble(one -> one.getValue() * priceOf(one.getKey()))
            .sum();
    double minting =
        Contenders.TOLLGATE.contains(contender.name())
            ? MINTED * contender.tokens() * admitted * queueRequest
            : 0;
    return OptionalDouble.of((dollars + minting) * MILLION / decisions);
  }

  private double priceOf(String operation) {
    if (READS.contains(operation)) {
      return readUnit;
    }
    if (WRITES.contains(operation)) {
      return writeUnit;
    }
    if (QUEUE.contains(operation)) {
      return queueRequest;
    }
    // AssumeRole is free. What has no target is the request for a fill: an asynchronous invocation.
    return operation.equals("other") ? invocation : 0;
  }
}
