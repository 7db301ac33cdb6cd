package dev.tollgate.handlers;

import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Threads;
import dev.tollgate.core.bucket.claim.BucketGate;
import dev.tollgate.core.bucket.claim.HeldTokens;
import dev.tollgate.core.connect.Admission;
import dev.tollgate.core.connect.AdmissionFactsReader;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.connect.RefusalTally;
import dev.tollgate.core.connect.Registration;
import dev.tollgate.core.housekeeping.Housekeeping;
import dev.tollgate.core.housekeeping.Recount;
import dev.tollgate.core.housekeeping.TenantVisit;
import dev.tollgate.core.message.Application;
import dev.tollgate.core.message.MessageProcessing;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.message.TenantMessage;
import dev.tollgate.message.TenantMessageHandler;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;

/** Puts the functions together from their environment. */
final class Wiring {
  private static final String WEBSOCKET_URL = "WEBSOCKET_URL";
  private static final String MESSAGE_HANDLER = "MESSAGE_HANDLER";
  private static final String LIST_TENANTS = "LIST_TENANTS";
  private static final String TENANT_CLAIM = "TENANT_CLAIM";

  /** Tenants that are visited together; the time goes by waiting for answers. */
  private static final int VISITS_AT_A_TIME = 32;

  /** Sockets that API Gateway is asked after together. */
  private static final int QUESTIONS_AT_A_TIME = 32;

  private final Map<String, String> environment;
  private final InstantSource clock;
  private final AwsEnvironment aws;

  Wiring(Map<String, String> environment, InstantSource clock) {
    this.environment = Map.copyOf(environment);
    this.clock = clock;
    this.aws = new AwsEnvironment(environment, clock);
  }

  Admission admission() {
    ExecutorService threads = Threads.unbounded("requests");
    return new Admission(
        aws.factsReader(),
        gate(threads),
        new RefusalTally(aws.activity(), threads, clock),
        threads,
        Pause.real(),
        clock);
  }

  Registration registration() {
    ExecutorService threads = Threads.unbounded("requests");
    return new Registration(
        aws.connections(),
        new HeldTokens(aws.buckets(), aws.tokenQueue(), clock),
        new RefusalTally(aws.activity(), threads, clock),
        threads,
        Pause.real(),
        clock);
  }

  private BucketGate gate(ExecutorService threads) {
    return new BucketGate(
        aws.buckets(), aws.tokenQueue(), aws.fillRequests(), threads, Pause.real(), clock);
  }

  Disconnection departure() {
    return new Disconnection(aws.connections());
  }

  Tenants tenants() {
    return aws.tenants();
  }

  AdmissionFactsReader facts() {
    return aws.factsReader();
  }

  SessionLifecycle sessionLife() {
    return new SessionLifecycle(
        aws.sessions(), aws.connections(), aws.sockets(), new SecureRandom(), clock);
  }

  Sockets sockets() {
    return aws.sockets();
  }

  Recount recount() {
    return new Recount(aws.sessions(), aws.connections(), Pause.real());
  }

  Housekeeping housekeeping() {
    TenantVisit visit =
        new TenantVisit(
            aws.tenants(),
            aws.liveTenants(),
            aws.connections(),
            aws.sockets(),
            sessionLife(),
            recount(),
            Threads.upTo(QUESTIONS_AT_A_TIME, "questions"),
            clock);
    return new Housekeeping(
        aws.liveTenants(), visit, Threads.upTo(VISITS_AT_A_TIME, "visits"), clock);
  }

  MessageProcessing messageProcessing() {
    ExecutorService threads = Threads.unbounded("requests");
    return new MessageProcessing(
        aws.factsReader(),
        aws.messageFactsReader(),
        gate(threads),
        aws.sessions(),
        aws.sockets(),
        departure(),
        new JsonFrames(),
        application(),
        aws.messageLog(),
        threads,
        clock,
        System::nanoTime);
  }

  private Application application() {
    TenantMessageHandler handler =
        HandlerClass.make(environment.getOrDefault(MESSAGE_HANDLER, Echo.class.getName()));
    return (message, json) ->
        handler.handle(
            new TenantMessage(
                message.tenant().value(),
                message.session().value(),
                message.connectionId(),
                message.id(),
                json));
  }

  String webSocketUrl() {
    return Optional.ofNullable(environment.get(WEBSOCKET_URL))
        .orElseThrow(() -> new IllegalStateException("environment: no " + WEBSOCKET_URL));
  }

  boolean listsTenants() {
    return Boolean.parseBoolean(environment.getOrDefault(LIST_TENANTS, "false"));
  }

  Optional<String> tenantClaim() {
    return Optional.ofNullable(environment.get(TENANT_CLAIM));
  }
}
