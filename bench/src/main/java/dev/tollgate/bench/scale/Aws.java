package dev.tollgate.bench.scale;

import dev.tollgate.core.Unavailable;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/** What AWS takes, how long it takes and what it costs: quotas, latencies, faults and the bill. */
final class Aws {
  private static final int ATTEMPTS = 3;
  private static final long RETRY = 100_000;
  private static final long THROTTLED_RETRY = SimulatedTime.SECOND;
  private static final long ATTEMPT = 2 * SimulatedTime.SECOND;
  private static final int CLASSES = 1_024;

  private final SimulatedTime time;
  private final Random random;
  private final Map<Service, Quota> quotas = new EnumMap<>(Service.class);
  private final Map<String, Double> bill = new LinkedHashMap<>();
  private final Map<String, Double> prices;
  private final long[] rowSeconds = new long[CLASSES];
  private final int[] rowWrites = new int[CLASSES];
  private long queueOutageFrom = Long.MAX_VALUE;
  private long queueOutageTo = Long.MAX_VALUE;
  private long failures;
  private int peakRowWrites;

  /** What has a quota, or is counted because it might have one. */
  enum Service {
    HANDSHAKES("API Gateway: new connections", 500, "execution-service-websocket-limits-table"),
    REQUESTS("API Gateway: requests of the account", 10_000, "apigateway: limits"),
    SCHEDULES("EventBridge Scheduler: invocations", 1_000, "scheduler-quotas"),
    LIMIT_WRITES("DynamoDB, table Limit: write units", 4_000, "new on-demand table"),
    LIMIT_READS("DynamoDB, table Limit: read units", 12_000, "new on-demand table"),
    SESSION_WRITES("DynamoDB, table Session: write units", 4_000, "new on-demand table"),
    SESSION_READS("DynamoDB, table Session: read units", 12_000, "new on-demand table"),
    TENANT_WRITES("DynamoDB, table Tenant: write units", 4_000, "new on-demand table"),
    TENANT_READS("DynamoDB, table Tenant: read units", 12_000, "new on-demand table"),
    SQS("SQS: requests for tokens", 0, "nearly unlimited"),
    SQS_COUNTS("SQS: GetQueueAttributes", 0, "not published"),
    STS("STS: AssumeRole", 600, "IAM and STS quotas"),
    LAMBDA_INVOKES("Lambda: asynchronous invocations", 0, "no quota of its own");

    private final String label;
    private final long perSecond;
    private final String source;

    Service(String label, long perSecond, String source) {
      this.label = label;
      this.perSecond = perSecond;
      this.source = source;
    }

    /** The quota; 0 if AWS publishes none. */
    long perSecond() {
      return perSecond;
    }
  }

  /**
   * A kind of request.
   *
   * @param units what it takes from the quota, and from DynamoDB's bill
   * @param attempts how often the product sends it, if it fails
   */
  record Request(Service service, int units, Latency latency, String price, int attempts) {
    static Request read(Service table, int units) {
      return new Request(table, units, Latency.DYNAMODB, "dynamodb-read-unit", ATTEMPTS);
    }

    static Request write(Service table) {
      return new Request(table, 1, Latency.DYNAMODB, "dynamodb-write-unit", ATTEMPTS);
    }

    static Request queue(Service service, int attempts) {
      return new Request(service, 1, Latency.SQS, "sqs-standard-request", attempts);
    }

    static Request free(Service service) {
      return new Request(service, 1, Latency.OTHER, "", ATTEMPTS);
    }
  }

  Aws(SimulatedTime time, Random random, Map<String, Double> prices) {
    this.time = time;
    this.random = random;
    this.prices = prices;
    for (Service service : Service.values()) {
      quotas.put(service, new Quota(service.label, service.perSecond, service.source));
    }
  }

  Quota quota(Service service) {
    Quota quota = quotas.get(service);
    if (quota == null) {
      throw new IllegalStateException(service.label);
    }
    return quota;
  }

  /** SQS answers nothing from one time to the other. */
  void stopQueues(long from, long to) {
    queueOutageFrom = from;
    queueOutageTo = to;
  }

  /**
   * Sends a request and waits for its answer, as the product's clients do: an attempt is abandoned
   * after two seconds, a throttled one repeated after up to a second.
   *
   * @throws Unavailable if all attempts fail
   */
  void send(Request request) {
    for (int attempt = 1; ; attempt++) {
      boolean taken = quota(request.service()).take(time.now(), request.units());
      long latency = isDown(request) ? ATTEMPT : request.latency().draw(random);
      boolean isLast = attempt == request.attempts();
      if (taken) {
        charge(request.price(), request.units());
      }
      if (taken && !isDown(request) && (latency < ATTEMPT || isLast)) {
        time.pass(Math.min(latency, 2 * ATTEMPT));
        return;
      }
      time.pass(taken ? ATTEMPT : Latency.DYNAMODB.draw(random));
      if (isLast) {
        failures++;
        throw new Unavailable(request.service().label + (taken ? ": no answer" : ": throttled"));
      }
      time.pass((long) (random.nextDouble() * (taken ? RETRY : THROTTLED_RETRY)));
    }
  }

  private boolean isDown(Request request) {
    return request.latency() == Latency.SQS
        && time.now() >= queueOutageFrom
        && time.now() < queueOutageTo;
  }

  /** Counts the writes of a tenant's rows in a second; rows of few tenants may count together. */
  void countRowWrite(int tenant) {
    int row = Math.floorMod(tenant * 0x9E3779B9, CLASSES);
    long second = time.now() / SimulatedTime.SECOND;
    rowWrites[row] = rowSeconds[row] == second ? rowWrites[row] + 1 : 1;
    rowSeconds[row] = second;
    peakRowWrites = Math.max(peakRowWrites, rowWrites[row]);
  }

  int peakRowWrites() {
    return peakRowWrites;
  }

  /** Adds to the bill. */
  void charge(String price, double units) {
    if (!price.isEmpty()) {
      bill.merge(price, units * prices.getOrDefault(price, Double.NaN), Double::sum);
    }
  }

  /** The dollars so far, by price. */
  Map<String, Double> bill() {
    return new LinkedHashMap<>(bill);
  }

  /** The requests all of whose attempts failed. */
  long failures() {
    return failures;
  }

  Random random() {
    return random;
  }
}
