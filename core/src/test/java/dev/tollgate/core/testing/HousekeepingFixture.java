package dev.tollgate.core.testing;

import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.housekeeping.Housekeeping;
import dev.tollgate.core.housekeeping.LiveTenants;
import dev.tollgate.core.housekeeping.Recount;
import dev.tollgate.core.housekeeping.TenantVisit;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Connections.Joined;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLife;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tenants;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;

/** A town whose sessions are ended and whose house is kept, and what may go wrong there. */
public final class HousekeepingFixture {
  private static final Gcra FAST = Gcra.perMinute(600);

  private final AdmissionFixture town;
  private final RecordingSockets sockets = new RecordingSockets();
  private final Faults faults = new Faults();
  private final Sessions sessions;
  private final Connections connections;
  private final SessionLife life;

  /** A house in a town with a clock of its own. */
  public HousekeepingFixture() {
    this(new AdmissionFixture(), UnaryOperator.identity());
  }

  /** A house that another clock drives. */
  public HousekeepingFixture(InstantSource time) {
    this(time, UnaryOperator.identity());
  }

  /** A house that another clock drives, whose connections are counted by {@code around} them. */
  public HousekeepingFixture(InstantSource time, UnaryOperator<Connections> around) {
    this(new AdmissionFixture(time), around);
  }

  private HousekeepingFixture(AdmissionFixture town, UnaryOperator<Connections> around) {
    this.town = town;
    sessions = faults.around(Sessions.class, town.sessions());
    connections = faults.around(Connections.class, around.apply(town.sessions()));
    life =
        new SessionLife(
            sessions,
            connections,
            faults.around(Sockets.class, sockets),
            new SecureRandom(),
            town.time());
  }

  /** Its connections, with what goes wrong there. */
  public Connections connections() {
    return connections;
  }

  /** The stand-ins behind it. */
  public AdmissionFixture town() {
    return town;
  }

  /** Its sessions and connections, which nothing goes wrong with. */
  public InMemorySessions books() {
    return town.sessions();
  }

  /** Its sockets. */
  public RecordingSockets sockets() {
    return sockets;
  }

  /** What goes wrong between the use cases and their ports. */
  public Faults faults() {
    return faults;
  }

  /** Opens and ends its sessions. */
  public SessionLife life() {
    return life;
  }

  /** Recounts its connections, without waiting between two looks. */
  public Recount recount() {
    return recount(duration -> {});
  }

  /** Recounts its connections. */
  public Recount recount(Pause pause) {
    return new Recount(sessions, connections, pause);
  }

  /** Visits one of its tenants, without waiting between two looks. */
  public TenantVisit visit() {
    return visit(duration -> {});
  }

  private TenantVisit visit(Pause pause) {
    return new TenantVisit(
        faults.around(Tenants.class, town.tenants()),
        faults.around(LiveTenants.class, town.sessions()),
        connections,
        faults.around(Sockets.class, sockets),
        life,
        recount(pause),
        Runnable::run,
        town.time());
  }

  /** Visits all of its tenants, one after the other. */
  public Housekeeping housekeeping() {
    return housekeeping(Runnable::run);
  }

  /** Visits all of its tenants. */
  public Housekeeping housekeeping(Executor executor) {
    return housekeeping(executor, duration -> {});
  }

  private Housekeeping housekeeping(Executor executor, Pause pause) {
    return new Housekeeping(
        faults.around(LiveTenants.class, town.sessions()), visit(pause), executor, town.time());
  }

  /** Keeps house once, with all the time there is. */
  public Housekeeping.Walk keep() {
    return housekeeping().walk(Instant.MAX);
  }

  /** Keeps house once, pausing between two looks. */
  public Housekeeping.Walk keep(Pause pause) {
    return housekeeping(Runnable::run, pause).walk(Instant.MAX);
  }

  /** A new session of a tenant that has these connections, all of them counted. */
  public SessionId open(Tenant tenant, String... connectionIds) {
    SessionId id = ((SessionLife.Opened) life.open(tenant, Optional.empty())).session().id();
    for (String connectionId : connectionIds) {
      if (join(tenant.id(), id, connectionId) != Joined.ADDED) {
        throw new AssertionError(connectionId + " did not join");
      }
      town.sessions().countUp(tenant.id(), connectionId, Long.MAX_VALUE);
    }
    return id;
  }

  /** Adds a connection to its session that is not counted yet. */
  public Joined join(TenantId tenant, SessionId session, String connectionId) {
    Instant now = town.time().instant();
    return town.sessions()
        .join(tenant, session, connectionId, 100, FAST, Optional.empty(), now, now);
  }

  /** Extends a session because a message is sent in it now. */
  public void speak(TenantId tenant, SessionId session, Instant endsAt) {
    Session read = town.sessions().find(tenant, session).orElseThrow();
    town.sessions().extend(read, endsAt, read.processed(), town.time().instant());
  }

  /** How many connections there are in the sets of a tenant's sessions. */
  public long open(TenantId tenant) {
    return town.sessions().list(tenant).stream()
        .map(Session::connections)
        .mapToLong(Set::size)
        .sum();
  }

  /** How many connections are counted for a tenant. */
  public long counted(TenantId tenant) {
    return town.sessions().count(tenant);
  }

  /** Lets time pass. */
  public void pass(Duration time) {
    town.clock().advance(time);
  }
}
