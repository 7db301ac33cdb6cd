package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.LambdaRuntime;
import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.aws.tracing.XRayTracing;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Threads;
import dev.tollgate.core.audit.AuditLog;
import dev.tollgate.core.audit.ChangeEvents;
import dev.tollgate.core.audit.RowAudit;
import dev.tollgate.core.audit.StoredEntries;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.FreedPlaces;
import dev.tollgate.core.bucket.claim.HeldTokens;
import dev.tollgate.core.bucket.claim.ReturnSlots;
import dev.tollgate.core.connect.Admission;
import dev.tollgate.core.connect.AdmissionFactsReader;
import dev.tollgate.core.connect.ApplicationFunction;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.connect.OpenedConnections;
import dev.tollgate.core.connect.OpenedFacts;
import dev.tollgate.core.connect.RefusalTally;
import dev.tollgate.core.connect.Registration;
import dev.tollgate.core.enforcement.Enforcement;
import dev.tollgate.core.fanout.Chunk;
import dev.tollgate.core.fanout.SelfInvocation;
import dev.tollgate.core.history.History;
import dev.tollgate.core.history.Hours;
import dev.tollgate.core.history.RowChanges;
import dev.tollgate.core.housekeeping.Housekeeping;
import dev.tollgate.core.housekeeping.Recount;
import dev.tollgate.core.housekeeping.TenantVisit;
import dev.tollgate.core.message.Application;
import dev.tollgate.core.message.Frames;
import dev.tollgate.core.message.MessageProcessing;
import dev.tollgate.core.message.MessageProcessing.Clients;
import dev.tollgate.core.message.MessageProcessing.Rows;
import dev.tollgate.core.message.MessageProcessing.Timing;
import dev.tollgate.core.message.Pushes;
import dev.tollgate.core.message.TenantPushes;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tracing.Tracing;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;

/** Builds the use cases of the functions over AWS. */
public final class Wiring {
  /**
   * Tenants that the housekeeper visits or recounts, and sockets that it checks, in parallel. The
   * threads mostly wait for responses.
   */
  private static final int PARALLEL_VISITS = 32;

  /** Sessions that the housekeeper ends in parallel. */
  private static final int PARALLEL_SESSIONS = 32;

  private final InstantSource clock;
  private final Optional<XRayTracing> tracing;
  private final AwsEnvironment aws;

  /** A wiring with these environment variables. */
  public Wiring(Map<String, String> environment, InstantSource clock) {
    this.clock = clock;
    this.tracing = XRayTracing.of(environment, clock);
    this.aws =
        new AwsEnvironment(
            environment, clock, line -> LambdaRuntime.getLogger().log(line), tracing);
  }

  /**
   * The same for a function that acts on no stranger's request, and whose own role may access all
   * tenants' rows. It requests no credentials, and records no traces.
   */
  public static Wiring withOwnRole(Map<String, String> environment, InstantSource clock) {
    return new Wiring(clock, Optional.empty(), AwsEnvironment.withOwnRole(environment, clock));
  }

  private Wiring(InstantSource clock, Optional<XRayTracing> tracing, AwsEnvironment aws) {
    this.clock = clock;
    this.tracing = tracing;
    this.aws = aws;
  }

  /** Records this function's part of traces; off unless {@code TRACING} is {@code on}. */
  public Tracing tracing() {
    return tracing.<Tracing>map(xray -> xray).orElse(Tracing.OFF);
  }

  /** Threads for the requests of invocations. */
  private Executor threads() {
    Executor threads = Threads.unbounded("requests");
    return tracing.map(xray -> xray.bound(threads)).orElse(threads);
  }

  /** Decides on handshakes, for the connect authorizer. */
  public Admission admission() {
    Executor threads = threads();
    AdmissionFactsReader rows = aws.factsReader();
    return new Admission(
        aws.openedSessions().isPresent() ? new OpenedFacts(rows, clock) : rows,
        claims(threads),
        aws.sessions(),
        new RefusalTally(aws.activity(), threads, clock),
        enforcement(),
        threads,
        Pause.real(),
        clock);
  }

  /** Whether limits are enforced. */
  public Enforcement enforcement() {
    return new Enforcement(aws.admitAllSwitch(), clock);
  }

  /** Registers connections, for {@code $connect}. */
  public Registration registration() {
    Executor threads = threads();
    return new Registration(
        connections(),
        new HeldTokens(aws.buckets(), aws.tokenQueue(), clock),
        new RefusalTally(aws.activity(), threads, clock),
        enforcement(),
        threads,
        Pause.real(),
        clock);
  }

  private Claims claims(Executor threads) {
    return new Claims(
        aws.buckets(), aws.tokenQueue(), aws.fillRequests(), threads, Pause.real(), clock);
  }

  /** Removes closed connections, for {@code $disconnect}. */
  public Disconnection disconnection() {
    return new Disconnection(connections());
  }

  private Connections connections() {
    return aws.openedSessions()
        .<Connections>map(
            shared -> new OpenedConnections(aws.connections(), aws.sessions(), shared))
        .orElseGet(aws::connections);
  }

  /** The application's function to which {@code $connect} or {@code $disconnect} forwards. */
  public ApplicationFunction applicationFunction() {
    return aws.applicationFunction();
  }

  /** The tenants' rows. */
  public Tenants tenants() {
    return aws.tenants();
  }

  /** Reads the rows that an admission depends on. */
  public AdmissionFactsReader facts() {
    return aws.factsReader();
  }

  /** Opens, renews and ends sessions. */
  public SessionLifecycle sessionLifecycle() {
    return new SessionLifecycle(
        aws.sessions(), aws.connections(), aws.sockets(), new SecureRandom(), clock);
  }

  /** The places that sessions left. */
  public FreedPlaces freedPlaces() {
    return new FreedPlaces(aws.buckets(), clock);
  }

  /** The open sockets. */
  public Sockets sockets() {
    return aws.sockets();
  }

  /** What happened to tenants. */
  public History history() {
    return aws.history();
  }

  /** The hours of what happened to tenants. */
  public Hours hours() {
    return new Hours(aws.history(), clock);
  }

  /** Reads what happened to a tenant from the changes of its rows. */
  public RowChanges rowChanges() {
    return aws.rowChanges();
  }

  /** The audit. */
  public AuditLog auditLog() {
    return aws.auditLog();
  }

  /** Reads entries from rows of the audit. */
  public StoredEntries storedEntries() {
    return aws.storedEntries();
  }

  /** Events of changes. */
  public ChangeEvents changeEvents() {
    return aws.changeEvents();
  }

  /** Reads entries of the audit from changes of rows. */
  public RowAudit rowAudit() {
    return aws.rowAudit();
  }

  /** Repairs connection counts. */
  public Recount recount() {
    return new Recount(aws.sessions(), aws.connections(), Pause.real());
  }

  /** Repairs sessions and counts, for the housekeeper. */
  public Housekeeping housekeeping() {
    Recount recount = recount();
    TenantVisit visit =
        new TenantVisit(
            aws.tenants(),
            aws.liveTenants(),
            aws.sessions(),
            aws.connections(),
            aws.sockets(),
            sessionLifecycle(),
            recount,
            Threads.upTo(PARALLEL_SESSIONS, "sessions"),
            clock);
    return new Housekeeping(
        aws.liveTenants(),
        visit,
        recount,
        aws.socketChecksPerMinute().orElse(Housekeeping.CHECKS_A_MINUTE),
        Threads.upTo(PARALLEL_VISITS, "visits"),
        Pause.real(),
        clock);
  }

  /**
   * Requests to the function itself, with a share of its work.
   *
   * @param functionArn the ARN by which it was invoked
   */
  public SelfInvocation<Chunk> selfInvocation(String functionArn) {
    return aws.selfInvocation(functionArn);
  }

  /** Processes messages, for the message processor. */
  public MessageProcessing messageProcessing(Frames frames, Application application) {
    Executor threads = threads();
    return new MessageProcessing(
        new Rows(aws.factsReader(), aws.messageFactsReader(), aws.sessions(), aws.messageLog()),
        claims(threads),
        new ReturnSlots(aws.buckets(), clock),
        enforcement(),
        new Clients(aws.sockets(), disconnection(), frames),
        application,
        new Timing(threads, clock, System::nanoTime));
  }

  /** Sends pushes to sessions. */
  public Pushes pushes() {
    return aws.pushes(threads());
  }

  /** Sends pushes to all sessions of a tenant. */
  public TenantPushes tenantPushes() {
    return new TenantPushes(
        aws.sessions(), pushes(), aws.pushQueue(), aws.idempotencyKeys(), clock);
  }
}
