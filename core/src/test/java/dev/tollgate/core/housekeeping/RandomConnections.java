package dev.tollgate.core.housekeeping;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.Connections.CountResult;
import dev.tollgate.core.session.Connections.JoinResult;
import dev.tollgate.core.session.Connections.LeaveResult;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.fixture.HousekeepingFixture;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Random connects and disconnects of one tenant, one write at a time, so that many connections are
 * between two of their writes. In rough mode processes crash there, events are lost or repeated,
 * and rows are deleted.
 */
final class RandomConnections {
  private static final TenantId ACME = new TenantId("acme");

  /**
   * A low limit, so that rough mode reaches it. A connection is counted down without having been
   * counted if the tenant's limit makes it leave its session while the session's end removes it.
   */
  private static final int MAX_CONNECTIONS = 8;

  final HousekeepingFixture fixture = new HousekeepingFixture();

  private final Random random;
  private final boolean rough;
  private final Tenant acme = fixture.ports().onboard("acme", "gold", Map.of());
  private final List<SessionId> sessions = new ArrayList<>();
  private final List<Open> open = new ArrayList<>();
  private final List<Deque<Runnable>> outstanding = new ArrayList<>();
  private int made;

  private record Open(SessionId session, String connectionId) {}

  RandomConnections(Random random, boolean rough) {
    this.random = random;
    this.rough = rough;
    // Traffic never brings the count to zero, where subtracting would stop.
    if (!rough) {
      fixture.open(acme, "1", "2", "3", "4", "5", "6", "7", "8", "9", "10");
    }
  }

  /** Performs outstanding writes or starts new connects and disconnects, this many times. */
  void perform(int writes) {
    for (int i = 0; i < writes; i++) {
      if (outstanding.isEmpty() || random.nextInt(4) == 0) {
        begin();
      } else {
        write(outstanding.get(random.nextInt(outstanding.size())));
      }
    }
  }

  /** Performs all outstanding writes. */
  void finishWrites() {
    while (!outstanding.isEmpty()) {
      write(outstanding.get(random.nextInt(outstanding.size())));
    }
  }

  /**
   * Runs a recount under traffic: random traffic between its requests in rough mode, and {@code
   * betweenReadings} between its readings.
   */
  void underTraffic(Consumer<Recount> work, Runnable betweenReadings) {
    fixture.faults().none();
    if (rough) {
      fixture
          .faults()
          .plan(1 + random.nextInt(5), Faults.concurrently(() -> perform(random.nextInt(5))));
    }
    work.accept(fixture.recount(duration -> betweenReadings.run()));
    fixture.faults().none();
  }

  private void write(Deque<Runnable> steps) {
    if (rough && random.nextInt(25) == 0) {
      outstanding.remove(steps); // The process dies.
      return;
    }
    steps.pop().run();
    if (steps.isEmpty()) {
      outstanding.remove(steps);
    }
  }

  private void begin() {
    int choice = random.nextInt(rough ? 12 : 10);
    if (sessions.isEmpty() || choice == 0) {
      sessions.add(fixture.open(acme));
    } else if (choice < 6) {
      outstanding.add(registration(some(sessions), "c" + made++));
    } else if (choice < 9) {
      if (!open.isEmpty()) {
        departure(some(open));
      }
    } else if (choice == 9) {
      outstanding.add(end(some(sessions)));
    } else if (choice == 10) {
      SessionId deleted = some(sessions);
      if (fixture.sessions().find(ACME, deleted).isPresent()) {
        fixture.sessions().deleteRow(ACME, deleted);
      }
    } else {
      fixture.sessions().countDown(ACME, 1); // A count that is repeated.
    }
  }

  private <T> T some(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  private Deque<Runnable> registration(SessionId session, String connectionId) {
    Deque<Runnable> steps = new ArrayDeque<>();
    JoinResult[] joined = new JoinResult[1];
    CountResult[] counted = new CountResult[1];
    Runnable join = () -> joined[0] = fixture.join(ACME, session, connectionId);
    long max = rough ? MAX_CONNECTIONS : Long.MAX_VALUE;
    Runnable count = () -> counted[0] = fixture.sessions().countUp(ACME, connectionId, max);
    boolean joinsFirst = random.nextBoolean();
    steps.add(joinsFirst ? join : count);
    steps.add(joinsFirst ? count : join);
    steps.add(
        () -> {
          if (joined[0] == JoinResult.ADDED && counted[0] == CountResult.COUNTED) {
            open.add(new Open(session, connectionId));
          } else if (joined[0] == JoinResult.ADDED) {
            steps.add(() -> fixture.sessions().leave(ACME, session, connectionId));
          } else if (counted[0] == CountResult.COUNTED) {
            steps.add(() -> fixture.sessions().countDown(ACME, Set.of(connectionId)));
          }
        });
    return steps;
  }

  /** Closes a socket. Its event arrives once; in rough mode possibly never or three times. */
  private void departure(Open closed) {
    open.remove(closed);
    int deliveries = rough ? List.of(0, 1, 1, 3).get(random.nextInt(4)) : 1;
    for (int i = 0; i < deliveries; i++) {
      Deque<Runnable> steps = new ArrayDeque<>();
      steps.add(
          () -> {
            LeaveResult left =
                fixture.sessions().leave(ACME, closed.session(), closed.connectionId());
            if (left == LeaveResult.REMOVED) {
              steps.add(() -> fixture.sessions().countDown(ACME, Set.of(closed.connectionId())));
            }
          });
      outstanding.add(steps);
    }
  }

  private Deque<Runnable> end(SessionId session) {
    Deque<Runnable> steps = new ArrayDeque<>();
    steps.add(
        () -> {
          Optional<Session> over =
              fixture.sessions().moveEnd(ACME, session, fixture.ports().clock().instant());
          if (over.isPresent()) {
            steps.add(
                () -> {
                  Set<String> taken = fixture.sessions().takeConnections(ACME, session);
                  steps.addFirst(() -> fixture.sessions().countDown(ACME, taken));
                });
            steps.add(() -> fixture.sessions().remove(ACME, session));
          }
        });
    return steps;
  }
}
