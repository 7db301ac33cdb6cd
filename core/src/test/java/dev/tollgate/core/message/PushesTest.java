package dev.tollgate.core.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.idempotency.IdempotencyKey;
import dev.tollgate.core.idempotency.KeyClaim;
import dev.tollgate.core.message.MessageProcessing.Timing;
import dev.tollgate.core.message.Pushes.Delivered;
import dev.tollgate.core.session.Lifetime;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.memory.InMemoryIdempotencyKeys;
import dev.tollgate.core.testing.memory.InMemorySessions;
import dev.tollgate.core.testing.memory.RecordingSockets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class PushesTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");
  private static final Duration TIME = Duration.ofSeconds(25);
  private static final Push PUSH = new Push(ACME, "p-1", "{ \"a\":1.0 }");

  private final ManualClock clock = new ManualClock(START);
  private final AtomicLong nanos = new AtomicLong();
  private final InMemorySessions sessions = new InMemorySessions();
  private final RecordingSockets sockets = new RecordingSockets();
  private final InMemoryIdempotencyKeys keys = new InMemoryIdempotencyKeys();
  private final Deque<PushPage> queue = new ArrayDeque<>();
  private final Set<String> slow = new HashSet<>();
  private boolean isQueueDown;
  private TenantPushes tenantPushes = tenantPushes();

  private Pushes pushes() {
    return new Pushes(
        sessions,
        new SlowedSockets(),
        new Disconnection(sessions),
        Runnable::run,
        new Timing(Runnable::run, clock, nanos::get));
  }

  private TenantPushes tenantPushes() {
    return new TenantPushes(
        sessions,
        pushes(),
        page -> {
          if (isQueueDown) {
            throw new Unavailable("the queue is down");
          }
          queue.add(page);
        },
        keys,
        clock);
  }

  /** A frame to a slow socket takes two seconds. */
  private final class SlowedSockets implements Sockets {
    @Override
    public CloseResult close(String connectionId) {
      return sockets.close(connectionId);
    }

    @Override
    public boolean isOpen(String connectionId) {
      return sockets.isOpen(connectionId);
    }

    @Override
    public PostResult post(String connectionId, String frame) {
      if (slow.contains(connectionId)) {
        nanos.addAndGet(Duration.ofSeconds(2).toNanos());
      }
      return sockets.post(connectionId, frame);
    }
  }

  private SessionId session(int number, String... connections) {
    SessionId id = new SessionId("%011x".formatted(number) + "0".repeat(21));
    sessions.create(
        new Session(
            ACME,
            id,
            Set.of(connections),
            START.plus(Duration.ofHours(1)),
            Optional.empty(),
            Stream.of(connections)
                .collect(Collectors.toMap(socket -> socket, socket -> START.minusSeconds(60))),
            Optional.empty(),
            Map.of(),
            Lifetime.UNKNOWN,
            Optional.empty(),
            false));
    return id;
  }

  /** Every session of the tenant that {@code number} counts has one socket with its number. */
  private void manySessions(int number) {
    IntStream.range(0, number).forEach(i -> session(i, "c-" + i));
  }

  private void run() {
    while (!queue.isEmpty()) {
      var unused = tenantPushes.send(queue.remove(), TIME);
    }
  }

  private PushPage first() {
    return new PushPage(PUSH, Optional.empty(), Optional.empty());
  }

  private void assertEachSocketHasTheFrameOnce(int number) {
    assertThat(sockets.posted()).hasSize(number);
    assertThat(sockets.posted().stream().map(RecordingSockets.Frame::connectionId).distinct())
        .hasSize(number);
  }

  @Test
  void a_frame_keeps_the_bytes_of_the_message() {
    assertThat(PUSH.frame())
        .isEqualTo("{\"type\":\"push\",\"id\":\"p-1\",\"message\":{ \"a\":1.0 }}");
  }

  @Test
  void a_frame_has_at_most_128_kilobytes() {
    int room = 128 * 1024 - "{\"type\":\"push\",\"id\":\"p-1\",\"message\":}".length() - 2;

    assertThat(new Push(ACME, "p-1", "\"" + "x".repeat(room) + "\"").frame()).hasSize(128 * 1024);
    assertThatThrownBy(() -> new Push(ACME, "p-1", "\"" + "x".repeat(room + 1) + "\""))
        .isInstanceOf(InvalidValue.class)
        .hasMessage("message: 131036 bytes (expected: at most 131035 bytes)");
    assertThatThrownBy(() -> new Push(ACME, "p-1", "\"" + "ä".repeat(room / 2 + 1) + "\""))
        .isInstanceOf(InvalidValue.class);
    assertThatThrownBy(() -> new Push(ACME, "a\"b", "1")).isInstanceOf(InvalidValue.class);
    assertThatThrownBy(() -> new Push(ACME, "p-1", "\"\uFFFF\"")).isInstanceOf(InvalidValue.class);
  }

  @Test
  void every_open_socket_of_the_session_gets_the_frame_and_no_other() {
    SessionId id = session(1, "c-1", "c-2");
    session(2, "c-3");

    assertThat(pushes().toSession(PUSH, id, TIME))
        .contains(new Delivered(2, 0, 0, Optional.empty()));

    assertThat(sockets.postedTo("c-1")).containsExactly(PUSH.frame());
    assertThat(sockets.postedTo("c-2")).containsExactly(PUSH.frame());
    assertThat(sockets.posted()).hasSize(2);
  }

  @Test
  void a_socket_that_is_gone_is_counted_and_removed() {
    SessionId id = session(1, "c-1", "c-2");
    sockets.lose("c-2");

    assertThat(pushes().toSession(PUSH, id, TIME))
        .contains(new Delivered(1, 1, 0, Optional.empty()));
    assertThat(sessions.find(ACME, id).orElseThrow().connections()).containsExactly("c-1");
  }

  @Test
  void a_failed_request_is_counted_and_does_not_stop_the_others() {
    SessionId id = session(1, "c-1", "c-2", "c-3");
    sockets.outage().begin("post to c-2");

    Delivered delivered = pushes().toSession(PUSH, id, TIME).orElseThrow();

    assertThat(delivered.sockets()).isEqualTo(2);
    assertThat(delivered.failed()).isEqualTo(1);
    assertThat(delivered.reason()).isPresent();
    assertThat(sessions.find(ACME, id).orElseThrow().connections()).hasSize(3);
  }

  @Test
  void slow_sockets_take_at_most_two_seconds_of_a_session() {
    slow.addAll(Set.of("c-1", "c-2", "c-3"));
    SessionId id = session(1, "c-1", "c-2", "c-3");
    SessionId next = session(2, "c-4");
    Pushes pushes = pushes();

    Delivered delivered = pushes.toSession(PUSH, id, TIME).orElseThrow();

    assertThat(delivered.sockets() + delivered.failed()).isEqualTo(3);
    assertThat(delivered.failed()).isGreaterThanOrEqualTo(2);
    assertThat(pushes.toSession(PUSH, next, TIME).orElseThrow().sockets()).isEqualTo(1);
  }

  @Test
  void an_ended_session_gets_nothing_and_an_unknown_one_is_told_apart() {
    SessionId id = session(1, "c-1");
    clock.advance(Duration.ofHours(1));

    assertThat(pushes().toSession(PUSH, id, TIME).orElseThrow().sockets()).isZero();
    assertThat(pushes().toSession(PUSH, new SessionId("f".repeat(32)), TIME)).isEmpty();
    assertThat(sockets.posted()).isEmpty();
  }

  @Test
  void all_5_000_sessions_of_a_tenant_get_the_frame_once() {
    manySessions(5_000);
    queue.add(first());

    run();

    assertEachSocketHasTheFrameOnce(5_000);
  }

  @Test
  void pages_that_are_delivered_twice_send_no_frame_twice() {
    manySessions(1_000);
    queue.add(first());
    while (!queue.isEmpty()) {
      PushPage page = queue.remove();
      var unused = tenantPushes.send(page, TIME);
      tenantPushes = tenantPushes();
      assertThat(tenantPushes.send(page, TIME)).isEmpty();
      // The queue drops the second request for the same page.
      queue.stream().skip(1).toList().forEach(queue::removeLastOccurrence);
    }

    assertEachSocketHasTheFrameOnce(1_000);
  }

  @Test
  void a_crash_between_pages_loses_no_page_although_sessions_came_meanwhile() {
    manySessions(1_000);
    isQueueDown = true;
    assertThatThrownBy(() -> tenantPushes.send(first(), TIME)).isInstanceOf(Unavailable.class);
    isQueueDown = false;
    // These move the end of the page, if it were read again.
    IntStream.range(0, 50).forEach(i -> sessions.create(sorted(i)));
    clock.advance(Duration.ofMinutes(6));

    assertThat(tenantPushes().send(first(), TIME)).isEmpty();
    run();

    assertEachSocketHasTheFrameOnce(1_000);
  }

  /** A session without sockets, whose id comes early. */
  private static Session sorted(int number) {
    return new Session(
        ACME,
        new SessionId("%011x".formatted(number) + "a" + "0".repeat(20)),
        Set.of(),
        START.plus(Duration.ofHours(1)),
        Optional.empty());
  }

  @Test
  void a_page_that_cannot_be_read_is_sent_when_it_is_delivered_again() {
    manySessions(3);
    sessions.outage().begin();
    assertThatThrownBy(() -> tenantPushes.send(first(), TIME)).isInstanceOf(Unavailable.class);
    sessions.outage().end();

    assertThat(tenantPushes.send(first(), TIME).orElseThrow().sockets()).isEqualTo(3);
  }

  @Test
  void a_page_whose_record_is_lost_is_not_sent_again() {
    manySessions(150);
    keys.outage().begin("store");

    assertThat(tenantPushes.send(first(), TIME).orElseThrow().sockets()).isEqualTo(100);
    run();

    assertEachSocketHasTheFrameOnce(150);
  }

  @Test
  void a_page_that_another_process_sends_waits_and_is_sent_after_its_crash() {
    manySessions(3);
    var unused =
        keys.claim(
            new KeyClaim(
                new IdempotencyKey("push:acme:p-1:"), "page", "crashed", START.plusSeconds(120)),
            START);

    assertThatThrownBy(() -> tenantPushes.send(first(), TIME)).isInstanceOf(Unavailable.class);
    assertThat(sockets.posted()).isEmpty();
    clock.advance(Duration.ofMinutes(6));
    assertThat(tenantPushes.send(first(), TIME).orElseThrow().sockets()).isEqualTo(3);
  }

  @Test
  void pushes_with_other_ids_and_of_other_tenants_are_other_pushes() {
    manySessions(1);
    List<Push> all = List.of(PUSH, new Push(ACME, "p-2", "1"));
    for (Push push : all) {
      assertThat(tenantPushes.send(new PushPage(push, Optional.empty(), Optional.empty()), TIME))
          .isPresent();
    }
    assertThat(
            tenantPushes.send(
                new PushPage(
                    new Push(new TenantId("other"), "p-1", "1"),
                    Optional.empty(),
                    Optional.empty()),
                TIME))
        .isPresent();
    assertThat(sockets.postedTo("c-0")).hasSize(2);
  }

  /** The pages of the first push were sent late, so their keys outlive the id. */
  @Test
  void an_id_that_may_be_used_again_is_sent_again() {
    manySessions(150);
    Instant expiry = START.plus(Duration.ofDays(1));
    queue.add(new PushPage(PUSH, Optional.of(expiry), Optional.empty()));
    run();
    assertEachSocketHasTheFrameOnce(150);

    queue.add(new PushPage(PUSH, Optional.of(expiry.plus(Duration.ofDays(1))), Optional.empty()));
    run();

    assertThat(sockets.posted()).hasSize(300);
  }

  /** A repetition may add the page a day later, and the queue keeps it for another day. */
  @Test
  void a_page_that_a_late_repetition_added_is_not_sent_again() {
    manySessions(1);
    PushPage page =
        new PushPage(PUSH, Optional.of(START.plus(Duration.ofDays(1))), Optional.empty());
    assertThat(tenantPushes.send(page, TIME)).isPresent();

    clock.advance(Duration.ofDays(2).minusSeconds(1));

    assertThat(tenantPushes.send(page, TIME)).isEmpty();
  }
}
