package dev.tollgate.socket;

import java.net.URI;
import java.time.InstantSource;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * How a socket behaves.
 *
 * @param sessionId the session to use; empty to create one
 * @param webSocketUrl where the session's sockets are opened, if known
 * @param asksSessionApi whether the socket may send HTTP requests
 * @param replacesSession whether the socket creates another session when its own is over
 * @param endsSession whether closing the socket ends its session
 * @param maxQueued the number of messages that may wait to be sent
 * @param onEnd called after the last step
 */
record SocketSettings(
    URI sessionUrl,
    String tenantId,
    RequestHeaders headers,
    Optional<String> sessionId,
    Optional<URI> webSocketUrl,
    boolean asksSessionApi,
    boolean replacesSession,
    boolean endsSession,
    Route route,
    int maxQueued,
    SocketListener listener,
    Transport transport,
    Scheduler scheduler,
    InstantSource clock,
    RandomGenerator random,
    Runnable onEnd) {}
