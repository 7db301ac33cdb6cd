package dev.tollgate.cli.verify;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.contract.HttpContract;
import dev.tollgate.cli.contract.SocketContract;
import dev.tollgate.cli.http.Response;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * A deployment whose answers, frames, statuses and close codes are compared with the published
 * contracts. Thread-safe.
 */
final class ComparedDeployment implements Deployment {
  /** The code of a broken connection. It is never sent in a frame (RFC 6455, section 7.4.1). */
  private static final int BROKEN = 1006;

  /** Loaded by the first run, because reading the contracts takes a moment. */
  private static final class Contracts {
    static final HttpContract CONTROL_PLANE = HttpContract.ofControlPlane();
    static final HttpContract SESSIONS = HttpContract.ofSessions();
    static final SocketContract SOCKETS = new SocketContract();
  }

  private final Deployment deployment;
  private final Set<String> differences = new ConcurrentSkipListSet<>();

  ComparedDeployment(Deployment deployment) {
    this.deployment = deployment;
  }

  /** The differences so far. */
  SortedSet<String> differences() {
    return new TreeSet<>(differences);
  }

  @Override
  public Response control(
      String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
    Response response = deployment.control(method, path, body, headers);
    differences.addAll(Contracts.CONTROL_PLANE.differences(method, path, response));
    return response;
  }

  @Override
  public boolean isAttached() {
    return deployment.isAttached();
  }

  @Override
  public Response sessions(String method, String tenantId, Optional<String> sessionId) {
    Response response = deployment.sessions(method, tenantId, sessionId);
    differences.addAll(Contracts.SESSIONS.differences(method, "/session", response));
    return response;
  }

  @Override
  public CompletableFuture<Handshake> handshake(Map<String, String> parameters, Listener listener) {
    if (isAttached()) {
      // The application decides about its statuses, frames and codes.
      return deployment.handshake(parameters, listener);
    }
    return deployment
        .handshake(parameters, new ComparedFrames(listener))
        .whenComplete(
            (handshake, thrown) -> {
              int status = handshake instanceof Handshake.Refused refused ? refused.status() : 101;
              if (thrown == null && !Contracts.SOCKETS.hasHandshake(status)) {
                differences.add("handshake " + status + ": the contract does not have this status");
              }
            });
  }

  private final class ComparedFrames implements Listener {
    private final Listener listener;

    private ComparedFrames(Listener listener) {
      this.listener = listener;
    }

    @Override
    public void frame(String text) {
      Contracts.SOCKETS.difference(text).ifPresent(differences::add);
      listener.frame(text);
    }

    @Override
    public void closed(int code) {
      if (code != BROKEN && !Contracts.SOCKETS.hasClose(code)) {
        differences.add("socket closed with " + code + ": the contract does not have this code");
      }
      listener.closed(code);
    }
  }
}
