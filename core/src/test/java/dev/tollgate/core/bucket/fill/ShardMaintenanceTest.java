package dev.tollgate.core.bucket.fill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.fill.ShardMaintenance.Report;
import dev.tollgate.core.bucket.fill.ShardMaintenance.Rest;
import dev.tollgate.core.provisioning.ReconcileRequests;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.testing.fixture.SameThreadExecutor;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A shard with 450 due buckets, each of which takes a tenth of a second. */
final class ShardMaintenanceTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final Shard SHARD = Shard.of(ACME);
  private static final Duration TENTH = Duration.ofMillis(100);
  private static final BucketSpec SPEC =
      new BucketSpec(Rate.perMinute(6), 12, new FillPolicy(FillMode.SHARED, 15));

  private final AdmissionFixture ports = new AdmissionFixture();
  private final List<BucketId> all =
      IntStream.range(0, 450).mapToObj(i -> new BucketId(ACME, new Action("a-" + i))).toList();
  private final List<BucketId> visited = new ArrayList<>();
  private final Set<BucketId> failing = new HashSet<>();
  private final Set<BucketId> lengthy = new HashSet<>();
  private Runnable onVisit = () -> {};
  private RuntimeException failure = new Unavailable("SQS: lost");
  private final Deque<ShardTurn> handedOver = new ArrayDeque<>();
  private final List<String> log = new ArrayList<>();
  private final SameThreadExecutor threads = new SameThreadExecutor();
  private final AdaptiveExecutor executor = new AdaptiveExecutor(threads);
  private boolean lambdaIsLost;

  ShardMaintenanceTest() {
    all.forEach(id -> ports.open(id, SPEC));
  }

  private Report run(ShardTurn turn, Duration time) {
    return run(turn, time, executor);
  }

  private Report run(ShardTurn turn, Duration time, AdaptiveExecutor executor) {
    Instant end = ports.clock().instant().plus(time);
    return new ShardMaintenance(
            ports.buckets(), maintenance(), this::handOver, executor, ports.clock())
        .run(turn, end, log::add);
  }

  private void handOver(ShardTurn turn) {
    if (lambdaIsLost) {
      throw new Unavailable("Lambda Invoke: lost");
    }
    handedOver.add(turn);
  }

  private BucketMaintenance maintenance() {
    TokenQueue slow =
        (TokenQueue)
            Proxy.newProxyInstance(
                TokenQueue.class.getClassLoader(),
                new Class<?>[] {TokenQueue.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("countTokens")) {
                    BucketId id = (BucketId) arguments[0];
                    visited.add(id);
                    ports.clock().advance(lengthy.contains(id) ? TENTH.multipliedBy(50) : TENTH);
                    onVisit.run();
                    if (failing.contains(id)) {
                      throw failure;
                    }
                  }
                  if (Set.of("put", "settle").contains(method.getName())) {
                    ports.clock().advance(TENTH);
                  }
                  return method.invoke(ports.queue(), arguments);
                });
    return new BucketMaintenance(
        ports.buckets(),
        slow,
        ports.queues(),
        ports.schedules(),
        new ReconcileRequests(ports.tenants()),
        ports.clock());
  }

  private ShardTurn turn() {
    return ShardTurn.whole(SHARD, ports.clock().instant());
  }

  @Test
  void a_turn_with_enough_time_maintains_every_bucket_once() {
    assertThat(run(turn(), Duration.ofSeconds(46)))
        .isEqualTo(new Report(450, 0, TENTH.multipliedBy(449), Rest.NONE));
    assertThat(visited).containsExactlyInAnyOrderElementsOf(all);
    assertThat(handedOver).isEmpty();
  }

  @Test
  void each_turn_has_the_same_order_so_that_a_buckets_turns_are_a_minute_apart() {
    run(turn(), Duration.ofMinutes(1));
    List<BucketId> first = List.copyOf(visited);
    visited.clear();

    run(turn(), Duration.ofMinutes(1));

    assertThat(visited).isEqualTo(first);
  }

  @Test
  void a_turn_without_enough_time_hands_over_the_rest() {
    Report first = run(turn(), Duration.ofSeconds(20));
    assertThat(first).isEqualTo(new Report(200, 0, TENTH.multipliedBy(199), Rest.HANDED_OVER));
    assertThat(visited).hasSize(200);

    Report second = run(handedOver.remove(), Duration.ofSeconds(20));
    assertThat(second.rest()).isEqualTo(Rest.HANDED_OVER);
    assertThat(second.lag()).isEqualTo(TENTH.multipliedBy(399));
    Report third = run(handedOver.remove(), Duration.ofSeconds(20));

    assertThat(third.rest()).isEqualTo(Rest.NONE);
    assertThat(handedOver).isEmpty();
    assertThat(visited).containsExactlyInAnyOrderElementsOf(all);
  }

  @Test
  void a_turn_that_ends_within_a_page_repeats_no_bucket() {
    run(turn(), Duration.ofSeconds(25));
    assertThat(visited).hasSize(250);

    run(handedOver.remove(), Duration.ofMinutes(1));

    assertThat(visited).containsExactlyInAnyOrderElementsOf(all);
  }

  /** Twenty buckets of the first page need 100 s, and a turn has 35. */
  @Test
  void a_page_that_needs_longer_than_a_turn_keeps_no_other_from_its_turn() {
    run(turn(), Duration.ofMinutes(1));
    lengthy.addAll(visited.subList(0, 20));
    visited.clear();
    handedOver.add(turn());

    while (!handedOver.isEmpty()) {
      assertThat(run(handedOver.remove(), Duration.ofSeconds(35)).rest()).isNotEqualTo(Rest.LEFT);
    }

    assertThat(visited).containsExactlyInAnyOrderElementsOf(all);
  }

  @Test
  void an_interrupted_page_that_cannot_be_listed_again_is_repeated() {
    repeatsThePage(() -> ports.buckets().outage().begin("due"));

    assertThat(log).as("the next page and this one").hasSize(2);
    assertThat(log).allMatch(line -> line.startsWith("the buckets of " + SHARD + ": "));
  }

  @Test
  void a_page_that_cannot_be_listed_is_handed_over() {
    onVisit =
        () -> {
          if (visited.size() == 150) {
            ports.buckets().outage().begin("due");
          }
        };

    assertThat(run(turn(), Duration.ofMinutes(1)).rest()).isEqualTo(Rest.HANDED_OVER);

    assertThat(visited).hasSize(200);
    assertThat(log).singleElement().asString().startsWith("the buckets of " + SHARD + ": ");
    ports.buckets().outage().end();
    run(handedOver.remove(), Duration.ofMinutes(1));
    assertThat(visited).containsExactlyInAnyOrderElementsOf(all);
  }

  @Test
  void an_interrupted_page_of_which_a_bucket_left_is_repeated() {
    repeatsThePage(() -> ports.buckets().remove(visited.get(220)));
  }

  /** Runs a turn that ends within its third page, with an event shortly before the end. */
  private void repeatsThePage(Runnable event) {
    onVisit =
        () -> {
          if (visited.size() == 240) {
            event.run();
          }
        };
    run(turn(), Duration.ofSeconds(25));
    assertThat(visited).hasSize(250);
    BucketId firstOfPage = visited.get(200);
    visited.clear();
    ports.buckets().outage().end();

    run(handedOver.remove(), Duration.ofMinutes(1));

    assertThat(visited).startsWith(firstOfPage);
    assertThat(visited.size()).isBetween(249, 250);
  }

  @Test
  void a_turn_has_at_most_eight_parts() {
    ShardTurn part = turn();
    for (int i = 1; i < ShardTurn.MAX_PARTS; i++) {
      assertThat(run(part, TENTH).rest()).isEqualTo(Rest.HANDED_OVER);
      part = handedOver.remove();
      assertThat(part.part()).isEqualTo(i);
    }

    assertThat(run(part, TENTH).rest()).isEqualTo(Rest.LEFT);
    assertThat(handedOver).isEmpty();
  }

  @Test
  void a_bucket_that_fails_stops_no_other_and_has_one_attempt_a_turn() {
    run(turn(), Duration.ofMinutes(1));
    failing.addAll(visited.subList(0, 150));
    visited.clear();

    Report report = run(turn(), Duration.ofMinutes(1));

    assertThat(report).isEqualTo(new Report(300, 150, TENTH.multipliedBy(449), Rest.NONE));
    assertThat(visited).containsExactlyInAnyOrderElementsOf(all);
    assertThat(log).hasSize(150);
  }

  /** Without the level, the first fills are skipped, and those after five minutes fail. */
  @ParameterizedTest
  @CsvSource({"0, skipped", "5, SQS: lost"})
  void unavailable_services_lower_the_number_of_threads(int turnsBefore, String logged) {
    failing.addAll(openForOthers(AdaptiveExecutor.FAILING));
    for (int i = 0; i < turnsBefore; i++) {
      run(turn(), Duration.ofMinutes(1), new AdaptiveExecutor(new SameThreadExecutor()));
    }
    log.clear();

    assertThat(run(turn(), Duration.ofMinutes(1)).failed()).isEqualTo(AdaptiveExecutor.FAILING);

    assertThat(threads.sizes()).containsExactly(16);
    assertThat(log).hasSize(AdaptiveExecutor.FAILING).allMatch(line -> line.contains(logged));
  }

  @Test
  void buckets_that_succeed_raise_the_number_of_threads_again() {
    failing.addAll(openForOthers(AdaptiveExecutor.FAILING));
    run(turn(), Duration.ofMinutes(1));
    failing.clear();

    for (int i = 0; i < 3; i++) {
      run(turn(), Duration.ofMinutes(1));
    }

    assertThat(threads.sizes()).containsExactly(16, 17);
  }

  @ParameterizedTest
  @MethodSource("failuresOfBuckets")
  void buckets_that_fail_by_themselves_do_not(RuntimeException thrown) {
    failure = thrown;
    failing.addAll(openForOthers(100));

    assertThat(run(turn(), Duration.ofMinutes(1)).failed()).isEqualTo(100);

    assertThat(threads.sizes()).isEmpty();
  }

  @Test
  void failing_buckets_of_one_tenant_do_not_slow_down_those_of_others() {
    failing.addAll(all);

    assertThat(run(turn(), Duration.ofMinutes(1)).failed()).isEqualTo(450);

    assertThat(threads.sizes()).isEmpty();
  }

  /** Opens buckets in this shard, each of another tenant. */
  private List<BucketId> openForOthers(int count) {
    List<BucketId> ids =
        Stream.iterate(0, i -> i + 1)
            .map(i -> new TenantId("other-" + i))
            .filter(tenant -> Shard.of(tenant).equals(SHARD))
            .limit(count)
            .map(tenant -> new BucketId(tenant, Action.CONNECT))
            .toList();
    ids.forEach(id -> ports.open(id, SPEC));
    return ids;
  }

  static List<RuntimeException> failuresOfBuckets() {
    return List.of(
        new MissingQueue(new BucketId(ACME, Action.CONNECT)),
        new IllegalStateException("a wrong row"));
  }

  /** Two buckets need 200 s each to send what they owe or to remove their surplus. */
  @ParameterizedTest
  @CsvSource({"20000, 0", "10, 20010"})
  void a_bucket_that_needs_longer_than_a_turn_delays_the_others_by_seconds(
      long capacity, int tokens) {
    BucketSpec large =
        new BucketSpec(Rate.perMinute(6), capacity, new FillPolicy(FillMode.SHARED, 15));
    for (String name : List.of("a", "b")) {
      BucketId id = new BucketId(ACME, new Action(name));
      Instant now = ports.clock().instant();
      ports.buckets().open(Bucket.opened(id, large, now));
      ports.queue().createQueue(id);
      ports.queue().put(id, Collections.nCopies(tokens, new Token("token", id, now, now)));
    }
    Instant minute = ports.clock().instant();
    handedOver.add(turn());

    while (!handedOver.isEmpty()) {
      Instant start = ports.clock().instant();
      Report report = run(handedOver.remove(), Duration.ofSeconds(35));
      assertThat(report.rest()).isNotEqualTo(Rest.LEFT);
      assertThat(ports.clock().instant()).isBeforeOrEqualTo(start.plusSeconds(35 + 10).plus(TENTH));
    }

    assertThat(visited).containsAll(all);
    assertThat(ports.clock().instant()).isBefore(minute.plusSeconds(90));
  }

  @Test
  void what_cannot_be_handed_over_waits_for_the_next_turn() {
    lambdaIsLost = true;

    assertThat(run(turn(), Duration.ofSeconds(10)).rest()).isEqualTo(Rest.LEFT);
    assertThat(log).singleElement().asString().contains("Lambda Invoke: lost");
    assertThat(run(turn(), Duration.ofMinutes(1)).rest()).isEqualTo(Rest.NONE);
  }

  @Test
  void a_shard_whose_buckets_cannot_be_listed_is_unavailable() {
    ports.buckets().outage().begin();

    assertThatThrownBy(() -> run(turn(), Duration.ofMinutes(1))).isInstanceOf(Unavailable.class);
    assertThat(visited).isEmpty();
  }
}
