package dev.tollgate.controlplane.api;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.idempotency.IdempotencyKey;
import dev.tollgate.core.message.Frames;
import dev.tollgate.core.message.Push;
import dev.tollgate.core.message.PushPage;
import dev.tollgate.core.message.PushQueue;
import dev.tollgate.core.message.Pushes;
import dev.tollgate.core.message.Pushes.Delivered;
import dev.tollgate.core.message.TenantPushes;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Subject;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.http.JsonFields;
import dev.tollgate.http.Response;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Sends messages of the backend to clients. Pushes change no settings, so the audit has no entries
 * of them.
 */
final class PushRoutes {
  /** A message as long as a frame may be, and the other fields. */
  private static final int MAX_BODY = Frames.MAX_BYTES + 4 * 1024;

  /** The part of the invocation's time in which nothing is sent. */
  private static final Duration MARGIN = Duration.ofSeconds(4);

  private static final String EXPECTED_TARGET =
      "exactly one of sessionId, subject and \"all\": true";

  private final Tenants tenants;
  private final Pushes pushes;
  private final PushQueue queue;
  private final Idempotency idempotency;

  PushRoutes(Tenants tenants, Pushes pushes, PushQueue queue, Idempotency idempotency) {
    this.tenants = tenants;
    this.pushes = pushes;
    this.queue = queue;
    this.idempotency = idempotency;
  }

  /**
   * Sends to a session or a subject before the answer, or requests the first page of all sessions.
   * A push that the caller named is sent once; the name is its idempotency key.
   */
  Response push(ApiRequest request) {
    request.requireNoDryRun();
    TenantId tenant = request.tenantId();
    JsonFields body =
        request
            .http()
            .body("message", MAX_BODY)
            .only("all", "id", "message", "sessionId", "subject");
    Optional<String> id = body.optionalText("id", "a text");
    Push push =
        new Push(
            tenant,
            id.orElseGet(() -> UUID.randomUUID().toString()),
            body.text("message", "any JSON"));
    Optional<SessionId> session =
        body.optionalText("sessionId", "the id of a session").map(SessionId::new);
    Optional<Subject> subject =
        body.optionalText("subject", "the claim sub of a token")
            .map(sub -> Subject.of(tenant, sub));
    Optional<Boolean> all = body.optionalFlag("all").filter(Boolean::booleanValue);
    long targets = Stream.of(session, subject, all).filter(Optional::isPresent).count();
    InvalidValue.unless(targets == 1, "body", targets + " targets", EXPECTED_TARGET);
    Optional<IdempotencyKey> key = id.map(named -> TenantPushes.key(push));
    if (all.isPresent()) {
      return key.map(
              named ->
                  idempotency.onceUntil(
                      named, request.http(), until -> toAll(push, Optional.of(until))))
          .orElseGet(() -> toAll(push, Optional.empty()));
    }
    Duration time = request.http().remaining().minus(MARGIN);
    return idempotency.once(
        key,
        request.http(),
        () ->
            session
                .map(to -> sent(request, push, pushes.toSession(push, to, time)))
                .or(() -> subject.map(to -> sent(request, push, pushes.toSubject(push, to, time))))
                .orElseThrow());
  }

  /** The tenant is read only if there is nobody to send to: it may not exist. */
  private Response sent(ApiRequest request, Push push, Optional<Delivered> result) {
    if (result.isEmpty() && tenants.find(push.tenant()).isEmpty()) {
      return TenantRoutes.notFound(push.tenant());
    }
    Delivered delivered = result.orElse(new Delivered(0, 0, 0, Optional.empty()));
    delivered
        .reason()
        .ifPresent(
            why -> request.http().log("push " + push.id() + " of " + push.tenant() + ": " + why));
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("id", push.id());
    document.put("sockets", delivered.sockets());
    document.put("gone", delivered.gone());
    document.put("failed", delivered.failed());
    return Response.json(200, document);
  }

  private Response toAll(Push push, Optional<Instant> idExpiresAt) {
    if (tenants.find(push.tenant()).isEmpty()) {
      return TenantRoutes.notFound(push.tenant());
    }
    queue.send(new PushPage(push, idExpiresAt, Optional.empty()));
    return Response.json(202, Map.of("id", push.id()));
  }
}
