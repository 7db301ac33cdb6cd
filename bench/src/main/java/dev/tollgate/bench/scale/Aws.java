package dev.tollgate.bench.scale;

import dev.tollgate.core.Unavailable;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/** What AWS takes, how long it takes and what it costs: quotas, latencies, faults and the bill. */
final class Aws {
  private static final String NEW_TABLE =
      "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html, a new table";
  private static final int ATTEMPTS = 3;
  private static final long RETRY = 100_000;
  private static final long THROTTLED_RETRY = SimulatedTime.SECOND;
  private static final long ATTEMPT = 2 * SimulatedTime.SECOND;
  private static final long CALL = 5 * SimulatedTime.SECOND;
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
    HANDSHAKES(
        "API Gateway: new connections",
        500,
        "https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html"),
    REQUESTS(
        "API Gateway: requests of the account",
        10_000,
        "https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html"),
    SCHEDULES(
        "EventBridge Scheduler: invocations",
        1_000,
        "https://docs.aws.amazon.com/scheduler/latest/UserGuide/scheduler-quotas.html"),
    LIMIT_WRITES("DynamoDB, `Limit`: write units", 4_000, Aws.NEW_TABLE),
    LIMIT_READS("DynamoDB, `Limit`: read units", 12_000, Aws.NEW_TABLE),
    SESSION_WRITES("DynamoDB, `Session`: write units", 4_000, Aws.NEW_TABLE),
    SESSION_READS("DynamoDB, `Session`: read units", 12_000, Aws.NEW_TABLE),
    TENANT_WRITES(
        "DynamoDB, `Tenant`: writes of one tier in its index",
        1_000,
        "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"),
    TENANT_READS("DynamoDB, `Tenant`: read units", 12_000, Aws.NEW_TABLE),
    CREDENTIAL_READS("DynamoDB, credentials: read units", 12_000, Aws.NEW_TABLE),
    SQS(
        "SQS: requests for tokens",
        0,
        "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html"),
    SQS_COUNTS("SQS: `GetQueueAttributes`", 0, "no number is published"),
    STS(
        "STS: `AssumeRole`",
        600,
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html"),
    LAMBDA_INVOKES("Lambda: fills that claims request", 0, "only concurrent executions count");

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

  /** Raises a quota, as AWS does on request. */
  void raise(Service service, long perSecond) {
    quotas.put(service, new Quota(service.label, perSecond, service.source));
  }

  /** SQS answers nothing from one time to the other. */
  void stopQueues(long from, long to) {
    queueOutageFrom = from;
    queueOutageTo = to;
  }

  /**
   * Sends a request and waits for its answer, as the product's clients do: an attempt is abandoned
   * after two seconds, a throttled one repeated after up to a second, and all end after five
   * seconds.
   *
   * @throws Unavailable if all attempts fail
   */
  void send(Request request) {
    long end = time.now() + CALL;
    for (int attempt = 1; ; attempt++) {
      boolean taken = quota(request.service()).take(time.now(), request.units());
      long latency = isDown(request) ? ATTEMPT : request.latency().draw(random);
      boolean isLast = attempt == request.attempts() || time.now() + RETRY >= end;
      if (taken) {
        charge(request.price(), request.units());
      }
      if (taken && !isDown(request) && (latency < ATTEMPT || isLast)) {
        time.pass(Math.min(latency, 2 * ATTEMPT));
        return;
      }
      time.pass(taken ? Math.min(ATTEMPT, end - time.now()) : Latency.DYNAMODB.draw(random));
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
