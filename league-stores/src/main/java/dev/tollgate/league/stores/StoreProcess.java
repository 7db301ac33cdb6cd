package dev.tollgate.league.stores;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.league.stores.StoredLimiter.Decision;
import dev.tollgate.league.stores.StoredLimiter.StoredBucket;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/**
 * Judged through its standard input and output: a limiter with a store, by the line protocol of the
 * law book, version 1. The README of the law book specifies the lines.
 */
public final class StoreProcess {
  private static final Map<String, Function<InstantSource, StoredLimiter>> LIMITERS =
      Map.of(
          "bucket4j-redis", Bucket4j::onRedis,
          "bucket4j-dynamodb", Bucket4j::onDynamoDb,
          "gcra", GcraScript::new);

  private final ObjectMapper json = new ObjectMapper();
  private final ExecutorService callers = Executors.newCachedThreadPool();
  private final Map<String, StoredBucket> buckets = new HashMap<>();
  private final StoredLimiter limiter;
  private volatile Instant start = Instant.EPOCH;
  private volatile Instant now = Instant.EPOCH;
  private long history;

  private StoreProcess(Function<InstantSource, StoredLimiter> limiter) {
    this.limiter = limiter.apply(() -> now);
  }

  /**
   * Starts the store, and answers until the standard input ends.
   *
   * @param args the limiter: {@code bucket4j-redis}, {@code bucket4j-dynamodb} or {@code gcra}
   */
  public static void main(String... args) {
    PrintStream answers = System.out;
    // DynamoDB Local prints its configuration.
    System.setOut(System.err);
    // Also if it ends while the store starts: a Redis server would stay.
    Runtime.getRuntime().addShutdownHook(new Thread(StoreProcess::endChildren));
    try (BufferedReader requests =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      StoreProcess process =
          new StoreProcess(Objects.requireNonNull(LIMITERS.get(args[0]), args[0]));
      for (String line = requests.readLine(); line != null; line = requests.readLine()) {
        answers.println(process.answer(process.json.readTree(line)));
      }
      process.limiter.close();
    } catch (Exception failure) {
      failure.printStackTrace();
      System.exit(1);
    }
    // The threads of DynamoDB Local do not end by themselves.
    System.exit(0);
  }

  private static void endChildren() {
    ProcessHandle.current().descendants().forEach(ProcessHandle::destroy);
  }

  private ObjectNode answer(JsonNode request) throws Exception {
    ObjectNode answer = json.createObjectNode().put("id", request.path("id").asLong());
    now = start.plusNanos(request.path("now").asLong());
    String tenant = request.path("tenant").asText();
    long count = request.path("count").asLong();
    switch (request.path("op").asText()) {
      case "hello" ->
          answer
              .put("protocol", 1)
              .put("clock", "moved")
              .put("retryAfter", true)
              .put("several", true)
              .put("together", true);
      case "terms" -> {}
      case "reset" -> {
        start = Instant.parse(request.path("start").asText());
        history++;
        buckets.clear();
      }
      case "open" ->
          buckets.put(
              tenant,
              limiter.open(
                  history + "-" + tenant,
                  request.path("tokens").asLong(),
                  Duration.ofNanos(request.path("per").asLong()),
                  request.path("capacity").asLong()));
      case "claim" -> put(answer, bucket(tenant).claim(count));
      case "together" -> together(answer, bucket(tenant), request.path("callers").asInt(), count);
      default -> throw new IllegalArgumentException(request.toString());
    }
    return answer;
  }

  private StoredBucket bucket(String tenant) {
    return Objects.requireNonNull(buckets.get(tenant), tenant);
  }

  private static void put(ObjectNode answer, Decision decision) {
    answer.put("admitted", decision.admitted());
    if (!decision.admitted()) {
      answer.put("retryAfter", decision.retryAfter().toNanos());
    }
  }

  private void together(ObjectNode answer, StoredBucket bucket, int count, long tokens)
      throws Exception {
    List<Callable<Decision>> claims = Collections.nCopies(count, () -> bucket.claim(tokens));
    long admitted = 0;
    for (Future<Decision> claim : callers.invokeAll(claims)) {
      Decision decision = claim.get();
      if (decision.admitted()) {
        admitted++;
      } else {
        answer.put("retryAfter", decision.retryAfter().toNanos());
      }
    }
    answer.put("admitted", admitted);
  }
}
