package dev.tollgate.bench.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URI;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A session of a tenant. */
public final class Session {
  private final Http http;
  private final URI address;
  private final URI socketAddress;

  Session(Http http, URI address, URI socketAddress) {
    this.http = http;
    this.address = address;
    this.socketAddress = socketAddress;
  }

  /** The number of connections that the deployment counts in this session. */
  public int connections() {
    return http.get(address).get("connections").asInt();
  }

  /** What the deployment tells this session about its next connection. */
  public Advice advice() {
    JsonNode admission = http.get(address).get("admission");
    return new Advice(
        Duration.ofSeconds(admission.path("retryAfterSeconds").asLong()),
        Optional.ofNullable(admission.get("nextAttemptAt")).map(at -> Instant.parse(at.asText())));
  }

  /** The URL of its sockets. */
  public URI socketAddress() {
    return socketAddress;
  }

  /** Tries once to open a socket, and waits for the result. */
  public Handshake connect() throws InterruptedException {
    return connect(new Frames());
  }

  /** Like {@link #connect()}, for a socket that is never read. */
  public Handshake connectWithoutReading() throws InterruptedException {
    return connect(new Frames.Unread());
  }

  private Handshake connect(Frames frames) throws InterruptedException {
    CompletableFuture<WebSocket> opening = http.webSocket().buildAsync(socketAddress, frames);
    try {
      WebSocket socket = opening.get(Http.ANSWER_TIME.toSeconds(), TimeUnit.SECONDS);
      return new Handshake.Admitted(new Socket(socket, frames));
    } catch (ExecutionException e) {
      return e.getCause() instanceof WebSocketHandshakeException refusal
          ? new Handshake.Refused(refusal.getResponse().statusCode())
          : new Handshake.Unanswered(String.valueOf(e.getCause()));
    } catch (TimeoutException e) {
      abandon(opening);
      return new Handshake.Unanswered("no answer within " + Http.ANSWER_TIME.toSeconds() + " s");
    } catch (InterruptedException e) {
      abandon(opening);
      throw e;
    }
  }

  /** Closes a socket that opens after the time limit. */
  private static void abandon(CompletableFuture<WebSocket> opening) {
    var unused = opening.thenAccept(WebSocket::abort);
  }
}
