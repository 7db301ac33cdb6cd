package dev.tollgate.core.testing.limiter;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.connect.ConnectionBounds;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.connect.Registration;
import dev.tollgate.core.connect.Ticket;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.Interleaved;
import dev.tollgate.core.testing.fixture.HousekeepingFixture;
import dev.tollgate.lawbook.Counter;
import dev.tollgate.lawbook.Setting;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;

/**
 * Tollgate's count of a tenant's connections as a {@code Counter}: registration, disconnects and
 * the recount are the real code. With faults, any request may fail, lose its answer, or end the
 * process.
 */
public final class TollgateCounter implements Counter {
  /** Counts near the limit are right within two minutes, which are two runs of the housekeeper. */
  private static final Duration HEALS = Duration.ofMinutes(2);

  /** The longest silence of an open socket. */
  private static final Duration SILENCE = Duration.ofMinutes(9);

  private static final List<Faults.Fault> FAULTS =
      List.of(Faults.UNREACHABLE, Faults.ANSWER_LOST, Faults.KILLED);

  private final HousekeepingFixture fixture;
  private final Interleaved keeper;
  private final Tenant tenant;
  private final SessionId session;
  private final Registration registration;
  private final Disconnection departure;
  private Instant next = Setting.START.plus(1, ChronoUnit.MINUTES);

  private TollgateCounter(
      Setting setting, Terms terms, int perMille, UnaryOperator<Connections> around) {
    InstantSource clock = setting.clock();
    this.fixture = new HousekeepingFixture(clock, around);
    this.keeper = new Interleaved(clock);
    this.tenant =
        fixture
            .ports()
            .onboard(
                "acme",
                "gold",
                Map.of(
                    Limit.TENANT_CONNECTIONS,
                    terms.max(),
                    Limit.TENANT_PER_MINUTE,
                    1L,
                    Limit.MESSAGES_PER_MINUTE,
                    1L,
                    Limit.SESSION_TTL,
                    86_400L,
                    Limit.SESSION_PER_MINUTE,
                    60_000L,
                    Limit.CONNECTIONS_PER_SESSION,
                    1_000L));
    this.session = fixture.open(tenant);
    Connections connections = fixture.connections();
    this.registration =
        new Registration(
            connections,
            fixture.ports().heldTokens(),
            fixture.ports().tally(),
            fixture.ports().enforcement(),
            Runnable::run,
            duration -> {},
            clock);
    this.departure = new Disconnection(connections);
    Random random = new Random(setting.seed());
    fixture
        .faults()
        .each(
            () ->
                setting.mayInjectFaults() && random.nextInt(1_000) < perMille
                    ? Optional.of(FAULTS.get(random.nextInt(FAULTS.size())))
                    : Optional.empty());
  }

  /** Makes counters over in-memory ports; {@code perMille} of a thousand requests fail. */
  public static Counter.Maker inMemory(int perMille) {
    return inMemory(perMille, UnaryOperator.identity());
  }

  /** The same, with connections wrapped by {@code around}. */
  public static Counter.Maker inMemory(int perMille, UnaryOperator<Connections> around) {
    return new Counter.Maker() {
      @Override
      public Counter make(Setting setting, Terms terms) {
        return new TollgateCounter(setting, terms, perMille, around);
      }

      @Override
      public Terms terms(Random random) {
        return new Terms(1L + random.nextInt(8), HEALS);
      }
    };
  }

  @Override
  public Opening open(String id) {
    Ticket ticket =
        new Ticket(
            tenant.id(),
            session,
            new ConnectionBounds(
                tenant.limits().get(Limit.TENANT_CONNECTIONS),
                tenant.limits().get(Limit.CONNECTIONS_PER_SESSION),
                tenant.limits().get(Limit.SESSION_PER_MINUTE),
                Map.of()),
            tenant.limits().get(Limit.SESSION_TTL),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            OnUnavailable.ADMIT,
            Optional.empty(),
            Optional.empty());
    try {
      Registration.Result outcome = registration.register(ticket, id);
      if (outcome instanceof Registration.Registered) {
        return Opening.OPEN;
      }
      return ((Registration.NotRegistered) outcome).refusal() == Refusal.UNDECIDED
          ? Opening.UNDECIDED
          : Opening.REFUSED;
    } catch (Faults.Killed | CompletionException died) {
      return Opening.UNDECIDED;
    }
  }

  @Override
  public void closed(String id) {
    try {
      departure.remove(tenant.id(), session, id);
    } catch (Unavailable | Faults.Killed lost) {
      return;
    }
  }

  @Override
  public void vanished(String id) {
    fixture.sockets().lose(id);
  }

  @Override
  public long count() {
    return fixture.counted(tenant.id());
  }

  @Override
  public Optional<Instant> nextTimer() {
    return keeper.wakesAt().or(() -> Optional.of(next));
  }

  @Override
  public void passedTo(Instant now) {
    try {
      if (keeper.wakesAt().filter(wakes -> !wakes.isAfter(now)).isPresent()) {
        keeper.resume();
      } else if (keeper.wakesAt().isEmpty() && !now.isBefore(next)) {
        next = next.plus(1, ChronoUnit.MINUTES);
        sendMessage(now);
        keeper.begin(() -> fixture.runHousekeeping(keeper));
      }
    } catch (Unavailable | Faults.Killed | CompletionException died) {
      return;
    }
  }

  /**
   * Sends a message in the session before API Gateway closes its idle sockets. Closed sockets are
   * found and removed by that; the recount corrects the count.
   */
  private void sendMessage(Instant now) {
    Session current = fixture.sessions().find(tenant.id(), session).orElseThrow();
    if (current.hasSilentConnectionSince(now.minus(SILENCE))) {
      current.connections().stream()
          .filter(id -> !fixture.sockets().isOpen(id))
          .forEach(id -> fixture.sessions().leave(tenant.id(), session, id));
      fixture.sendMessage(tenant.id(), session, now.plus(Duration.ofDays(1)));
    }
  }
}
