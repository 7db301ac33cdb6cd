package dev.tollgate.core.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Pause;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Handshakes that the read refuses: their waiting time, and the tokens they hold. */
final class RefusedByReadTest {
  private static final SessionId MADE_UP = new SessionId("0".repeat(32));

  private final AdmissionFixture ports = new AdmissionFixture();
  private final Tenant acme = ports.onboard("acme", "gold", Map.of(Limit.TENANT_PER_MINUTE, 60L));
  private final SessionId session = ports.open(acme);
  private final BucketId bucket = AdmissionFixture.connects(acme);

  private Admission admission(Claims claims, Executor executor, Pause pause) {
    return ports.admission(claims, executor, pause);
  }

  private Admission admission() {
    return admission(ports.claims(), Runnable::run, pause -> {});
  }

  private static Refusal refusal(AdmissionDecision decision) {
    return ((AdmissionDecision.Refused) decision).refusal();
  }

  private void suspend() {
    ports
        .tenants()
        .replace(acme.changed(Tier.DEFAULTS.get(2), acme.overrides(), TenantStatus.SUSPENDED));
  }

  /** Refuses 1,000 handshakes in a minute, and returns the number of requests to the queue. */
  private long receivesInAMinute(Admission admission, SessionId of, Refusal expected) {
    long before = ports.queue().reserves();
    for (int i = 0; i < 1_000; i++) {
      assertThat(refusal(admission.decide(acme.id(), of))).isEqualTo(expected);
      assertThat(ports.queue().available(bucket)).isEqualTo(60);
      ports.clock().advance(Duration.ofMillis(60));
    }
    return ports.queue().reserves() - before;
  }

  @Test
  void flood_of_unknown_sessions_asks_the_queue_once_in_five_seconds() {
    assertThat(receivesInAMinute(admission(), MADE_UP, Refusal.UNKNOWN)).isEqualTo(12);
  }

  @Test
  void flood_at_a_suspended_tenant_asks_the_queue_once_in_five_seconds() {
    suspend();
    assertThat(receivesInAMinute(admission(), session, Refusal.SUSPENDED)).isEqualTo(12);
  }

  @Test
  void flood_at_a_full_tenant_asks_the_queue_once_in_five_seconds() {
    for (int i = 0; i < 1_000; i++) {
      ports.sessions().countUp(acme.id(), 1_000);
    }
    assertThat(receivesInAMinute(admission(), session, Refusal.TENANT_CONNECTIONS)).isEqualTo(12);
  }

  @Test
  void flood_leaves_the_tenants_own_connection_one_receive_and_a_token() {
    Admission admission = admission();
    admission.decide(acme.id(), MADE_UP);
    long before = ports.queue().reserves();
    assertThat(admission.decide(acme.id(), session)).isInstanceOf(AdmissionDecision.Ticketed.class);
    assertThat(ports.queue().reserves()).isEqualTo(before + 1);
  }

  @Test
  void flood_at_one_tenant_does_not_make_other_tenants_read_first() {
    Tenant other = ports.onboard("other", "gold", Map.of());
    Admission admission = admission();
    admission.decide(acme.id(), MADE_UP);
    ports.facts().outage().begin("read");
    long before = ports.queue().reserves();
    assertThatThrownBy(() -> admission.decide(acme.id(), session)).isInstanceOf(Unavailable.class);
    assertThat(ports.queue().reserves()).isEqualTo(before);
    assertThatThrownBy(() -> admission.decide(other.id(), session)).isInstanceOf(Unavailable.class);
    assertThat(ports.queue().reserves()).isEqualTo(before + 1);
  }

  @Test
  void refusal_does_not_wait_for_an_unresponsive_queue_and_the_token_is_given_back_later() {
    Queue<Runnable> silent = new ArrayDeque<>();
    List<Duration> waited = new ArrayList<>();
    Admission admission = admission(ports.claims(), holdingBack(silent), waited::add);
    assertThat(refusal(admission.decide(acme.id(), MADE_UP))).isEqualTo(Refusal.UNKNOWN);
    assertThat(waited).containsExactly(Admission.RETURN_WAIT);

    // Its token may be held until the lease ends; until then there is no other try.
    ports.clock().advance(Claims.LEASE.minusMillis(1));
    assertThat(refusal(admission.decide(acme.id(), MADE_UP))).isEqualTo(Refusal.UNKNOWN);
    assertThat(ports.queue().reserves()).isZero();

    silent.element().run();
    assertThat(ports.queue().reserves()).isEqualTo(1);
    assertThat(ports.queue().available(bucket)).isEqualTo(60);
    assertThat(waited).hasSize(1);
  }

  @Test
  void refusal_does_not_wait_for_a_slow_return_of_its_token() {
    List<Runnable> tasks = new ArrayList<>();
    Executor secondIsSilent =
        work -> {
          tasks.add(work);
          if (tasks.size() != 2) {
            work.run();
          }
        };
    List<Duration> waited = new ArrayList<>();
    Admission admission = admission(ports.claims(), secondIsSilent, waited::add);
    assertThat(refusal(admission.decide(acme.id(), MADE_UP))).isEqualTo(Refusal.UNKNOWN);
    assertThat(waited).containsExactly(Admission.RETURN_WAIT);
    assertThat(ports.queue().inFlight(bucket)).isEqualTo(1);

    // The token may be held until its lease ends; until then there is no other try.
    ports.clock().advance(Claims.LEASE.minusMillis(1));
    assertThat(refusal(admission.decide(acme.id(), MADE_UP))).isEqualTo(Refusal.UNKNOWN);
    assertThat(ports.queue().reserves()).isEqualTo(1);

    tasks.get(1).run();
    assertThat(ports.queue().available(bucket)).isEqualTo(60);
  }

  /** Runs all tasks except the first, which it stores in {@code first}. */
  private static Executor holdingBack(Queue<Runnable> first) {
    return work -> {
      if (first.isEmpty()) {
        first.add(work);
      } else {
        work.run();
      }
    };
  }

  /** A process with a new connection to SQS, which would otherwise be frozen with a token. */
  @Test
  void refusal_in_a_cold_process_waits_until_its_token_is_back() {
    Queue<Runnable> answersLate = new ArrayDeque<>();
    Duration coldRequest = Duration.ofMillis(90);
    Admission admission =
        admission(
            ports.claims(),
            holdingBack(answersLate),
            pause -> {
              if (pause.compareTo(coldRequest) > 0) {
                answersLate.element().run();
              }
            });
    assertThat(refusal(admission.decide(acme.id(), MADE_UP))).isEqualTo(Refusal.UNKNOWN);
    assertThat(ports.queue().reserves()).isEqualTo(1);
    assertThat(ports.queue().available(bucket)).isEqualTo(60);
  }

  @Test
  void refusal_waits_for_nothing_once_the_queue_has_answered() {
    List<Duration> waited = new ArrayList<>();
    Admission admission = admission(ports.claims(), Runnable::run, waited::add);
    admission.decide(acme.id(), MADE_UP);
    assertThat(waited).isEmpty();
    assertThat(ports.queue().available(bucket)).isEqualTo(60);
  }

  @Test
  void failed_read_does_not_wait_for_an_unresponsive_queue() {
    Queue<Runnable> silent = new ArrayDeque<>();
    ports.facts().outage().begin("read");
    Admission admission = admission(ports.claims(), holdingBack(silent), pause -> {});
    assertThatThrownBy(() -> admission.decide(acme.id(), session)).isInstanceOf(Unavailable.class);
    silent.element().run();
    assertThat(ports.queue().available(bucket)).isEqualTo(60);
  }

  /**
   * The worst case of a flood: processes are frozen while their tries hold tokens, some for ever.
   * Even without a fill, the tenant's own clients find the other tokens.
   */
  @Test
  void frozen_processes_hold_at_most_one_token_each_until_its_lease_ends() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    int count = 20;
    List<FrozenProcess> processes =
        IntStream.range(0, count).mapToObj(i -> new FrozenProcess()).toList();
    Admission honestProcess = admission();
    Instant end = AdmissionFixture.START.plus(Duration.ofMinutes(10));
    long mostHeld = 0;
    for (int i = 0; ports.clock().instant().isBefore(end); i++) {
      FrozenProcess process = processes.get(random.nextInt(count));
      if (random.nextInt(10) == 0) {
        process.thaw();
      }
      assertThat(refusal(process.admission.decide(acme.id(), MADE_UP))).isEqualTo(Refusal.UNKNOWN);
      long held = ports.queue().inFlight(bucket);
      mostHeld = Math.max(mostHeld, held);
      assertThat(held).as("seed %d, handshake %d", seed, i).isLessThanOrEqualTo(count);
      if (i % 500 == 0) {
        AdmissionDecision decision = honestProcess.decide(acme.id(), session);
        assertThat(decision)
            .as("seed %d, %d", seed, i)
            .isInstanceOf(AdmissionDecision.Ticketed.class);
        Lease lease = ((AdmissionDecision.Ticketed) decision).ticket().lease().orElseThrow();
        assertThat(ports.queue().settle(bucket, List.of(lease))).isEmpty();
      }
      ports.clock().advance(Duration.ofMillis(random.nextInt(100)));
    }
    assertThat(mostHeld).as("seed %d", seed).isGreaterThan(count / 2);
    ports.clock().advance(Claims.LEASE);
    assertThat(ports.queue().inFlight(bucket)).isZero();
    processes.forEach(FrozenProcess::thaw);
  }

  /** A process that is frozen right after its answer, while its tries still hold tokens. */
  private final class FrozenProcess {
    private final Admission admission;
    private int tokensTaken;
    private int graces;
    private int thaws;
    private int running;

    FrozenProcess() {
      TokenQueue frozen =
          (TokenQueue)
              Proxy.newProxyInstance(
                  TokenQueue.class.getClassLoader(),
                  new Class<?>[] {TokenQueue.class},
                  (proxy, method, arguments) -> {
                    try {
                      Object answer = method.invoke(ports.queue(), arguments);
                      if (method.getName().equals("reserve")) {
                        awaitThaw();
                      }
                      return answer;
                    } catch (InvocationTargetException thrown) {
                      throw thrown.getCause();
                    }
                  });
      Claims claims =
          new Claims(
              ports.buckets(), frozen, ports.fillRequests(), Runnable::run, p -> {}, ports.clock());
      admission = admission(claims, this::run, pause -> awaitToken());
    }

    private synchronized void run(Runnable work) {
      running++;
      Thread thread =
          new Thread(
              () -> {
                work.run();
                finished();
              },
              "process");
      thread.setDaemon(true);
      thread.start();
    }

    private synchronized void finished() {
      running--;
      notifyAll();
    }

    private synchronized void awaitThaw() throws InterruptedException {
      int before = thaws;
      tokensTaken++;
      notifyAll();
      while (thaws == before) {
        wait();
      }
    }

    /**
     * The grace period ends when the queue has delivered a token whose receipt is still on the way.
     */
    private synchronized void awaitToken() {
      graces++;
      await(() -> tokensTaken >= graces);
    }

    /** Resumes the process until it has no more tasks. */
    synchronized void thaw() {
      thaws++;
      notifyAll();
      await(() -> running == 0);
    }

    private synchronized void await(BooleanSupplier done) {
      try {
        while (!done.getAsBoolean()) {
          wait();
        }
      } catch (InterruptedException interrupted) {
        throw new IllegalStateException(interrupted);
      }
    }
  }
}
